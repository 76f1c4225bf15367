//! The pieces of an answer: their memory, and where an error is.
use super::*;
use crate::{ServerBuilder, ServerState};
use ncirrus::{Atomic, CreateOptions, Dataset, Dialect, DimensionLen, Kind, Session, Storage};
use ncirrus_dap::{Dap2Dataset, Dap4Dataset};
use std::path::Path;

/// Bytes of the longest pieces.
const PIECE: usize = 64 << 10;
/// Values of a chunk of [`chunked`]: those of a piece.
const CHUNK: u64 = 16 << 10;

fn served(folder: &Path, name: &str) -> (ServerState, Arc<ServedDataset>) {
    let session = Session::builder().threads(1).build().unwrap();
    let server = ServerBuilder::new([folder.to_str().unwrap().to_owned()], &session).build().unwrap();
    let (dataset, _) = server.state().published().open(name).unwrap();
    (server.state().clone(), dataset)
}

/// Writes numbers from 0 on into 6 chunks.
fn chunked(path: &Path, kind: Kind) {
    let dialect = (kind == Kind::Zarr3).then_some(Dialect::Plain);
    let options = CreateOptions::new().kind(kind).dialect(dialect);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &Session::new().unwrap()).unwrap();
    dataset
        .edit(|model| {
            let x = model.add_dimension(model.root(), "x", DimensionLen::Fixed(6 * CHUNK))?;
            let v = model.add_variable(model.root(), "v", Atomic::Int.into(), &[x])?;
            if let Some(variable) = model.variable_mut(v) {
                variable.storage = Storage::Chunked(vec![CHUNK]);
            }
            Ok(())
        })
        .unwrap();
    let numbers: Vec<i32> = (0..).take(usize::try_from(6 * CHUNK).unwrap()).collect();
    dataset.variable("v").unwrap().write_all(&numbers).unwrap();
    dataset.close().unwrap();
}

fn dap4(served: &Arc<ServedDataset>) -> Dap4Pieces {
    let shown = Arc::new(Dap4Dataset::new(served.dataset().model().unwrap(), "a"));
    let request = shown.request("/v").unwrap();
    Dap4Pieces::new(Arc::clone(served), shown.answer(request, true, &BTreeMap::new(), PIECE).unwrap())
}

#[test]
fn all_values_are_read_into_one_buffer_when_each_piece_is_sent_before_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    chunked(&folder.path().join("a.nc"), Kind::Nc4);
    let (_state, served) = served(folder.path(), "a.nc");
    let shown = Arc::new(Dap2Dataset::new(served.dataset().model().unwrap(), "a"));
    let answer = shown.answer(shown.request("v").unwrap(), PIECE).unwrap();
    let mut pieces: [Box<dyn Pieces>; 2] =
        [Box::new(dap4(&served)), Box::new(Dap2Pieces::new(Arc::clone(&served), answer))];
    for pieces in &mut pieces {
        let mut places = Vec::new();
        while let Some(piece) = pieces.next_piece().unwrap() {
            places.extend((piece.len() >= PIECE).then_some(piece.as_ptr()));
        }
        assert_eq!(places.len(), 6);
        assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
    }
}

#[test]
fn an_error_is_the_last_chunk_of_an_answer_behind_the_values_before_it() {
    let folder = tempfile::tempdir().unwrap();
    chunked(&folder.path().join("a.zarr"), Kind::Zarr3);
    std::fs::write(folder.path().join("a.zarr/v/c/4"), b"damaged").unwrap();
    let (_state, served) = served(folder.path(), "a.zarr");
    let mut pieces = dap4(&served);
    let mut all = Vec::new();
    while let Some(piece) = pieces.next_piece().unwrap() {
        all.push(piece);
    }
    let [_dmr, values @ .., error] = all.as_slice() else { panic!("{} pieces", all.len()) };
    assert_eq!(values.len(), 4);
    let numbers = values.iter().flat_map(|piece| piece[4..].as_chunks::<4>().0);
    assert!(numbers.copied().map(i32::from_le_bytes).eq(0..i32::try_from(4 * CHUNK).unwrap()));
    // An error, which is the last chunk, in little-endian order.
    assert_eq!(error[0], 0b111);
    assert!(String::from_utf8_lossy(error).contains("<Error"), "{error:?}");
}
