//! Attributes that determine how a variable is stored (docs/spec/nczarr.md 12.5, 12.6).
use super::declare::Declarations;
use super::fault::{Place, Stop};
use super::token::{Token, shortened};
use super::words::{SpecialName, format_named};
use super::{FilterText, FilterWords};
use ncirrus_model::{CodecSpec, Endianness, Fill, Format, Model, Shards, Storage, VarId};
use std::collections::BTreeMap;

/// What is chosen for the variables, and for the dataset.
#[derive(Debug, Default)]
pub(super) struct SpecialAttributes {
    pub(super) format: Option<Format>,
    /// Whether there is one besides `_Format`.
    pub(super) is_any: bool,
    pub(super) filters: Vec<FilterText>,
    variables: BTreeMap<VarId, StorageChoice>,
}

/// How one variable shall be stored.
#[derive(Debug, Default)]
struct StorageChoice {
    storage: Option<Storage>,
    chunks: Option<Vec<u64>>,
    shards: Option<Vec<u64>>,
    index_first: bool,
    deflate: Option<u32>,
    shuffle: bool,
    fletcher: bool,
    endianness: Endianness,
    no_fill: bool,
}

impl SpecialAttributes {
    pub(super) fn chosen_storage(&self) -> bool {
        self.is_any
    }

    /// Puts the choices into the variables.
    pub(super) fn apply(&self, model: &mut Model) {
        for (id, choice) in &self.variables {
            let Some(variable) = model.variable_mut(*id) else { continue };
            variable.storage = match (&choice.chunks, &choice.storage) {
                (Some(chunks), _) => Storage::Chunked(chunks.clone()),
                (None, Some(storage)) => storage.clone(),
                (None, None) => Storage::Default,
            };
            let index_first = choice.index_first;
            variable.shards = choice.shards.clone().map(|shape| Shards { shape, index_first });
            variable.endianness = choice.endianness;
            if choice.no_fill {
                variable.fill = Fill::None;
            }
            if choice.shuffle {
                variable.filters.push(CodecSpec::hdf5(2, &[]));
            }
            variable.filters.extend(choice.deflate.map(|level| CodecSpec::hdf5(1, &[level])));
            if choice.fletcher {
                variable.filters.push(CodecSpec::hdf5(3, &[]));
            }
        }
    }
}

impl Declarations<'_, '_> {
    /// Reads the value of a special attribute up to its semicolon.
    pub(super) fn special_attribute(
        &mut self,
        special: SpecialName,
        variable: Option<VarId>,
    ) -> Result<(), Stop> {
        let mut constants = Vec::new();
        let at = self.lexer.next_place()?;
        while !self.lexer.take(b';')? {
            if !constants.is_empty() {
                self.lexer.expect(b',')?;
            }
            let token = self.lexer.next()?;
            constants.push((self.lexer.place, token));
            if constants.len() > self.options.limits.rank {
                return Err(self.lexer.fault("too many values of a special attribute"));
            }
        }
        self.special.is_any |= special != SpecialName::Format;
        if special == SpecialName::Format {
            self.special.format = Some(format(at, &constants)?);
        }
        match variable {
            Some(id) => self.choose(special, id, at, &constants),
            None => Ok(()),
        }
    }

    fn choose(
        &mut self,
        special: SpecialName,
        id: VarId,
        at: Place,
        constants: &[(Place, Token)],
    ) -> Result<(), Stop> {
        let chunks = match special {
            SpecialName::ChunkSizes => Some(self.chunks(id, at, constants, "chunk")?),
            SpecialName::Shards => Some(self.chunks(id, at, constants, "shard")?),
            _ => None,
        };
        let choice = self.special.variables.entry(id).or_default();
        match special {
            SpecialName::ChunkSizes => choice.chunks = chunks,
            SpecialName::Shards => choice.shards = chunks,
            SpecialName::ShardIndex => {
                choice.index_first = match text(at, constants)?.as_str() {
                    "start" => true,
                    "end" => false,
                    other => return Err(illegal(at, "_ShardIndex", other, "start or end")),
                }
            }
            SpecialName::Storage => choice.storage = Some(storage(at, constants)?),
            SpecialName::DeflateLevel => {
                let level = integer(at, constants)?;
                let level = u32::try_from(level).ok().filter(|level| *level <= 9);
                let level = level.ok_or_else(|| at.fault("_DeflateLevel is 0 to 9"))?;
                choice.deflate = (level > 0).then_some(level);
            }
            SpecialName::Shuffle => choice.shuffle = boolean(at, constants)?,
            SpecialName::Fletcher32 => choice.fletcher = boolean(at, constants)?,
            SpecialName::NoFill => choice.no_fill = boolean(at, constants)?,
            SpecialName::Endianness => {
                choice.endianness = match text(at, constants)?.as_str() {
                    "little" => Endianness::Little,
                    "big" => Endianness::Big,
                    "native" => Endianness::Native,
                    other => return Err(illegal(at, "_Endianness", other, "little, big or native")),
                }
            }
            SpecialName::Filter | SpecialName::Codecs => {
                let is_filter = special == SpecialName::Filter;
                let words = if is_filter { FilterWords::Filter } else { FilterWords::Codecs };
                let text = text(at, constants)?;
                self.special.filters.push(FilterText { variable: id, words, text, place: at });
            }
            SpecialName::Format | SpecialName::Informational => {}
        }
        Ok(())
    }

