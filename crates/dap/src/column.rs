//! Values of a variable, member by member: a structure or a grid is a compound, a sequence a vlen of compounds. A member
//! with dimensions has as many values for each compound as it has elements.
use crate::{DdsKind, DdsVariable};
use ncirrus_model::Values;

/// No values of a variable.
pub(crate) fn empty_column(variable: &DdsVariable) -> Values {
    let compound = || {
        let fields = variable.members().into_iter().map(empty_column).collect();
        Values::Compound { len: 0, fields }
    };
    match &variable.kind {
        DdsKind::Atomic(ty) => Values::zeroed(ty.atomic(), 0),
        DdsKind::Structure(_) | DdsKind::Grid { .. } => compound(),
        DdsKind::Sequence(_) => Values::Vlen { ends: Vec::new(), elements: Box::new(compound()) },
    }
}

/// Adds compounds that have no bytes: they are nothing but compounds themselves.
pub(crate) fn grow_column(column: &mut Values, count: usize) {
    if let Values::Compound { len, fields } = column {
        *len = len.saturating_add(count);
        fields.iter_mut().for_each(|field| grow_column(field, count));
    }
}
