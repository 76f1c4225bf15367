//! Storage by `-c` and `-M`.
use crate::ChunkRule;
use ncirrus::{DefaultChunks, Error, Member, Result};
use ncirrus_model::{Atomic, DimId, DimensionLen, Model, Storage, TypeRef, VarId, Variable};
use std::collections::BTreeMap;

/// What all chunk options together say about a model.
#[derive(Debug, Default)]
pub(super) struct ChunkSpecs {
    /// Nothing is chunked that need not be.
    unchunks: bool,
    /// Chunk lengths along dimensions.
    dimensions: BTreeMap<DimId, u64>,
    /// Storage of variables; chunk lengths of 0 are left to the other rules.
    variables: BTreeMap<VarId, Storage>,
}

impl ChunkSpecs {
    /// Parses the options. Of several for a variable the first counts, of several lists of dimensions the last.
    ///
    /// # Errors
    /// `Invalid` with the text that cannot be parsed or does not fit, `NotFound` for unknown names.
    pub(super) fn parse(texts: &[String], model: &Model) -> Result<Self> {
        let mut all = Self::default();
        for text in texts.iter().filter(|text| !text.is_empty()) {
            let rule = match open_shape(text) {
                Some((variable, shape)) => ChunkRule::Shape { variable, shape },
                None => ChunkRule::parse(text)?,
            };
            match rule {
                ChunkRule::Unchunk => {
                    all.unchunks = true;
                    all.dimensions.clear();
                }
                ChunkRule::Irregular { dimension, .. } => {
                    return Err(Error::invalid(format!(
                        "chunks of different lengths along {dimension:?} are only written in Zarr v3, by ncirrus copy"
                    )));
                }
                ChunkRule::Dimensions(lengths) => {
                    all.unchunks = false;
                    all.dimensions = dimensions(&lengths, model)?;
                }
                ChunkRule::Stored { variable, storage } => {
                    all.variables.entry(find(&variable, model)?).or_insert(storage);
                }
                ChunkRule::Shape { variable, shape } => {
                    let var = find(&variable, model)?;
                    check_shape(&shape, model, var)?;
                    all.variables.entry(var).or_insert(Storage::Chunked(shape));
                }
            }
        }
        Ok(all)
    }

    /// The storage of a variable, by rules 1 to 6 of the manual.
    ///
    /// # Errors
    /// `Invalid` if a chunk is longer than its dimension.
    pub(super) fn storage(
        &self,
        model: &Model,
        var: VarId,
        is_filtered: bool,
        fix_unlimited: bool,
        min_bytes: u64,
    ) -> Result<Storage> {
        let Some(variable) = model.variable(var).filter(|variable| !variable.dims.is_empty()) else {
            return Ok(Storage::Default);
        };
        let axes = axes(model, variable, fix_unlimited);
        let grows = axes.iter().any(|axis| axis.is_unlimited());
        let whole = if is_filtered || grows { Storage::Default } else { Storage::Contiguous };
        let own = self.variables.get(&var);
        let by_dimension: Vec<Option<u64>> =
            variable.dims.iter().map(|dim| self.dimensions.get(dim).copied()).collect();
        let is_chunked = matches!(own.unwrap_or(&variable.storage), Storage::Chunked(_));
        // HDF5 stores only chunks with filters, and lets only chunked variables grow.
        let is_required = is_filtered || grows || by_dimension.iter().any(Option::is_some);
        if self.unchunks {
            return Ok(whole);
        }
        if !(is_chunked || is_required) {
            return Ok(match own {
                Some(Storage::Compact) => Storage::Compact,
                _ => whole,
            });
        }
        let element = element_len(model, variable);
        let present = given(&variable.storage);
        let default = DefaultChunks::NetcdfC.shape(&axes, element);
        let mut chunks = Vec::with_capacity(axes.len());
        for (at, axis) in axes.iter().enumerate() {
            // The order of the manual: the variable's own option, the dimension's, the source's chunks, the default. Zero means
            // that the option leaves the length open.
            let choices = [
                own.map(given).and_then(|shape| shape.get(at).copied()),
                by_dimension.get(at).copied().flatten(),
                present.get(at).copied(),
                default.get(at).copied(),
            ];
            let len = choices.into_iter().flatten().find(|len| *len > 0).unwrap_or(1);
            if let DimensionLen::Fixed(whole) = axis
                && by_dimension
                    .get(at)
                    .copied()
                    .flatten()
                    .is_some_and(|requested| requested > (*whole).max(1))
            {
                let message = format!("chunks of {len} elements are longer than dimension {at}, {whole}");
                return Err(Error::invalid(message).at_path(model.variable_path(var)));
            }
            chunks.push(len);
        }
        let bytes = chunks.iter().fold(element, |bytes, len| bytes.saturating_mul(*len));
        Ok(if bytes < min_bytes && !grows { whole } else { Storage::Chunked(chunks) })
    }
}

