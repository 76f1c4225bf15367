//! Numbers as they are stored (docs/spec/hdf5-netcdf4.md D.2).
use super::{copy, too_few};
use crate::datatypes::{BitField, Datatype, DatatypeClass, FloatFormat, FloatOrder, MantissaNorm};
use ncirrus_layout::{ByteOrder, Error, Result};
use ncirrus_model::Values;

/// Encodes `values[index]`, which must be a number of the datatype's kind.
pub(super) fn encode(datatype: &Datatype, values: &Values, index: usize, place: &mut [u8]) -> Result<()> {
    match (&datatype.class, values) {
        (_, Values::Char(_) | Values::Opaque { .. }) => Err(mismatch()),
        (DatatypeClass::Integer(bits) | DatatypeClass::BitField(bits), values) => {
            integer(*bits, values, index, place)
        }
        (DatatypeClass::Float(format), Values::Float(_) | Values::Double(_)) => {
            float(format, values, index, place)
        }
        _ => Err(mismatch()),
    }
}

fn integer(bits: BitField, values: &Values, index: usize, place: &mut [u8]) -> Result<()> {
    let is_integer = values.atomic().is_some_and(ncirrus_model::Atomic::is_integer);
    if !is_integer {
        return Err(mismatch());
    }
    let value = values.integer(index).ok_or_else(too_few)?;
    let precision = u32::from(bits.precision);
    if precision == 0 || precision > 64 || u32::from(bits.offset) + precision > 128 {
        return Err(Error::unsupported(format!("writing of integers of {precision} bits")));
    }
    let range = 1i128 << precision;
    let fits =
        if bits.signed { (-range / 2..range / 2).contains(&value) } else { (0..range).contains(&value) };
    if !fits {
        return Err(Error::invalid(format!("{value} does not fit {precision} bits")));
    }
    let raw = (value.cast_unsigned() & (range - 1).cast_unsigned()) << bits.offset;
    place.iter_mut().zip(raw.to_le_bytes()).for_each(|(byte, of)| *byte = of);
    if bits.order == ByteOrder::Big {
        place.reverse();
    }
    Ok(())
}

fn float(format: &FloatFormat, values: &Values, index: usize, place: &mut [u8]) -> Result<()> {
    let size = if matches!(values, Values::Float(_)) { 4 } else { 8 };
    let parts = (format.exponent, format.mantissa, format.bias, format.offset, format.norm);
    let is_plain = match size {
        4 => parts == ((23, 8), (0, 23), 127, 0, MantissaNorm::Implied),
        _ => parts == ((52, 11), (0, 52), 1023, 0, MantissaNorm::Implied),
    };
    if !is_plain || place.len() != size || format.order == FloatOrder::Vax {
        return Err(Error::unsupported("writing of floating-point numbers in a format other than IEEE 754"));
    }
    copy(values.as_bytes().ok_or_else(mismatch)?, index, place)?;
    let foreign = (format.order == FloatOrder::Big) != (ByteOrder::NATIVE == ByteOrder::Big);
    if foreign {
        place.reverse();
    }
    Ok(())
}

fn mismatch() -> Error {
    Error::invalid("numbers of a type other than the stored one")
}
