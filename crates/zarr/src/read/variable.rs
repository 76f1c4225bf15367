//! One variable: its description for the model, and the source of its values.
use super::array::{self, ArrayMetadata};
use super::assemble::DatasetAssembly;
use super::attributes::attributes;
use super::dimensions::{self, SpannedVariable};
use super::draft;
use super::extension;
use super::keys::KeyIndex;
use super::node::ArrayNode;
use super::shard::ShardIndex;
use crate::dtype::TimeUnit;
use crate::fill::FillElement;
use crate::json::JsonValue;
use crate::special::{ARRAY_DIMENSIONS, EXTENSION, FILL_VALUE};
use ncirrus_layout::{
    ByteOrder, ChunkGrid, ChunkIndex, EdgeChunks, Error, Layout, PackedArrays, Result, Source, StoredType,
    base64,
};
use ncirrus_model::{
    Atomic, Attribute, CodecSpec, DimId, Endianness, ExtendedType, Fault, Fill, GroupId, Storage, TypeRef,
    Values, Variable, default_fill,
};
use std::sync::Arc;

/// The parsed metadata of an array, except its dimensions.
struct DescribedArray {
    metadata: ArrayMetadata,
    ty: TypeRef,
    stored: StoredType,
}

/// The fill value in the model, before the attributes are, and the one that elements never written have.
struct ArrayFill {
    shown: Fill,
    cells: Values,
}