/// A variable and its chunk shape, in which lengths may be 0: chosen by the other rules.
fn open_shape(text: &str) -> Option<(String, Vec<u64>)> {
    let (variable, shape) = text.split_once(':')?;
    Some((variable.to_owned(), shape.split(',').map(|len| len.parse().ok()).collect::<Option<_>>()?))
}

/// The lengths of chunks, if there are any.
fn given(storage: &Storage) -> &[u64] {
    match storage {
        Storage::Chunked(shape) => shape,
        _ => &[],
    }
}

fn axes(model: &Model, variable: &Variable, fix_unlimited: bool) -> Vec<DimensionLen> {
    let len = |dim: &DimId| model.dimension(*dim).map_or(DimensionLen::Fixed(1), |dimension| dimension.len);
    let axis = |len: DimensionLen| if fix_unlimited { DimensionLen::Fixed(len.current()) } else { len };
    variable.dims.iter().map(|dim| axis(len(dim))).collect()
}

/// Bytes of an element in memory: strings are pointers there, sequences pairs of a length and a pointer.
fn element_len(model: &Model, variable: &Variable) -> u64 {
    let varying = if variable.ty == TypeRef::Atomic(Atomic::String) { 8 } else { 16 };
    model.packed_len(variable.ty).unwrap_or(varying).max(1)
}

fn find(name: &str, model: &Model) -> Result<VarId> {
    model.variable_at(name).ok_or_else(|| Error::no_member(Member::Variable, format_args!("{name:?}")))
}

fn dimensions(lengths: &[(String, Option<u64>)], model: &Model) -> Result<BTreeMap<DimId, u64>> {
    let mut found = BTreeMap::new();
    for (name, len) in lengths {
        let missing =
            || Error::not_found(format!("no dimension {name:?}, for which there is a rule on chunks"));
        let dim = model.dimension_at(name).ok_or_else(missing)?;
        let whole = model.dimension(dim).map_or(0, |dimension| dimension.len.current());
        found.entry(dim).or_insert(len.unwrap_or(whole).max(1));
    }
    Ok(found)
}

/// The shape of a chunk has one length for each dimension, none of them longer than a fixed one.
fn check_shape(chunks: &[u64], model: &Model, var: VarId) -> Result<()> {
    let shape = model.shape(var);
    let growing = model.growing(var);
    if chunks.len() != shape.len() {
        let message = format!("{} chunk lengths for {} dimensions", chunks.len(), shape.len());
        return Err(Error::invalid(message).at_path(model.variable_path(var)));
    }
    let is_longer = |((chunk, len), grows): &((&u64, &u64), &bool)| !**grows && chunk > len;
    match chunks.iter().zip(&shape).zip(&growing).find(is_longer) {
        Some(((chunk, len), _)) => {
            let message = format!("chunks of {chunk} elements are longer than their dimension, {len}");
            Err(Error::invalid(message).at_path(model.variable_path(var)))
        }
        None => Ok(()),
    }
}
