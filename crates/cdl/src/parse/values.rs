//! Constants as values of a type: what attributes and data share.
use super::cast::{self, Fit, NumericTarget};
use super::fault::Stop;
use super::lexer::Lexer;
use super::number::Number;
use super::quick::QuickItem;
use super::scope::{EnumConstant, NameTable, Reference};
use super::token::Token;
use super::{NumberRange, words};
use ncirrus_model::{
    Atomic, Field, GroupId, Model, Strings, TypeId, TypeRef, UserKind, Values, default_fill,
};

/// Reads lists of constants.
pub(super) struct ValueReader<'a, 't> {
    pub(super) lexer: &'a mut Lexer<'t>,
    pub(super) model: &'a Model,
    pub(super) names: &'a NameTable,
    /// Where names of constants are looked for.
    pub(super) group: GroupId,
    pub(super) range: NumberRange,
    pub(super) unfit: Unfit,
}

/// Constants that did not fit.
#[derive(Debug, Default)]
pub(super) struct Unfit {
    pub(super) count: u64,
    /// Line and constant.
    pub(super) first: Option<(u64, String)>,
    /// More elements than there is room for.
    pub(super) surplus: bool,
}

/// How far a list is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListState {
    Start,
    /// Behind an item.
    Within,
    /// Behind what closes it.
    Ended,
}

/// How deep values nest at most; types are checked when they are declared.
const DEPTH: usize = 256;

impl ValueReader<'_, '_> {
    /// Whether an item follows; else the list's end is taken.
    pub(super) fn next_item(&mut self, state: &mut ListState, close: u8) -> Result<bool, Stop> {
        match state {
            ListState::Start => {
                let is_empty = self.lexer.take(close)?;
                *state = if is_empty { ListState::Ended } else { ListState::Within };
                Ok(!is_empty)
            }
            ListState::Within => match self.lexer.next()? {
                Token::Punct(b',') => Ok(true),
                token if token.is(close) => {
                    *state = ListState::Ended;
                    Ok(false)
                }
                token => {
                    let expected = format!("\",\" or \"{}\"", char::from(close));
                    Err(self.lexer.unexpected(&token, &expected))
                }
            },
            ListState::Ended => Ok(false),
        }
    }

    /// Reads items up to `want` elements of values; stops at the list's end.
    pub(super) fn run(
        &mut self,
        ty: TypeRef,
        out: &mut Values,
        want: usize,
        (state, close): (&mut ListState, u8),
        fill: Option<&Values>,
    ) -> Result<(), Stop> {
        let atomic = matches!(ty, TypeRef::Atomic(_));
        while out.len() < want {
            if atomic && *state != ListState::Ended {
                self.quick_run(out, want, state, fill)?;
                if out.len() >= want {
                    return Ok(());
                }
            }
            if !self.next_item(state, close)? {
                return Ok(());
            }
            self.element(ty, out, fill, DEPTH)?;
        }
        Ok(())
    }

    /// Reads as many plain numbers as follow; what is anything else is left.
    fn quick_run(
        &mut self,
        out: &mut Values,
        want: usize,
        state: &mut ListState,
        fill: Option<&Values>,
    ) -> Result<(), Stop> {
        macro_rules! quick {
            ($list:expr, $variant:ident) => {{
                let fill = match fill {
                    Some(Values::$variant(fill)) => fill.first().copied(),
                    _ => None,
                };
                self.quick_numbers($list, want, state, fill)
            }};
        }
        // The type is looked at once for a run, not for each number.
        match out {
            Values::Byte(list) => quick!(list, Byte),
            Values::Short(list) => quick!(list, Short),
            Values::Int(list) => quick!(list, Int),
            Values::Float(list) => quick!(list, Float),
            Values::Double(list) => quick!(list, Double),
            Values::UByte(list) => quick!(list, UByte),
            Values::UShort(list) => quick!(list, UShort),
            Values::UInt(list) => quick!(list, UInt),
            Values::Int64(list) => quick!(list, Int64),
            Values::UInt64(list) => quick!(list, UInt64),
            _ => Ok(()),
        }
    }

