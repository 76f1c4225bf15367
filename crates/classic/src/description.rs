//! Interpretation of a header: shapes, the number and size of records, and positions. A variable that contradicts
//! itself keeps its place in the model, with the reason.
use crate::geometry::{SlabSize, padded, record_size, slab};
use crate::header::{ClassicHeader, HeaderVar};
use ncirrus_model::{
    AttributeState, DimId, Dimension, DimensionLen, Endianness, Fault, FaultKind, Fill, Model, Storage,
    TypeRef, VarId, Variable,
};
use std::collections::{HashMap, HashSet};

/// Information about a variable, or what is wrong with it.
type KnownVariable<T> = Result<T, String>;

/// Where the elements of a variable are.
#[derive(Debug, Clone)]
pub(crate) struct VariablePlace {
    /// Offset of the first element.
    pub(crate) begin: u64,
    /// One past the last byte; equal to `begin` when there are no elements.
    pub(crate) end: u64,
    /// Bytes from one element to the next, the record axis included.
    pub(crate) strides: Vec<u64>,
}

/// A header being converted to a model.
pub(crate) struct ModelDescription<'a> {
    header: &'a ClassicHeader,
    record_dim: Option<u64>,
    records: u64,
    /// Per variable: its size, or what is wrong with it.
    slabs: Vec<KnownVariable<SlabSize>>,
    /// Per variable: its position, or what is wrong with it.
    places: Vec<KnownVariable<VariablePlace>>,
}

impl<'a> ModelDescription<'a> {
    /// Interprets a header for a file of that size.
    pub(crate) fn new(header: &'a ClassicHeader, file_size: u64) -> Self {
        let record_dim = header.record_dim();
        let mut description = Self { header, record_dim, records: 0, slabs: Vec::new(), places: Vec::new() };
        description.slabs = header.vars.iter().map(|var| description.slab(var)).collect();
        description.resolve(file_size);
        description
    }

    fn is_record(&self, var: &HeaderVar) -> bool {
        self.record_dim.is_some() && var.dims.first().copied() == self.record_dim
    }

    fn slab(&self, var: &HeaderVar) -> KnownVariable<SlabSize> {
        let inner = var.dims.get(usize::from(self.is_record(var))..).unwrap_or_default();
        let mut shape = Vec::with_capacity(inner.len());
        for number in inner {
            if Some(*number) == self.record_dim {
                return Err("the record dimension is not its first".to_owned());
            }
            let dim = usize::try_from(*number).ok().and_then(|at| self.header.dims.get(at));
            let dim = dim.ok_or_else(|| format!("it has dimension number {number}, which does not exist"))?;
            shape.push(dim.len);
        }
        slab(var.ty, &shape).ok_or_else(|| format!("its shape {shape:?} is too large"))
    }

    /// Determines the number of records and every variable's position.
    fn resolve(&mut self, file_size: u64) {
        let record_size = self.record_size();
        let of_records = |(var, _): &(&HeaderVar, _)| self.is_record(var);
        let first =
            self.header.vars.iter().zip(&self.slabs).filter(of_records).map(|(var, _)| var.begin).min();
        self.records = self.header.records.unwrap_or_else(|| match (&record_size, first) {
            (Ok(size), Some(first)) => file_size.saturating_sub(first).checked_div(*size).unwrap_or(0),
            _ => 0,
        });
        let pairs = self.header.vars.iter().zip(&self.slabs);
        self.places = pairs.map(|(var, slab)| self.place(var, slab.clone()?, &record_size)).collect();
        self.refuse_overlaps();
    }

    /// Finds variables that begin within another, or within another's first record.
    fn refuse_overlaps(&mut self) {
        let held = self.first_slabs();
        let (mut end, mut overlapping) = (0, Vec::new());
        for (at, begin, until) in held {
            if begin < end {
                overlapping.push((at, begin));
            } else {
                end = until;
            }
        }
        for (at, begin) in overlapping {
            if let Some(place) = self.places.get_mut(at) {
                *place = Err(format!("it begins at byte {begin}, within another variable"));
            }
        }
    }

    /// The variables whose places are known, in the order of these: each with where its elements begin and end, those of its first
    /// record if it has records.
    fn first_slabs(&self) -> Vec<(usize, u64, u64)> {
        let known = self.header.vars.iter().zip(&self.slabs).zip(&self.places).enumerate();
        let mut found: Vec<(usize, u64, u64)> = known
            .filter_map(|(at, ((var, slab), place))| {
                let place = place.as_ref().ok()?;
                let record_end = place.begin.saturating_add(slab.as_ref().ok()?.byte_len);
                let end = if self.is_record(var) { record_end.min(place.end) } else { place.end };
                Some((at, place.begin, end))
            })
            .collect();
        found.sort_by_key(|(_, begin, end)| (*begin, *end));
        found
    }

