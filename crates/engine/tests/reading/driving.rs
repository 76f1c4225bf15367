//! How steps are driven: what is fetched when, what is kept, what is refused.

use crate::support::*;
use bytes::Bytes;
use ncirrus_engine::{Dataset, Session};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::Store;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Tree = Arc<dyn Fn(&dyn View) -> Step<Model> + Send + Sync>;
type Probe = Arc<dyn Fn(&dyn View, &ObjectId) -> Step<Confidence> + Send + Sync>;

/// A driver whose probe and tree are set by a test.
#[derive(Clone)]
struct Scripted {
    name: &'static str,
    probe: Probe,
    tree: Option<Tree>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Driver for Scripted {
    fn name(&self) -> &'static str {
        self.name
    }
    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        (self.probe)(view, root)
    }
    fn open(&self, _: &dyn View, _: &ObjectId, _: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        Ok(Arc::new(self.clone()))
    }
}

impl Catalog for Scripted {
    fn tree(&self, view: &dyn View) -> Step<Arc<Model>> {
        let tree = self.tree.as_ref().map_or_else(|| Ok(Model::new()), |tree| tree(view));
        Ok(Arc::new(tree?))
    }
    fn attributes(&self, view: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        join(of, |node| {
            let object = ObjectId::new(StoreId::new("memory://test"), format!("attributes/{node:?}"));
            let blob = view.read(&object, Want::All)?;
            let text = blob.map(|blob| String::from_utf8_lossy(&blob.bytes).into_owned());
            Ok(text
                .map(|text| [Attribute::text("text", &text)].into_iter().collect())
                .ok_or_else(|| Error::not_found("no attributes").at_object(&object)))
        })
    }
    fn source(&self, _: &dyn View, _: VarId) -> Step<Source> {
        Err(Error::unsupported("no variables here").into())
    }
    fn kind(&self) -> DatasetKind {
        DatasetKind::hdf5(false)
    }
    fn facts(&self) -> StorageFacts {
        StorageFacts::default()
    }
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
    fn writing(&self) -> Option<Arc<dyn Writing>> {
        None
    }
}

fn prober(
    name: &'static str,
    probe: impl Fn(&dyn View, &ObjectId) -> Step<Confidence> + Send + Sync + 'static,
) -> Arc<dyn Driver> {
    Arc::new(Scripted { name, probe: Arc::new(probe), tree: None })
}

fn sure(name: &'static str, confidence: Confidence) -> Arc<dyn Driver> {
    prober(name, move |_, _| Ok(confidence))
}

fn with_tree(tree: impl Fn(&dyn View) -> Step<Model> + Send + Sync + 'static) -> Arc<dyn Driver> {
    let probe: Probe = Arc::new(|_, _| Ok(Confidence::Yes));
    Arc::new(Scripted { name: "scripted", probe, tree: Some(Arc::new(tree)) })
}

fn id(key: &str) -> ObjectId {
    ObjectId::new(StoreId::new("memory://test"), key)
}

fn open_at(store: Arc<dyn Store>, key: &str, drivers: &[Arc<dyn Driver>]) -> Result<Dataset> {
    let session = Session::builder().threads(1).build().unwrap();
    session.block_on(session.open(store, id(key), drivers, &OpenOptions::default()))
}

fn objects(bodies: &[(&str, &[u8])]) -> ncirrus_store::MemoryStore {
    memory(bodies.iter().map(|(key, body)| ((*key).to_owned(), Bytes::copy_from_slice(body))))
}

#[test]
fn the_surest_driver_opens_and_the_first_of_equals() {
    let drivers = [
        sure("no", Confidence::No),
        sure("maybe", Confidence::Maybe),
        sure("yes", Confidence::Yes),
        sure("also", Confidence::Yes),
    ];
    let dataset = open_at(objects(&[]).shared(), "x", &drivers).unwrap();
    assert_eq!(dataset.driver().name(), "yes");
}