impl DatasetAssembly<'_> {
    /// Adds a variable. Whatever cannot be interpreted becomes its fault.
    ///
    /// # Errors
    /// If the model refuses it.
    pub(super) fn variable(&mut self, group: GroupId, node: &ArrayNode) -> Result<()> {
        let path = format!("{}/{}", self.model.group_path(group).trim_end_matches('/'), node.name);
        let shape =
            node.metadata.as_ref().map_err(Clone::clone).and_then(|json| array::shape(json, self.limits));
        let described = shape.clone().and_then(|shape| self.describe(group, node, &shape));
        let dims = match &shape {
            Ok(shape) => {
                let from_metadata = node.metadata.as_ref().ok().and_then(|json| array::dimension_names(json));
                let named = node.attributes.find(ARRAY_DIMENSIONS).filter(|_| !self.ignores_array_dimensions);
                let names = from_metadata.or_else(|| dimensions::array_dimensions(named));
                let in_nczarr = self.dialect.is_nczarr();
                let info = node.info.as_ref().filter(|_| in_nczarr);
                let spanned = SpannedVariable { group, path: &path, shape, info, names, in_nczarr };
                dimensions::resolve(&mut self.model, &mut self.dimensions, &spanned, &mut self.warnings)?
            }
            Err(_) => Vec::new(),
        };
        let (variable, source) = match described {
            Ok(known) => self.sound(node, &path, known, shape.unwrap_or_default(), dims),
            Err(error) => {
                let ty = self.likely_type(group, node);
                self.damaged(node, &path, error, (ty, dims))
            }
        };
        self.model.insert_variable(group, variable)?;
        self.sources.push(source);
        Ok(())
    }

    /// Type, chunks and codecs.
    fn describe(&mut self, group: GroupId, node: &ArrayNode, shape: &[u64]) -> Result<DescribedArray> {
        let json = node.metadata.as_ref().map_err(Clone::clone)?;
        let typedef = node.info.as_ref().and_then(|info| self.draft_dtypes.get(info.typedef.as_deref()?));
        let sized = typedef.and_then(|dtype| draft::with_dtype(json, dtype, self.limits));
        let json = sized.as_ref().unwrap_or(json);
        let packed = packed_arrays(node, self.packed);
        let mut metadata = array::describe(json, shape, node.text_rules(self.rules), packed, self.limits)?;
        let stored = metadata.data_type.stored.clone();
        // What the dataset itself calls the type goes before what the data type is beyond it.
        let named = match extension::array_type(&self.model, &node.attributes, &stored)? {
            None => self.aliased(node, &stored)?,
            known => known,
        };
        let is_structure = matches!(metadata.data_type.extended, Some(ExtendedType::Fields(_)));
        if named.as_ref().is_some_and(|(ty, stored)| match ty {
            TypeRef::User(_) => !(is_structure && matches!(stored, StoredType::Compound { .. })),
            // The dataset itself says what text of only NULs is.
            TypeRef::Atomic(Atomic::String) => matches!(stored, StoredType::Text { .. }),
            ty => *ty == TypeRef::Atomic(Atomic::Char),
        }) {
            metadata.data_type.extended = None;
        }
        let (ty, stored) = match named {
            Some(known) => known,
            None => (metadata.data_type.shown.define(&mut self.model, group, &node.name)?, stored),
        };
        if metadata.data_type.time.is_some() && ty != TypeRef::Atomic(Atomic::Int64) {
            metadata.data_type.time = None;
        }
        Ok(DescribedArray { metadata, ty, stored })
    }

    /// The type that an alias (N3) or a type name (D18) gives.
    fn aliased(&self, node: &ArrayNode, stored: &StoredType) -> Result<Option<(TypeRef, StoredType)>> {
        let Some(info) = &node.info else { return Ok(None) };
        let ty = match (info.alias.as_deref(), info.typedef.as_deref()) {
            (Some("char"), _) => TypeRef::Atomic(Atomic::Char),
            (Some("string" | "json"), _) => TypeRef::Atomic(Atomic::String),
            (_, Some(path)) => match self.model.type_at(path) {
                Some(id) => TypeRef::User(id),
                None => return Err(Error::malformed(format!("type {path:?} is not defined"))),
            },
            _ => return Ok(None),
        };
        match extension::retype(&self.model, ty, stored, false) {
            Some(stored) => Ok(Some((ty, stored))),
            None => Err(Error::malformed("the named type does not fit the stored data type")),
        }
    }

    /// A readable variable.
    fn sound(
        &mut self,
        node: &ArrayNode,
        path: &str,
        known: DescribedArray,
        shape: Vec<u64>,
        dims: Vec<DimId>,
    ) -> (Variable, Result<Source>) {
        let mut list = attributes(&node.attributes, self.dialect, &mut self.warnings);
        self.warnings.extend(extension::ignored(&node.attributes));
        let damaged = extension::insert_attributes(&self.model, &node.attributes, &mut list);
        match &known.metadata.packing {
            Some(Ok(packing)) => {
                list.retain(|attribute| !crate::packing::is_replaced(&attribute.name));
                list.extend(packing.attributes.iter().cloned());
            }
            Some(Err(reason)) => {
                self.warnings
                    .push(format!("{path}: its codecs cannot become scale_factor and add_offset: {reason}"));
            }
            None => {}
        }
        let fill = match self.fill(node, path, &known, &mut list) {
            Ok(fill) => fill,
            Err(error) => return self.damaged(node, path, error, (known.ty, dims)),
        };
        if let Some(time) = &known.metadata.data_type.time {
            synthesise_units(time, &mut list);
        }
        let mut variable = Variable::new(node.name.clone(), known.ty, dims);
        variable.fill = fill.shown;
        variable.take_attributes(self.state(list, damaged, node.attributes.fault.as_ref()));
        variable.endianness = endianness(&known.stored);
        variable.extended = known.metadata.data_type.extended.clone();
        variable.filters = known.metadata.filters.clone();
        variable.storage = Storage::Chunked(chunk_shape(&known.metadata.grid, &shape, variable.rank()));
        let per_shard = known.metadata.shards.as_ref().filter(|_| variable.rank() > 0);
        variable.shards = per_shard.and_then(|form| form.of_chunks(&known.metadata.grid));
        variable.chunk_lengths = chunk_lengths(&known.metadata.grid, &shape, variable.rank());
        self.separators.insert(known.metadata.keys.separator.as_str());
        let source = self.source(node, known, shape, variable.rank(), fill.cells);
        (variable, Ok(source))
    }

    /// The type of a variable that cannot be read, if its metadata have it: bytes otherwise.
    fn likely_type(&mut self, group: GroupId, node: &ArrayNode) -> TypeRef {
        let rules = node.text_rules(self.rules);
        let shown = node.metadata.as_ref().ok().and_then(|json| array::likely_type(json, rules));
        let ty = shown.and_then(|known| known.shown.define(&mut self.model, group, &node.name).ok());
        ty.unwrap_or(Atomic::Byte.into())
    }

    /// A variable that exists but cannot be read.
    fn damaged(
        &mut self,
        node: &ArrayNode,
        path: &str,
        error: Error,
        (ty, dims): (TypeRef, Vec<DimId>),
    ) -> (Variable, Result<Source>) {
        let place = match &node.metadata {
            Ok(json) if json.member("node_type").is_some() => crate::special::ZARR_JSON,
            _ => crate::special::ZARRAY,
        };
        let error = error.at_object(node.prefix.child(place)).at_path(path).by("zarr");
        let mut variable = Variable::new(node.name.clone(), ty, dims);
        let list = attributes(&node.attributes, self.dialect, &mut self.warnings);
        variable.attributes = self.state(list, Vec::new(), node.attributes.fault.as_ref());
        variable.fault = Some(Fault::from(&error));
        self.warnings.push(error.to_string());
        (variable, Err(error))
    }

    /// The fill value: the attribute if there is one, otherwise that of the metadata, otherwise the default
    /// (docs/spec/nczarr.md 3.8.3, 3.11).
    fn fill(
        &mut self,
        node: &ArrayNode,
        path: &str,
        known: &DescribedArray,
        list: &mut Vec<Attribute>,
    ) -> Result<ArrayFill> {
        let is_ours = node.attributes.find(EXTENSION).is_some();
        let in_base64 = (is_ours && stated_fill(node) != Some("text"))
            || self.is_foreign()
            || self.dialect.zarr_format() == 3;
        let element = FillElement { model: &self.model, ty: known.ty, stored: &known.stored, in_base64 };
        let parsed = element.parse(&known.metadata.fill);
        let given = match parsed {
            Ok(given) => given,
            Err(_) if list.iter().any(|attribute| attribute.name == FILL_VALUE) => None,
            // It costs the fill value, not the variable: the chunks are there.
            Err(error) => {
                self.warnings.push(format!("{path}: {}: the array is read without it", error.message()));
                None
            }
        };
        let given = given.map(|given| self.exact_default(known.ty, given));
        let own = self.own_fill(node, known, list);
        let default = element.default()?;
        let shown = match (&own, &given) {
            (Some(own), _) => Fill::Apart(own.clone()),
            // ncirrus writes none for opaque and compound values: xarray cannot decode a dataset in which one has a
            // fill value.
            (None, None) if matches!(known.ty, TypeRef::User(_)) && !self.is_foreign() => Fill::Attribute,
            (None, None) if self.provenance.is_ours() && !is_unfilled(node) => Fill::Attribute,
            (None, None) => Fill::None,
            (None, Some(given)) if *given == default => Fill::Attribute,
            (None, Some(given)) => Fill::Apart(given.clone()),
        };
        if own.is_none() && self.is_foreign() {
            synthesise_fill(known.ty, &shown, list);
        }
        let unwritten = || match known.ty {
            TypeRef::Atomic(atomic) if self.is_foreign() && atomic.is_numeric() => Values::zeroed(atomic, 1),
            _ => default,
        };
        let cells = given.or(own).unwrap_or_else(unwritten);
        Ok(ArrayFill { shown, cells })
    }

    /// Whether neither netcdf-c nor ncirrus wrote the dataset: then the fill value is only in the metadata, with
    /// bytes in base64, and without one elements never written are zero.
    fn is_foreign(&self) -> bool {
        !self.dialect.is_nczarr() && !self.provenance.is_netcdf()
    }

    /// `_FillValue` as one element of the variable's type; the attribute is converted to that type.
    fn own_fill(&self, node: &ArrayNode, known: &DescribedArray, list: &mut [Attribute]) -> Option<Values> {
        let attribute = list.iter_mut().find(|attribute| attribute.name == FILL_VALUE)?;
        if attribute.ty == known.ty && attribute.values.len() == 1 {
            return Some(attribute.values.clone());
        }
        let json = node.attributes.find(FILL_VALUE)?;
        let element =
            FillElement { model: &self.model, ty: known.ty, stored: &known.stored, in_base64: false };
        let value = element.parse(json).ok().flatten().or_else(|| packed_double(json, known.ty))?;
        (attribute.ty, attribute.values) = (known.ty, value.clone());
        Some(value)
    }

    /// The exact default if the writer rounded it to six digits (docs/spec/nczarr.md 3.9).
    fn exact_default(&self, ty: TypeRef, given: Values) -> Values {
        let rounded = match (&given, ty) {
            (Values::Float(values), TypeRef::Atomic(_)) => values.as_slice() == [9.96921e36],
            (Values::Double(values), TypeRef::Atomic(_)) => values.as_slice() == [9.96921e36],
            _ => false,
        };
        match ty {
            TypeRef::Atomic(atomic) if rounded && self.repairs && self.provenance.is_netcdf_c() => {
                default_fill(atomic)
            }
            _ => given,
        }
    }

    /// The location of the values.
    fn source(
        &self,
        node: &ArrayNode,
        known: DescribedArray,
        shape: Vec<u64>,
        rank: usize,
        fill: Values,
    ) -> Source {
        let DescribedArray { metadata, mut stored, .. } = known;
        let is_big = endianness(&stored) == Endianness::Big;
        if is_big && self.repairs && self.provenance.never_swaps() {
            stored = in_little_endian(stored);
        }
        let swapped_fill = is_big && self.repairs && self.provenance.swaps_all_but_fill();
        let is_hidden = rank == 0;
        let hidden_axes = if is_hidden { shape.len() } else { 0 };
        let keys = KeyIndex { prefix: node.prefix.clone(), keys: metadata.keys, hidden_axes };
        let index: Arc<dyn ChunkIndex> = match metadata.shards {
            Some(form) => Arc::new(ShardIndex { shards: keys, form }),
            None => Arc::new(keys),
        };
        let (grid, extent) =
            if is_hidden { (ChunkGrid::Regular(Vec::new()), Vec::new()) } else { (metadata.grid, shape) };
        let codecs: Arc<[CodecSpec]> = metadata
            .codecs
            .into_iter()
            // A single element has no axes to transpose.
            .filter(|codec| !is_hidden || codec.identifier() != "transpose")
            .collect();
        let layout = Layout::Grid { grid, edge: EdgeChunks::Full, index, codecs };
        Source { layout, stored, extent, fill, resolver: None, swapped_fill }
    }
}

