//! DMR++ documents: the values are those of the data file beside them.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::references::{fill, open, refer};
use crate::support::{json, session, temp, values};
use ncirrus::{ErrorKind, Kind};
use std::fmt::Write;
use std::path::Path;

/// A document for the variables `grid` and `small`, with the places of their chunks as references have them.
fn document(refs: &Path, href: &str) -> String {
    let refs = json(refs);
    let chunks = |name: &str, records: u64, rest: &str| -> String {
        let mut text = String::new();
        for record in 0..records {
            let key = format!("{name}/{record}{}", if rest.is_empty() { ".0" } else { ".0.0" });
            let place = &refs["refs"][key.as_str()];
            let (offset, len) = (&place[1], &place[2]);
            let at = if rest.is_empty() { format!("[{record},0]") } else { format!("[{record},0,0]") };
            writeln!(text, r#"<dmrpp:chunk offset="{offset}" nBytes="{len}" chunkPositionInArray="{at}"/>"#)
                .unwrap();
        }
        text
    };
    format!(
        r#"<?xml version="1.0" encoding="ISO-8859-1"?>
<Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#"
  dapVersion="4.0" dmrVersion="1.0" name="a.nc" dmrpp:href="{href}" dmrpp:version="3.20.13">
<Dimension name="time" size="5"/><Dimension name="y" size="6"/><Dimension name="x" size="40"/>
<Float32 name="grid"><Dim name="/time"/><Dim name="/y"/><Dim name="/x"/>
<Attribute name="units" type="String"><Value>K</Value></Attribute>
<dmrpp:chunks compressionType="shuffle deflate" deflateLevel="5" fillValue="0" byteOrder="LE">
<dmrpp:chunkDimensionSizes>1 6 40</dmrpp:chunkDimensionSizes>{}</dmrpp:chunks></Float32>
<Int16 name="small"><Dim name="/time"/><Dim name="/x"/>
<dmrpp:chunks byteOrder="LE"><dmrpp:chunkDimensionSizes>1 40</dmrpp:chunkDimensionSizes>{}</dmrpp:chunks></Int16>
</Dataset>"#,
        chunks("grid", 5, "y"),
        chunks("small", 5, "")
    )
}

#[test]
fn the_data_file_beside_a_document_is_read() {
    let session = session();
    let (_folder, temp) = temp();
    let (source, refs, target) = (temp.join("a.nc"), temp.join("refs.json"), temp.join("a.nc.dmrpp"));
    fill(&source, Kind::Nc4, 0, 5, &session);
    refer(&[&source], &refs, |options| options.inline_threshold = 0, &session).unwrap();
    for href in ["OPeNDAP_DMRpp_DATA_ACCESS_URL", "data/dmrpp/a.nc"] {
        std::fs::write(&target, document(&refs, href)).unwrap();
        let (own, joint) = (open(&source, &session), open(&target, &session));
        for name in ["grid", "small"] {
            let (one, other) = (own.variable(name).unwrap(), joint.variable(name).unwrap());
            assert_eq!(values(&one).unwrap(), values(&other).unwrap(), "{name}");
        }
        assert_eq!(joint.variable("grid").unwrap().shape(), [5, 6, 40]);
        assert!(joint.variable("grid").unwrap().attribute("units").unwrap().is_some());
    }
    std::fs::remove_file(&source).unwrap();
    std::fs::write(&target, document(&refs, "a.nc")).unwrap();
    let error = values(&open(&target, &session).variable("grid").unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}
