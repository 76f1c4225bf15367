//! Fragments that are created and changed part by part.
use super::super::parts::format_name;
use ncirrus::internals::DatasetInternals;
use ncirrus::{
    Attributes, CodecSpec, CreateOptions, Dataset, Error, Kind, OpenOptions, Result, Selection, Session,
    TypeRef, Values,
};
use ncirrus_layout::grid::{AxisBlock, ElementWalk};
use ncirrus_model::{Atomic, DimId, DimensionLen, Model, VarId, default_fill};

/// A variable as it is defined in master and fragments.
#[derive(Debug, Clone)]
pub(super) struct FragmentDefinition {
    pub(super) path: String,
    pub(super) ty: TypeRef,
    pub(super) attributes: Attributes,
    pub(super) filters: Vec<CodecSpec>,
}

/// A box of a fragment with its values.
pub(super) struct FragmentBox {
    start: Vec<u64>,
    count: Vec<u64>,
    values: Values,
}

/// The definitions of a fragment.
pub(super) struct FragmentHome<'a> {
    pub(super) master: &'a Dataset,
    pub(super) kind: Kind,
    pub(super) dims: &'a [DimId],
}

impl FragmentBox {
    /// The part of a box that lies in a fragment.
    pub(super) fn of(touched: &[&AxisBlock], start: &[u64], count: &[u64], values: &Values) -> Result<Self> {
        let mut part = Self { start: Vec::new(), count: Vec::new(), values: values.empty_like() };
        let mut inside = Vec::with_capacity(touched.len());
        for (cut, (start, count)) in touched.iter().zip(start.iter().zip(count)) {
            let first = cut.start.max(*start);
            let end = cut.start.saturating_add(cut.len).min(start.saturating_add(*count));
            part.start.push(first - cut.start);
            part.count.push(end.saturating_sub(first));
            inside.push(first - start);
        }
        let Some(walk) = ElementWalk::of_box(count, &inside, &part.count) else { return Ok(part) };
        let mut is_taken = true;
        walk.for_each_run(|run| {
            let mut take =
                |first: usize, len: usize| is_taken &= part.values.extend_from(values, first..first + len);
            match run.source_step {
                1 => take(run.source, run.count),
                step => (0..run.count).for_each(|at| take(run.source + at * step, 1)),
            }
        });
        if is_taken { Ok(part) } else { Err(Error::internal("a box has other values than its elements")) }
    }

    /// Past the last element along each dimension.
    pub(super) fn end(&self) -> impl Iterator<Item = u64> + '_ {
        self.start.iter().zip(&self.count).map(|(start, count)| start + count)
    }
}

/// Format as S3netCDF4 names it.
pub(super) fn format(kind: Kind) -> &'static str {
    match kind {
        Kind::Nc3 => format_name("classic"),
        Kind::Nc6 => format_name("64-bit offset"),
        Kind::Nc5 => format_name("cdf5"),
        _ => format_name("netCDF-4"),
    }
}

/// Which dimensions of a fragment grow: in netCDF-3 only the first one can.
pub(super) fn may_grow(grows: &[bool], kind: Kind) -> Vec<bool> {
    let is_classic = kind.is_classic() || kind == Kind::Nc4Classic;
    grows.iter().enumerate().map(|(at, grows)| *grows && (at == 0 || !is_classic)).collect()
}

/// Creates a fragment with its first values, and the coordinates that the master has so far.
pub(super) fn create(
    url: &str,
    definition: &FragmentDefinition,
    home: &FragmentHome<'_>,
    (starts, lens, grows): (&[u64], &[u64], &[bool]),
    part: Option<&FragmentBox>,
) -> Result<()> {
    let session = home.master.session();
    super::super::split::make_folder(url, session)?;
    let create = CreateOptions::new().kind(home.kind);
    let fragment = Dataset::create_with(url, &create, session)?;
    let model = home.master.snapshot();
    let (var, coordinates) = fragment.edit(|new| {
        let mut dims = Vec::new();
        let mut coordinates = Vec::new();
        for (((dim, start), len), grows) in home.dims.iter().zip(starts).zip(lens).zip(grows) {
            let name = model.dimension(*dim).map(|dim| dim.name.clone()).unwrap_or_default();
            let size = if *grows { DimensionLen::Unlimited(0) } else { DimensionLen::Fixed(*len) };
            let own = new.add_dimension(new.root(), &name, size)?;
            if let Some((var, new_var)) = coordinate(&model, *dim, new, own, *grows)? {
                coordinates.push((var, new_var, *start, *len));
            }
            dims.push(own);
        }
        let var = definition.add_to(new, &dims)?;
        if let Some(variable) = new.variable_mut(var) {
            variable.filters = if home.kind.is_classic() { Vec::new() } else { definition.filters.clone() };
        }
        Ok((var, coordinates))
    })?;
    for (from, to, start, len) in coordinates {
        let values = home.master.read_values(from, &Selection::slab(&[start], &[len]))?;
        fragment.write_values(to, &Selection::slab(&[0], &[len]), &values)?;
    }
    if let Some(part) = part {
        write(&fragment, var, part)?;
    }
    fragment.close()
}

/// Defines the coordinate variable of a dimension that does not grow.
fn coordinate(
    model: &Model,
    dim: DimId,
    new: &mut Model,
    own: DimId,
    grows: bool,
) -> Result<Option<(VarId, VarId)>> {
    let Some(var) = model.coordinate_of(dim).filter(|_| !grows) else { return Ok(None) };
    let Some(variable) = model.variable(var).filter(|variable| variable.dims == [dim]) else {
        return Ok(None);
    };
    let root = new.root();
    let added = new.add_variable(root, &variable.name, variable.ty, &[own])?;
    if let Some(added) = new.variable_mut(added) {
        added.attributes = variable.attributes.clone();
        added.fill = variable.fill.clone();
    }
    Ok(Some((var, added)))
}

/// Changes a part of an existing fragment.
pub(super) fn update(
    url: &str,
    definition: &FragmentDefinition,
    part: &FragmentBox,
    session: &Session,
) -> Result<()> {
    let fragment = Dataset::update_with(url, &OpenOptions::default(), session)?;
    let variable = fragment.variable(&definition.path)?;
    if variable.ty() != Some(definition.ty) {
        let message = "the fragment's values have another type, or are packed: write the fragment directly";
        return Err(Error::unsupported(message).at_object(url));
    }
    write(&fragment, variable.id(), part)?;
    fragment.close()
}

fn write(fragment: &Dataset, var: VarId, part: &FragmentBox) -> Result<()> {
    let selection = Selection::slab(&part.start, &part.count);
    fragment.variable_by_id(var).write_values(&selection, &part.values)
}

/// Extends a fragment to a length, with fill values.
pub(super) fn lengthen(
    url: &str,
    definition: &FragmentDefinition,
    has: &[u64],
    wants: &[u64],
    session: &Session,
) -> Result<()> {
    let fill = definition.attributes.find("_FillValue").map(|fill| fill.values.clone());
    let fill = match (fill, definition.ty) {
        (Some(fill), _) => fill,
        (None, TypeRef::Atomic(atomic)) => default_fill(atomic),
        (None, TypeRef::User(_)) => default_fill(Atomic::Byte),
    };
    // Writes only the last element: those in between were never written.
    let start: Vec<u64> =
        has.iter().zip(wants).map(|(has, wants)| if has < wants { wants - 1 } else { 0 }).collect();
    let part = FragmentBox { count: vec![1; start.len()], start, values: fill };
    update(url, definition, &part, session)
}