/// How packed floats are shown: as the codecs make them if the array has attributes of the floats that would be lost beside the
/// stored integers, or would mean something else.
fn packed_arrays(node: &ArrayNode, wanted: PackedArrays) -> PackedArrays {
    let has = |name: &&str| node.attributes.find(name).is_some();
    let is_of_floats = ["scale_factor", "add_offset", "missing_value"].iter().any(has)
        || (wanted == PackedArrays::Exact && crate::packing::OF_STORED.iter().any(has))
        || node.attributes.find(FILL_VALUE).is_some_and(|fill| !is_nan(fill));
    if is_of_floats { PackedArrays::Decoded } else { wanted }
}

/// Whether an attribute is NaN: as a number, as text or in base64.
fn is_nan(json: &JsonValue) -> bool {
    let in_base64 = || packed_double(json, Atomic::Double.into())?.number(0);
    let is_number = json.as_number().is_some_and(|number| number.as_f64().is_nan());
    is_number || json.as_str() == Some("NaN") || in_base64().is_some_and(f64::is_nan)
}

/// The chunk shape to show: none for scalars; of a rectilinear grid the first chunk's.
fn chunk_shape(grid: &ChunkGrid, shape: &[u64], rank: usize) -> Vec<u64> {
    match grid {
        _ if rank == 0 => Vec::new(),
        ChunkGrid::Regular(lens) => lens.clone(),
        ChunkGrid::Rectilinear(_) => grid.cell_shape(&vec![0; shape.len()]).unwrap_or_default(),
    }
}

