//! References to variable-length data: they are gathered, then resolved together.

use crate::support::*;
use bytes::Bytes;
use ncirrus_engine::{Dataset, Session, SessionBuilder};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::{MemoryStore, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Texts of one length in an object `heap`; a reference is the number of a text there, 0 for none.
#[derive(Debug)]
struct Heap {
    object: ObjectId,
    largest: Arc<AtomicUsize>,
}

const TEXT: u64 = 12;

fn text(number: u32) -> String {
    format!("text{number:08}")
}

impl Resolver for Heap {
    fn resolve(&self, view: &dyn View, raw: &[u8], count: usize) -> Step<Values> {
        self.largest.fetch_max(count, Ordering::SeqCst);
        if raw.len() != 4 * count {
            return Err(Error::internal("references of another length").into());
        }
        let texts = join(raw.as_chunks::<4>().0, |reference| {
            let at = u64::from(u32::from_le_bytes(*reference));
            let start = at.checked_sub(1).ok_or_else(|| Error::malformed("no reference was written"))? * TEXT;
            let blob = view.read(&self.object, Want::Range(start..start + TEXT))?;
            blob.map(|blob| blob.bytes).ok_or_else(|| Error::not_found("no heap").into())
        })?;
        let mut strings = Strings::new();
        texts.iter().for_each(|text| strings.push(Some(text)));
        Ok(Values::String(strings))
    }
}

/// How references are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stored {
    Chunked,
    Compressed,
    Contiguous,
}

/// A variable of references whose element at an index refers to the text `index + 1`; only some of its elements were
/// written.
struct Texts {
    store: MemoryStore,
    driver: Sample,
    var: VarId,
    len: u64,
    largest: Arc<AtomicUsize>,
    is_written: fn(u64) -> bool,
}

fn make(stored: Stored, len: u64, chunk: u64, is_written: fn(u64) -> bool) -> Texts {
    let root = ObjectId::new(StoreId::new("memory://test"), "");
    let heap: String = (0..len).map(|at| text(at as u32)).collect();
    let mut objects = vec![("heap".to_owned(), Bytes::from(heap))];
    let reference = |at: u64| if at < len && is_written(at) { at as u32 + 1 } else { 0 }.to_le_bytes();
    let bytes = |start: u64, end: u64| -> Vec<u8> { (start..end).flat_map(reference).collect() };
    let mut source = Array::new(&[len], &[chunk]).source(&root);
    let codecs = if stored == Stored::Compressed { vec![CodecSpec::hdf5(1, &[1])] } else { Vec::new() };
    if stored == Stored::Contiguous {
        // Elements that were never written are outside all extents.
        let extents = (0..len.div_ceil(chunk)).filter(|cell| is_written(cell * chunk)).map(|cell| {
            let (start, end) = (cell * chunk * 4, ((cell + 1) * chunk).min(len) * 4);
            Extent { logical: start..end, object: root.child("file"), offset: start }
        });
        source.layout = Layout::Affine { extents: extents.collect(), base: 0, strides: vec![4] };
        objects.push(("file".to_owned(), bytes(0, len).into()));
    } else {
        let array = Array { codecs: codecs.clone(), ..Array::new(&[len], &[chunk]) };
        let info = ncirrus_codec::ChunkInfo {
            shape: vec![chunk],
            element: ncirrus_codec::DecodedElement::sized(Some(4)),
        };
        let chain = ncirrus_codec::CodecRegistry::builtin().bind(&codecs, &info).unwrap();
        for cell in array.cells().into_iter().filter(|cell| is_written(cell[0] * chunk)) {
            let raw = bytes(cell[0] * chunk, (cell[0] + 1) * chunk);
            let (encoded, _) = chain.encode(&raw, &mut ncirrus_codec::CodecScratch::default()).unwrap();
            objects.push((key(&cell), encoded.into()));
        }
        let Layout::Grid { codecs: bound, .. } = &mut source.layout else { panic!() };
        *bound = codecs.into();
    }
    let largest = Arc::new(AtomicUsize::new(0));
    source.stored = StoredType::Reference { byte_len: 4 };
    source.fill = Values::String([Some("fill")].into_iter().collect());
    source.resolver = Some(Arc::new(Heap { object: root.child("heap"), largest: Arc::clone(&largest) }));
    let (driver, var) = sample(&[len], Atomic::String.into(), source);
    Texts { store: memory(objects), driver, var, len, largest, is_written }
}

