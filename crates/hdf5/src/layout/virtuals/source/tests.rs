use super::*;

#[test]
fn paths_of_variables_are_plain() {
    assert_eq!(variable_path("d"), "/d");
    assert_eq!(variable_path("//group/./d"), "/group/d");
    assert_eq!(variable_path("/group/_nc4_non_coord_time"), "/group/time");
    assert_eq!(variable_path("_nc4_non_coord_"), "/_nc4_non_coord_");
}
