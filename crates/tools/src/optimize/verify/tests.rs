//! Copies that have everything, and copies with another value.
use super::*;
use crate::optimize::PlannedVariable;
use ncirrus::{Atomic, CreateOptions, DimensionLen, ErrorKind, Kind, OpenOptions, Session, Storage};

const LEN: u64 = 100;

/// A dataset in memory with the numbers of `numbers` in chunks of that length.
fn dataset(name: &str, numbers: &[f64], chunk: u64, session: &Session) -> Dataset {
    let url = format!("memory://verify/{name}");
    let options = CreateOptions::default().kind(Kind::Nc4).overwrite(true);
    let new = Dataset::create_with(&url, &options, session).unwrap();
    new.root().add_dimension("x", DimensionLen::Fixed(LEN)).unwrap();
    let v = new.root().add_variable("v", Atomic::Double, &["x"]).unwrap();
    v.set_storage(Storage::Chunked(vec![chunk]), Vec::new()).unwrap();
    v.write(&Selection::all(&[LEN]), numbers).unwrap();
    new.close().unwrap();
    Dataset::open_with(&url, &OpenOptions::default(), session).unwrap()
}

/// What is noted when the variable is read in blocks that begin there.
fn hashes(source: &Dataset, starts: &[u64]) -> BlockHashes {
    let (hashes, v) = (BlockHashes::default(), source.variable("v").unwrap());
    for start in starts {
        let block = Selection::slab(&[*start], &[40.min(LEN - start)]);
        hashes.note(v.id(), &block, &v.values(&block).unwrap());
    }
    hashes
}

#[test]
fn another_value_is_found_with_hashes_and_without() {
    let session = Session::new().unwrap();
    let numbers: Vec<f64> = (0..LEN).map(|number| f64::from(u32::try_from(number).unwrap())).collect();
    let mut changed = numbers.clone();
    changed[57] += 1.0;
    let source = dataset("source.nc", &numbers, 10, &session);
    let planned = PlannedVariable {
        path: "/v".to_owned(),
        dims: vec!["x".to_owned()],
        shape: vec![LEN],
        element_bytes: Some(8),
        from: Some(vec![10]),
        to: Some(vec![20]),
        recoded: true,
        filters: None,
        kept: None,
    };
    // All blocks; without the last; and none.
    for starts in [&[0, 40, 80][..], &[0, 40], &[]] {
        let hashes = hashes(&source, starts);
        let same = dataset("same.nc", &numbers, 20, &session);
        verify(&source, &same, std::slice::from_ref(&planned), &hashes).unwrap();
        let other = dataset("other.nc", &changed, 20, &session);
        let error = verify(&source, &other, std::slice::from_ref(&planned), &hashes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal, "{starts:?}");
        assert!(error.to_string().contains("the copy differs"), "{error}");
    }
}
