//! Names in the JSON of CFA-0.4.
use super::{FragmentRenamer, Relocation, join};
use ncirrus::{Error, Result};
use serde_json::Value;

/// Changes names in the JSON; those in the master itself stay.
pub(super) fn rename(
    json: &str,
    names: &FragmentRenamer<'_>,
    rename: &mut impl FnMut(&str, &str),
) -> Result<String> {
    let bad = |what: &str| Error::malformed(format!("cfa_array: {what}"));
    let mut array: Value = serde_json::from_str(json).map_err(|error| bad(&error.to_string()))?;
    let object = array.as_object_mut().ok_or_else(|| bad("it is not a JSON object"))?;
    let is_replaced = matches!(names.relocation, Relocation::Replace(..));
    let base = object.get("base").and_then(Value::as_str).map(str::to_owned);
    match &base {
        Some(base) if is_replaced => {
            let renamed = names.rename(base, &[])?;
            object.insert("base".to_owned(), renamed.into());
        }
        // Names are made whole below, and no longer relative to the base.
        Some(_) => _ = object.shift_remove("base"),
        None => {}
    }
    let partitions = object.get_mut("Partitions").and_then(Value::as_array_mut);
    for partition in partitions.ok_or_else(|| bad("it has no Partitions"))? {
        let subarray = ["subarray", "data"].into_iter().find(|key| partition.get(key).is_some());
        let file =
            subarray.and_then(|key| partition.get_mut(key)).and_then(|subarray| subarray.get_mut("file"));
        let Some(file) = file else { continue };
        let Some(from) = file.as_str().filter(|name| !name.is_empty()).map(str::to_owned) else { continue };
        let whole = match &base {
            Some(base) if !is_replaced => join(base, &from),
            _ => from.clone(),
        };
        let to = names.rename(&whole, &[])?;
        rename(&from, &to);
        *file = to.into();
    }
    Ok(dumped(&array))
}

/// The JSON with blanks after commas and colons and in ASCII, as Python writes it.
fn dumped(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", list(items.iter().map(dumped).collect())),
        Value::Object(items) => {
            let item = |(key, value): (&String, &Value)| format!("{}: {}", text(key), dumped(value));
            format!("{{{}}}", list(items.iter().map(item).collect()))
        }
        Value::String(string) => text(string),
        other => other.to_string(),
    }
}

fn text(text: &str) -> String {
    let escape = |unit: u16| format!("\\u{unit:04x}");
    let json = Value::from(text).to_string();
    json.chars()
        .map(|c| {
            if c.is_ascii() {
                c.to_string()
            } else {
                c.encode_utf16(&mut [0; 2]).iter().copied().map(escape).collect()
            }
        })
        .collect()
}
