//! Values of a file as the type of the caller's memory, and the other way, by the rules of the file's format.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_ECHAR, NC_ERANGE, Outcome};
use crate::files::OpenFile;
use crate::files::file_state::FileFormat;
use ncirrus::convert::{ByteRule, CastRules, RangeExcess, cast_with};
use ncirrus::netcdf::casts::{self, CastRefusal};
use ncirrus::{Atomic, Values};

/// The values as another type, by the rules of a format, and whether all were in its range: the program gets them, or the
/// file, in either case.
///
/// # Errors
/// `NC_ECHAR` between text and numbers, `NC_EBADTYPE` for values of user-defined types.
pub(crate) fn with_rules(format: FileFormat, values: &Values, to: Atomic) -> Outcome<(Values, Outcome<()>)> {
    check(values.atomic().ok_or(Code(NC_EBADTYPE))?, to)?;
    // CDF-1, CDF-2 and netCDF-4 of the classic model have one type of bytes.
    let bytes = if matches!(format.number, 1 | 2 | 4) { ByteRule::Classic } else { ByteRule::Typed };
    let rules = CastRules { excess: RangeExcess::Wrap, bytes };
    let (converted, report) = cast_with(values, to, rules)?;
    let is_clean = report.is_clean() || !format.is_classic() && casts::is_next_to_uint(values, to);
    Ok((converted, if is_clean { Ok(()) } else { Err(Code(NC_ERANGE)) }))
}

/// As [`with_rules`], for values that are put into a file: netCDF-3 has no infinite doubles from floats.
///
/// # Errors
/// As [`with_rules`].
pub(crate) fn to_file(format: FileFormat, values: &Values, to: Atomic) -> Outcome<(Values, Outcome<()>)> {
    let (converted, ended) = with_rules(format, values, to)?;
    let is_refused = format.is_classic() && casts::is_infinite_for_classic(values, to);
    Ok((converted, if is_refused { Err(Code(NC_ERANGE)) } else { ended }))
}

/// As [`with_rules`], of an open file: of netCDF-3, doubles beyond the floats reach memory as the largest of those.
///
/// # Errors
/// As [`with_rules`].
pub(crate) fn to_memory(file: &OpenFile, values: &Values, to: Atomic) -> Outcome<(Values, Outcome<()>)> {
    let (mut converted, ended) = with_rules(file.core.format, values, to)?;
    if file.is_classic() {
        casts::limit_for_classic(values, &mut converted);
    }
    Ok((converted, ended))
}

/// Which numbers reach the program's memory: of netCDF-3, fractions that do not fit an integer leave there what was before.
/// `None` for all.
pub(crate) fn stored(file: &OpenFile, values: &Values, to: Atomic) -> Option<Vec<bool>> {
    if file.is_classic() { casts::stored_from_classic(values, to) } else { None }
}

/// Whether values of one type can be converted to another.
///
/// # Errors
/// `NC_ECHAR` between text and numbers, `NC_EBADTYPE` between strings and others.
pub(crate) fn check(from: Atomic, to: Atomic) -> Outcome<()> {
    casts::check(from, to).map_err(|refusal| match refusal {
        CastRefusal::Text => Code(NC_ECHAR),
        CastRefusal::Strings => Code(NC_EBADTYPE),
    })
}
