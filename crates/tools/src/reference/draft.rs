//! What is referenced: the variables of one or several files, and how they are concatenated.
mod unequal;

use super::cut::{self, StridedArray};
use super::existing::existing;
use super::{AT_ONCE, ReferenceInput, ReferenceOptions, ZarrFormat};
use crate::aggregate::each;
use ncirrus::internals::DatasetInternals;
use ncirrus::{
    Attribute, AttributeState, Attributes, Detail, Endianness, Error, LeftOut, Model, Result, Session,
    Storage, TypeRef, Values,
};
use ncirrus_codec::{DecodedElement, names};
use ncirrus_engine::StoredChunk;
use ncirrus_layout::{ByteOrder, ChunkGrid, EdgeChunks, Layout, Source, StoredType};
use ncirrus_model::{
    Atomic, CodecSpace, DimId, DimensionLen, Fill, GroupId, Selection, VarId, Variable, default_fill,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What is referenced.
pub(super) struct ReferenceDraft {
    /// The joint definitions: storage and filters as chunks have them.
    pub(super) model: Model,
    pub(super) variables: Vec<JointVariable>,
    pub(super) left_out: Vec<LeftOut>,
}

/// A variable of the joint dataset.
pub(super) struct JointVariable {
    pub(super) path: String,
    pub(super) parts: Vec<VariablePart>,
    /// The axis along which they are concatenated.
    pub(super) axis: Option<usize>,
    /// The chunk shape; `None` if values must be embedded.
    pub(super) chunk: Option<Vec<u64>>,
    /// The lengths of the chunks along the axis, if those of the files differ.
    pub(super) lengths: Option<Vec<u64>>,
    /// Why there are no references.
    pub(super) reason: String,
}

/// A variable of one file.
pub(super) struct VariablePart {
    /// Number of the file.
    pub(super) input: usize,
    pub(super) var: VarId,
    pub(super) shape: Vec<u64>,
    pub(super) source: Arc<Source>,
    /// Where its chunks are, if it has any.
    pub(super) chunks: Vec<StoredChunk>,
    /// Its first index along the axis.
    pub(super) start: u64,
}

impl VariablePart {
    /// The shape of its chunks, if they all have the same.
    pub(super) fn chunk_shape(&self) -> Option<&[u64]> {
        match &self.source.layout {
            Layout::Grid { grid: ChunkGrid::Regular(chunk), edge: EdgeChunks::Full, .. } => Some(chunk),
            _ => None,
        }
    }

    /// Number of chunks along an axis.
    pub(super) fn cells_along(&self, axis: usize) -> Option<u64> {
        Some(self.shape.get(axis)?.div_ceil((*self.chunk_shape()?.get(axis)?).max(1)))
    }

    /// Whether all of it is known to have been written.
    fn is_complete(&self) -> bool {
        match &self.source.layout {
            Layout::Grid { grid, .. } => {
                let cells = self.shape.iter().enumerate().map(|(axis, len)| grid.cells_along(axis, *len));
                self.chunks.len() as u64 == cells.fold(1, u64::saturating_mul)
            }
            Layout::Affine { extents, .. } => !extents.is_empty() || self.shape.contains(&0),
            _ => false,
        }
    }
}

impl ReferenceDraft {
    /// Reads the definitions of all files.
    ///
    /// # Errors
    /// `Invalid` naming the file that does not match the others.
    pub(super) fn draw(
        inputs: &[ReferenceInput],
        options: &ReferenceOptions,
        format: ZarrFormat,
        session: &Session,
    ) -> Result<Self> {
        let models = each(inputs, AT_ONCE, None, |_, input| input.dataset.model())?;
        let first = models.first().ok_or_else(|| Error::invalid("there are no files to refer to"))?;
        let left_out = inputs.first().map_or(Ok(Vec::new()), |input| input.dataset.left_out())?;
        let mut draft = Self { model: Model::new(), variables: Vec::new(), left_out };
        let mut drawing = DraftInProgress {
            inputs,
            session,
            models: &models,
            axis: options.axis.as_deref(),
            format,
            dims: HashMap::new(),
        };
        let mut groups = HashMap::from([(first.root(), draft.model.root())]);
        let mut found = false;
        for group in first.walk() {
            let Some(&to) = groups.get(&group) else { continue };
            found |= drawing.group(&mut draft, first, group, to)?;
            let below = first.group(group).map(|group| group.groups.clone()).unwrap_or_default();
            for id in below {
                let name = first.group(id).map(|group| group.name.clone()).unwrap_or_default();
                groups.insert(id, draft.model.add_group(to, &name)?);
            }
        }
        if let Some(axis) = options.axis.as_deref().filter(|_| !found) {
            let message = format!("no dimension {axis:?} in the first file");
            return Err(Error::invalid(message));
        }
        // A pass of its own: variables use dimensions of groups that are all there now.
        for group in first.walk() {
            let vars = first.group(group).map(|group| group.vars.clone()).unwrap_or_default();
            let Some(&to) = groups.get(&group) else { continue };
            for var in vars {
                drawing.variable(&mut draft, first, var, to)?;
            }
        }
        draft.left_out.extend(drawing.only_in_others(first));
        Ok(draft)
    }
}

struct DraftInProgress<'a> {
    inputs: &'a [ReferenceInput],
    session: &'a Session,
    models: &'a [Arc<Model>],
    axis: Option<&'a str>,
    format: ZarrFormat,
    /// Dimensions of the first file in the joint model.
    dims: HashMap<DimId, DimId>,
}

