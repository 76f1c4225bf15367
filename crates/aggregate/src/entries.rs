//! Variables with one entry per fragment, read for the fragments that are needed.
use ncirrus_layout::{Error, Result, Step, VariableRef, View};
use ncirrus_model::{
    Atomic, Attributes, AxisSelection, Model, Selection, Strings, TypeRef, Values, VarId, default_fill,
};

/// A variable with one entry per fragment, or one for all.
#[derive(Debug, Clone)]
pub(crate) struct FragmentEntries {
    pub(crate) path: String,
    /// Its lengths, without the character dimension.
    pub(crate) shape: Vec<u64>,
    /// Length of a text, if texts are arrays of characters.
    text_len: Option<u64>,
    atomic: Atomic,
    /// Missing texts, besides empty ones.
    missing: Option<Vec<u8>>,
    /// Padding of texts that are arrays of characters, besides blanks and NUL.
    padding: Option<u8>,
}

/// Texts of entries.
#[derive(Debug)]
pub(crate) struct EntryTexts {
    strings: Strings,
    path: String,
    missing: Option<Vec<u8>>,
}

impl FragmentEntries {
    /// A variable of texts: of strings, or of characters with an additional dimension (netCDF-3).
    ///
    /// # Errors
    /// `Malformed` if it holds something else.
    pub(crate) fn texts(model: &Model, id: VarId) -> Result<Self> {
        let mut entries = Self::numbers(model, id)?;
        match entries.atomic {
            Atomic::String => Ok(entries),
            Atomic::Char => {
                entries.text_len = entries.shape.pop();
                Ok(entries)
            }
            other => {
                let path = entries.path;
                Err(Error::malformed(format!("{path} holds values of type {}, not text", other.name())))
            }
        }
    }

    /// A variable of values of an atomic type.
    ///
    /// # Errors
    /// `Malformed` if it holds something else.
    pub(crate) fn numbers(model: &Model, id: VarId) -> Result<Self> {
        let path = model.variable_path(id);
        let ty = model.variable(id).map(|variable| variable.ty);
        let Some(TypeRef::Atomic(atomic)) = ty else {
            return Err(Error::malformed(format!("{path} holds values of a type that its file defines")));
        };
        Ok(Self { path, shape: model.shape(id), text_len: None, atomic, missing: None, padding: None })
    }

    /// A variable of integers.
    ///
    /// # Errors
    /// `Malformed` if it holds something else.
    pub(crate) fn integers(model: &Model, id: VarId) -> Result<Self> {
        let entries = Self::numbers(model, id)?;
        if entries.atomic.is_integer() {
            return Ok(entries);
        }
        let (path, name) = (entries.path, entries.atomic.name());
        Err(Error::malformed(format!("{path} holds values of type {name}, not integers")))
    }

    /// Records the missing text, or the missing character.
    pub(crate) fn with_attributes(mut self, attributes: &Attributes) -> Self {
        let fill = attributes.find("_FillValue");
        if self.atomic == Atomic::Char {
            self.padding = fill.and_then(|fill| fill.values.as_bytes()?.first().copied());
            return self;
        }
        let text = fill.and_then(|attribute| attribute.as_text());
        self.missing = text.filter(|text| !text.is_empty()).map(String::into_bytes);
        self
    }

    /// The type of its values.
    pub(crate) fn atomic(&self) -> Atomic {
        self.atomic
    }

    /// Whether its values are numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        self.atomic.is_numeric()
    }

    /// The value of entries that were never written, if they are integers.
    pub(crate) fn default_missing(&self) -> i128 {
        default_fill(self.atomic).integer(0).unwrap_or_default()
    }

    /// Number of dimensions, without the character dimension.
    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Whether there is one entry for all.
    pub(crate) fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }

    /// The box of entries for a box of fragments: all of additional dimensions, one entry if it is common to all.
    pub(crate) fn lead(&self, cells: &[u64], rest: u64) -> Vec<u64> {
        if self.is_scalar() {
            return Vec::new();
        }
        let more = self.shape.iter().skip(cells.len()).map(|len| if rest == 0 { 0 } else { *len });
        cells.iter().copied().chain(more).collect()
    }

    /// The texts of a box of entries.
    ///
    /// # Errors
    /// A need, or errors of reading.
    pub(crate) fn read_texts(&self, view: &dyn View, start: &[u64], count: &[u64]) -> Step<EntryTexts> {
        let strings = match self.read(view, start, count)? {
            Values::String(strings) => strings,
            Values::Char(bytes) => self.split(&bytes, count),
            _ => return Err(Error::internal(format!("{} holds no text", self.path)).into()),
        };
        Ok(EntryTexts { strings, path: self.path.clone(), missing: self.missing.clone() })
    }

    /// The values of a box of entries.
    ///
    /// # Errors
    /// A need, `Limit` if there are too many, or errors of reading.
    pub(crate) fn read(&self, view: &dyn View, start: &[u64], count: &[u64]) -> Step<Values> {
        let slice =
            |(start, count): (&u64, &u64)| AxisSelection::Slice { start: *start, count: *count, stride: 1 };
        self.select(view, start.iter().zip(count).map(slice).collect())
    }

    /// The values of selected entries.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn select(&self, view: &dyn View, mut axes: Vec<AxisSelection>) -> Step<Values> {
        let count = Selection::new(axes.clone()).element_count().unwrap_or(u64::MAX);
        view.limits().count(count, &self.path)?;
        if let Some(len) = self.text_len {
            view.limits().metadata_len(count.saturating_mul(len), &self.path)?;
            axes.push(AxisSelection::Slice { start: 0, count: len, stride: 1 });
        }
        let selection = Selection::new(axes);
        let variable = VariableRef { dataset: None, path: self.path.clone() };
        let values = view.values(&variable, &selection)?;
        let expected = count.saturating_mul(self.text_len.unwrap_or(1));
        if values.len() as u64 != expected {
            let found = values.len();
            return Err(Error::internal(format!(
                "{}: {found} values where {expected} were expected",
                self.path
            ))
            .into());
        }
        Ok(values)
    }

    /// Texts of a fixed length, without their padding.
    fn split(&self, bytes: &[u8], count: &[u64]) -> Strings {
        let mut strings = Strings::new();
        let len = self.text_len.and_then(|len| usize::try_from(len).ok()).unwrap_or(1);
        if len == 0 {
            (0..count.iter().product::<u64>()).for_each(|_| strings.push(None));
            return strings;
        }
        for text in bytes.chunks(len) {
            let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
            let is_text = |byte: &u8| !byte.is_ascii_whitespace() && Some(*byte) != self.padding;
            let text = text.get(..end).unwrap_or_default();
            let end = text.iter().rposition(is_text).map_or(0, |last| last + 1);
            strings.push(text.get(..end));
        }
        strings
    }
}

impl EntryTexts {
    /// The text of an entry; `None` if it is missing (docs/spec/cfa.md 4.3).
    ///
    /// # Errors
    /// `Malformed` if it is not text.
    pub(crate) fn get(&self, index: usize) -> Result<Option<&str>> {
        let text = self.strings.get(index).filter(|text| !text.is_empty());
        let text = text.filter(|text| Some(*text) != self.missing.as_deref());
        text.map(std::str::from_utf8)
            .transpose()
            .map_err(|_| Error::malformed(format!("{}: entry {index} is not UTF-8", self.path)))
    }
}
