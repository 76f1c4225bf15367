//! From values as answers have them to those of the variable's type in a view.
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Strings, Values};

/// How the values of an answer become those of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ValueConversion {
    /// They are of its type.
    Same,
    /// Unsigned integers are shown as signed ones of the same bits.
    Signed,
    /// Strings become characters: as many for each, padded with NUL.
    Characters(u64),
    /// Bytes of any number become as many for each: shorter ones padded with zeros, longer ones cut.
    Opaque(u64),
    /// Each column by itself.
    Compound(Vec<Self>),
    /// The elements.
    Vlen(Box<Self>),
    /// The elements are compounds of one field, which stands for them.
    Unwrapped,
}

impl ValueConversion {
    /// The values in the variable's type.
    ///
    /// # Errors
    /// `Limit` for a string that is longer than its characters; it is never cut.
    pub(crate) fn convert(&self, values: Values) -> Result<Values> {
        Ok(match (self, values) {
            (Self::Same, values) => values,
            (Self::Signed, values) => signed(values),
            (Self::Characters(len), Values::String(strings)) => characters(&strings, *len)?,
            (Self::Opaque(size), Values::Vlen { ends, elements }) => opaque(*size, &ends, &elements)?,
            (Self::Compound(conversions), Values::Compound { len, fields }) => {
                let pairs = conversions.iter().zip(fields);
                let fields = pairs.map(|(conversion, field)| conversion.convert(field));
                Values::Compound { len, fields: fields.collect::<Result<_>>()? }
            }
            (Self::Vlen(conversion), Values::Vlen { ends, elements }) => {
                Values::Vlen { ends, elements: Box::new(conversion.convert(*elements)?) }
            }
            (Self::Unwrapped, Values::Vlen { ends, elements }) => match *elements {
                Values::Compound { fields, .. } => {
                    let only = fields.into_iter().next();
                    let only = only.ok_or_else(|| Error::internal("a sequence without columns"))?;
                    Values::Vlen { ends, elements: Box::new(only) }
                }
                elements => Values::Vlen { ends, elements: Box::new(elements) },
            },
            (conversion, values) => {
                let ty = values.atomic();
                return Err(Error::internal(format!("{conversion:?} of values of type {ty:?}")));
            }
        })
    }
}

/// The same bits, signed.
fn signed(values: Values) -> Values {
    match values {
        Values::UByte(values) => Values::Byte(values.into_iter().map(u8::cast_signed).collect()),
        Values::UShort(values) => Values::Short(values.into_iter().map(u16::cast_signed).collect()),
        Values::UInt(values) => Values::Int(values.into_iter().map(u32::cast_signed).collect()),
        values => values,
    }
}

/// The signed type of as many bits, where there is one of DAP2.
pub(crate) fn signed_type(atomic: Atomic) -> Atomic {
    match atomic {
        Atomic::UByte => Atomic::Byte,
        Atomic::UShort => Atomic::Short,
        Atomic::UInt => Atomic::Int,
        atomic => atomic,
    }
}

fn characters(strings: &Strings, len: u64) -> Result<Values> {
    let len = usize::try_from(len).map_err(|_| Error::limit(format!("strings of {len} characters")))?;
    if strings.max_len() > len {
        let longest = strings.max_len();
        let message = format!("a string of {longest} bytes where the dimension has {len}; it is not cut");
        return Err(Error::invalid(message));
    }
    let total = strings.len().checked_mul(len);
    let total = total.ok_or_else(|| Error::limit("more characters than this machine can address"))?;
    let mut text = Vec::with_capacity(total);
    for (at, string) in strings.iter().enumerate() {
        text.extend_from_slice(string.unwrap_or_default());
        text.resize((at + 1) * len, 0);
    }
    Ok(Values::Char(text))
}

fn opaque(size: u64, ends: &[usize], elements: &Values) -> Result<Values> {
    let Values::UByte(from) = elements else {
        return Err(Error::internal("opaque values that are no bytes"));
    };
    let size = usize::try_from(size).map_err(|_| Error::limit(format!("opaque values of {size} bytes")))?;
    let (mut bytes, mut start) = (Vec::new(), 0);
    for (at, end) in ends.iter().enumerate() {
        let value = from.get(start..*end).unwrap_or_default();
        bytes.extend_from_slice(value.get(..size).unwrap_or(value));
        bytes.resize((at + 1) * size, 0);
        start = *end;
    }
    Ok(Values::Opaque { size, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_become_characters_and_are_never_cut() {
        let strings: Strings = [Some("ab"), None, Some("c")].into_iter().collect();
        let text = ValueConversion::Characters(2).convert(Values::String(strings.clone())).unwrap();
        assert_eq!(text, Values::Char(b"ab\0\0c\0".to_vec()));
        let error = ValueConversion::Characters(1).convert(Values::String(strings)).unwrap_err();
        assert!(error.to_string().contains("a string of 2 bytes"), "{error}");
    }

    #[test]
    fn bits_are_kept() {
        let compound =
            Values::Compound { len: 1, fields: vec![Values::UByte(vec![200]), Values::UShort(vec![65535])] };
        let conversion = ValueConversion::Compound(vec![ValueConversion::Signed, ValueConversion::Same]);
        let expected =
            Values::Compound { len: 1, fields: vec![Values::Byte(vec![-56]), Values::UShort(vec![65535])] };
        assert_eq!(conversion.convert(compound).unwrap(), expected);
        assert_eq!(
            ValueConversion::Signed.convert(Values::UInt(vec![u32::MAX])).unwrap(),
            Values::Int(vec![-1])
        );
    }

    #[test]
    fn opaque_values_have_one_size() {
        let bytes = Values::Vlen { ends: vec![1, 4], elements: Box::new(Values::UByte(vec![1, 2, 3, 4])) };
        let expected = Values::Opaque { size: 2, bytes: vec![1, 0, 2, 3] };
        assert_eq!(ValueConversion::Opaque(2).convert(bytes).unwrap(), expected);
    }
}
