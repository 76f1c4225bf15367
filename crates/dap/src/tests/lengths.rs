//! Bytes of answers as plans count them: those that the specification has (docs/spec/dap.md 3.1), without the counts of the
//! outermost array.
use super::traps::{dap2_with, whole};
use crate::place::DapView;
use crate::shown::dap2::Dap2Facts;
use ncirrus_layout::{QueryBox, QuerySource as _};

/// Bytes of the request for all variables of a DDS, of which the first is a sequence of three rows if it is one; and whether
/// there are exactly so many.
fn bytes(dds: &str) -> (u64, bool) {
    let facts = Dap2Facts { rows: [(vec![0], Ok(3))].into(), ..Dap2Facts::default() };
    let (model, source) = dap2_with(dds, "", DapView::Native, &facts);
    let boxes: Vec<QueryBox> = (0..model.variables().len()).map(|at| whole(&source, at)).collect();
    let [query] = source.plan(&boxes).unwrap().try_into().unwrap();
    (query.bytes, query.is_exact)
}

#[test]
fn plans_count_the_bytes_that_are_sent() {
    let cases = [
        ("Byte a;", 4),
        ("Byte a[x = 5];", 5),
        ("Int16 a[x = 3];", 12),
        ("Structure { Byte a; Float64 b; } s;", 4 + 8),
        ("Structure { Byte a[5]; Int16 b[2]; } s;", (8 + 8) + (8 + 8)),
        ("Structure { Byte a; Structure { Byte b; Byte c[2]; } t[2]; } s[3];", 3 * (4 + (4 + 2 * (4 + 12)))),
        // Members with shared dimensions are variables of their own.
        ("Structure { Byte a; } s[x = 3];", 3 * 4),
        ("Structure { Byte a[y = 5]; Float64 b[y = 2]; } s[x = 3];", 3 * (8 + 8) + 3 * (8 + 16)),
        ("Structure { Structure { Byte a; } t[y = 2]; } s[x = 3];", 3 * (4 + 2 * 4)),
        ("Sequence { Byte a; } q;", 3 * (4 + 4)),
        ("Sequence { Byte a; Byte b[5]; Int16 c[2]; } q;", 3 * (4 + 4 + (8 + 8) + (8 + 8))),
        (
            "Sequence { Structure { Byte a; Byte b; } s; Structure { Byte c; } t[2]; } q;",
            3 * (4 + 8 + (4 + 8)),
        ),
        ("Sequence { Structure { Byte a; } t[z = 2]; } q;", 3 * (4 + (4 + 8))),
    ];
    for (dds, expected) in cases {
        assert_eq!(bytes(dds), (expected, true), "{dds}");
    }
    for dds in ["String a;", "Structure { Byte a; String b; } s;", "Sequence { Byte a; Url b; } q;"] {
        assert!(!bytes(dds).1, "{dds}");
    }
}
