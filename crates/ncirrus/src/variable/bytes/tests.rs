#![expect(clippy::cast_possible_truncation, reason = "small numbers of the tests")]
use crate::{
    Atomic, CodecSpec, CreateOptions, Dataset, DimensionLen, EnumMember, ErrorKind, Field, Kind, OpenOptions,
    PointSelection, Selection, Session, Storage, TypeRef, UserKind, UserType, Values, Variable,
};
use std::path::Path;

const KINDS: [(Kind, &str); 4] =
    [(Kind::Nc4, "a.nc"), (Kind::NcZarr, "a.zarr"), (Kind::Zarr3, "b.zarr"), (Kind::Nc3, "c.nc")];

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

fn field(name: &str, ty: TypeRef, dims: &[u64]) -> Field {
    Field { name: name.into(), ty, dims: dims.to_vec() }
}

/// A dataset with variables `v(7)` of numbers, `s(7)` of text, and, for kinds that have them, others of fixed size.
fn create(url: &str, kind: Kind, session: &Session) -> Dataset {
    let dataset = Dataset::create_with(url, &CreateOptions::new().kind(kind), session).unwrap();
    let edited = dataset.edit(|model| {
        let root = model.root();
        let n = model.add_dimension(root, "n", DimensionLen::Fixed(7))?;
        model.add_variable(root, "v", Atomic::Short.into(), &[n])?;
        model.add_variable(root, "c", Atomic::Char.into(), &[n])?;
        if kind == Kind::Nc3 {
            return Ok(());
        }
        let mut ty = |name: &str, kind: UserKind| model.add_type(root, UserType { name: name.into(), kind });
        let raw = TypeRef::User(ty("raw", UserKind::Opaque(3))?);
        let members =
            vec![EnumMember { name: "no".into(), value: 0 }, EnumMember { name: "yes".into(), value: 300 }];
        let answer = TypeRef::User(ty("answer", UserKind::Enum { base: Atomic::UShort, members })?);
        let inner = UserKind::Compound(vec![field("s", Atomic::Short.into(), &[]), field("r", raw, &[2])]);
        let inner = TypeRef::User(ty("inner", inner)?);
        let pair = UserKind::Compound(vec![
            field("b", Atomic::Byte.into(), &[]),
            field("d", Atomic::Double.into(), &[2]),
            field("i", inner, &[2]),
            field("a", answer, &[]),
        ]);
        let pair = TypeRef::User(ty("pair", pair)?);
        for (name, ty) in [("o", raw), ("e", answer), ("p", pair), ("s", Atomic::String.into())] {
            model.add_variable(root, name, ty, &[n])?;
        }
        Ok(())
    });
    edited.unwrap();
    dataset
}

/// Bytes of `count` elements of `len` bytes each, in which every number is valid for the type.
fn bytes(name: &str, len: usize, count: usize) -> Vec<u8> {
    match name {
        "e" => (0..count).flat_map(|at| (300 * (at as u16 % 2)).to_ne_bytes()).collect(),
        "p" => (0..count).flat_map(|at| pair(at as u8)).collect(),
        _ => (0..len * count).map(|at| (at * 7 + 1) as u8).collect(),
    }
}

/// A compound in the machine's byte order, without padding.
fn pair(at: u8) -> Vec<u8> {
    let mut bytes = vec![at];
    bytes.extend([f64::from(at) * 0.5, -1.0].iter().flat_map(|number| number.to_ne_bytes()));
    for inner in 0..2i16 {
        bytes.extend((i16::from(at) * 300 + inner).to_ne_bytes());
        bytes.extend([at, 1, 2, 3, 4, at]);
    }
    bytes.extend((300 * (u16::from(at) % 2)).to_ne_bytes());
    bytes
}

