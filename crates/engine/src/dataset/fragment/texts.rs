//! Texts as strings and as arrays of characters (`docs/spec/cfa.md` 6.5), if a fragment and the aggregated variable
//! differ.
use ncirrus_layout::grid::PieceAxis;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Strings, Values};

/// How the texts of a fragment are converted to those of the aggregated variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FragmentTexts {
    /// Characters along a last axis, which the aggregated variable does not have, become strings.
    Joined,
    /// Strings become characters along a last axis, which the fragment does not have.
    Spread,
}

impl FragmentTexts {
    /// How texts of one type are converted to another; `None` if the types are not such a pair.
    pub(crate) fn new(from: Atomic, to: Atomic) -> Option<Self> {
        match (from, to) {
            (Atomic::Char, Atomic::String) => Some(Self::Joined),
            (Atomic::String, Atomic::Char) => Some(Self::Spread),
            _ => None,
        }
    }
}

/// Characters, `len` for each string, as strings: without trailing NULs and blanks.
pub(super) fn joined(values: Values, len: u64) -> Result<Values> {
    let Values::Char(characters) = values else { return Err(Error::internal("characters of another type")) };
    let len = usize::try_from(len).unwrap_or(usize::MAX).max(1);
    let text = |text: &[u8]| {
        let end = text.iter().rposition(|byte| !matches!(byte, 0 | b' ')).map_or(0, |last| last + 1);
        text.get(..end).unwrap_or_default().to_vec()
    };
    let mut strings = Strings::new();
    characters.chunks(len).for_each(|characters| strings.push(Some(&text(characters))));
    Ok(Values::String(strings))
}

/// Strings as characters: for each, the wanted part of `len` characters from index `start` on, padded with NULs.
///
/// `Malformed` with the first string that is longer, if that is an error; otherwise such a string is treated as
/// missing: empty.
pub(super) fn spread(
    values: &Values,
    wanted: &PieceAxis,
    (start, len): (u64, u64),
    is_strict: bool,
) -> Result<Values> {
    let Values::String(strings) = values else { return Err(Error::internal("strings of another type")) };
    let at = |index: u64| usize::try_from(index.saturating_sub(start)).unwrap_or(usize::MAX);
    let wanted: Vec<usize> = wanted.indices().into_iter().map(at).collect();
    let mut characters = Vec::with_capacity(strings.len().saturating_mul(wanted.len()));
    for text in strings.iter() {
        let text = text.unwrap_or_default();
        let fits = text.len() as u64 <= len;
        if !fits && is_strict {
            let text = String::from_utf8_lossy(text);
            return Err(Error::malformed(format!("the text {text:?} does not fit in {len} characters")));
        }
        let text = if fits { text } else { &[] };
        characters.extend(wanted.iter().map(|at| text.get(*at).copied().unwrap_or(0)));
    }
    Ok(Values::Char(characters))
}
