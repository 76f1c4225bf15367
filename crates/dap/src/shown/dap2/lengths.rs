//! How long strings are, as a server declares it (docs/spec/dap.md 2.6, 5.1).
use crate::literal::integer;
use crate::{Das, DasItem, WireName};

/// The bytes of the longest string of the variable or member at a path, if its attributes state them.
pub(crate) fn declared_length(das: &Das, path: &[&WireName]) -> Option<u64> {
    let whole = path.iter().map(|name| name.wire.as_str()).collect::<Vec<_>>().join(".");
    let items = inside(&das.items, &whole);
    let items =
        items.or_else(|| path.iter().try_fold(&das.items[..], |items, name| inside(items, &name.wire)))?;
    let folded = inside(items, "DODS").and_then(|special| number(special, "strlen"));
    folded.or_else(|| number(items, "string_length"))
}

/// What is in the container of that name.
fn inside<'a>(items: &'a [DasItem], name: &str) -> Option<&'a [DasItem]> {
    items.iter().find_map(|item| match item {
        DasItem::Container { name: own, items } if own.wire == name => Some(items.as_slice()),
        _ => None,
    })
}

fn number(items: &[DasItem], name: &str) -> Option<u64> {
    items.iter().find_map(|item| match item {
        DasItem::Attribute(attribute) if attribute.name.wire == name => {
            u64::try_from(integer(attribute.texts.first()?)?).ok()
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_layout::Limits;

    #[test]
    fn lengths_are_declared_by_path_or_nested() {
        let das = "Attributes { s { DODS { Int32 strlen 70; String dimName \"n\"; } } t { Int32 string_length 9; }
            g { m { Int32 string_length 5; } } g.n { Int32 string_length 6; } w { Int32 string_length -1; } }";
        let das = Das::parse(das.as_bytes(), &Limits::default()).unwrap();
        let found = |path: &str| {
            let names: Vec<WireName> = path.split('.').map(WireName::new).collect();
            declared_length(&das, &names.iter().collect::<Vec<_>>())
        };
        let paths = ["s", "t", "g.m", "g.n", "w", "x", "g"];
        assert_eq!(paths.map(found), [Some(70), Some(9), Some(5), Some(6), None, None, None]);
    }
}
