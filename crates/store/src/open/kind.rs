//! Zip files are recognised by their content if that costs nothing, otherwise by their name.
use crate::StoreOptions;
use crate::locate::is_zip_name;
use crate::opened::Opened;
use crate::store::Store;
use ncirrus_layout::{ErrorKind, Limits, ObjectId, Result, Want};
use std::sync::Arc;

/// How zip files start: with an entry, or with the end record of an empty directory.
const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The first bytes of an object.
type FirstBytes = [u8; 4];

/// Whether bytes start as a zip file does.
pub fn looks_like_zip(head: &[u8]) -> bool {
    MAGICS.iter().any(|magic| head.starts_with(magic))
}

/// Opens a zip file, if the dataset is one.
pub(super) async fn look_into_zip(opened: Opened, options: &StoreOptions) -> Result<Opened> {
    if opened.root.key().is_empty() && opened.store.facts().lists {
        return Ok(opened);
    }
    let is_local = opened.store.local().is_some();
    let is_named = opened.url.fragment().modes().contains("zip") || is_zip_name(opened.root.key());
    match (is_local, is_named) {
        (true, _) if starts_like_zip(opened.store.as_ref(), &opened.root).await? => {
            inside(opened, options).await
        }
        // Over a network the name is trusted until the end of the file shows otherwise.
        (false, true) => match inside(opened.clone(), options).await {
            Err(error) if error.kind() == ErrorKind::Malformed => {
                let is_zip = starts_like_zip(opened.store.as_ref(), &opened.root).await?;
                if is_zip { Err(error) } else { Ok(opened) }
            }
            other => other,
        },
        _ => Ok(opened),
    }
}

async fn starts_like_zip(store: &dyn Store, object: &ObjectId) -> Result<bool> {
    if let Some(local) = store.local() {
        let mut head = FirstBytes::default();
        return Ok(local.read_into(object, 0, &mut head)?.is_some_and(|_| looks_like_zip(&head)));
    }
    let head = store.get(object, &Want::Range(0..4)).await?;
    Ok(head.is_some_and(|head| looks_like_zip(&head.bytes)))
}

/// The dataset in a zip file that was recognised by its content.
///
/// # Errors
/// `NotFound`, `Malformed`, `Io`; `Unsupported` if the library was built without zip files.
pub async fn open_zip(
    store: Arc<dyn Store>,
    object: ObjectId,
    limits: Limits,
) -> Result<(Arc<dyn Store>, ObjectId)> {
    #[cfg(feature = "zip")]
    {
        let zip = crate::zip::ZipStore::open(store, object, &limits).await?;
        let root = zip.root();
        Ok((Arc::new(zip), root))
    }
    #[cfg(not(feature = "zip"))]
    {
        let _ = (store, limits);
        Err(ncirrus_layout::Error::unsupported("zip files: built without the feature \"zip\"")
            .at_object(object))
    }
}

#[cfg(feature = "zip")]
async fn inside(opened: Opened, options: &StoreOptions) -> Result<Opened> {
    let container = Some((Arc::clone(&opened.store), opened.root.clone()));
    let zip = crate::zip::ZipStore::open(opened.store, opened.root, &options.limits).await?;
    let root = zip.root();
    let warnings = zip.warnings().to_vec();
    Ok(Opened { store: Arc::new(zip), root, warnings, container, ..opened })
}

#[cfg(not(feature = "zip"))]
async fn inside(opened: Opened, _: &StoreOptions) -> Result<Opened> {
    Err(ncirrus_layout::Error::unsupported("zip files: built without the feature \"zip\"")
        .at_object(opened.root))
}
