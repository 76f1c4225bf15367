use super::*;
use crate::{
    Atomic, CodecSpec, CreateOptions, Dataset, DimensionLen, ErrorKind, Field, Kind, OpenOptions, Region,
    Selection, Storage, TypeRef, UserKind, UserType,
};
use std::borrow::Cow;

const SHAPE: [u64; 2] = [5, 7];

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

/// `v(5, 7)` of shorts, and `p(5, 7)` of compounds, in chunks of 2 x 4 with a filter.
fn create(url: &str, kind: Kind, session: &Session) -> Dataset {
    let dataset = Dataset::create_with(url, &CreateOptions::new().kind(kind), session).unwrap();
    let edited = dataset.edit(|model| {
        let root = model.root();
        let dims = [
            model.add_dimension(root, "i", DimensionLen::Unlimited(0))?,
            model.add_dimension(root, "j", DimensionLen::Fixed(7))?,
        ];
        let field = |name: &str, ty: Atomic| Field { name: name.into(), ty: ty.into(), dims: vec![] };
        let fields = vec![field("b", Atomic::Byte), field("d", Atomic::Double)];
        let pair =
            model.add_type(root, UserType { name: "pair".into(), kind: UserKind::Compound(fields) })?;
        for (name, ty) in [("v", Atomic::Short.into()), ("p", TypeRef::User(pair))] {
            let var = model.add_variable(root, name, ty, &dims)?;
            if let Some(variable) = model.variable_mut(var) {
                variable.storage = Storage::Chunked(vec![2, 4]);
                variable.filters = vec![CodecSpec::hdf5(1, &[4])];
            }
        }
        Ok(())
    });
    edited.unwrap();
    dataset
}

fn bytes(element: usize, count: u64) -> Vec<u8> {
    (0..element as u64 * count).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect()
}

/// The elements of a box of a row-major array of `SHAPE`.
fn cut(all: &[u8], element: usize, start: &[u64], count: &[u64]) -> Vec<u8> {
    let at = |i: u64, j: u64| usize::try_from(i * SHAPE[1] + j).unwrap() * element;
    let rows = start[0]..start[0] + count[0];
    rows.flat_map(|i| all[at(i, start[1])..at(i, start[1] + count[1])].to_vec()).collect()
}

#[test]
fn chunks_that_others_encode_are_those_of_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, ending) in [(Kind::Nc4, "nc"), (Kind::NcZarr, "zarr"), (Kind::Zarr3, "v3.zarr")] {
        let (ours, other) = (session(), session());
        let url = |name: &str| folder.path().join(format!("{name}.{ending}")).to_str().unwrap().to_owned();
        let (joint, alone) = (create(&url("joint"), kind, &ours), create(&url("alone"), kind, &ours));
        for (name, element) in [("v", 2), ("p", 9)] {
            let all = bytes(element, 35);
            let (variable, single) = (joint.variable(name).unwrap(), alone.variable(name).unwrap());
            single.write_bytes(&Selection::slab(&[0, 0], &SHAPE), &all).unwrap();
            variable.grow_to(&SHAPE).unwrap();
            // Another process encodes the chunks with the text of the encoder, in any order.
            let text = variable.encoder().unwrap().to_text().unwrap();
            let encoder = Variable::encoder_from_text(&text, &other).unwrap();
            assert_eq!((encoder.path(), encoder.shape()), (variable.path().as_str(), SHAPE.as_slice()));
            let mut chunks = Vec::new();
            for (i, j) in [(2, 1), (0, 0), (1, 0), (0, 1), (2, 0), (1, 1)] {
                let region = encoder.region(&[i, j]).unwrap();
                let part = cut(&all, element, &region.start, &region.count);
                chunks.push(encoder.encode(&[i, j], &part).unwrap());
                assert_eq!(chunks.last(), Some(&variable.encode_chunk(&[i, j], &part).unwrap()), "{kind:?}");
            }
            variable.write_encoded(chunks).unwrap();
        }
        joint.close().unwrap();
        alone.close().unwrap();
        let open = |name: &str| Dataset::open_with(&url(name), &OpenOptions::new(), &ours).unwrap();
        let (joint, alone) = (open("joint"), open("alone"));
        for (name, element) in [("v", 2), ("p", 9)] {
            let read = |dataset: &Dataset| {
                let mut out = vec![0; element * 35];
                dataset.variable(name).unwrap().read_bytes_into(&Selection::all(&SHAPE), &mut out).unwrap();
                out
            };
            assert_eq!(read(&joint), bytes(element, 35), "{kind:?} {name}");
            assert_eq!(read(&alone), read(&joint), "{kind:?} {name}");
            // A handle for reading has the same codec chain.
            let variable = joint.variable(name).unwrap();
            let part = cut(&bytes(element, 35), element, &[4, 4], &[1, 3]);
            let chunk = variable.encode_chunk(&[2, 1], &part).unwrap();
            assert_eq!(chunk, alone.variable(name).unwrap().encode_chunk(&[2, 1], &part).unwrap());
        }
    }
}

