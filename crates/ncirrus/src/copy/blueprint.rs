//! The definitions of a copy, and which values go where.
use super::choice::Choice;
use super::chunking::storage_by_rules;
use super::{CopyOptions, Filters};
use crate::create::CreateOptions;
use crate::{AxisSelection, Dataset, Result, Selection};
use ncirrus_model::{
    Attribute, AttributeState, Attributes, DimensionLen, Model, Storage, TypeRef, Values, VarId,
};

/// Bytes of values that are copied in one piece, roughly.
const PIECE_BYTES: u64 = 64 << 20;

/// The definitions of a copy, and which values go where.
pub(super) struct Blueprint {
    pub(super) model: Model,
    pub(super) pairs: Vec<Pair>,
    pub(super) losses: Vec<String>,
}

/// A variable of the source and its copy.
pub(super) struct Pair {
    pub(super) path: String,
    pub(super) from: VarId,
    pub(super) to: VarId,
    selection: Selection,
    /// Elements per axis of one piece: whole chunks of the copy where they are known.
    piece: Vec<u64>,
}

impl Blueprint {
    /// Draws the copy's definitions.
    ///
    /// # Errors
    /// When names are unknown or chunk rules do not fit.
    pub(super) fn draw(source: &Dataset, options: &CopyOptions<'_>, create: &CreateOptions) -> Result<Self> {
        let whole = source.model()?;
        let choice = Choice::make(&whole, options)?;
        // The copy starts as the source itself, so that ids, order and everything not spoken of here stay.
        let mut draft = Self { model: Model::clone(&whole), pairs: Vec::new(), losses: Vec::new() };
        draft.cut_dimensions(&choice, options)?;
        for var in whole.variables() {
            if choice.variables.contains(&var) {
                draft.take_variable(&whole, var, &choice, options, create)?;
            } else {
                draft.model.remove_variable(var)?;
            }
        }
        draft.drop_what_is_not_copied(options)?;
        if create.is_classic() {
            draft.make_attributes_classic();
        }
        Ok(draft)
    }

    /// Lengths of the dimensions of which only a part is copied, and unlimited ones that become fixed.
    fn cut_dimensions(&mut self, choice: &Choice, options: &CopyOptions<'_>) -> Result<()> {
        for group in self.model.walk() {
            let dims = self.model.group(group).map(|group| group.dims.clone()).unwrap_or_default();
            for dim in dims {
                let Some(len) = self.model.dimension(dim).map(|dimension| dimension.len) else { continue };
                let current = choice.parts.get(&dim).map_or(len.current(), AxisSelection::count);
                let grows = len.is_unlimited() && !options.fix_unlimited;
                let len = if grows { DimensionLen::Unlimited(current) } else { DimensionLen::Fixed(current) };
                self.model.set_dimension_len(dim, len)?;
            }
        }
        Ok(())
    }

    fn take_variable(
        &mut self,
        whole: &Model,
        var: VarId,
        choice: &Choice,
        options: &CopyOptions<'_>,
        create: &CreateOptions,
    ) -> Result<()> {
        let path = whole.variable_path(var);
        let Some(variable) = whole.variable(var) else { return Ok(()) };
        if let Some(fault) = &variable.fault {
            self.losses.push(format!("{path} is left out: {fault}"));
            self.model.remove_variable(var)?;
            return Ok(());
        }
        let storage = storage_by_rules(&options.chunks, &self.model, var)?;
        let fixed_size = whole.packed_len(variable.ty).is_some();
        let shape = self.model.shape(var);
        if let Some(copy) = self.model.variable_mut(var) {
            if let Some(storage) = storage {
                copy.storage = storage;
            }
            fit_chunks(&mut copy.storage, &shape);
            match &options.filters {
                Filters::Keep => {}
                Filters::Remove => copy.filters.clear(),
                Filters::Replace(filters) if fixed_size && !shape.is_empty() => {
                    copy.filters.clone_from(filters)
                }
                Filters::Replace(_) => copy.filters.clear(),
            }
            if create.is_classic() {
                copy.filters.clear();
                copy.storage = Storage::Default;
                copy.endianness = ncirrus_model::Endianness::Native;
            }
        }
        let selection = selection_of(whole, var, choice);
        let element = whole.packed_len(variable.ty).unwrap_or(32);
        let piece = piece_shape(&selection.shape(), self.model.variable(var).map(|v| &v.storage), element);
        self.pairs.push(Pair { path, from: var, to: var, selection, piece });
        Ok(())
    }

    /// Removes groups, dimensions and types that only the left-out variables needed. With a choice of variables by
    /// name the dimensions of the rest go too.
    fn drop_what_is_not_copied(&mut self, options: &CopyOptions<'_>) -> Result<()> {
        let chosen =
            !(options.variables.is_empty() && options.groups.is_empty() && options.select.is_empty());
        if !chosen {
            return Ok(());
        }
        let mut groups = self.model.walk();
        groups.reverse();
        for id in groups {
            let dims = self.model.group(id).map(|group| group.dims.clone()).unwrap_or_default();
            for dim in dims {
                if self.model.users_of(dim).next().is_none() {
                    self.model.remove_dimension(dim)?;
                }
            }
            if id != self.model.root() && self.is_empty_group(id) {
                self.model.remove_group(id)?;
            }
        }
        Ok(())
    }

    fn is_empty_group(&self, id: ncirrus_model::GroupId) -> bool {
        self.model.group(id).is_some_and(|group| {
            group.groups.is_empty()
                && group.dims.is_empty()
                && group.vars.is_empty()
                && group.types.is_empty()
        })
    }