    fn quick_numbers<T: NumericTarget>(
        &mut self,
        list: &mut Vec<T>,
        want: usize,
        state: &mut ListState,
        fill: Option<T>,
    ) -> Result<(), Stop> {
        while list.len() < want {
            let is_first = *state == ListState::Start;
            let Some(item) = self.lexer.quick_item(is_first)? else { return Ok(()) };
            *state = ListState::Within;
            let (value, fit) = match (item, fill) {
                (QuickItem::Integer(value), _) => T::of_integer(i128::from(value)),
                (QuickItem::Real(value), _) => T::of_real(value),
                (QuickItem::MinusZero, _) if self.range == NumberRange::Strict => T::of_real(-0.0),
                // For `ncgen`, `-0` is the integer 0.
                (QuickItem::MinusZero, _) => T::of_integer(0),
                (QuickItem::Fill, Some(fill)) => (fill, Fit::Exact),
                (QuickItem::Fill, None) => {
                    return Err(self.lexer.fault("there is no fill value here"));
                }
            };
            if fit != Fit::Exact {
                let shown = match item {
                    QuickItem::Integer(value) => value.to_string(),
                    QuickItem::Real(value) => super::number::shown_real(value),
                    QuickItem::MinusZero | QuickItem::Fill => String::new(),
                };
                self.judge(fit, || shown, std::any::type_name::<T>())?;
            }
            list.push(value);
        }
        Ok(())
    }

    /// Refuses what does not fit, or notes it.
    fn judge(&mut self, fit: Fit, shown: impl FnOnce() -> String, ty: &str) -> Result<(), Stop> {
        match (fit, self.range) {
            (Fit::Exact, _) | (Fit::Cut, NumberRange::Reference) => Ok(()),
            (Fit::Cut, NumberRange::Strict) => {
                Err(self.lexer.fault(format!("{} is not a whole number, as {} is", shown(), type_word(ty))))
            }
            (Fit::OutOfRange, NumberRange::Strict) => {
                Err(self.lexer.fault(format!("{} does not fit {}", shown(), type_word(ty))))
            }
            (Fit::OutOfRange, NumberRange::Reference) => {
                let line = self.lexer.place.line;
                self.unfit.count += 1;
                self.unfit.first.get_or_insert_with(|| (line, shown()));
                Ok(())
            }
        }
    }

