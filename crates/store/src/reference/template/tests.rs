use super::*;
use proptest::prelude::*;

fn rendered(text: &str) -> Result<String> {
    let templates = serde_json::json!({"u": "server/path", "f": "<{{c}}-{{n + 1}}>"});
    let mut scope = TemplateScope::of(Some(&templates))?;
    scope.set_number("i", 7);
    scope.set_text("name", "t2m");
    ReferenceTemplate::parse(text)?.render(&scope)
}

#[test]
fn what_the_specification_uses_is_understood() {
    for (text, expected) in [
        ("plain", "plain"),
        ("http://{{u}}_{{i}}", "http://server/path_7"),
        ("{{(i + 1) * 1000}}", "8000"),
        ("{{ f(c='text', n=i) }}/{{name}}", "<text-8>/t2m"),
        ("{{ -7 // 2 }} {{ -7 % 2 }} {{ 2 ** 10 }} {{ -2 ** 2 }}", "-4 1 1024 -4"),
        ("{{ '%03d' % i }}{{ \"%d.nc\" % (i * 2) }}{{ '%s' % name }}", "00714.nct2m"),
        ("{{ name ~ '/' ~ i }}{{ 'a' + 'b' }}", "t2m/7ab"),
    ] {
        assert_eq!(rendered(text).unwrap(), expected, "{text}");
    }
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    for text in ["{{ i / 2 }}", "{{ name | upper }}", "{{ name.x }}", "{{ f('text') }}", "{{ }}", "{{ 1 2 }}"]
    {
        let error = rendered(text).unwrap_err();
        assert!(error.to_string().contains("expression"), "{text}: {error}");
    }
    for text in ["{{ other }}", "{{ i // 0 }}", "{{ 9 ** 99 }}", "{{ i", "{{ g(c=1) }}", "{{ name - 1 }}"] {
        assert_eq!(rendered(text).unwrap_err().kind(), ncirrus_layout::ErrorKind::Malformed, "{text}");
    }
    assert!(rendered("{{ '%0999d' % i }}").is_err());
    assert!(rendered(&format!("{{{{ {}1{} }}}}", "(".repeat(10_000), ")".repeat(10_000))).is_err());
    assert!(rendered(&format!("{{{{ {}1 }}}}", "-".repeat(10_000))).is_err());
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in "[{}()a-c0-9+*/% '~=,.-]{0,40}") {
        let _ = rendered(&text);
        let _ = rendered(&format!("{{{{{text}}}}}"));
    }

    #[test]
    fn arithmetic_is_that_of_python(a in -1000i64..1000, b in 1i64..50) {
        let text = format!("{{{{ ({a}) // {b} * {b} + ({a}) % {b} }}}}");
        prop_assert_eq!(rendered(&text).unwrap(), a.to_string());
        prop_assert_eq!(rendered(&format!("{{{{ ({a}) % {b} }}}}")).unwrap(), a.rem_euclid(b).to_string());
    }
}