#[test]
fn what_is_no_dataset_is_described() {
    let store = objects(&[
        ("page", b"\n<!DOCTYPE html><html>..."),
        ("hdf", b"\x89HDF\r\n\x1a\n...."),
        ("empty", b""),
        ("text", b"hello"),
        ("folder/file", b""),
    ]);
    let expected = [
        ("page", ErrorKind::Malformed, "an HTML page"),
        ("hdf", ErrorKind::Malformed, "it starts with [89"),
        ("empty", ErrorKind::Malformed, "empty"),
        ("text", ErrorKind::Malformed, "not a dataset of a known format (one, two)"),
        ("folder", ErrorKind::Malformed, "directory"),
        ("nothing", ErrorKind::NotFound, "no such"),
    ];
    let drivers = [sure("one", Confidence::No), sure("two", Confidence::No)];
    for (key, kind, text) in expected {
        let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
        for shared in stores {
            let error = open_at(shared, key, &drivers).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(text) && error.to_string().contains(key), "{error}");
        }
    }
}

/// A driver that needs an object below the root.
fn of_trees() -> Arc<dyn Driver> {
    prober("tree", |view, root| {
        let found = view.read(&root.child("marker"), Want::All)?.is_some()
            || view.read(&root.child("other"), Want::All)?.is_some();
        Ok(if found { Confidence::Yes } else { Confidence::No })
    })
}

/// A driver that needs the object itself.
fn of_files() -> Arc<dyn Driver> {
    prober("file", |view, root| {
        view.read(root, Want::Parse(0..8))?;
        Ok(Confidence::No)
    })
}

#[test]
fn what_lies_at_the_address_ends_the_search_below_it() {
    let store = objects(&[
        ("page", b"<html><title>Welcome</title>"),
        ("index", b"<html><title>Index of /</title>"),
        ("page.zarr", b"<html>"),
    ]);
    // (store lists names, root, what was requested)
    for (lists, key, expected) in [
        (true, "page", &["page", "page/marker"][..]),
        (false, "page", &["page"]),
        (false, "page.zarr", &["page.zarr", "page.zarr/marker"]),
        (true, "index", &["index", "index/marker", "index/other"]),
        (false, "index", &["index", "index/marker", "index/other"]),
    ] {
        let mut late = Late::new(store.clone());
        late.facts.lists = lists;
        let late = Arc::new(late);
        let opened = open_at(Arc::clone(&late) as Arc<dyn Store>, key, &[of_files(), of_trees()]);
        assert!(opened.unwrap_err().message().starts_with("an HTML page, not data"), "{key}");
        let mut requested: Vec<String> = late.requested().into_iter().map(|(key, _)| key).collect();
        requested.sort();
        assert_eq!(requested, expected, "{lists}");
    }
}