/// The lengths of the chunks of a rectilinear grid, up to the end of the array; `None` for other grids.
fn chunk_lengths(grid: &ChunkGrid, shape: &[u64], rank: usize) -> Option<Vec<Vec<u64>>> {
    if rank == 0 || !matches!(grid, ChunkGrid::Rectilinear(_)) {
        return None;
    }
    let along = |(axis, len): (usize, &u64)| {
        let cells = 0..grid.cells_along(axis, *len).max(1);
        cells.map(|cell| grid.span(axis, cell).map(|span| span.end - span.start)).collect()
    };
    shape.iter().enumerate().map(along).collect()
}

/// The byte order of stored numbers declared in the metadata.
fn endianness(stored: &StoredType) -> Endianness {
    match stored {
        StoredType::Integer { size: 2.., order, .. }
        | StoredType::Float { order, .. }
        | StoredType::BFloat16 { order } => match order {
            ByteOrder::Little => Endianness::Little,
            ByteOrder::Big => Endianness::Big,
        },
        _ => Endianness::Native,
    }
}

/// The same number, little-endian: the actual byte order of writers that never swapped (docs/spec/nczarr.md 4.4).
fn in_little_endian(stored: StoredType) -> StoredType {
    let order = ByteOrder::Little;
    match stored {
        StoredType::Integer { size, signed, .. } => StoredType::Integer { size, signed, order },
        StoredType::Float { size, .. } => StoredType::Float { size, order },
        other => other,
    }
}