    /// Why netCDF-C does not open the file, although it can be read: it wants fixed variables, and behind them those of records, in
    /// the order of their definition, none before the padding of the one before it ends.
    pub(crate) fn refusal(&self) -> Option<String> {
        let mut end = self.header.byte_len;
        for of_records in [false, true] {
            for (var, slab) in self.header.vars.iter().zip(&self.slabs) {
                if self.is_record(var) != of_records {
                    continue;
                }
                let (name, begin) = (&var.name, var.begin);
                let byte_len = match slab {
                    Ok(slab) => slab.byte_len,
                    Err(reason) => return Some(format!("variable {name:?}: {reason}")),
                };
                if begin < end {
                    let message = format!("variable {name:?} begins at byte {begin}, before byte {end}");
                    return Some(format!("{message}, where what is before it ends"));
                }
                end = padded(byte_len).and_then(|len| begin.checked_add(len)).unwrap_or(u64::MAX);
            }
        }
        None
    }

    fn record_size(&self) -> KnownVariable<u64> {
        let mut lens = Vec::new();
        for (var, slab) in self.header.vars.iter().zip(&self.slabs) {
            if self.is_record(var) {
                let unknown =
                    |_| format!("the size of a record is unknown because of variable {:?}", var.name);
                lens.push(slab.as_ref().map_err(unknown)?.byte_len);
            }
        }
        record_size(&lens).ok_or_else(|| "the size of a record is too large".to_owned())
    }

    fn place(
        &self,
        var: &HeaderVar,
        slab: SlabSize,
        record_size: &KnownVariable<u64>,
    ) -> KnownVariable<VariablePlace> {
        let begin = var.begin;
        let mut strides = slab.strides;
        let mut len = Some(slab.byte_len);
        if self.is_record(var) {
            let size = record_size.clone()?;
            strides.insert(0, size);
            len = match self.records.checked_sub(1) {
                None => Some(0),
                Some(steps) => steps.checked_mul(size).and_then(|steps| steps.checked_add(slab.byte_len)),
            };
        }
        let end = len.and_then(|len| begin.checked_add(len));
        let end = end.ok_or_else(|| format!("it begins at byte {begin} and ends after 2^64"))?;
        if end > begin && begin < self.header.byte_len {
            let header = self.header.byte_len;
            return Err(format!("it begins at byte {begin}, within the header of {header} bytes"));
        }
        Ok(VariablePlace { begin, end, strides })
    }

    /// What a truncated file lacks of what its header describes.
    pub(crate) fn cut(&self, file_size: u64) -> Option<Fault> {
        // netCDF-C ends a file without records before the place where the first one would begin.
        let held = self.places.iter().flatten().filter(|place| place.end > place.begin);
        let end = held.map(|place| place.end).max().unwrap_or(0);
        let message = || format!("the file is cut off: {file_size} of {end} bytes");
        (end > file_size).then(|| Fault::new(FaultKind::Malformed, message()))
    }

    /// Warnings about the file for the user.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let foreign = |name: &String| format!("the name {name:?} is not UTF-8 in the file");
        let mut warnings: Vec<String> = self.header.foreign_names.iter().map(foreign).collect();
        let mut seen = HashSet::new();
        for dim in &self.header.dims {
            if !seen.insert(dim.name.as_str()) {
                warnings.push(format!("two dimensions are named {:?}", dim.name));
            }
            if dim.len == 0 && seen.replace("").is_some() {
                warnings.push(format!("dimension {:?} is a second one of length 0", dim.name));
            }
        }
        warnings
    }

    /// The model, and the positions of its valid variables.
    pub(crate) fn into_model(self) -> (Model, HashMap<VarId, VariablePlace>) {
        let mut model = Model::new();
        let root = model.root();
        let mut dims = Vec::with_capacity(self.header.dims.len());
        for (number, dim) in self.header.dims.iter().enumerate() {
            let len = match self.record_dim {
                Some(record) if record == number as u64 => DimensionLen::Unlimited(self.records),
                _ => DimensionLen::Fixed(dim.len),
            };
            dims.extend(model.insert_dimension(root, Dimension { name: dim.name.clone(), len }));
        }
        if let Some(group) = model.group_mut(root) {
            *group.attributes = AttributeState::Known(self.header.attributes.clone());
        }
        let mut places = HashMap::new();
        let mut seen = HashSet::new();
        for (var, place) in self.header.vars.iter().zip(self.places) {
            let first = seen.insert(var.name.as_str());
            let place =
                if first { place } else { Err("a variable of this name is listed before".to_owned()) };
            let (place, fault) = match place {
                Ok(place) => (Some(place), None),
                Err(message) => (None, Some(Fault::new(FaultKind::Malformed, message))),
            };
            let inserted = model.insert_variable(root, Variable { fault, ..describe(var, &dims) });
            places.extend(inserted.ok().zip(place));
        }
        (model, places)
    }
}

fn describe(var: &HeaderVar, dims: &[DimId]) -> Variable {
    let dim = |number: &u64| usize::try_from(*number).ok().and_then(|at| dims.get(at)).copied();
    Variable {
        name: var.name.clone(),
        ty: TypeRef::Atomic(var.ty),
        dims: var.dims.iter().filter_map(dim).collect(),
        attributes: AttributeState::Known(var.attributes.clone()),
        fill: Fill::Attribute,
        // Left to the machine, so that a copy to another format does not inherit this one's byte order.
        endianness: Endianness::Native,
        storage: Storage::Contiguous,
        shards: None,
        filters: Vec::new(),
        extended: None,
        chunk_lengths: None,
        fault: None,
    }
}
