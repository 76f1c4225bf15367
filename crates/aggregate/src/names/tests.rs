use super::{NameSubstitutions, bare, check_format, has_scheme, join};
use crate::subject::OpenChoices;
use ncirrus_model::{Attribute, Attributes};
use rstest::rstest;

fn substitutions(caller: &[(&str, &str)], stored: &str) -> NameSubstitutions {
    let substitutions = caller.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let choices = OpenChoices { lenient: false, substitutions: substitutions.collect() };
    let attributes: Attributes = [Attribute::text("substitutions", stored)].into_iter().collect();
    NameSubstitutions::new(&choices, &attributes).unwrap()
}

#[rstest]
#[case("${A}x.nc", "file:///data/x.nc")]
#[case("x${A}${b_2}${A}", "xfile:///data/yfile:///data/")]
#[case("${a}x.nc", "${a}x.nc")]
#[case("${A", "${A")]
#[case("a${}b${A}", "a${}bfile:///data/")]
#[case("plain", "plain")]
fn names_are_substituted_everywhere(#[case] name: &str, #[case] expected: &str) {
    let all = substitutions(&[], "${A}: file:///data/ ${b_2}: y");
    assert_eq!(all.apply(name).as_ref(), expected);
}

#[test]
fn the_caller_goes_before_what_is_stored() {
    let all = substitutions(&[("A", "mine/")], "${A}: theirs/ ${B}: b/");
    assert_eq!(all.apply("${A}${B}x").as_ref(), "mine/b/x");
}

#[test]
fn names_of_substitutions_may_come_with_or_without_braces() {
    assert_eq!((bare("${A}"), bare("A"), bare("${A")), ("A", "A", "${A"));
}

#[rstest]
#[case("file:///x", true)]
#[case("s3://bucket/x", true)]
#[case("x/y:z", false)]
#[case("C:/x", false)]
#[case("x.nc", false)]
fn urls_are_known_by_their_scheme(#[case] name: &str, #[case] expected: bool) {
    assert_eq!(has_scheme(name), expected);
}

#[rstest]
#[case(None, "a.nc", "a.nc")]
#[case(Some(""), "a.nc", "a.nc")]
#[case(Some("sub/"), "a.nc", "sub/a.nc")]
#[case(Some("s3://b/p"), "a.nc", "s3://b/p/a.nc")]
#[case(Some("sub"), "/abs/a.nc", "/abs/a.nc")]
#[case(Some("sub"), "http://h/a.nc", "http://h/a.nc")]
fn a_base_stands_before_relative_names(#[case] base: Option<&str>, #[case] name: &str, #[case] all: &str) {
    assert_eq!(join(base, name), all);
}

#[rstest]
#[case("nc", true)]
#[case("NC", true)]
#[case("NETCDF3_CLASSIC", true)]
#[case("netCDF", true)]
#[case("PP", false)]
fn only_netcdf_is_accepted(#[case] format: &str, #[case] accepted: bool) {
    assert_eq!(check_format(Some(format)).is_ok(), accepted);
}
