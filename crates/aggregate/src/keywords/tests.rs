use super::{KeywordGeneration, TermsContent, pairs, terms};
use proptest::prelude::*;
use rstest::rstest;

#[rstest]
#[case::cf113("map: m uris: u identifiers: i", KeywordGeneration::Cf113)]
#[case::any_order("identifiers: i\n  map: m\n  uris: u", KeywordGeneration::Cf113)]
#[case::values("map: m unique_values: v", KeywordGeneration::Cf113)]
#[case::draft_a("map: m location: u variable: i", KeywordGeneration::DraftA)]
#[case::draft_a_values("map: m unique_value: v", KeywordGeneration::DraftA)]
#[case::draft_b("shape: m location: u address: i", KeywordGeneration::DraftB)]
#[case::draft_b_values("shape: m value: v", KeywordGeneration::DraftB)]
#[case::draft_b_both("shape: m location: u address: i value: v", KeywordGeneration::DraftB)]
#[case::cfa06("location: m file: u format: f address: i", KeywordGeneration::Cfa06)]
#[case::cfa06_case("LOCATION: m File: u Format: f ADDRESS: i", KeywordGeneration::Cfa06)]
fn keywords_determine_the_convention(#[case] text: &str, #[case] generation: KeywordGeneration) {
    let terms = terms(text, false).unwrap();
    assert_eq!(terms.generation, generation);
    assert_eq!(terms.map, "m");
    match terms.content {
        TermsContent::Datasets { names, variables, .. } => {
            assert_eq!((names.as_str(), variables.as_str()), ("u", "i"));
        }
        TermsContent::Values(values) => assert_eq!(values, "v"),
    }
}

#[rstest]
#[case::mixed("map: m uris: u identifiers: i unique_values: v")]
#[case::no_map("uris: u identifiers: i")]
#[case::no_identifiers("map: m uris: u")]
#[case::only_a_map("map: m")]
#[case::location_alone("map: m location: u address: i")]
#[case::upper_case("MAP: m URIS: u IDENTIFIERS: i")]
#[case::extra("map: m uris: u identifiers: i tracking_id: t")]
#[case::no_format("location: m file: u address: i")]
#[case::twice("map: m map: n uris: u identifiers: i")]
#[case::twice_in_other_cases("Location: m location: n file: u format: f address: i")]
#[case::no_pairs("map uris identifiers")]
#[case::half("map: m uris: u identifiers:")]
#[case::empty("")]
fn other_sets_of_keywords_are_refused(#[case] text: &str) {
    assert!(terms(text, false).is_err());
}

#[test]
fn refusals_name_the_keywords() {
    let error = terms("map: m colour: c", false).unwrap_err();
    assert!(error.message().contains("map, colour"), "{error}");
}

#[test]
fn terms_that_cfa06_does_not_define_are_listed_apart() {
    let terms = terms("location: m file: u format: f address: i tracking_id: t", false).unwrap();
    assert_eq!(terms.others, [("tracking_id".to_owned(), "t".to_owned())]);
}

#[test]
fn lenient_reading_takes_keywords_in_any_case() {
    assert_eq!(terms("MAP: m URIS: u IDENTIFIERS: i", true).unwrap().generation, KeywordGeneration::Cf113);
}

#[test]
fn a_blank_before_the_colon_does_no_harm() {
    assert_eq!(pairs("map : m").unwrap(), [("map".to_owned(), "m".to_owned())]);
}

#[test]
fn every_beginning_of_an_attribute_is_refused_or_names_other_variables() {
    let text = "map: fm uris: fu identifiers: fi";
    for end in 0..text.len() - 1 {
        assert!(terms(&text[..end], false).is_err(), "{end}");
    }
}

proptest! {
    #[test]
    fn any_text_is_pairs_or_an_error(text in "[a-z: \n]{0,40}") {
        let _ = terms(&text, false);
        let _ = terms(&text, true);
    }
}