/// Adds the `units` and `calendar` of NumPy's times, unless the array has units of its own.
fn synthesise_units(time: &TimeUnit, list: &mut Vec<Attribute>) {
    let has = |list: &[Attribute], name: &str| list.iter().any(|attribute| attribute.name == name);
    if has(list, "units") {
        return;
    }
    list.push(Attribute::text("units", &time.cf_units()));
    if time.is_instant && !has(list, "calendar") {
        list.push(Attribute::text("calendar", "proleptic_gregorian"));
    }
}

/// Whether the extension says that elements never written are undefined.
fn is_unfilled(node: &ArrayNode) -> bool {
    stated_fill(node) == Some("none")
}

/// The extension's statement on the fill value: that there is none, or that it is plain text.
fn stated_fill(node: &ArrayNode) -> Option<&str> {
    node.attributes.find(EXTENSION)?.member("fill")?.as_str()
}

/// Shows the fill value of foreign arrays as `_FillValue`, unless it is zarr-python's default (docs/spec/nczarr.md
/// 3.11).
fn synthesise_fill(ty: TypeRef, shown: &Fill, list: &mut Vec<Attribute>) {
    let Fill::Apart(values) = shown else { return };
    let is_implicit = match values {
        Values::Float(v) => v.iter().all(|v| *v == 0.0 || v.is_nan()),
        Values::Double(v) => v.iter().all(|v| *v == 0.0 || v.is_nan()),
        Values::String(v) => v.iter().all(|v| v.is_none_or(<[u8]>::is_empty)),
        Values::Opaque { .. } | Values::Vlen { .. } | Values::Compound { .. } => true,
        other => other.as_bytes().is_none_or(|bytes| bytes.iter().all(|byte| *byte == 0)),
    };
    if !is_implicit {
        list.insert(0, Attribute { name: FILL_VALUE.to_owned(), ty, values: values.clone(), is_json: false });
    }
}

/// A number in base64, as xarray writes the `_FillValue` of Zarr v3: a little-endian double.
fn packed_double(json: &JsonValue, ty: TypeRef) -> Option<Values> {
    let TypeRef::Atomic(atomic) = ty else { return None };
    let bytes: [u8; 8] = base64::decode(json.as_str()?.as_bytes())?.try_into().ok()?;
    let value = f64::from_le_bytes(bytes);
    match atomic {
        Atomic::Double => Some(Values::Double(vec![value])),
        #[expect(clippy::cast_possible_truncation, reason = "the writer widened a float")]
        Atomic::Float => Some(Values::Float(vec![value as f32])),
        _ => None,
    }
}
