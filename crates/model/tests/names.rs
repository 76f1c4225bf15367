//! netCDF name rules.
use ncirrus_model::{ModelError, check_name, normalize_name};

#[test]
fn names_of_letters_digits_and_most_signs_are_allowed() {
    for name in ["x", "_x", "2d", "a b", "température", "a.b-c+d@e", "x(1)", "日本", "\u{e9}"] {
        assert_eq!(check_name(name).unwrap(), name, "{name:?}");
    }
}

#[test]
fn names_that_break_a_rule_are_refused_with_the_rule() {
    for (name, rule) in [
        ("", "empty"),
        ("a/b", "slash"),
        (" a", "first character"),
        ("-a", "first character"),
        ("a ", "blank"),
        ("a\tb", "control"),
        ("a\u{7f}", "control"),
    ] {
        let error = check_name(name).unwrap_err();
        assert!(
            matches!(&error, ModelError::BadName { reason, .. } if reason.contains(rule)),
            "{name:?}: {error}"
        );
    }
    assert!(check_name(&"x".repeat(256)).is_ok());
    assert!(check_name(&"x".repeat(257)).is_err());
}

#[test]
fn names_are_brought_to_normalization_form_c() {
    assert_eq!(normalize_name("e\u{301}"), "\u{e9}");
    assert_eq!(check_name("e\u{301}").unwrap(), "\u{e9}");
}
