use super::*;
use ncirrus::ErrorKind;
use ncirrus_model::{Atomic, Attribute, DimensionLen, Storage};
use proptest::prelude::*;

fn geometry(shape: &[u64], chunk: &[u64], element: u64) -> VariableGeometry {
    let axes = shape.iter().map(|len| DimensionLen::Fixed(*len)).collect();
    VariableGeometry { axes, chunk: chunk.to_vec(), element, whole: false }
}

#[test]
fn chunks_grow_along_the_slowest_axis_by_whole_chunks() {
    let profile = Profile::cmip7();
    for (shape, chunk, element, fitted) in [
        (&[1980, 144, 192][..], &[1, 144, 192][..], 4, Some(vec![38, 144, 192])),
        (&[1800, 144, 192], &[4, 72, 192], 4, Some(vec![76, 72, 192])),
        // One step more would make these large enough.
        (&[1980, 144, 192], &[37, 144, 192], 4, None),
        (&[10, 1000, 1000], &[1, 10, 10], 4, Some(vec![10, 110, 1000])),
        (&[10, 100], &[1, 100], 4, Some(vec![10, 100])),
        (&[10, 100], &[10, 100], 4, None),
    ] {
        assert_eq!(geometry(shape, chunk, element).fitted(&profile), fitted, "{shape:?} {chunk:?}");
    }
}

#[test]
fn cloud_divides_large_chunks_and_leaves_those_of_a_few_mebibytes() {
    let profile = Profile::cloud();
    let large = geometry(&[100, 4000, 4000], &[1, 4000, 4000], 4);
    let fitted = large.fitted(&profile).unwrap();
    assert!(large.byte_len(&fitted) <= 4 << 20, "{fitted:?}");
    assert_eq!(geometry(&[100, 1000, 1000], &[1, 1000, 1000], 4).fitted(&profile), None);
}

#[test]
fn chunks_that_hdf5_cannot_store_are_not_chosen() {
    let mut time = geometry(&[1 << 30], &[512], 8);
    time.whole = true;
    assert!(time.fault(&Profile::cmip7()).is_some());
    assert_eq!(time.fitted(&Profile::cmip7()), None);
}

proptest! {
    #[test]
    fn fitted_chunks_fit(
        axes in prop::collection::vec((1u64..2000, 1u64..2000, any::<bool>()), 1..5),
        element in 1u64..17,
        cmip7 in any::<bool>(),
        whole in any::<bool>(),
    ) {
        let profile = if cmip7 { Profile::cmip7() } else { Profile::cloud() };
        let len = |(len, _, grows): &(u64, u64, bool)| {
            if *grows { DimensionLen::Unlimited(*len) } else { DimensionLen::Fixed(*len) }
        };
        let chunk = axes.iter().map(|(len, chunk, _)| (*chunk).min(*len)).collect();
        let before = VariableGeometry { axes: axes.iter().map(len).collect(), chunk, element, whole };
        if let Some(chunk) = before.fitted(&profile) {
            let after = VariableGeometry { chunk, ..before.clone() };
            prop_assert_eq!(after.fault(&profile), None, "{:?}", after);
            prop_assert_eq!(after.fitted(&profile), None);
        }
    }
}

fn time_series() -> Model {
    let mut model = Model::new();
    let root = model.root();
    let time = model.add_dimension(root, "valid_time", DimensionLen::Unlimited(10)).unwrap();
    let two = model.add_dimension(root, "bnds", DimensionLen::Fixed(2)).unwrap();
    for (name, dims) in
        [("valid_time", vec![time]), ("valid_time_bnds", vec![time, two]), ("other", vec![time])]
    {
        let var = model.add_variable(root, name, Atomic::Double.into(), &dims).unwrap();
        model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![1; dims.len()]);
    }
    let time = model.variable_at("valid_time").unwrap();
    let attributes = model.attributes_mut(NodeId::Variable(time)).unwrap().known_mut();
    attributes.put(Attribute::text("units", "hours since 1970-01-01"));
    attributes.put(Attribute::text("bounds", "valid_time_bnds"));
    model
}

#[test]
fn coordinates_of_time_and_their_bounds_are_one_chunk() {
    let model = time_series();
    let paths = |profile: &Profile| -> Vec<String> {
        profile.whole_variables(&model).into_iter().map(|var| model.variable_path(var)).collect()
    };
    assert_eq!(paths(&Profile::cmip7()), ["/valid_time", "/valid_time_bnds"]);
    let own = Profile::from_toml("a.toml", "whole_times = false\nwhole = [\"other\"]").unwrap();
    assert_eq!(paths(&own), ["/other"]);
}

#[test]
fn profiles_are_read_from_text() {
    let text = "base = \"cmip7\"\nmin_chunk = \"8M\"\nmax_chunk = 33554432\ngrowth = \"balanced\"\n\
                chunks = [\"tas:1,2,3\"]\nfilters = \"*,shuffle|zstd,level=3\"\n";
    let profile = Profile::from_toml("own.toml", text).unwrap();
    assert_eq!((profile.min_chunk_bytes, profile.max_chunk_bytes), (8 << 20, Some(32 << 20)));
    assert_eq!((profile.growth, profile.name.as_str()), (ChunkGrowth::Balanced, "own.toml"));
    assert_eq!((profile.chunks.len(), profile.filters.len()), (1, 1));
    for (text, reason) in [
        ("min_chunk = \"0\"", "min_chunk = 0"),
        ("min_chunk = \"2G\"", "1 GiB"),
        ("min_chunk = \"8M\"\nmax_chunk = \"4M\"", "smaller"),
        ("growth = \"wild\"", "wild"),
        ("min_chunks = 1", "min_chunks"),
        ("base = \"cmip8\"", "cmip8"),
        ("whole = 1", "whole"),
        ("chunks = [\"tas:0\"]", "chunks"),
        ("chunks = [\"time/monthly\"]", "chunks"),
        ("= 1", "own.toml"),
    ] {
        let error = Profile::from_toml("own.toml", text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert!(error.message().contains(reason), "{text}: {error}");
    }
    assert_eq!(Profile::parse("cmip8").unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(Profile::parse("absent.toml").unwrap_err().kind(), ErrorKind::NotFound);
}