    /// Reads one element.
    pub(super) fn element(
        &mut self,
        ty: TypeRef,
        out: &mut Values,
        fill: Option<&Values>,
        depth: usize,
    ) -> Result<(), Stop> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.lexer.fault("values nest too deeply"));
        };
        if matches!(self.lexer.peek()?, Token::Name(word) if word == "_") {
            self.lexer.next()?;
            return self.append_fill(ty, out, fill);
        }
        match ty {
            TypeRef::Atomic(Atomic::String) => self.string(out),
            TypeRef::Atomic(Atomic::Char) => self.single_char(out),
            TypeRef::Atomic(atomic) => self.number(atomic, out),
            TypeRef::User(id) => self.user_element(id, out, depth),
        }
    }

    /// The fill value: the variable's own, or that of the type.
    pub(super) fn append_fill(
        &self,
        ty: TypeRef,
        out: &mut Values,
        fill: Option<&Values>,
    ) -> Result<(), Stop> {
        let default;
        let fill = match fill {
            Some(fill) => fill,
            None => {
                default = default_element(self.model, ty, DEPTH);
                &default
            }
        };
        if out.extend_from(fill, 0..fill.len().min(1)) {
            return Ok(());
        }
        Err(self.lexer.fault("the fill value is not of the variable's type"))
    }

    fn number(&mut self, atomic: Atomic, out: &mut Values) -> Result<(), Stop> {
        let number = match self.lexer.next()? {
            Token::Number(number) => number,
            Token::Char(byte) => {
                let suffix = (atomic == Atomic::Byte).then_some(Atomic::Byte);
                Number::Integer { value: i128::from(byte), suffix }
            }
            Token::Name(word) => match Number::of_word(&word, false) {
                Some(number) => number,
                None => return self.function_or_fault(&word, atomic, out),
            },
            Token::Text(text) => return self.number_in_text(&text, atomic, out),
            Token::Path(parts) => return Err(self.not_a_number(&Reference::Path(parts), atomic)),
            Token::Punct(b'{') => {
                return Err(self.lexer.fault(format!(
                    "unexpected \"{{\", expected a number: braces are for compounds, variable lengths and inner unlimited dimensions, not {}",
                    atomic.name()
                )));
            }
            token => return Err(self.lexer.unexpected(&token, "a number")),
        };
        match cast::push(out, &number) {
            Some(Fit::Exact) => Ok(()),
            Some(fit) => self.judge(fit, || number.to_string(), atomic.name()),
            None => Err(self.lexer.fault("values of another type")),
        }
    }

    /// `time("2000-01-02 03:04:05")`, the only function there is.
    fn function_or_fault(&mut self, word: &str, atomic: Atomic, out: &mut Values) -> Result<(), Stop> {
        let place = self.lexer.place;
        if !self.lexer.peek()?.is(b'(') {
            return Err(self.not_a_number(&Reference::Simple(word.to_owned()), atomic));
        }
        if word != "time" {
            return Err(place.fault(format!("there is no function {word:?}: only time(\"DATE\") is known")));
        }
        self.lexer.expect(b'(')?;
        let text = match self.lexer.next()? {
            Token::Text(text) => text,
            token => return Err(self.lexer.unexpected(&token, "a date in double quotes")),
        };
        let at = self.lexer.place;
        self.lexer.expect(b')')?;
        let text = String::from_utf8_lossy(&text);
        let hours = hours_since_1970(text.trim())
            .ok_or_else(|| at.fault(format!("{:?} is not a date", super::token::shortened(&text))))?;
        match cast::push(out, &Number::Double(hours)) {
            Some(fit) => self.judge(fit, || hours.to_string(), atomic.name()),
            None => Err(place.fault("values of another type")),
        }
    }

    /// A number in quotes is one to the reference, and its digits in front count.
    fn number_in_text(&mut self, text: &[u8], atomic: Atomic, out: &mut Values) -> Result<(), Stop> {
        let shown = String::from_utf8_lossy(text).into_owned();
        if self.range == NumberRange::Strict {
            let shown = super::token::shortened(&shown);
            return Err(self.lexer.fault(format!("unexpected the text {shown:?}, expected a number")));
        }
        let number = Number::parse(shown.trim().as_bytes());
        let fit = if number.is_ok() { Fit::Exact } else { Fit::OutOfRange };
        let number = number.unwrap_or(Number::Integer { value: 0, suffix: None });
        cast::push(out, &number);
        self.judge(fit, || format!("{shown:?}"), atomic.name())
    }

    /// The fault of a name in place of a number; it may be a constant of an enum.
    fn not_a_number(&self, reference: &Reference, atomic: Atomic) -> Stop {
        let path = |id| self.model.type_path(id);
        self.lexer.fault(match self.names.constant(self.model, self.group, reference) {
            Some(EnumConstant::Of(ty, _)) => {
                format!("{reference} is a constant of the type {}, not {}", path(ty), atomic.name())
            }
            Some(EnumConstant::Ambiguous(one, other)) => {
                format!("{reference} is a constant of two types, {} and {}", path(one), path(other))
            }
            None => format!("unexpected {reference}, expected a number"),
        })
    }

    fn string(&mut self, out: &mut Values) -> Result<(), Stop> {
        let Values::String(strings) = out else { return Err(self.lexer.fault("values of another type")) };
        match self.lexer.next()? {
            Token::Text(text) => strings.push(Some(&text)),
            Token::Name(word) if words::is_nil(&word) => strings.push(None),
            Token::Number(number) if self.range == NumberRange::Reference => {
                strings.push(Some(number.to_string().as_bytes()));
            }
            Token::Char(byte) if self.range == NumberRange::Reference => {
                strings.push(Some(byte.to_string().as_bytes()));
            }
            token => return Err(self.lexer.unexpected(&token, "text in double quotes or NIL")),
        }
        Ok(())
    }

    /// One character: the first of a text.
    fn single_char(&mut self, out: &mut Values) -> Result<(), Stop> {
        let Values::Char(chars) = out else { return Err(self.lexer.fault("values of another type")) };
        match self.lexer.next()? {
            Token::Char(byte) => chars.push(byte),
            Token::Text(text) => {
                chars.push(text.first().copied().unwrap_or(0));
                self.unfit.surplus |= text.len() > 1;
            }
            token => return Err(self.lexer.unexpected(&token, "a character")),
        }
        Ok(())
    }

    fn user_element(&mut self, id: TypeId, out: &mut Values, depth: usize) -> Result<(), Stop> {
        let model = self.model;
        let Some(ty) = model.user_type(id) else { return Err(self.lexer.fault("a type is missing")) };
        match (&ty.kind, out) {
            (UserKind::Enum { base, .. }, out) => self.enum_constant(id, *base, out),
            (UserKind::Opaque(_), Values::Opaque { size, bytes }) => self.opaque(*size, bytes),
            (UserKind::Vlen(base), Values::Vlen { ends, elements }) => {
                self.open_brace("a value of variable length")?;
                self.list(*base, elements, b'}', depth)?;
                ends.push(elements.len());
                Ok(())
            }
            (UserKind::Compound(fields), Values::Compound { len, fields: columns }) => {
                self.open_brace("a compound")?;
                self.fields(fields, columns, depth)?;
                *len += 1;
                Ok(())
            }
            _ => Err(self.lexer.fault("values of another type")),
        }
    }

    fn open_brace(&mut self, what: &str) -> Result<(), Stop> {
        match self.lexer.next()? {
            Token::Punct(b'{') => Ok(()),
            token => Err(self.lexer.unexpected(&token, &format!("\"{{\" in front of {what}"))),
        }
    }

    fn enum_constant(&mut self, id: TypeId, base: Atomic, out: &mut Values) -> Result<(), Stop> {
        let reference = match self.lexer.next()? {
            Token::Name(name) => Reference::Simple(name),
            Token::Path(parts) => Reference::Path(parts),
            Token::Number(number) => {
                return match cast::push(out, &number) {
                    Some(Fit::Exact) => Ok(()),
                    _ => Err(self.lexer.fault(format!("{number} does not fit {}", base.name()))),
                };
            }
            token => return Err(self.lexer.unexpected(&token, "a constant of an enum")),
        };
        let path = |id| self.model.type_path(id);
        match self.names.constant_of(self.model, self.group, id, &reference) {
            Some(value) => {
                cast::push(out, &Number::Integer { value, suffix: None });
                Ok(())
            }
            None => Err(self.lexer.fault(match self.names.constant(self.model, self.group, &reference) {
                Some(EnumConstant::Of(other, _)) => {
                    format!("{reference} is a constant of the type {}, not of {}", path(other), path(id))
                }
                Some(EnumConstant::Ambiguous(one, other)) => format!(
                    "{reference} is a constant of two types, {} and {}, but not of {}",
                    path(one),
                    path(other),
                    path(id)
                ),
                None => format!("the type {} has no constant {reference}", path(id)),
            })),
        }
    }

    /// An opaque value: missing bytes at the end are zero.
    fn opaque(&mut self, size: usize, out: &mut Vec<u8>) -> Result<(), Stop> {
        let digits = match self.lexer.next()? {
            Token::Number(Number::Hex { digits, suffix: None }) => digits,
            token => return Err(self.lexer.unexpected(&token, "bytes as 0x...")),
        };
        let len = digits.len().div_ceil(2);
        if len > size && self.range == NumberRange::Strict {
            return Err(self.lexer.fault(format!("{len} bytes for an opaque type of {size}")));
        }
        self.unfit.surplus |= len > size;
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pairs = digits.chunks(2).map(|pair| {
            let at = |index: usize| pair.get(index).and_then(digit).unwrap_or(0);
            at(0) << 4 | at(1)
        });
        out.extend(pairs.chain(std::iter::repeat(0)).take(size));
        Ok(())
    }

    /// Elements up to a closing brace.
    fn list(&mut self, base: TypeRef, out: &mut Values, close: u8, depth: usize) -> Result<(), Stop> {
        if let (TypeRef::Atomic(Atomic::Char), Values::Char(chars)) = (base, &mut *out) {
            let mut state = ListState::Start;
            while self.next_item(&mut state, close)? {
                self.chars(chars, None)?;
            }
            return Ok(());
        }
        let max = self.lexer.limits().list_len / self.byte_len(base);
        let start = out.len();
        let mut state = ListState::Start;
        while self.next_item(&mut state, close)? {
            if out.len() - start >= max {
                return Err(self.lexer.fault(format!("a list of more than {max} elements")));
            }
            self.element(base, out, None, depth)?;
        }
        Ok(())
    }

    /// Bytes of an element, for limits.
    fn byte_len(&self, ty: TypeRef) -> usize {
        let len = self.model.packed_len(ty).unwrap_or(32).max(1);
        usize::try_from(len).unwrap_or(usize::MAX)
    }

    /// All values of an attribute.
    pub(super) fn attribute(&mut self, ty: TypeRef, out: &mut Values) -> Result<(), Stop> {
        self.list(ty, out, b';', DEPTH)
    }

    /// Characters of one item, and whether it is text; text is padded to whole rows.
    pub(super) fn chars(&mut self, out: &mut Vec<u8>, row: Option<(usize, u8)>) -> Result<bool, Stop> {
        let token = self.lexer.next()?;
        let is_text = matches!(token, Token::Text(_));
        match token {
            Token::Char(byte) => out.push(byte),
            Token::Text(text) => {
                out.extend_from_slice(&text);
                if let Some((row, fill)) = row.filter(|(row, _)| *row > 0) {
                    // Empty text is a row as well.
                    let missing = text.len().max(1).next_multiple_of(row) - text.len();
                    out.resize(out.len() + missing, fill);
                }
            }
            // As the reference does it: fill is what is missing at the end.
            Token::Name(word) if word == "_" => {}
            token => return Err(self.lexer.unexpected(&token, "text or a character")),
        }
        if out.len() > self.lexer.limits().list_len {
            let max = self.lexer.limits().list_len;
            return Err(self.lexer.fault(format!("text of more than {max} bytes")));
        }
        Ok(is_text)
    }

    /// The fields of a compound up to its closing brace; those that are missing are fill.
    fn fields(&mut self, fields: &[Field], columns: &mut [Values], depth: usize) -> Result<(), Stop> {
        let mut state = ListState::Start;
        let mut is_open = true;
        for (field, column) in fields.iter().zip(columns) {
            is_open = is_open && self.next_item(&mut state, b'}')?;
            let count = usize::try_from(field.element_count()).unwrap_or(usize::MAX);
            let end = column.len().saturating_add(count);
            match (is_open, field.dims.is_empty()) {
                (true, true) => self.element(field.ty, column, None, depth)?,
                (true, false) => self.array_field(field, column, count, depth)?,
                (false, _) => {}
            }
            while column.len() < end {
                self.append_fill(field.ty, column, None)?;
            }
        }
        if is_open && self.next_item(&mut state, b'}')? {
            let reported = format!("more than the {} fields of a compound", fields.len());
            return Err(self.lexer.fault(reported));
        }
        Ok(())
    }

    fn array_field(
        &mut self,
        field: &Field,
        column: &mut Values,
        count: usize,
        depth: usize,
    ) -> Result<(), Stop> {
        self.open_brace("the elements of a field")?;
        let start = column.len();
        let mut state = ListState::Start;
        if let (TypeRef::Atomic(Atomic::Char), Values::Char(chars)) = (field.ty, &mut *column) {
            let row = field.dims.last().filter(|_| field.dims.len() > 1).copied();
            let row = row.and_then(|row| usize::try_from(row).ok()).map(|row| (row, 0));
            while self.next_item(&mut state, b'}')? {
                self.chars(chars, row)?;
            }
            self.unfit.surplus |= chars.len() - start > count;
            chars.truncate(start.saturating_add(count));
            return Ok(());
        }
        while self.next_item(&mut state, b'}')? {
            if column.len() - start >= count {
                let reported = format!("more than the {count} elements of the field {:?}", field.name);
                return Err(self.lexer.fault(reported));
            }
            self.element(field.ty, column, None, depth)?;
        }
        Ok(())
    }
}

