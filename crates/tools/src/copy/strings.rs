//! Lengths of the strings that a copy stores in a fixed number of bytes, so that netCDF-C can read them.
use super::CopiedVariable;
use ncirrus::internals::{DEFAULT_STRING_BYTES, DatasetInternals, StringLengths};
use ncirrus::{
    CreateOptions, Dataset, Dialect, Error, ErrorKind, Kind, Result, Selection, StringForm, Values,
};
use ncirrus_model::{Atomic, Model, Storage, TypeRef, Variable};
use ncirrus_zarr::FixedString;

/// Reads all strings that are to be stored in a fixed number of bytes, in parts, for the longest of each variable.
/// Also returns messages about variables that keep strings of any length, because something would be lost.
///
/// # Errors
/// Errors of reading; `Invalid` for a string that is too long.
pub(super) fn look(
    source: &Dataset,
    model: &Model,
    pairs: &[CopiedVariable],
    create: &CreateOptions,
    skip_damaged: bool,
) -> Result<(StringLengths, Vec<String>)> {
    let (mut lengths, mut notes) = (StringLengths::default(), Vec::new());
    for (pair, variable) in of_strings(model, pairs, create) {
        let path = model.variable_path(pair.var);
        let limit = match form_of(create) {
            StringForm::Fixed(limit) => limit,
            StringForm::Suited | StringForm::Variable => {
                lengths.0.insert(path, None);
                continue;
            }
        };
        let form = match SeenStrings::of(source, pair, variable) {
            Ok(seen) => seen.form(limit).map_err(|error| error.at_path(&*path))?,
            Err(error) if skip_damaged && error.kind() == ErrorKind::Malformed => {
                Err("not all of its strings can be read".to_owned())
            }
            Err(error) => return Err(error.at_path(&*pair.path)),
        };
        if let Err(reason) = &form {
            let kept = "the strings keep any length, and netCDF-C does not list the variable";
            notes.push(format!("{path}: {reason}: {kept}"));
        }
        lengths.0.insert(path, form.ok());
    }
    Ok((lengths, notes))
}

/// Messages that [`look`] may return, without reading.
pub(super) fn guess(
    model: &Model,
    pairs: &[CopiedVariable],
    create: &CreateOptions,
) -> (StringLengths, Vec<String>) {
    let (mut lengths, mut notes) = (StringLengths::default(), Vec::new());
    for (pair, _) in of_strings(model, pairs, create) {
        let path = model.variable_path(pair.var);
        let fixed = |byte_len| FixedString { byte_len, has_nulls: false, is_utf8: true };
        let form = match form_of(create) {
            StringForm::Fixed(limit) => Some(fixed(limit.unwrap_or(GUESS))),
            StringForm::Suited | StringForm::Variable => None,
        };
        if form.is_some() {
            notes.push(format!("{path}: its strings are read once in advance, to find the longest"));
        }
        lengths.0.insert(path, form);
    }
    (lengths, notes)
}

/// How a copy stores strings; its kind is known.
fn form_of(create: &CreateOptions) -> StringForm {
    let is_listed = create.kind == Some(Kind::NcZarr)
        && matches!(create.dialect, None | Some(Dialect::Att | Dialect::Lc));
    match create.strings {
        StringForm::Suited if is_listed => StringForm::Fixed(None),
        StringForm::Suited => StringForm::Variable,
        chosen => chosen,
    }
}

/// The variables of a copy in Zarr that are strings.
fn of_strings<'a>(
    model: &'a Model,
    pairs: &'a [CopiedVariable],
    create: &CreateOptions,
) -> impl Iterator<Item = (&'a CopiedVariable, &'a Variable)> {
    let pairs = if create.kind.is_some_and(Kind::is_zarr) { pairs } else { &[] };
    let variables = pairs.iter().filter_map(|pair| Some((pair, model.variable(pair.var)?)));
    variables.filter(|(_, variable)| variable.ty == TypeRef::Atomic(Atomic::String))
}

