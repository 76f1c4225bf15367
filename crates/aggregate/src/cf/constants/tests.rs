use crate::testing::{MemoryMaster, ints, strings};
use ncirrus_layout::TileSource;
use ncirrus_model::Values;
use rstest::rstest;

/// `v(x)` of two fragments of one value each (CF-1.13), of the type of `fill`, which is its missing value.
fn master(fill: Values, values: Values) -> MemoryMaster {
    MemoryMaster::new()
        .dims("x=6 fx=2 j=1 i=2")
        .var("v", fill.clone())
        .put("v", "missing_value", fill)
        .text("v", "aggregated_dimensions", "x")
        .text("v", "aggregated_data", "map: fm unique_values: uv")
        .var("fm(j i)", ints(&[3, 3]))
        .var("uv(fx)", values)
}

fn constants(master: &MemoryMaster) -> Vec<Values> {
    let values = master.open().all("v").unwrap().into_iter().map(|tile| match tile.source {
        TileSource::Constant(value) => value,
        other => panic!("no constant: {other:?}"),
    });
    values.collect()
}

#[test]
fn unique_values_are_constants_and_missing_ones_stay_missing() {
    let values = Values::Double(vec![7.5, -5.0]);
    let master =
        master(Values::Double(vec![-1.0]), values).put("uv", "_FillValue", Values::Double(vec![-5.0]));
    assert_eq!(constants(&master), [Values::Double(vec![7.5]), Values::Double(vec![-1.0])]);
}

#[test]
fn a_value_that_was_never_written_is_missing_in_a_variable_of_another_type() {
    let values = Values::Double(vec![7.5, 9.969_209_968_386_869e36]);
    let master = master(Values::Short(vec![-1]), values);
    assert_eq!(constants(&master), [Values::Double(vec![7.5]), Values::Short(vec![-1])]);
}

#[rstest]
#[case::nan(Values::Float(vec![3.0, f32::NAN]), "_FillValue", Values::Float(vec![f32::NAN]))]
#[case::missing_value(Values::Float(vec![3.0, -8.0]), "missing_value", Values::Float(vec![-9.0, -8.0]))]
fn what_the_values_themselves_call_missing_is(
    #[case] values: Values,
    #[case] name: &str,
    #[case] own: Values,
) {
    let master = master(Values::Float(vec![-1.0]), values).put("uv", name, own);
    assert_eq!(constants(&master), [Values::Float(vec![3.0]), Values::Float(vec![-1.0])]);
}

#[test]
fn a_byte_that_was_never_written_is_a_value() {
    let master = master(Values::UByte(vec![0]), Values::UByte(vec![3, 255]));
    assert_eq!(constants(&master), [Values::UByte(vec![3]), Values::UByte(vec![255])]);
}

#[test]
fn a_fragment_of_draft_b_may_have_a_value_instead_of_a_dataset() {
    let master = master(Values::Double(vec![-1.0]), Values::Double(vec![7.5, -9.0]))
        .put("uv", "_FillValue", Values::Double(vec![-9.0]))
        .var("fu(fx)", strings(&["", "b.nc"]))
        .var("fi", strings(&["v"]))
        .text("v", "aggregated_data", "shape: fm location: fu address: fi value: uv");
    let opened = master.open();
    assert_eq!(opened.paths(), ["/v"]);
    let tiles = opened.all("v").unwrap();
    assert_eq!(tiles[0].source, TileSource::Constant(Values::Double(vec![7.5])));
    assert!(matches!(&tiles[1].source, TileSource::Fragment(fragment) if fragment.names == ["b.nc".into()]));
}