/// The word of a type that Rust calls by another.
fn type_word(ty: &str) -> &str {
    match ty {
        "i8" => "byte",
        "u8" => "ubyte",
        "i16" => "short",
        "u16" => "ushort",
        "i32" => "int",
        "u32" => "uint",
        "i64" => "int64",
        "u64" => "uint64",
        "f32" => "float",
        "f64" => "double",
        other => other,
    }
}

/// What a missing element is: the default fill of primitive types, also within compounds and, once, in variable
/// lengths, as the reference has it; zeros elsewhere.
pub(super) fn default_element(model: &Model, ty: TypeRef, depth: usize) -> Values {
    let zeros = || model.zeros(ty, 1, 64).unwrap_or_else(|| Values::String(Strings::new()));
    let Some(depth) = depth.checked_sub(1) else { return zeros() };
    let id = match ty {
        TypeRef::Atomic(atomic) => return default_fill(atomic),
        TypeRef::User(id) => id,
    };
    match model.user_type(id).map(|ty| &ty.kind) {
        Some(UserKind::Vlen(base)) => {
            let elements = default_element(model, *base, depth);
            Values::Vlen { ends: vec![elements.len()], elements: Box::new(elements) }
        }
        Some(UserKind::Compound(fields)) => {
            let column = |field: &Field| {
                let count = usize::try_from(field.element_count()).unwrap_or(0);
                default_element(model, field.ty, depth).repeat(count)
            };
            Values::Compound { len: 1, fields: fields.iter().map(column).collect() }
        }
        _ => zeros(),
    }
}

/// What `time()` gives.
fn hours_since_1970(text: &str) -> Option<f64> {
    let (date, zone) = ncirrus_units::CivilDate::parse(text).ok()?;
    let seconds = ncirrus_units::TimeUnits::parse("seconds since 1970-01-01", None).ok()??.number(&date)?;
    #[expect(clippy::cast_precision_loss, reason = "time zones are less than a day apart")]
    Some((seconds - zone as f64) / 3600.0)
}