fn read(variable: &Variable, selection: &Selection) -> Vec<u8> {
    let count = usize::try_from(selection.element_count().unwrap()).unwrap();
    let mut out = vec![0xaa; variable.packed_len().unwrap() * count];
    variable.read_bytes_into(selection, &mut out).unwrap();
    out
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn every_type_of_fixed_size_is_written_and_read_as_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, name) in KINDS {
        let (session, url) = (session(), path(folder.path(), name));
        let dataset = create(&url, kind, &session);
        let lens = [("v", 2), ("c", 1), ("o", 3), ("e", 2), ("p", 1 + 16 + 2 * 8 + 2)];
        let lens = &lens[..if kind == Kind::Nc3 { 2 } else { 5 }];
        for (name, len) in lens {
            let variable = dataset.variable(name).unwrap();
            assert_eq!(variable.packed_len(), Some(*len), "{kind:?} {name}");
            variable.write_bytes(&Selection::all(&[7]), &bytes(name, *len, 7)).unwrap();
            // Also chunks that are partly written, and strides.
            let odd = Selection::strided(&[1], &[3], &[2]);
            variable.write_bytes(&odd, &bytes(name, *len, 3)).unwrap();
        }
        let check = |dataset: &Dataset| {
            for (name, len) in lens {
                let variable = dataset.variable(name).unwrap();
                let (mut all, odd) = (bytes(name, *len, 7), bytes(name, *len, 3));
                for at in 0..3 {
                    let place = (2 * at + 1) * len;
                    all[place..place + len].copy_from_slice(&odd[at * len..(at + 1) * len]);
                }
                assert_eq!(read(&variable, &Selection::all(&[7])), all, "{kind:?} {name}");
                let picked = crate::AxisSelection::Indices(vec![5, 0, 5]);
                let chosen = [5, 0, 5].map(|at: usize| all[at * len..(at + 1) * len].to_vec()).concat();
                assert_eq!(read(&variable, &Selection::new(vec![picked])), chosen, "{kind:?} {name}");
                let points = PointSelection::new(vec![vec![5, 0, 5]]).unwrap();
                let mut out = vec![0; 3 * len];
                variable.read_points_into(&points, &mut out).unwrap();
                assert_eq!(out, chosen, "{kind:?} {name}");
                let values = variable.values(&Selection::all(&[7])).unwrap();
                let ty = variable.ty().unwrap();
                let model = dataset.snapshot();
                assert_eq!(ncirrus_engine::convert::unpack(&model, ty, &all).unwrap(), values);
            }
        };
        check(&dataset);
        dataset.close().unwrap();
        check(&Dataset::open_with(&url, &OpenOptions::new(), &session).unwrap());
        check(&Dataset::update_with(&url, &OpenOptions::new(), &session).unwrap());
    }
}

#[test]
fn buffers_that_do_not_fit_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (session, url) = (session(), path(folder.path(), "a.nc"));
    let dataset = create(&url, Kind::Nc4, &session);
    let (s, o) = (dataset.variable("s").unwrap(), dataset.variable("o").unwrap());
    assert_eq!(s.packed_len(), None);
    let all = Selection::all(&[7]);
    let points = PointSelection::new(vec![vec![3, 7]]).unwrap();
    let none = PointSelection::new(vec![vec![3]]).unwrap();
    let check = |dataset: &Dataset, written: bool| {
        let (s, o) = (dataset.variable("s").unwrap(), dataset.variable("o").unwrap());
        let mut errors = vec![
            (s.read_bytes_into(&all, &mut [0; 7]), "/s", "no fixed size"),
            (o.read_bytes_into(&all, &mut [0; 20]), "/o", "20 bytes"),
            (o.read_points_into(&none, &mut [0; 2]), "/o", "2 bytes"),
            (o.point_values(&points).map(|_| ()), "/o", "index 7 of point 1"),
        ];
        if written {
            errors.push((o.write_bytes(&all, &[0; 20]), "/o", "20 bytes"));
            errors.push((o.write_bytes(&all, &[0; 18]), "/o", "6 values"));
            errors.push((s.write_bytes(&all, &[0; 7]), "/s", "no fixed size"));
        }
        for (error, path, reason) in errors {
            let error = error.unwrap_err();
            assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Invalid, Some(path)));
            assert!(error.to_string().contains(reason), "{error}");
        }
    };
    check(&dataset, true);
    s.write_values(&all, &Values::String(["a", "", "c", "d", "e", "f", "g"].map(Some).into_iter().collect()))
        .unwrap();
    o.write_bytes(&all, &[1; 21]).unwrap();
    dataset.close().unwrap();
    check(&Dataset::open_with(&url, &OpenOptions::new(), &session).unwrap(), false);
}

