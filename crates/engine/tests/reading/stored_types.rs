//! Stored types of every kind, damaged chunks, repairs.

use crate::support::*;
use bytes::Bytes;
use ncirrus_engine::{Session, SessionBuilder, ShortChunks};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::Store;
use std::sync::Arc;

struct Case {
    model: Model,
    ty: TypeRef,
    stored: StoredType,
    fill: Values,
    shape: Vec<u64>,
    chunk: Vec<u64>,
    chunks: Vec<(&'static str, Vec<u8>)>,
    codecs: Vec<CodecSpec>,
    swapped_fill: bool,
}

impl Case {
    fn new(ty: impl Into<TypeRef>, stored: StoredType, fill: Values) -> Self {
        Self {
            model: Model::new(),
            ty: ty.into(),
            stored,
            fill,
            shape: vec![4],
            chunk: vec![2],
            chunks: Vec::new(),
            codecs: Vec::new(),
            swapped_fill: false,
        }
    }

    fn chunk(mut self, key: &'static str, body: impl Into<Vec<u8>>) -> Self {
        self.chunks.push((key, body.into()));
        self
    }

    /// What the selection reads as; the same from a local and from a remote store.
    fn read(self, selection: &Selection) -> Result<Values> {
        self.read_with(Session::builder(), selection)
    }

