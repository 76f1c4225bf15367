use crate::testing::MemoryMaster;
use ncirrus_model::Values;
use rstest::rstest;

#[rstest]
#[case::neither("cfa_dimensions", "neither cfa_group nor cfa_array")]
#[case::obsolete("nca_array", "before CFA-0.4")]
fn a_cfa_variable_needs_a_description(#[case] attribute: &str, #[case] message: &str) {
    let master = MemoryMaster::new()
        .dims("x=6")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "cf_role", "cfa_variable")
        .text("v", attribute, "x");
    let error = master.open().source("v").unwrap_err();
    assert!(error.message().contains(message), "{error}");
}

#[test]
fn other_roles_are_no_aggregation() {
    let master =
        MemoryMaster::new().dims("x=6").var("v", Values::Int(vec![0])).text("v", "cf_role", "timeseries_id");
    assert!(master.open_with(&ncirrus_layout::OpenOptions::default()).unwrap().is_none());
}

#[test]
fn an_attribute_that_is_no_text_is_refused() {
    let master = MemoryMaster::new().dims("x=6").var("v", Values::Double(vec![0.0])).put(
        "v",
        "aggregated_dimensions",
        Values::Int(vec![1]),
    );
    assert!(master.open().source("v").unwrap_err().message().contains("aggregated_dimensions"));
}
