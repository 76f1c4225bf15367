//! Documents and answers of OPeNDAP servers.
use crate::limits;
use ncirrus_dap::{
    AnswerStep, ChecksumRule, Dap2Dataset, Dap4Dataset, DapAnswer, Das, DasItem, Dds, DdsVariable, Dmr,
    DmrAttribute, DodsAnswer, ReadStep, StepBytes, StepValues, XdrPeculiarities, classify,
};
use ncirrus_model::{Atomic, DimensionLen, Field, Model, UserKind, UserType};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

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

/// The definitions that constraints are checked against.
static SERVED: LazyLock<Option<Arc<Model>>> = LazyLock::new(|| served().map(Arc::new));

fn served() -> Option<Model> {
    let mut model = Model::new();
    let root = model.root();
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(5)).ok()?;
    let y = model.add_dimension(root, "y", DimensionLen::Unlimited(3)).ok()?;
    let group = model.add_group(root, "g").ok()?;
    let fields = vec![
        Field { name: "a".into(), ty: Atomic::Int.into(), dims: vec![] },
        Field { name: "b".into(), ty: Atomic::UByte.into(), dims: vec![3] },
    ];
    let ty = UserType { name: "pair".into(), kind: UserKind::Compound(fields) };
    let pair = model.add_type(root, ty).ok()?;
    model.add_variable(root, "t", Atomic::Float.into(), &[y, x]).ok()?;
    model.add_variable(root, "a.b", Atomic::Byte.into(), &[x]).ok()?;
    model.add_variable(root, "c", Atomic::Char.into(), &[y, x]).ok()?;
    model.add_variable(root, "s", ncirrus_model::TypeRef::User(pair), &[y]).ok()?;
    model.add_variable(group, "v", Atomic::Short.into(), &[x]).ok()?;
    Some(model)
}

/// A constraint of DAP2 and of DAP4, and the answer that it asks for: as long as it was said to be.
pub fn constraints(data: &[u8]) {
    let (Ok(text), Some(model)) = (std::str::from_utf8(data), &*SERVED) else { return };
    let values = |step: &ReadStep| {
        let ty = model.variable(step.variable).map(|variable| variable.ty)?;
        let count = step.selection.element_count().unwrap_or(0);
        let zeros = model.zeros(ty, usize::try_from(count).ok()?, 8)?;
        Some(if step.is_packed {
            let buffer = [&vec![7; step.room][..], zeros.as_bytes()?].concat();
            StepValues::Packed(StepBytes::new(buffer, step.room))
        } else {
            StepValues::Values(zeros)
        })
    };
    let shown = Arc::new(Dap2Dataset::new(Arc::clone(model), "served"));
    if let Ok(request) = shown.request(text) {
        let (len, mut sent) = (shown.answer_len(&request), 0);
        _ = Dds::parse(shown.dds(&request).as_bytes(), &limits());
        let Ok(mut answer) = shown.answer(request, 7) else { return };
        while let Ok(step) = answer.step() {
            match step {
                AnswerStep::Send(bytes) => sent += bytes.len() as u64,
                AnswerStep::Read(step) => {
                    let Some(values) = values(&step) else { return };
                    sent += answer.take(values).map_or(0, |bytes| bytes.as_ref().len() as u64);
                }
                AnswerStep::End => break,
            }
        }
        assert!(len.is_none_or(|len| len == sent), "{len:?} {sent}");
    }
    let shown = Arc::new(Dap4Dataset::new(Arc::clone(model), "served"));
    let Ok(request) = shown.request(text) else { return };
    assert!(Dmr::parse(shown.dmr(&request).as_bytes(), &limits()).is_ok());
    let Ok(mut answer) = shown.answer(request, true, &BTreeMap::new(), 7) else { return };
    let mut body = Vec::new();
    while let Ok(step) = answer.step() {
        match step {
            AnswerStep::Send(bytes) => body.extend(bytes),
            AnswerStep::Read(step) => {
                let Some(values) = values(&step) else { return };
                body.extend(answer.take(values).unwrap_or_default().as_ref());
            }
            AnswerStep::End => break,
        }
    }
    if let Ok(answer) = DapAnswer::parse(&body.into(), &limits()) {
        assert!(answer.values(ChecksumRule::Verify, &limits()).is_ok_and(|values| values.checksums));
    }
}