    /// netCDF-3 has no strings: an attribute of one string becomes text.
    fn make_attributes_classic(&mut self) {
        let groups = self.model.walk().into_iter().map(ncirrus_model::NodeId::Group);
        let nodes: Vec<_> =
            groups.chain(self.model.variables().into_iter().map(ncirrus_model::NodeId::Variable)).collect();
        for node in nodes {
            let Some(AttributeState::Known(attributes)) = self.model.attributes_mut(node) else { continue };
            *attributes = attributes.iter().cloned().map(string_to_text).collect::<Attributes>();
        }
    }
}

fn string_to_text(attribute: Attribute) -> Attribute {
    match &attribute.values {
        Values::String(strings) if strings.len() == 1 && matches!(attribute.ty, TypeRef::Atomic(_)) => {
            let text = strings.get(0).unwrap_or_default().to_vec();
            Attribute::atomic(attribute.name, Values::Char(text))
        }
        _ => attribute,
    }
}

/// Chunks are not longer than a fixed axis that was cut.
fn fit_chunks(storage: &mut Storage, shape: &[u64]) {
    if let Storage::Chunked(chunks) = storage {
        if chunks.len() != shape.len() {
            *storage = Storage::Default;
            return;
        }
        for (chunk, len) in chunks.iter_mut().zip(shape) {
            if *len > 0 {
                *chunk = (*chunk).min(*len).max(1);
            }
        }
    }
}

fn selection_of(model: &Model, var: VarId, choice: &Choice) -> Selection {
    let dims = model.variable(var).map(|variable| variable.dims.as_slice()).unwrap_or_default();
    let axes = dims.iter().zip(model.shape(var));
    let axis = |(dim, count)| {
        choice.parts.get(dim).cloned().unwrap_or(AxisSelection::Slice { start: 0, count, stride: 1 })
    };
    Selection::new(axes.map(axis).collect())
}

/// A piece of at most about [`PIECE_BYTES`], made of whole chunks where the storage says how long they are, whole
/// along the fastest axes first.
fn piece_shape(shape: &[u64], storage: Option<&Storage>, element: u64) -> Vec<u64> {
    let chunks: Vec<u64> = match storage {
        Some(Storage::Chunked(chunks)) if chunks.len() == shape.len() => chunks.clone(),
        _ => vec![1; shape.len()],
    };
    let mut piece: Vec<u64> =
        chunks.iter().zip(shape).map(|(chunk, len)| (*chunk).min(*len).max(1)).collect();
    for axis in (0..shape.len()).rev() {
        let others = piece.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, len)| *len);
        let one = others.fold(element.max(1), u64::saturating_mul);
        let fit = (PIECE_BYTES / one.max(1)).max(1);
        let chunk = piece[axis].max(1);
        let len = shape[axis].max(1);
        piece[axis] = if fit >= len { len } else { (fit / chunk * chunk).max(chunk) };
        if piece[axis] < len {
            break;
        }
    }
    piece
}

impl Pair {
    pub(super) fn element_count(&self) -> u64 {
        self.selection.element_count().unwrap_or(u64::MAX)
    }

    /// The pieces in which the values are copied: where they come from, and where they go.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (Selection, Selection)> + '_ {
        let shape = self.selection.shape();
        let counts: Vec<u64> =
            shape.iter().zip(&self.piece).map(|(len, piece)| len.div_ceil(*piece)).collect();
        let total: u64 = counts.iter().product();
        (0..total).map(move |mut number| {
            let mut start = vec![0; shape.len()];
            let mut count = vec![0; shape.len()];
            for axis in (0..shape.len()).rev() {
                let at = number % counts[axis];
                number /= counts[axis];
                start[axis] = at * self.piece[axis];
                count[axis] = self.piece[axis].min(shape[axis] - start[axis]);
            }
            (part_of(&self.selection, &start, &count), Selection::slab(&start, &count))
        })
    }
}

/// The part of a selection that a box of its result covers.
fn part_of(selection: &Selection, start: &[u64], count: &[u64]) -> Selection {
    let axes = selection.axes().iter().zip(start.iter().zip(count));
    let axis = |(axis, (&from, &len)): (&AxisSelection, (&u64, &u64))| match axis {
        AxisSelection::Slice { start, stride, .. } => {
            AxisSelection::Slice { start: start + from * stride, count: len, stride: *stride }
        }
        AxisSelection::Indices(indices) => {
            let range = usize::try_from(from).unwrap_or(usize::MAX)
                ..usize::try_from(from + len).unwrap_or(usize::MAX);
            AxisSelection::Indices(indices.get(range).unwrap_or_default().to_vec())
        }
    };
    Selection::new(axes.map(axis).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_chunks_and_cover_everything_once() {
        let mut model = Model::new();
        let root = model.root();
        let dim = model.add_dimension(root, "x", DimensionLen::Fixed(1)).unwrap();
        let var = model.add_variable(root, "v", ncirrus_model::Atomic::Byte.into(), &[dim]).unwrap();
        let shape = [7, 10_000, 9_000];
        let piece = piece_shape(&shape, Some(&Storage::Chunked(vec![2, 100, 1_000])), 8);
        assert!(piece[0] % 2 == 0 && piece[1] % 100 == 0 && piece[2] == 9_000, "{piece:?}");
        assert!(piece.iter().product::<u64>() * 8 <= PIECE_BYTES);
        let pair = Pair { path: "/v".into(), from: var, to: var, selection: Selection::all(&shape), piece };
        let covered: u64 = pair.pieces().map(|(_, to)| to.element_count().unwrap()).sum();
        assert_eq!(covered, shape.iter().product::<u64>());
    }
}