#[test]
fn chunks_are_cut_out_of_boxes_and_copied_only_if_they_are_not_contiguous() {
    let session = session();
    let dataset = create("memory://cut/a.zarr", Kind::NcZarr, &session);
    for (name, element) in [("v", 2), ("p", 9)] {
        let variable = dataset.variable(name).unwrap();
        variable.grow_to(&SHAPE).unwrap();
        let (encoder, all) = (variable.encoder().unwrap(), bytes(element, 35));
        let boxes = [
            // One chunk; chunks that follow one another; chunks side by side; the end of the array.
            ([0, 0], [2, 4], true),
            ([0, 0], [4, 4], true),
            ([2, 4], [3, 3], true),
            ([0, 0], [5, 7], false),
            ([2, 0], [2, 7], false),
        ];
        for (start, count, is_lent) in boxes {
            let (region, within) =
                (Region { start: start.to_vec(), count: count.to_vec() }, cut(&all, element, &start, &count));
            for cell in encoder.whole_chunks(&region).unwrap() {
                let chunk = encoder.region(&cell).unwrap();
                let found = encoder.cut(&region, &within, &cell).unwrap();
                assert_eq!(
                    *found,
                    cut(&all, element, &chunk.start, &chunk.count),
                    "{name} {region:?} {cell:?}"
                );
                let is_lent = is_lent || chunk.count[0] == 1;
                assert_eq!(matches!(found, Cow::Borrowed(_)), is_lent, "{name} {region:?} {cell:?}");
            }
            assert!(encoder.cut(&region, &within[1..], &[0, 0]).is_err());
        }
    }
}

#[test]
fn chunks_that_do_not_fit_are_refused_with_their_number() {
    let session = session();
    let dataset = create("memory://encoded/a.zarr", Kind::NcZarr, &session);
    let variable = dataset.variable("v").unwrap();
    variable.grow_to(&SHAPE).unwrap();
    let encoder = variable.encoder().unwrap();
    for (cell, len) in [(vec![3, 0], 16), (vec![0, 2], 16), (vec![0], 16), (vec![0, 0], 15), (vec![2, 1], 16)]
    {
        let error = encoder.encode(&cell, &vec![0; len]).unwrap_err();
        assert_eq!((error.kind(), error.place().chunk.as_ref()), (ErrorKind::Invalid, Some(&cell)));
        assert_eq!(error.place().path.as_deref(), Some("/v"));
    }
    let chunk = encoder.encode(&[0, 0], &[0; 16]).unwrap();
    for chunks in [
        vec![chunk.clone(), chunk.clone()],
        vec![EncodedChunk { cell: vec![9, 0], ..chunk.clone() }],
        vec![EncodedChunk { mask: 1, ..chunk }],
    ] {
        let error = variable.write_encoded(chunks).unwrap_err();
        assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Invalid, Some("/v")));
    }
    assert_eq!(variable.grow_to(&[5, 8]).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn a_text_that_is_no_encoder_is_refused() {
    let session = session();
    let dataset = create("memory://encoded/a.zarr", Kind::NcZarr, &session);
    let text = dataset.variable("p").unwrap().encoder().unwrap().to_text().unwrap();
    assert!(Variable::encoder_from_text(&text, &session).is_ok());
    let doctored = [
        ("\"encoder\":1", "\"encoder\":2"),
        ("\"order\":\"little\",\"type\"", "\"order\":\"big\",\"type\""),
        ("\"shape\":[0,7]", "\"shape\":[0]"),
        ("\"regular\":[2,4]", "\"regular\":[2,0]"),
        ("\"atomic\":\"double\"", "\"atomic\":\"string\""),
        ("\"compound\":9", "\"compound\":8"),
        ("\"v2\":{", "\"v4\":{"),
        ("zlib", "nothing"),
        ("{", "["),
    ];
    for (from, to) in doctored {
        assert!(text.contains(from), "{from} in {text}");
        let error = Variable::encoder_from_text(&text.replacen(from, to, 1), &session).unwrap_err();
        assert_ne!(error.kind(), ErrorKind::Internal, "{to}: {error}");
    }
    for cut in 0..text.len() {
        assert!(Variable::encoder_from_text(&text[..cut], &session).is_err(), "{cut}");
    }
}