impl DraftInProgress<'_> {
    fn url(&self, input: usize) -> &str {
        self.inputs.get(input).map_or("", |input| input.dataset.url())
    }

    /// Variables that the first file does not have.
    fn only_in_others(&self, first: &Model) -> Vec<LeftOut> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for (input, model) in self.models.iter().enumerate().skip(1) {
            let paths = model.variables().into_iter().map(|var| model.variable_path(var));
            for path in paths.filter(|path| first.variable_at(path).is_none()) {
                if seen.insert(path.clone()) {
                    let reason = format!("present in {} but not in the first file", self.url(input));
                    found.push(LeftOut { path, reason });
                }
            }
        }
        found
    }

    /// Attributes and dimensions of a group; whether the axis is among them.
    fn group(&mut self, draft: &mut ReferenceDraft, first: &Model, id: GroupId, to: GroupId) -> Result<bool> {
        let Some(group) = first.group(id) else { return Ok(false) };
        let path = first.group_path(id);
        let attributes = plain_attributes(&group.attributes, &path, &mut draft.left_out);
        if let Some(group) = draft.model.group_mut(to) {
            *group.attributes = AttributeState::Known(attributes);
        }
        let mut found = false;
        for dim in &group.dims {
            let Some(dimension) = first.dimension(*dim) else { continue };
            let is_axis = self.axis == Some(dimension.name.as_str());
            found |= is_axis;
            let path = first.dimension_path(*dim);
            let lens = self.models.iter().enumerate().map(|(input, model)| {
                let len = model
                    .dimension_at(&path)
                    .and_then(|dim| model.dimension(dim))
                    .map(|dim| dim.len.current());
                len.ok_or_else(|| Error::invalid(format!("no dimension {path}")).at_object(self.url(input)))
            });
            let lens = lens.collect::<Result<Vec<u64>>>()?;
            let len = dimension.len.current();
            let odd = lens.iter().position(|other| *other != len).filter(|_| !is_axis);
            if let Some(odd) = odd {
                let message = format!("dimension {path} does not have length {len}");
                return Err(Error::invalid(message).at_object(self.url(odd)));
            }
            let len =
                if is_axis { lens.iter().fold(0, |sum: u64, len| sum.saturating_add(*len)) } else { len };
            // Chunks may be longer than a growing dimension.
            let len = match dimension.len {
                DimensionLen::Unlimited(_) => DimensionLen::Unlimited(len),
                DimensionLen::Fixed(_) => DimensionLen::Fixed(len),
            };
            let new = draft.model.add_dimension(to, &dimension.name, len)?;
            self.dims.insert(*dim, new);
        }
        Ok(found)
    }

    fn variable(&mut self, draft: &mut ReferenceDraft, first: &Model, id: VarId, to: GroupId) -> Result<()> {
        let (Some(variable), path) = (first.variable(id), first.variable_path(id)) else { return Ok(()) };
        let out = |reason: String| LeftOut { path: path.clone(), reason };
        // It is among what the dataset itself leaves out.
        if variable.fault.is_some() {
            return Ok(());
        }
        let TypeRef::Atomic(_) = variable.ty else {
            draft.left_out.push(out("Zarr has no such type".to_owned()));
            return Ok(());
        };
        let axis = variable
            .dims
            .iter()
            .position(|dim| first.dimension(*dim).is_some_and(|dim| self.axis == Some(dim.name.as_str())));
        let parts = self.parts(&path, variable, axis)?;
        let lengths =
            axis.filter(|_| self.format == ZarrFormat::V3).and_then(|axis| unequal::lengths(&parts, axis));
        let chunk = match (&lengths, parts.first().and_then(VariablePart::chunk_shape)) {
            (Some(_), Some(chunk)) => Ok(chunk.to_vec()),
            _ => chunk_of(&parts, axis, |input| self.url(input).to_owned()),
        };
        let dims = variable.dims.iter().filter_map(|dim| self.dims.get(dim).copied()).collect();
        let mut joint = Variable::new(variable.name.clone(), variable.ty, dims);
        // The fill value stays if its attribute is left out.
        joint.fill = match variable.settled_fill() {
            own @ Fill::Apart(_) => own,
            _ => variable.fill.clone(),
        };
        let plain = plain_attributes(&variable.attributes, &path, &mut draft.left_out);
        joint.take_attributes(AttributeState::Known(plain));
        let source = parts.first().map(|part| &part.source);
        let (chunk, reason) = match (chunk, source) {
            (Ok(chunk), Some(source)) => match (codecs_of(source), self.fill_of(&parts)) {
                (Ok(filters), Ok(fill)) => {
                    joint.filters = filters;
                    joint.endianness = endianness(&source.stored);
                    match fill {
                        // Text without a fill value is empty to readers of Zarr, too.
                        Some(fill) if is_default_text(variable.ty, &fill) => {}
                        Some(fill) => joint.fill = Fill::Apart(fill),
                        // Readers of Zarr treat a fill value as missing data: set it only if something is missing.
                        None if variable.own_fill().is_none() => joint.fill = Fill::None,
                        None => {}
                    }
                    (Some(chunk), String::new())
                }
                (Err(reason), _) | (_, Err(reason)) => (None, reason),
            },
            (Ok(_), None) => (None, "no file has it".to_owned()),
            (Err(reason), _) => (None, reason),
        };
        joint.storage =
            chunk.clone().filter(|chunk| !chunk.is_empty()).map_or(Storage::Default, Storage::Chunked);
        if let (Some(lengths), Some(axis), Some(chunk)) = (&lengths, axis, &chunk) {
            joint.chunk_lengths = Some(unequal::of_all_axes(&parts, chunk, axis, lengths));
        }
        draft.model.insert_variable(to, joint)?;
        draft.variables.push(JointVariable { path, parts, axis, chunk, lengths, reason });
        Ok(())
    }

    /// The value of chunks that were never written, in any file; `None` if all were written.
    fn fill_of(&self, parts: &[VariablePart]) -> std::result::Result<Option<Values>, String> {
        let mut incomplete = parts.iter().filter(|part| !part.is_complete());
        let Some(first) = incomplete.next() else { return Ok(None) };
        let fill = &first.source.fill;
        match incomplete.find(|part| part.source.fill.as_bytes() != fill.as_bytes()) {
            Some(odd) => Err(format!("{} has a different fill value", self.url(odd.input))),
            None => Ok(Some(fill.clone())),
        }
    }

    /// The variable in all files that have a part of it.
    fn parts(&self, path: &str, of: &Variable, axis: Option<usize>) -> Result<Vec<VariablePart>> {
        let count = if axis.is_some() { self.inputs.len() } else { 1 };
        let numbers: Vec<usize> = (0..self.models.len()).take(count).collect();
        let mut parts = each(&numbers, AT_ONCE, None, |_, input| self.part(path, of, axis, *input))?;
        let mut start = 0u64;
        for part in &mut parts {
            // Files follow each other along the axis, in the given order.
            part.start = start;
            let along = axis.and_then(|axis| part.shape.get(axis).copied()).unwrap_or(0);
            let too_long = || Error::invalid(format!("{path}: too long")).at_object(self.url(part.input));
            start = start.checked_add(along).ok_or_else(too_long)?;
        }
        Ok(parts)
    }

    /// The variable in one file.
    fn part(&self, path: &str, of: &Variable, axis: Option<usize>, input: usize) -> Result<VariablePart> {
        let odd = |what: &str| Error::invalid(format!("{path}: {what}")).at_object(self.url(input));
        let absent = || odd("no such variable");
        let find =
            |number: usize| self.models.get(number).and_then(|model| Some((model, model.variable_at(path)?)));
        let (model, var) = find(input).ok_or_else(absent)?;
        let variable = model.variable(var).ok_or_else(absent)?;
        let shape = model.shape(var);
        let first = find(0).map_or_else(|| shape.clone(), |(model, var)| model.shape(var));
        let others = |shape: &[u64]| -> Vec<u64> {
            shape.iter().enumerate().filter(|(at, _)| Some(*at) != axis).map(|(_, len)| *len).collect()
        };
        if variable.ty != of.ty {
            return Err(odd("a different type than in the first file"));
        }
        if others(&shape) != others(&first) || shape.len() != first.len() {
            return Err(odd(&format!("shape {shape:?} where the first file has {first:?}")));
        }
        // Chunks are not rewritten: whatever says how bytes become values must be alike in all files.
        for name in ["units", "calendar", "scale_factor", "add_offset", "_FillValue", "missing_value"] {
            if !same(attribute(variable, name), attribute(of, name)) {
                let message = format!("attribute {name} differs from the first file");
                return Err(odd(&message).with_detail(Detail::JoinedByAggregation));
            }
        }
        let file = self.inputs.get(input).ok_or_else(|| Error::internal("no such file"))?;
        let dataset = &file.dataset;
        let source = dataset.engine().wait(dataset.reader()?.source(var));
        let source = source.map_err(|error| error.at_path(path))?;
        if let Layout::Query { .. } = source.layout {
            let message = "the values are computed by a server: they have no stored bytes to refer to";
            return Err(Error::unsupported(message).at_object(self.url(input)).at_path(path));
        }
        let chunks = dataset.stored_chunks(var, &Selection::all(&shape))?;
        let chunks = existing(file, chunks, self.session).map_err(|error| error.at_path(path))?;
        Ok(VariablePart { input, var, shape, source, chunks, start: 0 })
    }
}