    fn read_with(mut self, builder: SessionBuilder, selection: &Selection) -> Result<Values> {
        let session = builder.threads(2).build().unwrap();
        let objects = self.chunks.iter().map(|(key, body)| ((*key).to_owned(), Bytes::from(body.clone())));
        let store = memory(objects.collect::<Vec<_>>());
        let source = Source {
            layout: Layout::Grid {
                grid: ChunkGrid::regular(self.chunk.clone()).unwrap(),
                edge: EdgeChunks::Full,
                index: Arc::new(ByKey { root: store.root() }),
                codecs: self.codecs.clone().into(),
            },
            stored: self.stored.clone(),
            extent: self.shape.clone(),
            fill: self.fill.clone(),
            resolver: None,
            swapped_fill: self.swapped_fill,
        };
        let (driver, var) = sample_in(&mut self.model, &self.shape, self.ty, source);
        let dataset = open(&session, store.shared(), driver.clone());
        let local = session.block_on(dataset.read(var, selection));
        let late: Arc<dyn Store> = Arc::new(Late::new(store));
        let dataset = open(&session, late, driver);
        let remote = session.block_on(dataset.read(var, selection));
        match (&local, &remote) {
            (Ok(local), Ok(remote)) => assert_eq!(local, remote),
            (Err(local), Err(remote)) => assert_eq!(local.kind(), remote.kind()),
            _ => panic!("{local:?} but {remote:?}"),
        }
        local
    }
}

fn all() -> Selection {
    Selection::all(&[4])
}

fn texts(texts: &[&str]) -> Values {
    Values::String(texts.iter().map(|text| Some(*text)).collect())
}

#[test]
fn fixed_text_reads_as_strings_and_missing_chunks_as_its_fill() {
    let stored = StoredType::Text { byte_len: 3, encoding: TextEncoding::NulPaddedEmpty };
    let case = Case::new(Atomic::String, stored, texts(&["none, at length"])).chunk("0", b"ab\0\0\0\0");
    assert_eq!(case.read(&all()).unwrap(), texts(&["ab", "", "none, at length", "none, at length"]));
}

#[test]
fn half_floats_read_as_floats() {
    let stored = StoredType::Float { size: 2, order: ByteOrder::Big };
    let case = Case::new(Atomic::Float, stored, Values::Float(vec![9.5])).chunk("1", [0x3c, 0, 0xc0, 0]);
    let reversed = Selection::new(vec![AxisSelection::Indices(vec![3, 2, 1, 3])]);
    assert_eq!(case.read(&reversed).unwrap(), Values::Float(vec![-2.0, 1.0, 9.5, -2.0]));
}

#[test]
fn sequences_are_gathered_in_the_order_of_the_selection() {
    let chunk = |items: &[&str]| {
        let mut body = (items.len() as u32).to_le_bytes().to_vec();
        for item in items {
            body.extend((item.len() as u32).to_le_bytes());
            body.extend(item.as_bytes());
        }
        body
    };
    let stored = StoredType::Sequence(SequenceItem::Text);
    let mut case = Case::new(Atomic::String, stored, texts(&["-"]));
    case.shape = vec![3, 3];
    case.chunk = vec![2, 2];
    let case = case
        .chunk("0.0", chunk(&["a", "bb", "c", "d"]))
        .chunk("0.1", chunk(&["e", "x", "", "x"]))
        .chunk("1.0", chunk(&["g", "h", "x", "x"]));
    let whole = Selection::all(&[3, 3]);
    assert_eq!(case.read(&whole).unwrap(), texts(&["a", "bb", "e", "c", "d", "", "g", "h", "-"]));
}

#[test]
fn a_damaged_sequence_names_its_chunk() {
    let stored = StoredType::Sequence(SequenceItem::Text);
    let error = Case::new(Atomic::String, stored, texts(&["-"])).chunk("1", [9, 9]).read(&all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert_eq!(error.place().chunk, Some(vec![1]));
    assert!(error.to_string().contains("memory://test/1"), "{error}");
}

#[test]
fn compounds_are_gathered_and_converted() {
    let mut model = Model::new();
    let fields = vec![
        Field { name: "a".into(), ty: Atomic::Short.into(), dims: vec![] },
        Field { name: "b".into(), ty: Atomic::Byte.into(), dims: vec![2] },
    ];
    let ty = UserType { name: "pair".into(), kind: UserKind::Compound(fields) };
    let id = model.add_type(model.root(), ty).unwrap();
    let short = StoredType::Integer { size: 2, signed: true, order: ByteOrder::Big };
    let byte = StoredType::Integer { size: 1, signed: true, order: ByteOrder::Little };
    let stored = StoredType::Compound {
        byte_len: 6,
        fields: Arc::new([
            StoredField { offset: 0, stored: short, count: 1 },
            StoredField { offset: 4, stored: byte, count: 2 },
        ]),
    };
    let value = |a: i16, b: [i8; 2]| (a, b);
    let column = |values: &[(i16, [i8; 2])]| Values::Compound {
        len: values.len(),
        fields: vec![
            Values::Short(values.iter().map(|value| value.0).collect()),
            Values::Byte(values.iter().flat_map(|value| value.1).collect()),
        ],
    };
    let mut case = Case::new(TypeRef::User(id), stored, column(&[value(-1, [8, 9])]));
    case.model = model;
    let case = case.chunk("0", [1, 2, 0xee, 0xee, 3, 4, 0, 5, 0xee, 0xee, 6, 7]);
    let expected = [value(0x102, [3, 4]), value(5, [6, 7]), value(-1, [8, 9]), value(-1, [8, 9])];
    assert_eq!(case.read(&all()).unwrap(), column(&expected));
}

fn ints(order: ByteOrder) -> Case {
    Case::new(Atomic::Int, StoredType::Integer { size: 4, signed: true, order }, Values::Int(vec![1]))
}

#[test]
fn swapped_fill_values_are_repaired() {
    let order = match ByteOrder::NATIVE {
        ByteOrder::Little => ByteOrder::Big,
        ByteOrder::Big => ByteOrder::Little,
    };
    let mut body = 5i32.to_be_bytes().to_vec();
    body.extend(1i32.to_le_bytes());
    if order == ByteOrder::Little {
        body = [5i32.to_le_bytes(), 1i32.to_be_bytes()].concat();
    }
    for codecs in [Vec::new(), vec![CodecSpec::hdf5(3, &[])]] {
        let mut case = ints(order).chunk("0", body.clone());
        case.swapped_fill = true;
        if !codecs.is_empty() {
            let info = ncirrus_codec::ChunkInfo {
                shape: vec![2],
                element: ncirrus_codec::DecodedElement::sized(Some(4)),
            };
            let chain = ncirrus_codec::CodecRegistry::builtin().bind(&codecs, &info).unwrap();
            case.chunks[0].1 = chain.encode(&body, &mut ncirrus_codec::CodecScratch::default()).unwrap().0;
            case.codecs = codecs;
        }
        assert_eq!(case.read(&all()).unwrap(), Values::Int(vec![5, 1, 1, 1]));
    }
}

#[test]
fn short_chunks_are_errors_that_say_where_or_fill() {
    let body = [5i32.to_be_bytes().as_slice(), &[0, 0]].concat();
    let error = ints(ByteOrder::Big).chunk("1", body.clone()).read(&all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert_eq!(error.place().chunk, Some(vec![1]));
    assert_eq!(error.place().path.as_deref(), Some("/v"));
    assert_eq!(error.place().object.as_deref(), Some("memory://test/1"));
    let lenient = Session::builder().short_chunks(ShortChunks::Fill);
    let values = ints(ByteOrder::Big).chunk("1", body).read_with(lenient, &all()).unwrap();
    assert_eq!(values, Values::Int(vec![1, 1, 5, 1]));
}

#[test]
fn chunks_with_surplus_bytes_are_errors_or_it_is_ignored() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        for len in [9, 12, 100] {
            for selection in [all(), Selection::slab(&[0], &[1]), Selection::slab(&[1], &[2])] {
                let error = ints(order).chunk("0", vec![7; len]).read(&selection).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Malformed);
                assert_eq!(error.place().chunk, Some(vec![0]), "{error}");
                assert!(error.to_string().contains("memory://test/0"), "{error}");
                assert_eq!(error.message(), "the chunk has more than the 8 bytes of its elements");
            }
        }
        let lenient = Session::builder().short_chunks(ShortChunks::Fill);
        let values = ints(order).chunk("0", vec![7; 100]).read_with(lenient, &all()).unwrap();
        assert_eq!(values, Values::Int(vec![0x0707_0707, 0x0707_0707, 1, 1]));
    }
}

