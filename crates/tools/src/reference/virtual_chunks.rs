//! Virtual chunks of Icechunk for existing files, by the same plan as references of kerchunk. A session of icechunk writes them:
//! its transaction is not ours.
use super::json::{ReferenceKeys, StoredReference};
use super::{
    AT_ONCE, ReferenceInput, ReferenceOptions, ReferenceReport, ZarrFormat, check_axis, names, open_all, scan,
};
use crate::aggregate::each;
use ncirrus::{Error, Result, Session};
use ncirrus_layout::{ErrorKind, ObjectBytes, Want};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a session of icechunk has to write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VirtualChunkPlan {
    /// Keys and contents: `zarr.json` of groups before that of their members, then embedded chunks.
    pub documents: Vec<(String, Vec<u8>)>,
    /// The objects that chunks are parts of.
    pub objects: Vec<PlannedObject>,
    /// The arrays with virtual chunks.
    pub arrays: Vec<PlannedArray>,
    /// What was found.
    pub report: ReferenceReport,
}

/// An object that chunks are parts of, and what identifies its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedObject {
    /// Its absolute address.
    pub address: String,
    /// Its ETag, if the server reports a strong one.
    pub etag: Option<String>,
    /// Otherwise the time after which it has not been modified: seconds since 1970.
    pub modified: Option<u64>,
}

/// An array, and its virtual chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedArray {
    /// Its path, without a leading slash.
    pub path: String,
    /// Its virtual chunks.
    pub chunks: Vec<PlannedChunk>,
}

/// A virtual chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChunk {
    /// Its indexes in the grid.
    pub index: Vec<u64>,
    /// The number of its object.
    pub object: usize,
    /// Where its bytes begin.
    pub offset: u64,
    /// Their number.
    pub len: u64,
}

/// Plans virtual chunks for existing datasets: netCDF-3, HDF5, Zarr. Several are concatenated along an axis, in the order
/// given. Chunks of different lengths along it make a rectilinear grid.
///
/// # Errors
/// If a file cannot be read; `Invalid` naming the file and the variable if several do not match; `Unsupported` for files in
/// places that Icechunk does not reach; `Changed` if a file is replaced meanwhile.
pub fn plan_virtual_chunks(
    sources: &[String],
    options: &ReferenceOptions,
    session: &Session,
) -> Result<VirtualChunkPlan> {
    check_axis(sources, options)?;
    plan(open_all(sources, session, names::address)?, options, session)
}

fn plan(
    inputs: Vec<ReferenceInput>,
    options: &ReferenceOptions,
    session: &Session,
) -> Result<VirtualChunkPlan> {
    let (references, report) = scan(&inputs, options, ZarrFormat::V3, session)?;
    // The tags at opening, for what is one object: all that was read from it is of this state.
    let tag = |input: &ReferenceInput| Some((input.name.clone(), input.dataset.tag()?));
    let scanned: BTreeMap<String, String> = inputs.iter().filter_map(tag).collect();
    drop(inputs);
    let (found, mut documents) = split(references);
    documents.sort_by_key(|(key, _)| (!key.ends_with("zarr.json"), key.matches('/').count()));
    let names: BTreeSet<Arc<str>> = found.iter().map(|(_, reference)| reference.name()).collect();
    let names: Vec<Arc<str>> = names.into_iter().collect();
    let states = each(&names, AT_ONCE, None, |_, address| state(address, session))?;
    for (name, state) in names.iter().zip(&states) {
        if scanned.get(&**name).is_some_and(|tag| tag != state.tag.as_str()) {
            let message = "the file changed while its chunks were found";
            return Err(Error::new(ErrorKind::Changed, message).at_object(name));
        }
    }
    let number = |name: &Arc<str>| {
        names.binary_search(name).map_err(|_| Error::internal("an object without a number"))
    };
    let mut arrays: BTreeMap<String, Vec<PlannedChunk>> = BTreeMap::new();
    for (key, reference) in found {
        let (path, index) = place(&key).ok_or_else(|| Error::internal(format!("an odd key {key:?}")))?;
        let object = number(&reference.name())?;
        let size = states.get(object).map_or(0, |state| state.size);
        let (offset, len) = match reference {
            FoundReference::Whole(_) => (0, size),
            FoundReference::Range(_, offset, len) => (offset, len),
        };
        arrays.entry(path).or_default().push(PlannedChunk { index, object, offset, len });
    }
    let objects = names.iter().zip(&states).map(|(name, state)| PlannedObject::new(name, state)).collect();
    let arrays = arrays.into_iter().map(|(path, chunks)| PlannedArray { path, chunks }).collect();
    Ok(VirtualChunkPlan { documents, objects, arrays, report })
}

/// A reference that is not embedded.
enum FoundReference {
    Whole(Arc<str>),
    Range(Arc<str>, u64, u64),
}

impl FoundReference {
    fn name(&self) -> Arc<str> {
        match self {
            Self::Whole(name) | Self::Range(name, ..) => Arc::clone(name),
        }
    }
}

type Embedded = Vec<(String, Vec<u8>)>;

/// References, and what is embedded.
fn split(references: ReferenceKeys) -> (Vec<(String, FoundReference)>, Embedded) {
    let (mut found, mut embedded) = (Vec::new(), Vec::new());
    for (key, reference) in references.into_entries() {
        match reference {
            StoredReference::Inline(body) => embedded.push((key, body)),
            StoredReference::Whole(name) => found.push((key, FoundReference::Whole(name))),
            StoredReference::Range(name, offset, len) => {
                found.push((key, FoundReference::Range(name, offset, len)));
            }
        }
    }
    (found, embedded)
}