/// Whether a fill value is the default for text.
fn is_default_text(ty: TypeRef, fill: &Values) -> bool {
    match ty {
        TypeRef::Atomic(atomic @ (Atomic::Char | Atomic::String)) => *fill == default_fill(atomic),
        _ => false,
    }
}

fn attribute<'a>(variable: &'a Variable, name: &str) -> Option<&'a Attribute> {
    variable.attributes.known().and_then(|all| all.find(name))
}

/// Whether attributes are bitwise equal: NaN equals itself.
fn same(one: Option<&Attribute>, other: Option<&Attribute>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => match (one.values.as_bytes(), other.values.as_bytes()) {
            (Some(bytes), Some(others)) => one.values.atomic() == other.values.atomic() && bytes == others,
            _ => one == other,
        },
        (one, other) => one == other,
    }
}

/// The common chunk shape of all parts, or why they have none.
fn chunk_of(
    parts: &[VariablePart],
    axis: Option<usize>,
    url: impl Fn(usize) -> String,
) -> std::result::Result<Vec<u64>, String> {
    let first = parts.first().ok_or("no file has it")?;
    if let Some(odd) = parts.iter().find(|part| part.source.stored != first.source.stored) {
        return Err(format!("{} stores it as a different type", url(odd.input)));
    }
    if let Some(odd) = parts.iter().find(|part| part.source.extent != part.shape) {
        return Err(format!("{} stores it in a shape other than its dimensions", url(odd.input)));
    }
    let lens: Vec<u64> = parts.iter().filter_map(|part| part.shape.get(axis?).copied()).collect();
    let element = first.source.stored.byte_len().ok_or("its elements do not have a fixed size")?;
    match &first.source.layout {
        Layout::Grid { grid: ChunkGrid::Regular(chunk), edge: EdgeChunks::Full, codecs, .. } => {
            let (mut odd, mut short) = (Vec::new(), Vec::new());
            for (number, part) in parts.iter().enumerate() {
                let same = matches!(&part.source.layout, Layout::Grid { grid: ChunkGrid::Regular(other), edge: EdgeChunks::Full, codecs: theirs, .. } if other == chunk && theirs == codecs);
                if !same {
                    odd.push(url(part.input));
                    continue;
                }
                if part.chunks.iter().any(|chunk| chunk.stored.mask != 0) {
                    return Err(format!("{} has chunks for which filters were skipped", url(part.input)));
                }
                let along = axis.and_then(|axis| Some((part.shape.get(axis)?, chunk.get(axis)?)));
                let ends = along.is_none_or(|(len, chunk)| len.is_multiple_of((*chunk).max(1)));
                if !ends && number + 1 < parts.len() {
                    short.push(url(part.input));
                }
            }
            match (odd.is_empty(), short.is_empty()) {
                (false, _) => Err(format!("chunks or filters differ from the first file in {}", named(&odd))),
                (_, false) => Err(format!("the last chunk along the axis is not full in {}", named(&short))),
                _ => Ok(chunk.clone()),
            }
        }
        Layout::Affine { strides, .. } => {
            let is_same = |part: &&VariablePart| !matches!(&part.source.layout, Layout::Affine { .. });
            if let Some(odd) = parts.iter().find(is_same) {
                return Err(format!("{} stores it chunked", url(odd.input)));
            }
            // Records of other files may be further apart: the largest strides count.
            let gaps = parts.iter().find_map(|part| match &part.source.layout {
                Layout::Affine { strides: other, .. } if other.first() > strides.first() => Some(other),
                _ => None,
            });
            let axis = axis.map(|axis| (axis, lens.as_slice()));
            let array = StridedArray { shape: &first.shape, strides: gaps.unwrap_or(strides), element, axis };
            cut::chunk_shape(&array).ok_or_else(|| "elements are not contiguous".to_owned())
        }
        _ => Err("its storage has no equivalent in Zarr".to_owned()),
    }
}

