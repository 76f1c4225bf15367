//! The value of elements that were never written (netCDF C library, `NC_FILL_*`; NUG, appendix "Fill values").
use crate::{Atomic, Strings, Values};

/// Where the fill value of a variable comes from; [`Variable::own_fill`](crate::Variable::own_fill) is the value. Two are
/// equal if their values are bitwise equal, as NaN is to itself.
#[derive(Debug, Clone, Default)]
pub enum Fill {
    /// The attribute `_FillValue` if it is one element of the variable's type, otherwise the default of the type.
    #[default]
    Attribute,
    /// The default of the type ([`default_fill`]), even if the variable has an attribute `_FillValue`.
    Default,
    /// A value that the format stores apart from the attribute: one element of the variable's type.
    Apart(Values),
    /// None: elements never written have no defined value (read as the type's default).
    None,
}

impl PartialEq for Fill {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Attribute, Self::Attribute)
            | (Self::Default, Self::Default)
            | (Self::None, Self::None) => true,
            (Self::Apart(ours), Self::Apart(theirs)) => ours.is_identical(theirs),
            _ => false,
        }
    }
}

/// The default fill value of an atomic type, one element.
pub fn default_fill(atomic: Atomic) -> Values {
    match atomic {
        Atomic::Byte => Values::Byte(vec![-127]),
        Atomic::Char => Values::Char(vec![0]),
        Atomic::Short => Values::Short(vec![-32767]),
        Atomic::Int => Values::Int(vec![-2_147_483_647]),
        Atomic::Float => Values::Float(vec![9.969_21e36]),
        Atomic::Double => Values::Double(vec![9.969_209_968_386_869e36]),
        Atomic::UByte => Values::UByte(vec![255]),
        Atomic::UShort => Values::UShort(vec![65_535]),
        Atomic::UInt => Values::UInt(vec![4_294_967_295]),
        Atomic::Int64 => Values::Int64(vec![-9_223_372_036_854_775_806]),
        Atomic::UInt64 => Values::UInt64(vec![18_446_744_073_709_551_614]),
        Atomic::String => Values::String(Strings::from_iter([Some("")])),
    }
}