/// Statistics of the strings of a variable.
#[derive(Debug, Default)]
struct SeenStrings {
    count: u64,
    bytes: u64,
    longest: Vec<u8>,
    has_null: bool,
    has_empty: bool,
    has_nul: bool,
    is_other_than_utf8: bool,
}

impl SeenStrings {
    /// Reads the part of a variable that is copied, and its fill value.
    fn of(source: &Dataset, pair: &CopiedVariable, variable: &Variable) -> Result<Self> {
        let mut seen = Self::default();
        if let Some(Values::String(fill)) = variable.own_fill() {
            fill.iter().flatten().for_each(|text| seen.measure(text));
        }
        let whole = source.model()?;
        let grain = match whole.variable(pair.var).map(|variable| &variable.storage) {
            Some(Storage::Chunked(chunks)) => chunks.clone(),
            _ => Vec::new(),
        };
        let mut rest: Vec<Selection> = vec![pair.selection.clone()];
        while let Some(part) = rest.pop() {
            let is_large = part.element_count().is_none_or(|count| count > WINDOW);
            if let Some((first, second)) = part.halves(&grain).filter(|_| is_large) {
                rest.extend([second, first]);
                continue;
            }
            if part.element_count() == Some(0) {
                continue;
            }
            if let Values::String(strings) = source.read_values(pair.var, &part)? {
                strings.iter().for_each(|text| seen.add(text));
            }
        }
        Ok(seen)
    }

    fn add(&mut self, text: Option<&[u8]>) {
        self.count += 1;
        self.has_null |= text.is_none();
        self.has_empty |= text.is_some_and(<[u8]>::is_empty);
        self.bytes += text.map_or(0, |text| text.len() as u64);
        text.into_iter().for_each(|text| self.measure(text));
    }

    fn measure(&mut self, text: &[u8]) {
        if text.len() > self.longest.len() {
            self.longest = text.to_vec();
        }
        self.has_nul |= text.contains(&0);
        self.is_other_than_utf8 |= std::str::from_utf8(text).is_err();
    }

    /// How the strings are stored, or why they keep any length.
    ///
    /// # Errors
    /// `Invalid` if one is longer than the limit.
    fn form(&self, limit: Option<u64>) -> Result<std::result::Result<FixedString, String>> {
        let longest = self.longest.len() as u64;
        if let Some(limit) = limit.filter(|limit| longest > *limit) {
            let start: String = String::from_utf8_lossy(&self.longest).chars().take(SHOWN).collect();
            let message = format!("text of {longest} bytes does not fit {limit} bytes: {start:?}");
            return Err(Error::invalid(message));
        }
        let usual = if self.count == 0 { DEFAULT_STRING_BYTES } else { SHORTEST };
        let byte_len = limit.unwrap_or(longest.max(usual));
        let padded = byte_len.saturating_mul(self.count);
        let is_waste = limit.is_none() && padded > PADDED && padded / WASTE > self.bytes + self.count;
        Ok(if self.has_nul {
            Err("a string contains NUL, which ends strings of a fixed length".to_owned())
        } else if self.has_null && self.has_empty {
            Err("some strings are null and some are empty, which are equal with a fixed length".to_owned())
        } else if is_waste {
            Err(format!(
                "each would take as many bytes as the longest, {longest} (--strings fixed={longest})"
            ))
        } else {
            let (has_nulls, is_utf8) = (self.has_null, !self.is_other_than_utf8);
            Ok(FixedString { byte_len, has_nulls, is_utf8 })
        })
    }
}

/// Number of strings read at once.
const WINDOW: u64 = 1 << 16;
/// To xarray strings of one byte are characters.
const SHORTEST: u64 = 2;
/// Maximum size of padded strings whatever their lengths, and otherwise relative to their unpadded size.
const PADDED: u64 = 64 << 20;
const WASTE: u64 = 16;
/// Size of a string in plans.
const GUESS: u64 = 32;
/// Maximum number of characters of a text in a message.
const SHOWN: usize = 40;