#[test]
fn a_failing_probe_matters_only_when_no_driver_is_surer() {
    let failing = || prober("failing", |_, _| Err(Error::new(ErrorKind::Denied, "keep out").into()));
    let opened = open_at(objects(&[]).shared(), "x", &[failing(), sure("maybe", Confidence::Maybe)]);
    assert_eq!(opened.unwrap().driver().name(), "maybe");
    let error = open_at(objects(&[]).shared(), "x", &[failing(), sure("no", Confidence::No)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
}

#[test]
fn probes_of_all_drivers_share_their_requests() {
    let look = |name, range: std::ops::Range<u64>| {
        prober(name, move |view, root| {
            let blob = view.read(root, Want::Parse(range.clone()))?;
            Ok(if blob.is_some_and(|blob| blob.bytes.starts_with(b"CDF")) {
                Confidence::Yes
            } else {
                Confidence::No
            })
        })
    };
    let late = Arc::new(Late::new(objects(&[("file", b"CDF\x01 and so on")])));
    let drivers = [look("a", 0..4), look("b", 0..8), look("c", 0..512)];
    open_at(Arc::clone(&late) as Arc<dyn Store>, "file", &drivers).unwrap();
    assert_eq!(late.requested(), [("file".to_owned(), Want::Range(0..256 << 10))]);
}

#[test]
fn reads_of_unknown_extent_widen_and_exact_ones_do_not() {
    let body = vec![7u8; 12 << 20];
    let late = Arc::new(Late::new(objects(&[("file", &body)])));
    let driver = with_tree(|view| {
        // Walks through the file in small structures, like a parser of a long header.
        for at in (0..12u64 << 20).step_by(1 << 16) {
            view.read(&id("file"), Want::Parse(at..at + 100))?;
        }
        view.read(&id("file"), Want::Range((12 << 20) - 10..12 << 20))?;
        Ok(Model::new())
    });
    open_at(Arc::clone(&late) as Arc<dyn Store>, "file", &[driver]).unwrap();
    let mut lens: Vec<u64> = Vec::new();
    for (_, want) in late.requested() {
        let Want::Range(range) = want else { panic!("{want:?}") };
        lens.push(range.end - range.start);
    }
    assert_eq!(
        lens[..5],
        [256 << 10, 512 << 10, 1 << 20, 1 << 20, 1 << 20].map(|len: u64| len)[..5].to_vec()
    );
    assert!(lens.len() < 20, "{lens:?}");

    let late = Arc::new(Late::new(objects(&[("file", &body)])));
    let driver = with_tree(|view| {
        join([0..10, 5000..5010, 20..30], |range| view.read(&id("file"), Want::Range(range)))?;
        Ok(Model::new())
    });
    open_at(Arc::clone(&late) as Arc<dyn Store>, "file", &[driver]).unwrap();
    let mut requests = late.requested();
    requests.sort_by_key(|(_, want)| format!("{want:?}"));
    let expected = [Want::Range(0..30), Want::Range(5000..5010)];
    assert_eq!(requests, expected.map(|want| ("file".to_owned(), want)));
}

#[test]
fn headers_that_are_requested_together_share_what_comes_along() {
    let body = vec![7u8; 100 << 20];
    let late = Arc::new(Late::new(objects(&[("file", &body)])));
    let driver = with_tree(|view| {
        join((0..1000u64).map(|at| at * 100_000), |at| view.read(&id("file"), Want::Parse(at..at + 512)))?;
        Ok(Model::new())
    });
    let session = Session::builder().threads(1).build().unwrap();
    let store = Arc::clone(&late) as Arc<dyn Store>;
    session.block_on(session.open(store, id("file"), &[driver], &OpenOptions::default())).unwrap();
    // Many scattered reads fetch what surrounds them, no more than 16 MiB in total.
    let fetched = session.statistics().bytes_fetched;
    assert!((1000 * 4096..=16 << 20).contains(&fetched), "{fetched}");
}

#[test]
fn a_small_object_is_taken_whole_when_it_is_touched_again() {
    let late = Arc::new(Late::new(objects(&[("file", &[7u8; 700 << 10])])));
    let driver = with_tree(|view| {
        for at in [0, 600 << 10, 300 << 10, 500 << 10] {
            view.read(&id("file"), Want::Parse(at..at + 100))?;
        }
        Ok(Model::new())
    });
    open_at(Arc::clone(&late) as Arc<dyn Store>, "file", &[driver]).unwrap();
    let wants: Vec<Want> = late.requested().into_iter().map(|(_, want)| want).collect();
    assert!(
        matches!(wants.as_slice(), [Want::Range(first), Want::AtMost(_)] if *first == (0..256 << 10)),
        "{wants:?}"
    );
}

#[test]
fn a_step_that_asks_for_what_it_has_is_an_internal_error() {
    let driver = with_tree(|view| {
        view.read(&id("file"), Want::All)?;
        Err(Need::Object { object: id("file"), want: Want::All }.into())
    });
    let store = objects(&[("file", b"x")]);
    let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
    for shared in stores {
        let error = open_at(shared, "file", &[Arc::clone(&driver)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
    }
}

#[test]
fn bytes_stay_pinned_while_a_step_runs_however_small_the_cache() {
    let session = Session::builder().metadata_cache(10).build().unwrap();
    let store = objects(&[("a", &[1; 1000]), ("b", &[2; 1000]), ("c", &[3; 1000])]);
    let driver = with_tree(|view| {
        for key in ["a", "b", "c", "absent", "a"] {
            view.read(&id(key), Want::All)?;
        }
        Ok(Model::new())
    });
    let late = Arc::new(Late::new(store));
    let shared = Arc::clone(&late) as Arc<dyn Store>;
    session.block_on(session.open(shared, id("a"), &[driver], &OpenOptions::default())).unwrap();
    assert_eq!(late.requested().len(), 4);
}

#[test]
fn objects_of_another_store_are_refused() {
    let driver = with_tree(|view| {
        view.read(&ObjectId::new(StoreId::new("elsewhere"), "secret"), Want::All)?;
        Ok(Model::new())
    });
    let store = objects(&[]);
    let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
    for shared in stores {
        let error = open_at(shared, "x", &[Arc::clone(&driver)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
}

#[test]
fn metadata_larger_than_the_limit_are_refused() {
    let limits = Limits { metadata_bytes: 100, ..Limits::default() };
    let session = Session::builder().limits(limits).build().unwrap();
    let driver = with_tree(|view| {
        view.read(&id("big"), Want::All)?;
        Ok(Model::new())
    });
    let store = objects(&[("big", &[0; 101])]).shared();
    let opened = session.block_on(session.open(store, id("big"), &[driver], &OpenOptions::default()));
    assert_eq!(opened.unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn encoded_metadata_are_decoded_by_the_engine() {
    let info =
        ncirrus_codec::ChunkInfo { shape: vec![4], element: ncirrus_codec::DecodedElement::sized(Some(1)) };
    let codecs = vec![CodecSpec::v3("crc32c")];
    let chain = ncirrus_codec::CodecRegistry::builtin().bind(&codecs, &info).unwrap();
    let (encoded, _) = chain.encode(b"data", &mut ncirrus_codec::CodecScratch::default()).unwrap();
    let end = 2 + encoded.len() as u64;
    let body = [b"..".as_slice(), &encoded, b".."].concat();
    let mut damaged = body.clone();
    damaged[3] ^= 1;
    let store = objects(&[("good", &body), ("bad", &damaged)]);
    for (key, is_good) in [("good", true), ("bad", false)] {
        let codecs = codecs.clone();
        let driver = with_tree(move |view| {
            let bytes = view.decoded(&id(key), 2..end, &codecs, 0, 4)?;
            assert_eq!(bytes.as_ref(), b"data");
            Ok(Model::new())
        });
        let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
        for shared in stores {
            let opened = open_at(shared, key, &[Arc::clone(&driver)]);
            match opened {
                Ok(_) => assert!(is_good),
                Err(error) => {
                    assert!(!is_good && error.kind() == ErrorKind::Malformed, "{error:?}");
                    assert!(error.to_string().contains("bad"), "{error}");
                }
            }
        }
    }
}

#[test]
fn names_below_a_prefix_are_listed() {
    let driver = with_tree(|view| {
        let listing = view.list(&id("a"), None)?;
        let names: Vec<&str> = listing.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
        Ok(Model::new())
    });
    let store = objects(&[("a/b", b""), ("a/c/d", b""), ("e", b"")]);
    let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
    for shared in stores {
        open_at(shared, "a", &[Arc::clone(&driver)]).unwrap();
    }
}

#[test]
fn pending_attributes_are_read_together_and_once() {
    let mut model = Model::new();
    let root = model.root();
    let vars: Vec<VarId> = (0..5)
        .map(|at| model.add_variable(root, &format!("v{at}"), Atomic::Int.into(), &[]).unwrap())
        .collect();
    for var in &vars[..4] {
        *model.attributes_mut(NodeId::Variable(*var)).unwrap() = AttributeState::Pending;
    }
    let nodes: Vec<NodeId> = vars.iter().map(|var| NodeId::Variable(*var)).collect();
    let bodies: Vec<(String, Bytes)> =
        nodes[..3].iter().map(|node| (format!("attributes/{node:?}"), Bytes::from_static(b"hi"))).collect();
    let late = Arc::new(Late::new(memory(bodies)));
    let session = Session::builder().build().unwrap();
    let driver = with_tree(move |_| Ok(model.clone()));
    let shared = Arc::clone(&late) as Arc<dyn Store>;
    let opened = session.block_on(session.open(shared, id(""), &[driver], &OpenOptions::default()));
    let dataset = opened.unwrap();
    for _ in 0..2 {
        let attributes = session.block_on(dataset.attributes(&nodes));
        let texts: Vec<Option<String>> =
            attributes.iter().map(|one| one.as_ref().ok()?.find("text")?.as_text()).collect();
        assert_eq!(texts[..3], [Some("hi".into()), Some("hi".into()), Some("hi".into())]);
        assert_eq!(attributes[3].as_ref().unwrap_err().kind(), ErrorKind::NotFound);
        assert!(attributes[4].as_ref().unwrap().is_empty());
    }
    assert_eq!(late.requested().len(), 4);
}

/// An index that looks up chunks in the values of another variable.
#[derive(Debug)]
struct ByTable {
    root: ObjectId,
    table: &'static str,
}

impl ChunkIndex for ByTable {
    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let table = VariableRef { dataset: None, path: self.table.to_owned() };
        join(cells.iter(), |cell| {
            let one = view.values(&table, &Selection::slab(cell, &[1]))?;
            let at = one.integer(0).unwrap_or(-1);
            Ok(ChunkRef::new(Location::Object(self.root.child(&at.to_string()))))
        })
    }
}

#[test]
fn values_of_other_variables_are_read_for_steps_and_cycles_end() {
    let table = Array::new(&[4], &[2]);
    let mut objects = table.objects();
    objects.push(("1001".to_owned(), Bytes::copy_from_slice(&41i32.to_le_bytes())));
    objects.push(("1003".to_owned(), Bytes::copy_from_slice(&43i32.to_le_bytes())));
    let store = memory(objects);
    let mut model = Model::new();
    let root = model.root();
    let dim = model.add_dimension(root, "d", DimensionLen::Fixed(4)).unwrap();
    let mut add = |name: &str| model.add_variable(root, name, Atomic::Int.into(), &[dim]).unwrap();
    let (table_var, data, cycle) = (add("table"), add("data"), add("cycle"));
    let by_table = |name| {
        let mut source = Array::new(&[4], &[1]).source(&store.root());
        let Layout::Grid { index, .. } = &mut source.layout else { panic!() };
        *index = Arc::new(ByTable { root: store.root(), table: name });
        source
    };
    let sources =
        [(table_var, table.source(&store.root())), (data, by_table("table")), (cycle, by_table("cycle"))];
    let driver = Sample { model: Arc::new(model), sources: Arc::new(sources.into_iter().collect()) };
    let limits = Limits { depth: 8, ..Limits::default() };
    let session = Session::builder().limits(limits).build().unwrap();
    let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
    for shared in stores {
        let dataset = open(&session, shared, driver.clone());
        let values = session.block_on(dataset.read(data, &Selection::all(&[4]))).unwrap();
        assert_eq!(values, Values::Int(vec![-7, 41, -7, 43]));
        let error = session.block_on(dataset.read(cycle, &Selection::slab(&[0], &[1]))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
}

#[test]
fn released_bytes_are_not_kept() {
    let body = vec![7u8; 4 << 20];
    let store = objects(&[("long", &body)]);
    let done = Arc::new(AtomicU64::new(0));
    let block = 1u64 << 20;
    let driver = with_tree({
        let done = Arc::clone(&done);
        move |view| {
            loop {
                let at = done.load(Ordering::SeqCst);
                if at == 4 * block {
                    break;
                }
                view.release(&id("long"), at);
                let blob = view.read(&id("long"), Want::Range(at..at + block))?;
                assert_eq!(blob.unwrap().bytes.len() as u64, block);
                done.fetch_add(block, Ordering::SeqCst);
            }
            // Only the last one is still there.
            view.read(&id("long"), Want::Range(0..block))?;
            Ok(Model::new())
        }
    });
    let late = Arc::new(Late::new(store));
    open_at(Arc::clone(&late) as Arc<dyn Store>, "long", &[driver]).unwrap();
    assert_eq!(late.requested().len(), 5, "{:?}", late.requested());
}