/// The array and the indexes of a chunk's key.
fn place(key: &str) -> Option<(String, Vec<u64>)> {
    let index = |cell: &str| cell.split('/').map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>();
    let of_numbers = key.rsplit_once("/c/").and_then(|(path, cell)| Some((path.to_owned(), index(cell)?)));
    // The chunk of a scalar has no numbers; groups of the scalar may be called `c`.
    of_numbers.or_else(|| key.strip_suffix("/c").map(|path| (path.to_owned(), Vec::new())))
}

/// The size and the tag of an object.
fn state(address: &str, session: &Session) -> Result<ObjectBytes> {
    let url = names::reachable(address);
    session.wait_for_store(&url, async {
        let opened = ncirrus_store::open(&url, session.store_context()).await?;
        let found = opened.store.get(&opened.root, &Want::Range(0..1)).await?;
        found.ok_or_else(|| Error::not_found("no such object").at_object(&url))
    })
}

impl PlannedObject {
    fn new(address: &str, state: &ObjectBytes) -> Self {
        let etag = Some(state.tag.as_str()).filter(|tag| tag.starts_with('"')).map(str::to_owned);
        // Times of files have fractions of seconds, those of icechunk do not.
        let modified = state.tag.modified().filter(|_| etag.is_none()).map(|time| time.saturating_add(1));
        Self { address: address.to_owned(), etag, modified }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, Selection};
    use std::path::Path;

    fn session() -> Session {
        Session::builder().threads(2).durable(false).build().unwrap()
    }

    /// A dataset with variables of these names along a dimension.
    fn create(path: &Path, kind: Kind, names: &[&str], len: u64) {
        let session = session();
        let dataset =
            Dataset::create_with(path.to_str().unwrap(), &CreateOptions::new().kind(kind), &session).unwrap();
        let root = dataset.root();
        root.add_dimension("x", DimensionLen::Fixed(len)).unwrap();
        for name in names {
            let variable = root.add_variable(name, Atomic::Int, &["x"]).unwrap();
            let values: Vec<i32> = (1..).take(usize::try_from(len).unwrap()).collect();
            variable.write(&Selection::slab(&[0], &[len]), &values).unwrap();
        }
        dataset.close().unwrap();
    }

    fn options() -> ReferenceOptions {
        ReferenceOptions::new().inline_threshold(0)
    }

    #[test]
    fn keys_of_chunks_are_taken_apart() {
        for (key, path, index) in [
            ("v/c/1/2", "v", vec![1, 2]),
            ("c/c/0", "c", vec![0]),
            ("v/c", "v", vec![]),
            ("g/c/v/c", "g/c/v", vec![]),
            ("g/c/0/c", "g/c/0", vec![]),
            ("c/c/c", "c/c", vec![]),
            ("g/c/v/c/3", "g/c/v", vec![3]),
        ] {
            assert_eq!(place(key), Some((path.to_owned(), index)), "{key}");
        }
        assert_eq!(place("v/zarr.json"), None);
    }

    #[test]
    fn addresses_of_chunks_in_trees_are_escaped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a.zarr");
        let names = ["v#1", "q?r", "a%41"];
        create(&path, Kind::Zarr3, &names, 400);
        let plan = plan_virtual_chunks(&[path.to_str().unwrap().to_owned()], &options(), &session()).unwrap();
        let found: BTreeSet<&str> = plan.objects.iter().map(|object| object.address.as_str()).collect();
        let root = names::escaped(path.to_str().unwrap());
        let expected = ["v%231", "q%3Fr", "a%2541"].map(|name| format!("file://{root}/{name}/c/0"));
        assert_eq!(found, expected.iter().map(String::as_str).collect::<BTreeSet<_>>());
        let paths: BTreeSet<&str> = plan.arrays.iter().map(|array| array.path.as_str()).collect();
        assert_eq!(paths, BTreeSet::from(names));
    }

    #[test]
    fn scalars_in_a_group_with_the_name_of_chunks_are_planned() {
        let folder = tempfile::tempdir().unwrap();
        let (path, session) = (folder.path().join("a.nc"), session());
        let options_of_file = CreateOptions::new().kind(Kind::Nc4);
        let dataset = Dataset::create_with(path.to_str().unwrap(), &options_of_file, &session).unwrap();
        let group = dataset.root().add_group("c").unwrap();
        let scalar = group.add_variable("v", Atomic::Double, &[]).unwrap();
        scalar.write(&Selection::slab(&[], &[]), &[2.5f64]).unwrap();
        dataset.close().unwrap();
        let plan = plan_virtual_chunks(&[path.to_str().unwrap().to_owned()], &options(), &session).unwrap();
        let found: Vec<_> =
            plan.arrays.iter().map(|array| (array.path.as_str(), array.chunks.len())).collect();
        assert_eq!(found, [("c/v", 1)]);
    }

    #[test]
    fn a_file_that_is_replaced_meanwhile_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.nc"), folder.path().join("b.nc"));
        create(&path, Kind::Nc3, &["v"], 400);
        create(&other, Kind::Nc3, &["u", "v"], 400);
        let sources = [path.to_str().unwrap().to_owned()];
        let session = session();
        let inputs = || open_all(&sources, &session, names::address).unwrap();
        assert_eq!(plan(inputs(), &options(), &session).unwrap().arrays.len(), 1);
        let opened = inputs();
        std::fs::rename(&other, &path).unwrap();
        let error = plan(opened, &options(), &session).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
        assert_eq!(plan(inputs(), &options(), &session).unwrap().arrays.len(), 2);
    }
}