#[test]
fn text_is_read_by_points() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, name) in &KINDS[..3] {
        let (session, url) = (session(), path(folder.path(), name));
        let dataset = create(&url, *kind, &session);
        let texts = |list: &[&str]| Values::String(list.iter().map(Some).collect());
        let words = ["zero", "one", "two", "three", "four", "five", "six"];
        dataset.variable("s").unwrap().write_values(&Selection::all(&[7]), &texts(&words)).unwrap();
        dataset.close().unwrap();
        let dataset = Dataset::open_with(&url, &OpenOptions::new(), &session).unwrap();
        let points = PointSelection::new(vec![vec![6, 1, 1, 4]]).unwrap();
        let values = dataset.variable("s").unwrap().point_values(&points).unwrap();
        assert_eq!(values, texts(&["six", "one", "one", "four"]), "{kind:?}");
    }
}

/// `v(400, 500)` of `i * 500 + j`, in chunks if a filter is given.
fn plane(url: &str, kind: Kind, chunked: bool, session: &Session) -> Dataset {
    let dataset = Dataset::create_with(url, &CreateOptions::new().kind(kind), session).unwrap();
    let edited = dataset.edit(|model| {
        let root = model.root();
        let dims = [
            model.add_dimension(root, "i", DimensionLen::Fixed(400))?,
            model.add_dimension(root, "j", DimensionLen::Fixed(500))?,
        ];
        let var = model.add_variable(root, "v", Atomic::Int.into(), &dims)?;
        if let Some(variable) = model.variable_mut(var).filter(|_| chunked) {
            variable.storage = Storage::Chunked(vec![100, 90]);
            variable.filters = vec![CodecSpec::Hdf5 { id: 1, optional: false, parameters: vec![1] }];
        }
        Ok(())
    });
    edited.unwrap();
    let numbers: Vec<i32> = (0..200_000).collect();
    dataset.variable("v").unwrap().write_all(&numbers).unwrap();
    dataset.close().unwrap();
    Dataset::open_with(url, &OpenOptions::new(), session).unwrap()
}

#[test]
fn a_million_points_decode_each_chunk_once() {
    let folder = tempfile::tempdir().unwrap();
    let (session, url) = (session(), path(folder.path(), "a.nc"));
    let dataset = plane(&url, Kind::Nc4, true, &session);
    let variable = dataset.variable("v").unwrap();
    // Of 4 x 6 chunks, those of the first three rows.
    let at = |point: u64, len: u64| (point.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % len;
    let rows: Vec<u64> = (0..1_000_000).map(|point| at(point, 300)).collect();
    let columns: Vec<u64> = (0..1_000_000).map(|point| at(point + 77, 500)).collect();
    let points = PointSelection::new(vec![rows.clone(), columns.clone()]).unwrap();
    let mut out = vec![0u8; 4_000_000];
    let before = session.statistics();
    variable.read_points_into(&points, &mut out).unwrap();
    let after = session.statistics();
    assert_eq!(after.chunks_decoded - before.chunks_decoded, 18);
    assert!(after.requests - before.requests <= 18 + 2, "{before:?} {after:?}");
    let expected = rows.iter().zip(&columns).map(|(i, j)| (i * 500 + j) as i32);
    assert!(out.as_chunks().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).eq(expected));
    // A handle for writing gives the same.
    let update = Dataset::update_with(&url, &OpenOptions::new(), &session).unwrap();
    let before = session.statistics();
    let values = update.variable("v").unwrap().point_values(&points).unwrap();
    assert_eq!(values.as_bytes(), Some(out.as_slice()));
    let after = session.statistics();
    assert!(after.requests - before.requests <= 18 + 2, "{before:?} {after:?}");
}

#[test]
fn of_contiguous_data_only_what_is_needed_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (session, url) = (session(), path(folder.path(), "a.nc"));
    let dataset = plane(&url, Kind::Nc3, false, &session);
    let variable = dataset.variable("v").unwrap();
    // Two neighbourhoods, far from each other.
    let points = PointSelection::new(vec![vec![399, 0, 399, 0], vec![1, 3, 0, 9]]).unwrap();
    let mut out = [0u8; 16];
    let before = session.statistics();
    variable.read_points_into(&points, &mut out).unwrap();
    let after = session.statistics();
    assert_eq!(after.requests - before.requests, 2, "{before:?} {after:?}");
    assert!(after.bytes_fetched - before.bytes_fetched <= 64, "{before:?} {after:?}");
    let numbers: Vec<i32> = out.as_chunks().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect();
    assert_eq!(numbers, [199_501, 3, 199_500, 9]);
    assert_eq!(variable.point_values(&points).unwrap(), Values::Int(numbers));
}