impl Texts {
    fn expected(&self, selection: &Selection) -> Values {
        let one = |at: u64| if (self.is_written)(at) { text(at as u32) } else { "fill".to_owned() };
        Values::String(
            select(selection, |index| one(index[0])).iter().map(|text| Some(text.as_str())).collect(),
        )
    }

    fn stores(&self) -> [Arc<dyn Store>; 2] {
        [self.store.shared(), Arc::new(Late::new(self.store.clone()))]
    }

    fn open(&self, session: &Session, store: Arc<dyn Store>) -> Dataset {
        open(session, store, self.driver.clone())
    }

    fn check(&self, builder: &SessionBuilder) {
        let session = builder.clone().build().unwrap();
        let selections = [
            Selection::all(&[self.len]),
            Selection::strided(&[1], &[(self.len - 1) / 3], &[3]),
            Selection::new(vec![AxisSelection::Indices(vec![self.len - 1, 0, self.len / 2, 0])]),
            Selection::slab(&[0], &[0]),
        ];
        for store in self.stores() {
            let dataset = self.open(&session, store);
            for selection in &selections {
                let values = session.block_on(dataset.read(self.var, selection)).unwrap();
                assert!(values == self.expected(selection), "{selection:?}");
            }
        }
    }
}

#[test]
fn references_are_followed_and_what_was_never_written_is_fill() {
    let written: [fn(u64) -> bool; 3] = [|_| true, |at| at / 10 % 3 != 1, |_| false];
    for stored in [Stored::Chunked, Stored::Compressed, Stored::Contiguous] {
        for is_written in written {
            make(stored, 95, 10, is_written).check(&Session::builder());
        }
    }
}

#[test]
fn many_references_are_followed_in_batches() {
    for stored in [Stored::Compressed, Stored::Contiguous] {
        let sample = make(stored, 100_000, 1000, |at| at / 1000 % 7 != 3);
        sample.check(&Session::builder().memory(1 << 20));
        assert!(sample.largest.load(Ordering::SeqCst) <= 1 << 15);
    }
}

#[test]
fn more_chunks_than_a_window_holds_can_refer() {
    make(Stored::Chunked, 40_000, 1, |at| at % 2 == 0).check(&Session::builder());
}

#[test]
fn references_of_a_batch_travel_together() {
    let sample = make(Stored::Compressed, 2000, 100, |_| true);
    let late = Arc::new(Late::new(sample.store.clone()));
    let session = Session::builder().build().unwrap();
    let dataset = sample.open(&session, Arc::clone(&late) as Arc<dyn Store>);
    let plan = session.block_on(dataset.plan(sample.var, &Selection::all(&[2000]))).unwrap();
    assert!(plan.references && plan.requests == 20, "{plan}");
    session.block_on(dataset.read(sample.var, &Selection::all(&[2000]))).unwrap();
    assert_eq!(late.requested().len(), 20 + 1, "all texts come with one request");
}

#[test]
fn a_damaged_reference_is_an_error() {
    let sample = make(Stored::Chunked, 20, 10, |at| at != 15);
    let session = Session::builder().build().unwrap();
    for store in sample.stores() {
        let dataset = sample.open(&session, store);
        let error = session.block_on(dataset.read(sample.var, &Selection::all(&[20]))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
        assert!(session.block_on(dataset.read(sample.var, &Selection::slab(&[0], &[15]))).is_ok());
    }
}
