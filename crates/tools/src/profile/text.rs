//! Profiles as TOML files.
use super::{ChunkGrowth, Profile};
use crate::{ChunkRule, FilterRule};
use ncirrus::store::config::parse_size;
use ncirrus::{Error, Result};
use toml::de::{DeTable, DeValue as Value};

/// The keys of a profile.
const KEYS: &str = "base, min_chunk, max_chunk, growth, whole_times, whole, chunks, filters";

impl Profile {
    /// The profile that a text describes; `name` is that of its file. Keys that are absent have the values of the profile
    /// that `base` names, by default `cloud`.
    ///
    /// # Errors
    /// `Invalid` with the key that is unknown, or whose value cannot be used.
    pub fn from_toml(name: &str, text: &str) -> Result<Self> {
        let bad = |reason: String| Error::invalid(format!("profile {name}: {reason}"));
        let table = DeTable::parse(text).map_err(|error| bad(error.message().to_owned()))?;
        let table = table.get_ref();
        let base = table.iter().find(|(key, _)| key.get_ref() == "base");
        let base = base.map(|(_, base)| text_of("base", base.get_ref())).transpose().map_err(bad)?;
        let mut profile = match base {
            None | Some("cloud") => Self::cloud(),
            Some("cmip7") => Self::cmip7(),
            Some(other) => {
                return Err(bad(format!("base = {other:?} is neither \"cmip7\" nor \"cloud\"")));
            }
        };
        for (key, value) in table {
            profile.set(key.get_ref(), value.get_ref()).map_err(bad)?;
        }
        if profile.chunks.iter().any(|rule| matches!(rule, ChunkRule::Irregular { .. })) {
            return Err(bad("chunks: HDF5 has no chunks of different lengths".to_owned()));
        }
        if profile.max_chunk_bytes.is_some_and(|max| max < profile.min_chunk_bytes) {
            return Err(bad("max_chunk is smaller than min_chunk".to_owned()));
        }
        Ok(Self { name: name.to_owned(), ..profile })
    }

    fn set(&mut self, key: &str, value: &Value<'_>) -> std::result::Result<(), String> {
        match key {
            "base" => {}
            "min_chunk" => self.min_chunk_bytes = size_of(key, value)?,
            "max_chunk" => self.max_chunk_bytes = Some(size_of(key, value)?),
            "growth" => {
                self.growth = match text_of(key, value)? {
                    "slowest" => ChunkGrowth::Slowest,
                    "balanced" => ChunkGrowth::Balanced,
                    other => {
                        return Err(format!("growth = {other:?} is neither \"slowest\" nor \"balanced\""));
                    }
                }
            }
            "whole_times" => {
                self.whole_times =
                    value.as_bool().ok_or_else(|| format!("{key} is neither true nor false"))?;
            }
            "whole" => self.whole = texts_of(key, value)?.into_iter().map(str::to_owned).collect(),
            "chunks" => self.chunks = rules(key, value, ChunkRule::parse)?,
            "filters" => self.filters = rules(key, value, FilterRule::parse)?,
            other => return Err(format!("{other:?} is not a key of a profile; these are {KEYS}")),
        }
        Ok(())
    }
}

fn text_of<'a>(key: &str, value: &'a Value<'_>) -> std::result::Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("{key} is not a text"))
}

/// A list of texts, or one.
fn texts_of<'a>(key: &str, value: &'a Value<'_>) -> std::result::Result<Vec<&'a str>, String> {
    match value {
        Value::Array(list) => list.iter().map(|item| text_of(key, item.get_ref())).collect(),
        one => Ok(vec![text_of(key, one)?]),
    }
}

fn rules<T>(
    key: &str,
    value: &Value<'_>,
    parse: impl Fn(&str) -> Result<T>,
) -> std::result::Result<Vec<T>, String> {
    let parsed = texts_of(key, value)?.into_iter().map(parse);
    parsed.collect::<Result<_>>().map_err(|error| format!("{key}: {}", error.message()))
}

/// A number of bytes, or a text such as `"4M"`.
fn size_of(key: &str, value: &Value<'_>) -> std::result::Result<u64, String> {
    let bytes = match value {
        Value::Integer(bytes) => {
            let parsed = u64::from_str_radix(bytes.as_str(), bytes.radix());
            parsed.map_err(|_| format!("{key} = {bytes} is not a number of bytes"))?
        }
        text => parse_size(text_of(key, text)?).map_err(|reason| format!("{key}: {reason}"))?,
    };
    if bytes == 0 || bytes > MAX_CHUNK {
        return Err(format!("{key} = {bytes} is not between 1 byte and 1 GiB"));
    }
    Ok(bytes)
}

/// Larger chunks would not be decoded in a moderate memory.
const MAX_CHUNK: u64 = 1 << 30;