/// Names of files, the first ones if there are many.
fn named(files: &[String]) -> String {
    let shown = files.iter().take(SHOWN_FILES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match files.len().checked_sub(SHOWN_FILES) {
        Some(more @ 1..) => format!("{shown} and {more} more"),
        _ => shown,
    }
}

/// Files that an error names.
const SHOWN_FILES: usize = 5;

/// The filters in Zarr's form, as numcodecs knows them.
fn codecs_of(source: &Source) -> std::result::Result<Vec<ncirrus::CodecSpec>, String> {
    let Layout::Grid { codecs, .. } = &source.layout else { return Ok(Vec::new()) };
    let byte_len = source.stored.byte_len().and_then(|len| usize::try_from(len).ok());
    let translated = codecs.iter().map(|codec| {
        let name = codec.identifier();
        let found = names::translate(codec, CodecSpace::V2, &DecodedElement::sized(byte_len));
        let found = found.map_err(|error| format!("filter {name}: {error}"))?;
        match &found {
            ncirrus::CodecSpec::V2(map) => match map.get("id").and_then(|id| id.as_str()) {
                Some(id) if NUMCODECS.contains(&id) => Ok(found),
                id => Err(format!("filter {name}: numcodecs has no {}", id.unwrap_or("such codec"))),
            },
            _ => Err(format!("filter {name} has no name in Zarr")),
        }
    });
    translated.collect()
}

/// Codecs of numcodecs.
const NUMCODECS: [&str; 17] = [
    "zlib",
    "gzip",
    "bz2",
    "lzma",
    "blosc",
    "zstd",
    "lz4",
    "shuffle",
    "delta",
    "fixedscaleoffset",
    "quantize",
    "bitround",
    "packbits",
    "fletcher32",
    "crc32",
    "adler32",
    "zfpy",
];

fn endianness(stored: &StoredType) -> Endianness {
    match stored {
        StoredType::Integer { order, .. } | StoredType::Float { order, .. } => match order {
            ByteOrder::Little => Endianness::Little,
            ByteOrder::Big => Endianness::Big,
        },
        _ => Endianness::Native,
    }
}

/// The attributes that JSON can represent.
fn plain_attributes(state: &AttributeState, path: &str, left_out: &mut Vec<LeftOut>) -> Attributes {
    let Some(all) = state.known() else { return Attributes::new() };
    let mut plain = Attributes::new();
    for attribute in all.iter() {
        if matches!(attribute.ty, TypeRef::Atomic(_)) {
            plain.put(attribute.clone());
        } else {
            let reason = "Zarr has no attributes of such types".to_owned();
            left_out.push(LeftOut { path: format!("{path}:{}", attribute.name), reason });
        }
    }
    plain
}
