//! Files that are cut off or changed.
use super::described::describe;
use crate::testing::{done, view};
use bytes::Bytes;
use ncirrus_layout::ErrorKind;
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::law::RandomSource;
use rstest::rstest;

fn file(name: &str) -> Option<Bytes> {
    let path = corpus("hdf5")?.join(name);
    Some(std::fs::read(path).expect("a file of the corpus").into())
}

#[rstest]
#[case::new_style("gen/links_soft_ext_latest.h5", 1)]
#[case::old_style("gen/links_soft_ext.h5", 3)]
#[case::shared("gen/c_sohm_earliest.h5", 53)]
#[case::dense("gen/attr_dense_v108.h5", 29)]
#[case::narrow("gen/c_sizes_8_4.h5", 37)]
fn files_that_are_cut_off_are_reported(#[case] name: &str, #[case] stride: usize) {
    let Some(whole) = file(name) else { return };
    for len in (0..whole.len()).step_by(stride) {
        match done(describe(&view(whole.slice(..len)))) {
            Ok(text) => assert!(text.contains("cut off"), "{name}: {len} of {} bytes", whole.len()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Malformed, "{name}: {len} bytes: {error:?}"),
        }
    }
}

/// With checksums everywhere a change is an error, or of something that means nothing.
#[rstest]
#[case("gen/links_soft_ext_latest.h5", 1)]
#[case("gen/links_many_latest_no.h5", 1511)]
#[case("gen/attr_dense_v108.h5", 137)]
fn a_changed_byte_is_an_error_or_means_nothing(#[case] name: &str, #[case] stride: usize) {
    let Some(whole) = file(name) else { return };
    let expected = done(describe(&view(whole.clone()))).expect("a tree");
    let mut random = RandomSource(1);
    let (mut same, mut reported) = (0, 0);
    for at in (0..whole.len()).step_by(stride) {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 1 << random.below(8);
        match done(describe(&view(bytes))) {
            Ok(text) if text == expected => same += 1,
            Ok(text) => {
                let known = |line: &str| {
                    expected.contains(line) || line.contains("error: ") || line.contains("cannot be read")
                };
                let other = text.lines().find(|line| !known(line));
                assert!(other.is_none(), "{name}, byte {at}: {other:?}");
                reported += 1;
            }
            Err(_) => reported += 1,
        }
    }
    assert!(same > 0 && reported > 0, "{same} {reported}");
}

/// Without checksums a change may go unseen, but does no harm.
#[rstest]
#[case("gen/links_soft_ext.h5")]
#[case("gen/c_sizes_8_4.h5")]
#[case("gen/sizes_4_4.h5")]
#[case("gen/ohdr_cont.h5")]
#[case("gen/userblock_earliest.h5")]
#[case("gen/c_sohm_earliest.h5")]
#[case("ext/netcdf-c/ref_groups.h5")]
fn changed_bytes_do_no_harm(#[case] name: &str) {
    let Some(whole) = file(name) else { return };
    let mut random = RandomSource(7);
    for _ in 0..400 {
        let mut bytes = whole.to_vec();
        for _ in 0..=random.below(4) {
            let at = usize::try_from(random.below(whole.len() as u64)).expect("small");
            bytes[at] = [0, 0xff, 1, 8, 0x10, 0x80][usize::try_from(random.below(6)).expect("small")];
        }
        if let Err(error) = done(describe(&view(bytes))) {
            assert!(error.kind() != ErrorKind::Internal, "{name}: {error:?}");
        }
    }
}
