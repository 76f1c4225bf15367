//! What a fragment records of its aggregation, so that a lost master can be recreated with the same convention and dimensions: a
//! global attribute of the fragment, JSON text.
use super::shape::known;
use ncirrus::Kind;
use ncirrus_aggregate::write::Convention;
use ncirrus_model::{Atomic, Attribute, DimensionLen, Model, NodeId, TypeRef, VarId};
use serde_json::{Value, json};

/// The attribute. A master does not have it.
pub(super) const ATTRIBUTE: &str = "ncirrus_aggregation";
/// A fragment repeats at most so many scalar variables.
const MAX_SCALARS: usize = 256;

/// What the attribute of a fragment says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RecordedAggregation {
    pub(super) convention: Option<Convention>,
    /// Paths of the unlimited dimensions.
    pub(super) unlimited: Vec<String>,
}

impl RecordedAggregation {
    /// The attribute for fragments of a dataset.
    pub(super) fn attribute(model: &Model, convention: Convention) -> Attribute {
        let groups = model.walk();
        let dims = groups.iter().filter_map(|group| model.group(*group)).flat_map(|group| &group.dims);
        let grows = |dim: &&_| model.dimension(**dim).is_some_and(|dim| dim.len.is_unlimited());
        let unlimited: Vec<String> = dims.filter(grows).map(|dim| model.dimension_path(*dim)).collect();
        let text = json!({ "convention": convention.name(), "unlimited": unlimited });
        Attribute::text(ATTRIBUTE, &text.to_string())
    }

    /// What is recorded among the global attributes of a fragment. Text of another form records nothing.
    pub(super) fn of(model: &Model) -> Self {
        let attributes = known(model, NodeId::Group(model.root()));
        let text = attributes.find(ATTRIBUTE).and_then(Attribute::as_text);
        let found = text.and_then(|text| serde_json::from_str::<Value>(&text).ok()).unwrap_or_default();
        let named = |name: &str| Convention::ALL.into_iter().find(|convention| convention.name() == name);
        let paths = found["unlimited"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            convention: found["convention"].as_str().and_then(named),
            unlimited: paths.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect(),
        }
    }

    /// Makes the recorded dimensions unlimited.
    pub(super) fn free(&self, model: &mut Model) -> ncirrus::Result<()> {
        for dim in self.unlimited.iter().filter_map(|path| model.dimension_at(path)).collect::<Vec<_>>() {
            let len = model.dimension(dim).map_or(0, |dim| dim.len.current());
            model.set_dimension_len(dim, DimensionLen::Unlimited(len))?;
        }
        Ok(())
    }
}

/// Removes the attribute of a fragment from definitions.
pub(super) fn forget(model: &mut Model) {
    let root = NodeId::Group(model.root());
    if let Some(attributes) = model.attributes_mut(root)
        && attributes.known().is_some_and(|known| known.find(ATTRIBUTE).is_some())
    {
        attributes.known_mut().remove(ATTRIBUTE);
    }
}

/// The scalar variables of the root that each fragment repeats, of types that its kind has; a kind that is not known has
/// all of them.
pub(super) fn scalars(model: &Model, kind: Option<Kind>) -> Vec<VarId> {
    let has = |ty: Atomic| match kind {
        Some(Kind::Nc3 | Kind::Nc6 | Kind::Nc4Classic) => ty.is_classic(),
        Some(Kind::Nc5) => ty != Atomic::String,
        _ => true,
    };
    let is_scalar = |var: &VarId| {
        model.variable(*var).is_some_and(|variable| {
            let fits = matches!(variable.ty, TypeRef::Atomic(ty) if has(ty));
            variable.dims.is_empty() && variable.fault.is_none() && fits
        })
    };
    let of_root = model.group(model.root()).map(|root| root.vars.clone()).unwrap_or_default();
    of_root.into_iter().filter(is_scalar).take(MAX_SCALARS).collect()
}

#[cfg(test)]
mod tests {
    use super::{ATTRIBUTE, RecordedAggregation, forget, scalars};
    use ncirrus::Kind;
    use ncirrus_aggregate::write::Convention;
    use ncirrus_model::{Atomic, Attribute, DimensionLen, Model, NodeId};

    fn with(text: &str) -> Model {
        let mut model = Model::new();
        let root = NodeId::Group(model.root());
        model.attributes_mut(root).unwrap().known_mut().put(Attribute::text(ATTRIBUTE, text));
        model
    }

    #[test]
    fn what_is_recorded_is_found_again() {
        let mut model = Model::new();
        let root = model.root();
        let group = model.add_group(root, "g").unwrap();
        model.add_dimension(root, "x", DimensionLen::Fixed(2)).unwrap();
        model.add_dimension(group, "a \"name\"", DimensionLen::Unlimited(3)).unwrap();
        for convention in Convention::ALL {
            let attribute = RecordedAggregation::attribute(&model, convention);
            let found = RecordedAggregation::of(&with(&attribute.as_text().unwrap()));
            assert_eq!(found.convention, Some(convention));
            assert_eq!(found.unlimited, ["/g/a \"name\""]);
        }
    }

    #[test]
    fn text_of_another_form_records_nothing() {
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "{",
            "null",
            "[1]",
            r#"{"convention": 5, "unlimited": "time"}"#,
            r#"{"unlimited": [1]}"#,
            &deep,
        ] {
            let mut model = with(text);
            assert_eq!(RecordedAggregation::of(&model), RecordedAggregation::default(), "{text:.20}");
            forget(&mut model);
            assert_eq!(model, Model::new());
        }
    }

    #[test]
    fn fragments_repeat_the_scalars_of_types_that_their_kind_has() {
        let mut model = Model::new();
        let root = model.root();
        for ty in [Atomic::Int, Atomic::Int64, Atomic::UByte, Atomic::String] {
            model.add_variable(root, &format!("{ty:?}"), ty.into(), &[]).unwrap();
        }
        for (kind, count) in
            [(Kind::Nc3, 1), (Kind::Nc6, 1), (Kind::Nc4Classic, 1), (Kind::Nc5, 3), (Kind::Nc4, 4)]
        {
            assert_eq!(scalars(&model, Some(kind)).len(), count, "{kind:?}");
        }
        assert_eq!(scalars(&model, None).len(), 4);
    }
}