#[test]
fn surplus_behind_a_codec_is_an_error() {
    let array = Array::new(&[4], &[2]).zlib();
    let session = Session::builder().build().unwrap();
    let mut objects = array.objects();
    objects[1] = objects_of_longer_chunks();
    let store = memory(objects);
    let (driver, var) = sample(&[4], Atomic::Int.into(), array.source(&store.root()));
    let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
    for shared in stores {
        let dataset = open(&session, shared, driver.clone());
        let error = session.block_on(dataset.read(var, &all())).unwrap_err();
        assert_eq!((error.kind(), error.place().chunk.clone()), (ErrorKind::Malformed, Some(vec![1])));
    }
}

#[test]
fn surplus_behind_a_codec_is_counted_where_it_is_ignored() {
    let array = Array::new(&[4], &[2]).zlib();
    let session = Session::builder().short_chunks(ShortChunks::Fill).build().unwrap();
    let mut objects = array.objects();
    objects[1] = objects_of_longer_chunks();
    let store = memory(objects);
    let (driver, var) = sample(&[4], Atomic::Int.into(), array.source(&store.root()));
    let dataset = open(&session, store.shared(), driver);
    let (values, report) =
        session.block_on(dataset.read_reported(var, &all(), ncirrus_engine::MissingChunks::Fill)).unwrap();
    assert_eq!(values, Values::Int(vec![1000, 1001, 1000, 1001]));
    assert_eq!((report.surplus_count, session.statistics().chunks_with_surplus), (1, 1));
}

/// A chunk of four elements where two belong.
fn objects_of_longer_chunks() -> (String, Bytes) {
    let array = Array::new(&[4], &[4]).zlib();
    ("1".to_owned(), array.objects().remove(0).1)
}

