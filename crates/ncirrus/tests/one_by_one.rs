//! Definitions that come one by one, each checked before the next and with values between them: formats look at what is new only, and
//! accept, refuse and store the same as if all had come at once.
use crate::support::session;
use ncirrus::model::{GroupId, Variable};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, Model, NodeId, OpenOptions, Result,
    Selection, Session, TypeRef, UserKind, UserType, Values, VarId,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

const KINDS: [Kind; 6] = [Kind::Nc3, Kind::Nc5, Kind::Nc4, Kind::Nc4Classic, Kind::NcZarr, Kind::Zarr3];

/// Names that meet, in files at least.
const NAMES: [&str; 8] = ["a", "b", "c", "d", "_nc4_non_coord_a", "_nc4_non_coord_b", ".e", "_FillValue"];

const TYPES: [Atomic; 5] = [Atomic::Int, Atomic::Int, Atomic::Double, Atomic::UInt64, Atomic::String];

/// A change: what is done, to which member, with which name.
type Step = (u8, usize, usize);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..16u8, 0..1000usize, 0..NAMES.len()), 1..40)
}

fn pick<T: Copy>(list: &[T], at: usize) -> Option<T> {
    list.get(at % list.len().max(1)).copied()
}

/// Changes definitions; variables with data keep their names.
fn change(model: &mut Model, (kind, at, name): Step, written: &BTreeSet<VarId>) -> Result<()> {
    let groups = model.walk();
    let group = pick(&groups, if at % 3 == 0 { at / 3 } else { 0 }).unwrap_or(model.root());
    let (name, var) = (NAMES[name], pick(&model.variables(), at));
    let free = var.filter(|var| !written.contains(var));
    match kind {
        0 => drop(model.add_dimension(group, name, DimensionLen::Fixed(1 + at as u64 % 3))?),
        1 => drop(model.add_dimension(group, name, DimensionLen::Unlimited(0))?),
        2..=5 => drop(model.add_variable(group, name, type_of(at), &dims_of(model, group, at))?),
        6 | 7 => model.set_attribute(NodeId::Group(group), attribute(name, at))?,
        8 | 9 => {
            if let Some(var) = var {
                model.set_attribute(NodeId::Variable(var), attribute(name, at))?;
            }
        }
        10 => drop(model.add_group(group, name)?),
        11 => {
            if let Some(var) = free {
                model.rename_variable(var, name)?;
            }
        }
        12 => {
            if let Some(var) = var {
                drop(model.remove_variable(var)?);
            }
        }
        13 => {
            let variable = Variable::new(name, type_of(at), dims_of(model, group, at));
            drop(model.insert_variable(group, variable)?);
        }
        _ => {
            let kind = UserKind::Opaque(3);
            drop(model.add_type(group, UserType { name: name.to_owned(), kind })?);
        }
    }
    Ok(())
}

fn type_of(at: usize) -> TypeRef {
    TypeRef::Atomic(TYPES[at % TYPES.len()])
}

fn attribute(name: &str, at: usize) -> Attribute {
    match at % 3 {
        0 => Attribute::text(name, "text"),
        1 => Attribute::atomic(name, Values::Int(vec![1; at % 5])),
        _ => Attribute::atomic(name, Values::UInt64(vec![at as u64])),
    }
}

/// Up to two dimensions that can be seen from a group.
fn dims_of(model: &Model, group: GroupId, at: usize) -> Vec<ncirrus::DimId> {
    let seen = NAMES.iter().filter_map(|name| model.visible_dimension(group, name));
    let mut seen: Vec<_> = seen.collect();
    let turn = at % seen.len().max(1);
    seen.rotate_left(turn);
    seen.truncate(at % 3);
    seen
}

/// A dataset without members: a new one, or one that is updated.
#[derive(Clone, Copy)]
struct Empty<'a> {
    kind: Kind,
    is_updated: bool,
    session: &'a Session,
}

impl Empty<'_> {
    fn address(self, name: &str) -> String {
        format!("memory://one-by-one/{:?}-{name}", self.kind)
    }

    fn begun(self, name: &str) -> Dataset {
        let options = CreateOptions::new().kind(self.kind).overwrite(true);
        let address = self.address(name);
        let dataset = Dataset::create_with(&address, &options, self.session).unwrap();
        if !self.is_updated {
            return dataset;
        }
        dataset.close().unwrap();
        Dataset::update_with(&address, &OpenOptions::default(), self.session).unwrap()
    }

    /// What a format says of all definitions at once.
    fn all_at_once(self, model: &Model) -> Option<String> {
        let whole = self.begun("whole");
        let set = whole.edit(|own| {
            *own = model.clone();
            Ok(())
        });
        set.unwrap();
        let refused = whole.check_definitions().err().map(|error| error.to_string());
        whole.abort().unwrap();
        refused.map(|text| text.replace("-whole", "-steps"))
    }
}

/// Writes one element, the first one.
fn write(dataset: &Dataset, var: VarId) -> Result<()> {
    let variable = dataset.variable_by_id(var);
    let axes = variable.shape().len();
    let one = Selection::slab(&vec![0; axes], &vec![1; axes]);
    let value = match variable.ty() {
        Some(TypeRef::Atomic(Atomic::String)) => Values::String([Some(TEXT)].into_iter().collect()),
        Some(TypeRef::Atomic(Atomic::Double)) => Values::Double(vec![7.0]),
        Some(TypeRef::Atomic(Atomic::UInt64)) => Values::UInt64(vec![7]),
        _ => Values::Int(vec![7]),
    };
    variable.write_values(&one, &value)
}

/// Whether the first element is that which [`write`] writes.
fn is_written(values: &Values) -> bool {
    match values {
        Values::String(strings) => strings.get(0) == Some(TEXT.as_bytes()),
        numbers => numbers.number(0) == Some(7.0),
    }
}

const TEXT: &str = "text";

fn check(empty: Empty<'_>, steps: &[Step]) {
    let kind = empty.kind;
    let dataset = empty.begun("steps");
    let mut written = BTreeSet::new();
    for step in steps {
        if step.0 == 15
            && let Some(var) = pick(&dataset.model().unwrap().variables(), step.1)
        {
            write(&dataset, var).unwrap();
            written.insert(var);
            continue;
        }
        if dataset.edit(|model| change(model, *step, &written)).is_err() {
            continue;
        }
        let model = dataset.model().unwrap();
        let refused = dataset.check_definitions().err().map(|error| error.to_string());
        assert_eq!(refused, empty.all_at_once(&model), "{kind:?} {step:?}");
        written.retain(|var| dataset.model().unwrap().variable(*var).is_some());
    }
    let model = dataset.model().unwrap();
    dataset.close().unwrap();
    let opened = Dataset::open_with(&empty.address("steps"), &OpenOptions::default(), empty.session).unwrap();
    let found = opened.model().unwrap();
    for var in model.variables() {
        let path = model.variable_path(var);
        let id = found.variable_at(&path).ok_or((kind, &path)).unwrap();
        assert_eq!(found.shape(id), model.shape(var), "{kind:?} {path}");
        let values = opened.variable_by_id(id).values(&Selection::all(&model.shape(var))).unwrap();
        if written.contains(&var) {
            assert!(is_written(&values), "{kind:?} {path}: {values:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn definitions_one_by_one_are_accepted_as_all_at_once(steps in steps()) {
        let session = session();
        for (kind, is_updated) in KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            check(Empty { kind, is_updated, session: &session }, &steps);
        }
    }
}
