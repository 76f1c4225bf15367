//! Chunk shapes by rule, in the grammar of nccopy's `-c` (docs/spec/nczarr.md 12.7).
use ncirrus::{Error, Result};
use ncirrus_model::{Model, Shards, Storage, VarId};

/// A rule for chunk shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkRule {
    /// This many elements along these dimensions (simple names); `None`: the whole length.
    Dimensions(Vec<(String, Option<u64>)>),
    /// This shape for this variable.
    Shape {
        /// Path or simple name.
        variable: String,
        /// Elements per axis.
        shape: Vec<u64>,
    },
    /// This storage for this variable.
    Stored {
        /// Path or simple name.
        variable: String,
        /// Contiguous or compact.
        storage: Storage,
    },
    /// Chunks of different lengths along a dimension (simple name), for all variables that have it; in Zarr v3 only.
    Irregular {
        /// Simple name.
        dimension: String,
        /// Elements of each chunk.
        lengths: ChunkLengths,
    },
    /// No variable is chunked.
    Unchunk,
}

/// Lengths of chunks that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkLengths {
    /// Those, in order; together they are as long as the dimension.
    Listed(Vec<u64>),
    /// A chunk for each month of the coordinate variable.
    Monthly,
    /// A chunk for each file of an aggregation.
    Files,
}

impl ChunkRule {
    /// Parses `dim1/n1,dim2/n2`, `dim/[n1,n2,...]`, `dim/monthly`, `dim/files`, `/` or `//`, `var:n1,n2`, `var:`, `var:contiguous` or
    /// `var:compact`.
    ///
    /// # Errors
    /// `Invalid` with the part that cannot be parsed.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |reason: &str| Error::invalid(format!("chunking {text:?}: {reason}"));
        let length = |part: &str| match part.trim().parse::<u64>() {
            Ok(0) | Err(_) => Err(bad(&format!("{part:?} is not a chunk length"))),
            Ok(length) => Ok(length),
        };
        if matches!(text, "/" | "//") {
            return Ok(Self::Unchunk);
        }
        if let Some((variable, rest)) = text.split_once(':') {
            let variable = variable.to_owned();
            return match rest {
                contiguous if contiguous.is_empty() || contiguous.eq_ignore_ascii_case("contiguous") => {
                    Ok(Self::Stored { variable, storage: Storage::Contiguous })
                }
                compact if compact.eq_ignore_ascii_case("compact") => {
                    Ok(Self::Stored { variable, storage: Storage::Compact })
                }
                shape => {
                    Ok(Self::Shape { variable, shape: shape.split(',').map(length).collect::<Result<_>>()? })
                }
            };
        }
        if let Some((dimension, lengths)) = irregular(text).map_err(|reason| bad(&reason))? {
            return Ok(Self::Irregular { dimension, lengths });
        }
        // Names of dimensions may be paths.
        let dimension = |part: &str| match part.rsplit_once('/') {
            Some((name, "")) => Ok((name.trim().to_owned(), None)),
            Some((name, len)) => Ok((name.trim().to_owned(), Some(length(len)?))),
            None => Err(bad("expected DIMENSION/LENGTH or VARIABLE:LENGTH,...")),
        };
        Ok(Self::Dimensions(text.split(',').map(dimension).collect::<Result<_>>()?))
    }
}

/// A dimension and the lengths of its chunks, in brackets or by a word; `None` if the text is another rule.
fn irregular(text: &str) -> std::result::Result<Option<(String, ChunkLengths)>, String> {
    let Some((dimension, lengths)) = text.split_once('/') else { return Ok(None) };
    let dimension = dimension.trim().to_owned();
    if lengths.trim() == "monthly" {
        return Ok(Some((dimension, ChunkLengths::Monthly)));
    }
    if lengths.trim() == "files" {
        return Ok(Some((dimension, ChunkLengths::Files)));
    }
    let Some(list) = lengths.trim().strip_prefix('[') else { return Ok(None) };
    let list = list.strip_suffix(']').ok_or("a list in brackets is a rule of its own")?;
    let length = |part: &str| match part.trim().parse::<u64>() {
        Ok(0) | Err(_) => Err(format!("{part:?} is not a chunk length")),
        Ok(length) => Ok(length),
    };
    let lengths = list.split(',').map(length).collect::<std::result::Result<_, _>>()?;
    Ok(Some((dimension, ChunkLengths::Listed(lengths))))
}