    /// Lengths of chunks or shards: as many as the variable has dimensions, those of chunks each within its axis.
    fn chunks(
        &self,
        id: VarId,
        at: Place,
        constants: &[(Place, Token)],
        what: &str,
    ) -> Result<Vec<u64>, Stop> {
        let (shape, growing) = (self.model.shape(id), self.model.growing(id));
        if constants.len() != shape.len() {
            let reported =
                format!("{} {what} lengths for a variable of {} dimensions", constants.len(), shape.len());
            return Err(at.fault(reported));
        }
        let mut chunks = Vec::with_capacity(shape.len());
        for ((place, token), (len, grows)) in constants.iter().zip(shape.iter().zip(growing)) {
            let chunk = match token {
                Token::Number(number) => number.integer().and_then(|chunk| u64::try_from(chunk).ok()),
                _ => None,
            };
            let chunk = chunk.filter(|chunk| *chunk > 0);
            let chunk = chunk.ok_or_else(|| place.fault(format!("unexpected {token}, expected a length")))?;
            if what == "chunk" && !grows && chunk > *len && *len > 0 {
                return Err(place.fault(format!("a chunk of {chunk} is longer than its axis of {len}")));
            }
            if chunk > self.options.limits.dimension_len {
                return Err(place.fault(format!("a {what} of {chunk}")));
            }
            chunks.push(chunk);
        }
        Ok(chunks)
    }
}

fn illegal(at: Place, name: &str, value: &str, expected: &str) -> Stop {
    at.fault(format!("{name} is {expected}, not {:?}", shortened(value)))
}

fn text(at: Place, constants: &[(Place, Token)]) -> Result<String, Stop> {
    let mut whole = Vec::new();
    for (place, token) in constants {
        match token {
            Token::Text(text) => whole.extend_from_slice(text),
            token => return Err(place.fault(format!("unexpected {token}, expected text"))),
        }
    }
    let whole = String::from_utf8(whole).map_err(|_| at.fault("the text is not UTF-8"))?;
    Ok(whole.trim_end_matches('\0').to_owned())
}

fn integer(at: Place, constants: &[(Place, Token)]) -> Result<i128, Stop> {
    let number = match constants {
        [(_, Token::Number(number))] => number.integer(),
        _ => None,
    };
    number.ok_or_else(|| at.fault("one integer is expected"))
}

/// `true`, `1`, 1; `false`, `0`, 0.
fn boolean(at: Place, constants: &[(Place, Token)]) -> Result<bool, Stop> {
    let expected = || at.fault("\"true\" or \"false\" is expected, or 1 or 0");
    match constants {
        [(_, Token::Text(_))] => match text(at, constants)?.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(expected()),
        },
        [(_, Token::Number(number))] => match number.integer() {
            Some(value @ (0 | 1)) => Ok(value == 1),
            _ => Err(expected()),
        },
        _ => Err(expected()),
    }
}

fn storage(at: Place, constants: &[(Place, Token)]) -> Result<Storage, Stop> {
    match text(at, constants)?.as_str() {
        "contiguous" => Ok(Storage::Contiguous),
        "compact" => Ok(Storage::Compact),
        // Chunks of the format's own choice, unless `_ChunkSizes` lists them. Others cannot be chosen.
        "chunked" | "virtual" | "unknown" => Ok(Storage::Default),
        other => Err(illegal(at, "_Storage", other, "contiguous, compact or chunked")),
    }
}

fn format(at: Place, constants: &[(Place, Token)]) -> Result<Format, Stop> {
    let name = text(at, constants)?;
    format_named(&name).ok_or_else(|| {
        illegal(at, "_Format", &name, "the name of a format, such as \"classic\" or \"netCDF-4\"")
    })
}
