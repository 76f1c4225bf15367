//! Members and extensions that a reader must understand (Zarr v3 core specification, "Extension points").
use crate::json::{JsonObject, JsonValue};
use ncirrus_layout::{Error, Result};

/// Checks that a document has no members but those, and others that may be ignored: what is not known must be understood
/// unless it says otherwise (Zarr v3, "Extension points").
///
/// # Errors
/// `Unsupported` naming the first other member.
pub(in crate::read) fn check_understood(json: &JsonValue, known: &[&str]) -> Result<()> {
    let members = json.as_object().into_iter().flat_map(JsonObject::iter);
    for (name, value) in members {
        if !known.contains(&name) && !may_be_ignored(value) {
            return Err(Error::unsupported(format!(
                "the member {name:?} is not known, and must be understood to read the data"
            )));
        }
    }
    Ok(())
}

/// Whether a part says that programs that do not know it may ignore it.
pub(super) fn may_be_ignored(json: &JsonValue) -> bool {
    matches!(json.member("must_understand"), Some(JsonValue::Bool(false)))
}

/// Checks the members of an extension: its name and configuration.
pub(super) fn check_extension(json: &JsonValue) -> Result<()> {
    check_understood(json, &["name", "configuration", "must_understand"])
}