/// The storage that the rules set for a variable; `None` if no rule applies.
///
/// # Errors
/// `Invalid` if a shape's rank is not the variable's.
pub(crate) fn storage_by_rules(rules: &[ChunkRule], model: &Model, var: VarId) -> Result<Option<Storage>> {
    let shape = model.shape(var);
    let mut by_dimension: Option<Vec<u64>> = None;
    let mut chosen = None;
    for rule in rules {
        match rule {
            ChunkRule::Unchunk => chosen = chosen.or(Some(Storage::Contiguous)),
            ChunkRule::Stored { variable, storage } if names(model, var, variable) => {
                chosen = Some(storage.clone());
            }
            ChunkRule::Shape { variable, shape: wanted } if names(model, var, variable) => {
                if wanted.len() != shape.len() {
                    let message = format!("{} chunk lengths for {} dimensions", wanted.len(), shape.len());
                    return Err(Error::invalid(message).at_path(model.variable_path(var)));
                }
                let growing = model.growing(var);
                let fit = |((&len, &axis), &grows): ((&u64, &u64), &bool)| {
                    if grows { len } else { len.min(axis.max(1)) }
                };
                chosen = Some(Storage::Chunked(wanted.iter().zip(&shape).zip(&growing).map(fit).collect()));
            }
            ChunkRule::Dimensions(lengths) => {
                apply_dimensions(lengths, model, var, &shape, &mut by_dimension);
            }
            ChunkRule::Stored { .. } | ChunkRule::Shape { .. } | ChunkRule::Irregular { .. } => {}
        }
    }
    Ok(chosen.or(by_dimension.map(Storage::Chunked)))
}

/// A rule for shards: the objects of Zarr v3 that contain several chunks each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShardRule {
    /// This many elements along these dimensions (simple names); `None`: the whole length. Along others a shard is as long as
    /// a chunk.
    Dimensions(Vec<(String, Option<u64>)>),
    /// This shape for this variable.
    Shape {
        /// Path or simple name.
        variable: String,
        /// Elements per axis.
        shape: Vec<u64>,
    },
    /// No shards for this variable.
    Without {
        /// Path or simple name.
        variable: String,
    },
    /// Shards of about 256 MiB.
    Auto,
    /// No variable has shards.
    Unshard,
}

impl ShardRule {
    /// Parses `dim1/n1,dim2/`, `auto`, `none`, `var:n1,n2` or `var:`.
    ///
    /// # Errors
    /// `Invalid` with the part that cannot be parsed.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "auto" => return Ok(Self::Auto),
            "none" | "/" => return Ok(Self::Unshard),
            _ => {}
        }
        let rule =
            ChunkRule::parse(text).map_err(|error| error.reworded(|fact| format!("shards: {fact}")))?;
        match rule {
            ChunkRule::Dimensions(lengths) => Ok(Self::Dimensions(lengths)),
            ChunkRule::Shape { variable, shape } => Ok(Self::Shape { variable, shape }),
            ChunkRule::Stored { variable, storage: Storage::Contiguous } if text.ends_with(':') => {
                Ok(Self::Without { variable })
            }
            ChunkRule::Stored { .. } | ChunkRule::Irregular { .. } | ChunkRule::Unchunk => {
                Err(Error::invalid(format!("shards {text:?}: expected DIMENSION/LENGTH, auto or none")))
            }
        }
    }
}

/// The shards that the rules set for a variable; the outer `None` if no rule applies.
///
/// # Errors
/// `Invalid` if a shape's rank is not the variable's.
pub(super) fn shards_by_rules(
    rules: &[ShardRule],
    model: &Model,
    var: VarId,
) -> Result<Option<Option<Shards>>> {
    let shape = model.shape(var);
    let chunk = match model.variable(var).map(|variable| &variable.storage) {
        Some(Storage::Chunked(chunk)) => Some(chunk.clone()),
        _ => None,
    };
    // Whole dimensions are rounded up to whole chunks, where these are known; the format does it where it chooses them.
    let whole = |axis: usize, len: u64| {
        let chunk = chunk.as_ref().and_then(|chunk| chunk.get(axis)).copied().unwrap_or(1).max(1);
        len.max(1).div_ceil(chunk).saturating_mul(chunk)
    };
    let (mut general, mut own) = (None, None);
    for rule in rules {
        match rule {
            ShardRule::Unshard => general = Some(None),
            ShardRule::Auto if !shape.is_empty() => general = Some(Some(Shards::new(Vec::new()))),
            ShardRule::Dimensions(lengths) => {
                let dims = model.variable(var).map(|variable| variable.dims.as_slice()).unwrap_or_default();
                let mut wanted = vec![0; shape.len()];
                for ((axis, dim), slot) in dims.iter().enumerate().zip(&mut wanted) {
                    let name = model.dimension(*dim).map(|dimension| dimension.name.as_str());
                    let rule = lengths.iter().find(|(wanted, _)| Some(wanted.as_str()) == name);
                    if let Some((_, len)) = rule {
                        *slot = len.unwrap_or_else(|| whole(axis, shape.get(axis).copied().unwrap_or(1)));
                    }
                }
                if wanted.iter().any(|len| *len > 0) {
                    // Shards of one chunk each would only add an index.
                    let is_chunk = |(len, chunk): (&u64, &u64)| *len == 0 || len == chunk;
                    let is_one = chunk.as_ref().is_some_and(|chunk| wanted.iter().zip(chunk).all(is_chunk));
                    general = Some((!is_one).then(|| Shards::new(wanted)));
                }
            }
            ShardRule::Shape { variable, shape: wanted } if names(model, var, variable) => {
                if wanted.len() != shape.len() {
                    let message = format!("{} shard lengths for {} dimensions", wanted.len(), shape.len());
                    return Err(Error::invalid(message).at_path(model.variable_path(var)));
                }
                own = Some(Some(Shards::new(wanted.clone())));
            }
            ShardRule::Without { variable } if names(model, var, variable) => own = Some(None),
            ShardRule::Auto | ShardRule::Shape { .. } | ShardRule::Without { .. } => {}
        }
    }
    Ok(own.or(general))
}

