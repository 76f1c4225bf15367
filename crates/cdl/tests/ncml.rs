//! NcML of what the classic model does not have.
use ncirrus_cdl::parse::{ParseOptions, definitions};
use ncirrus_cdl::{PrintOptions, ncml};

/// A text as NcML, and what has no form there.
fn of_text(cdl: &str) -> (String, Vec<(String, String)>) {
    let model = definitions(&cdl.as_bytes(), &ParseOptions::new()).unwrap().model;
    let mut text = Vec::new();
    let lost = ncml(&mut text, &model, "a.nc", &PrintOptions::default()).unwrap();
    (String::from_utf8(text).unwrap(), lost)
}

#[test]
fn groups_enums_structures_and_lists_are_those_of_ncml() {
    let (text, lost) = of_text(
        "netcdf a { types: ubyte enum cloud {Clear = 0, \"R&D\" = 2}; compound inner { short s(2); };
         compound obs { double t; inner i; cloud c; }; int(*) ragged;
         dimensions: x = 3; t = UNLIMITED;
         variables: int64 n; n:units = \"m\"; obs o(x); o:why = \"it\"; ragged r(t); cloud c(x);
         string names(x); names:all = \"x\"; string names:both = \"a|b\", \"c;d\"; cloud :sky = Clear;
         uint64 :most = 18446744073709551615ull; string :one = \"e\";
         group: g { dimensions: x = 2; variables: ushort v(x, t); group: h { variables: float w(x); } } }"
            .replace("\"R&D\"", "R\\&D")
            .as_str(),
    );
    let want = r#"<?xml version="1.0" encoding="UTF-8"?>
<netcdf xmlns="https://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2" location="a.nc">
  <enumTypedef name="cloud" type="enum1">
    <enum key="0">Clear</enum>
    <enum key="2">R&amp;D</enum>
  </enumTypedef>
  <dimension name="x" length="3" />
  <dimension name="t" length="0" isUnlimited="true" />
  <attribute name="sky" type="String" value="Clear" />
  <attribute name="most" type="ulong" value="18446744073709551615" />
  <attribute name="one" type="String" value="e" />
  <variable name="n" type="long">
    <attribute name="units" value="m" />
  </variable>
  <variable name="o" shape="x" type="Structure">
    <attribute name="why" value="it" />
    <variable name="t" type="double" />
    <variable name="i" type="Structure">
      <variable name="s" shape="2" type="short" />
    </variable>
    <variable name="c" type="enum1" typedef="cloud" />
  </variable>
  <variable name="r" shape="t *" type="int" />
  <variable name="c" shape="x" type="enum1" typedef="cloud" />
  <variable name="names" shape="x" type="String">
    <attribute name="all" value="x" />
    <attribute name="both" type="String" separator="~" value="a|b~c;d" />
  </variable>
  <group name="g">
    <dimension name="x" length="2" />
    <variable name="v" shape="x t" type="ushort" />
    <group name="h">
      <variable name="w" shape="x" type="float" />
    </group>
  </group>
</netcdf>
"#;
    assert_eq!(text, want);
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn what_ncml_has_no_form_for_is_reported() {
    let (text, lost) = of_text(
        "netcdf a { types: opaque(4) raw; compound pair { int a; int b; }; int64 enum wide {A = 1};
         int(*) list; list(*) lists;
         dimensions: x = 3; variables: raw o; wide w; lists l; pair :p = {1, 2};
         group: g { dimensions: x = 2; variables: int v(/x); } }",
    );
    let reported: Vec<String> = lost.iter().map(|(path, reason)| format!("{path}: {reason}")).collect();
    assert_eq!(
        reported,
        [
            "/@p: attributes of this type have no form in NcML",
            "/o: NcML does not tell that its values have 4 bytes",
            "/w: NcML has no enums of int64",
            "/l: NcML has no lists of lists: their values are one",
            "/g/v: its dimension /x has no name there in NcML, its length stands for it",
        ]
    );
    assert!(text.contains("<variable name=\"v\" shape=\"3\" type=\"int\" />"), "{text}");
}
