//! The contents of a tree's objects, as far as the model needs them: requested together.
use super::hidden::{self, AttributeResults};
use super::walk::{GroupNode, MemberKind, ObjectTree, TreeMember};
use super::{ObjectKey, attribute};
use crate::datatypes::{Datatype, FillMessage, RawAttribute, attributes, datatype, fill};
use crate::layout::{StoredDataset, dataset};
use crate::object::{ObjectRef, header, kind};
use ncirrus_layout::{Error, Result, Stall, Step, View, join, settle};
use ncirrus_model::Values;
use std::sync::Arc;

/// Undecoded attributes.
pub(crate) type RawAttributes = Arc<Vec<std::result::Result<RawAttribute, (String, Error)>>>;

/// The contents of a group.
#[derive(Debug)]
pub(super) struct GroupFacts {
    pub(super) attributes: Result<RawAttributes>,
    /// One for each member.
    pub(super) members: Vec<MemberFacts>,
}

/// The contents of a member.
#[derive(Debug)]
pub(crate) enum MemberFacts {
    Dataset(Box<DatasetFacts>),
    Type(Result<Arc<Datatype>>),
    Damaged(Error),
}

/// The contents of a dataset.
#[derive(Debug)]
pub(crate) struct DatasetFacts {
    pub(crate) dataset: Result<Arc<StoredDataset>>,
    pub(crate) attributes: Result<RawAttributes>,
    pub(super) is_scale: bool,
    pub(super) is_variable: bool,
    pub(super) id: Option<i64>,
    pub(super) coordinates: Option<Vec<i64>>,
    pub(super) attached: Vec<Option<ObjectKey>>,
    pub(super) fill: FillMessage,
    /// The value of `_FillValue`, if it has one.
    pub(super) own_fill: Option<Values>,
    /// Faults that are not recorded in a visible attribute.
    pub(super) losses: Vec<Error>,
}

/// Describes all objects found so far.
///
/// # Errors
/// A need; never a failure.
pub(super) fn describe(view: &dyn View, tree: &ObjectTree) -> Step<Vec<GroupFacts>> {
    join(&tree.groups, |group| group_facts(view, group))
}

fn group_facts(view: &dyn View, group: &GroupNode) -> Step<GroupFacts> {
    let own = settle(attributes(view, &group.object));
    let members = join(&group.members, |member| facts(view, member));
    let (attributes, members) = together(own.map_err(Stall::Need), members)?;
    Ok(GroupFacts { attributes, members })
}

fn facts(view: &dyn View, member: &TreeMember) -> Step<MemberFacts> {
    Ok(match &member.what {
        MemberKind::Dataset => MemberFacts::Dataset(Box::new(dataset_facts(view, &member.object)?)),
        MemberKind::Type => MemberFacts::Type(settle(committed(view, &member.object)).map_err(Stall::Need)?),
        MemberKind::Damaged(error) => MemberFacts::Damaged(error.clone()),
    })
}

fn committed(view: &dyn View, object: &ObjectRef) -> Step<Arc<Datatype>> {
    let header = header(view, object)?;
    let message = header.find(kind::DATATYPE).ok_or_else(|| Error::malformed("a type without a datatype"))?;
    datatype(view, &object.file, message)
}

fn dataset_facts(view: &dyn View, object: &ObjectRef) -> Step<DatasetFacts> {
    let own = settle(dataset(view, object)).map_err(Stall::Need);
    let (dataset, raw) = together(own, settle(attributes(view, object)).map_err(Stall::Need))?;
    let none = Vec::new();
    let list: &AttributeResults = raw.as_deref().map_or(&none, Vec::as_slice);
    let rank = dataset.as_ref().map_or(0, |dataset| dataset.space.dims().len());
    let is_scale = rank > 0 && hidden::is_scale(list);
    let coordinates = hidden::coordinates(view, object, list);
    let attached = match (is_scale, &coordinates) {
        // `DIMENSION_LIST` counts only without `_Netcdf4Coordinates`, and scales have none (docs/spec/hdf5-netcdf4.md
        // H.3).
        (false, None) => settle(hidden::attached(view, object, list, rank)),
        _ => Ok(Ok(Vec::new())),
    };
    let own_fill = settle(attribute::fill_value(view, object, list)).map_err(Stall::Need);
    let (attached, own_fill) = together(attached.map_err(Stall::Need), own_fill)?;
    let fill = settle(fill(view, object)).map_err(Stall::Need)?;
    let mut losses = hidden::damaged(list);
    losses.extend(attached.as_ref().err().map(|error| hidden::lost("DIMENSION_LIST", error)));
    losses.extend(fill.as_ref().err().cloned());
    Ok(DatasetFacts {
        is_scale,
        is_variable: !(is_scale && hidden::is_only_dimension(list)),
        id: hidden::dimension_id(view, object, list),
        coordinates,
        attached: attached.unwrap_or_default(),
        fill: fill.unwrap_or_default(),
        own_fill: own_fill.ok().flatten(),
        dataset,
        attributes: raw,
        losses,
    })
}

/// Two values that are requested together.
pub(super) fn together<A, B>(a: Step<A>, b: Step<B>) -> Step<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(Stall::Need(mut needs)), Err(Stall::Need(more))) => {
            needs.merge(more);
            Err(Stall::Need(needs))
        }
        (Err(need @ Stall::Need(_)), _) | (_, Err(need @ Stall::Need(_))) => Err(need),
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
    }
}