/// Shards of a copy that were not chosen: those of the source, if they consist of whole chunks still.
pub(super) fn fit_shards(shards: &mut Option<Shards>, storage: &Storage) {
    let is_whole = |shards: &Shards| match storage {
        Storage::Chunked(chunks) => {
            shards.shape.len() == chunks.len()
                && shards.shape.iter().zip(chunks).all(|(shard, chunk)| shard.checked_rem(*chunk) == Some(0))
        }
        _ => false,
    };
    *shards = shards.take().filter(is_whole);
}

fn apply_dimensions(
    lengths: &[(String, Option<u64>)],
    model: &Model,
    var: VarId,
    shape: &[u64],
    chunks: &mut Option<Vec<u64>>,
) {
    let Some(variable) = model.variable(var) else { return };
    for (axis, dim) in variable.dims.iter().enumerate() {
        let Some(dimension) = model.dimension(*dim) else { continue };
        let Some((_, wanted)) = lengths.iter().find(|(name, _)| *name == dimension.name) else { continue };
        let present = match &variable.storage {
            Storage::Chunked(present) => present.clone(),
            _ => shape.iter().map(|len| (*len).max(1)).collect(),
        };
        let chunks = chunks.get_or_insert(present);
        let len = shape.get(axis).copied().unwrap_or(1).max(1);
        let wanted = wanted.unwrap_or(len);
        if let Some(slot) = chunks.get_mut(axis) {
            *slot = if dimension.len.is_unlimited() { wanted } else { wanted.min(len) };
        }
    }
}

/// Whether a path or simple name on the command line means this variable.
pub(crate) fn names(model: &Model, var: VarId, text: &str) -> bool {
    if text.contains('/') {
        model.variable_path(var).trim_start_matches('/') == text.trim_start_matches('/')
    } else {
        model.variable(var).is_some_and(|variable| variable.name == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_grammar_of_shards_is_understood() {
        let dims = vec![("t".to_owned(), Some(5)), ("x".to_owned(), None)];
        for (text, rule) in [
            ("auto", ShardRule::Auto),
            ("none", ShardRule::Unshard),
            ("v:3,4", ShardRule::Shape { variable: "v".to_owned(), shape: vec![3, 4] }),
            ("v:", ShardRule::Without { variable: "v".to_owned() }),
            ("t/5,x/", ShardRule::Dimensions(dims)),
        ] {
            assert_eq!(ShardRule::parse(text).unwrap(), rule, "{text}");
        }
        for text in ["", "v", "v:0", "t/x", "t/0", "v:compact", "//", "v:contiguous"] {
            assert!(ShardRule::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_form_of_the_grammar_is_understood() {
        let stored = |storage| ChunkRule::Stored { variable: "v".to_owned(), storage };
        let dims = vec![("t".to_owned(), Some(5)), ("x".to_owned(), None)];
        for (text, rule) in [
            ("/", ChunkRule::Unchunk),
            ("//", ChunkRule::Unchunk),
            ("v:", stored(Storage::Contiguous)),
            ("v:contiguous", stored(Storage::Contiguous)),
            ("v:compact", stored(Storage::Compact)),
            ("v:3,4", ChunkRule::Shape { variable: "v".to_owned(), shape: vec![3, 4] }),
            ("t/5,x/", ChunkRule::Dimensions(dims)),
        ] {
            assert_eq!(ChunkRule::parse(text).unwrap(), rule, "{text}");
        }
        let listed = |lengths| ChunkRule::Irregular { dimension: "t".to_owned(), lengths };
        assert_eq!(ChunkRule::parse("t/[31,28]").unwrap(), listed(ChunkLengths::Listed(vec![31, 28])));
        assert_eq!(ChunkRule::parse("t/monthly").unwrap(), listed(ChunkLengths::Monthly));
        for text in ["", "v", "v:0", "t/x", "t/0", "t/[3,0]", "t/[3", "t/[]", "t/[3],x/4"] {
            assert!(ChunkRule::parse(text).is_err(), "{text}");
        }
    }
}
