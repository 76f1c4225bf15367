//! Documents and answers of OPeNDAP servers.
use crate::limits;
use ncirrus_dap::{
    ChecksumRule, DapAnswer, Das, DasItem, Dds, DdsVariable, Dmr, DmrAttribute, DodsAnswer, XdrPeculiarities,
    classify,
};

/// A DDS, and the names in it.
pub fn dds(data: &[u8]) {
    _ = classify(data);
    if let Ok(dds) = Dds::parse(data, &limits()) {
        dds.variables.iter().for_each(names);
    }
}

fn names(variable: &DdsVariable) {
    assert!(!variable.name.shown.contains('/'));
    _ = (variable.name.netcdf_c(), variable.element_count());
    variable.members().into_iter().for_each(names);
}

/// A DAS, and the values of its attributes.
pub fn das(data: &[u8]) {
    if let Ok(das) = Das::parse(data, &limits()) {
        das.items.iter().for_each(values);
    }
}

fn values(item: &DasItem) {
    match item {
        DasItem::Attribute(attribute) => {
            let (values, odd) = attribute.values();
            assert_eq!(values.len(), attribute.texts.len());
            assert!(odd <= values.len());
        }
        DasItem::Container { items, .. } => items.iter().for_each(values),
    }
}

/// An answer with data: as many values as its DDS declares, or an error.
pub fn dods(data: &[u8]) {
    let body = data.to_vec().into();
    let Ok(answer) = DodsAnswer::parse(&body, &limits()) else { return };
    for first_byte in [false, true] {
        let Ok(values) = answer.values(XdrPeculiarities { first_byte }, &limits()) else { continue };
        assert_eq!(values.variables.len(), answer.dds.variables.len());
        assert!(values.rest <= data.len());
    }
}

/// A DMR, and the values of its attributes.
pub fn dmr(data: &[u8]) {
    let Ok(dmr) = Dmr::parse(data, &limits()) else { return };
    let variables = dmr.variables();
    variables
        .iter()
        .flat_map(|(_, variable)| &variable.attributes)
        .chain(&dmr.root.attributes)
        .for_each(texts);
}

fn texts(attribute: &DmrAttribute) {
    if let Some((_, odd)) = attribute.values() {
        assert!(odd <= attribute.texts.len());
    }
    attribute.children.iter().for_each(texts);
}

/// An answer of chunks: as many values as its DMR declares, or an error.
pub fn dap(data: &[u8]) {
    let Ok(answer) = DapAnswer::parse(&data.to_vec().into(), &limits()) else { return };
    for rule in [ChecksumRule::Verify, ChecksumRule::Ignore] {
        let Ok(values) = answer.values(rule, &limits()) else { continue };
        assert_eq!(values.variables.len(), answer.dmr.variables().len());
    }
}