#[test]
fn chunks_that_an_index_places_outside_of_their_object_are_errors() {
    #[derive(Debug)]
    struct Beyond(ObjectId);
    impl ChunkIndex for Beyond {
        fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
            Ok(cells.iter().map(|_| ChunkRef::new(Location::Bytes(self.0.clone(), 5..40))).collect())
        }
    }
    let session = Session::builder().build().unwrap();
    let store = memory([("short".to_owned(), Bytes::from_static(b"only so much"))]);
    for (key, kind) in [("short", ErrorKind::Malformed), ("absent", ErrorKind::NotFound)] {
        for array in [Array::new(&[4], &[4]), Array::new(&[4], &[4]).zlib()] {
            let mut source = array.source(&store.root());
            let Layout::Grid { index, .. } = &mut source.layout else { panic!() };
            *index = Arc::new(Beyond(store.root().child(key)));
            let (driver, var) = sample(&[4], Atomic::Int.into(), source);
            let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
            for shared in stores {
                let dataset = open(&session, shared, driver.clone());
                let error = session.block_on(dataset.read(var, &all())).unwrap_err();
                assert_eq!(error.kind(), kind, "{error}");
                assert!(error.to_string().contains(key) && error.place().chunk.is_some(), "{error}");
            }
        }
    }
}

#[test]
fn an_unknown_codec_is_an_error_of_the_variable() {
    let mut case = ints(ByteOrder::Little);
    case.codecs = vec![CodecSpec::v3("no.such.codec")];
    let error = case.read(&all()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("no.such.codec") && error.to_string().contains("/v"), "{error}");
}

#[test]
fn an_unknown_codec_is_called_by_its_name_when_it_is_bound_and_when_a_chunk_needs_it() {
    #[derive(Debug)]
    struct Named(ObjectId);
    impl ChunkIndex for Named {
        fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
            Ok(cells.iter().map(|_| ChunkRef::new(Location::Object(self.0.clone()))).collect())
        }
        fn codec_name(&self, codec: usize) -> Option<&str> {
            ["shuffle", "squeeze"].get(codec).copied()
        }
    }
    let session = Session::builder().build().unwrap();
    let array = Array::new(&[4], &[4]);
    let store = memory(array.objects());
    for optional in [false, true] {
        let unknown = CodecSpec::Hdf5 { id: 64999, parameters: Vec::new(), optional };
        let mut source = array.source(&store.root());
        let Layout::Grid { index, codecs, .. } = &mut source.layout else { panic!() };
        *index = Arc::new(Named(store.root().child("0")));
        *codecs = Arc::new([CodecSpec::hdf5(2, &[4]), unknown]);
        let (driver, var) = sample(&[4], Atomic::Int.into(), source);
        let error = session.block_on(open(&session, store.shared(), driver).read(var, &all())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let text = error.to_string();
        assert!(["64999", "squeeze", "/v"].iter().all(|part| text.contains(part)), "{text}");
    }
}

#[test]
fn references_are_followed_by_the_resolver() {
    #[derive(Debug)]
    struct Heap(ObjectId);
    impl Resolver for Heap {
        fn resolve(&self, view: &dyn View, raw: &[u8], count: usize) -> Step<Values> {
            let ranges = raw.chunks(2).take(count).map(|at| u64::from(at[0])..u64::from(at[1]));
            let blobs = join(ranges, |range| view.read(&self.0, Want::Range(range)))?;
            let texts =
                blobs.iter().map(|blob| blob.as_ref().map(|blob| String::from_utf8_lossy(&blob.bytes)));
            Ok(Values::String(texts.collect()))
        }
    }
    let session = Session::builder().build().unwrap();
    let store = memory([
        ("0".to_owned(), Bytes::from_static(&[0, 3, 3, 7])),
        ("heap".to_owned(), Bytes::from_static(b"onetwo!")),
    ]);
    let source = Source {
        layout: Layout::Grid {
            grid: ChunkGrid::regular(vec![2]).unwrap(),
            edge: EdgeChunks::Full,
            index: Arc::new(ByKey { root: store.root() }),
            codecs: Arc::new([]),
        },
        stored: StoredType::Reference { byte_len: 2 },
        extent: vec![4],
        fill: texts(&["?"]),
        resolver: Some(Arc::new(Heap(store.root().child("heap")))),
        swapped_fill: false,
    };
    let (driver, var) = sample(&[4], Atomic::String.into(), source);
    let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
    for shared in stores {
        let dataset = open(&session, shared, driver.clone());
        let values = session.block_on(dataset.read(var, &all())).unwrap();
        assert_eq!(values, texts(&["one", "two!", "?", "?"]));
    }
}
