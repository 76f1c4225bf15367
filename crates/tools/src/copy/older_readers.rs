//! What the releases of netCDF-C that the dialect `uc` is written for cannot read, however it is stored
//! (docs/formats/readers.md).
use ncirrus::{CreateOptions, Dialect};
use ncirrus_model::{Atomic, Model, TypeRef, Variable};

/// What they cannot read in a copy, as one sentence each.
pub(super) fn unread(model: &Model, create: &CreateOptions) -> Vec<String> {
    if create.dialect != Some(Dialect::Uc) {
        return Vec::new();
    }
    let strings = named(paths(model, |variable| variable.ty == TypeRef::Atomic(Atomic::String)));
    let scalars = named(paths(model, |variable| variable.dims.is_empty()));
    let empty = model.walk().into_iter().filter_map(|group| model.group(group)).flat_map(|group| &group.dims);
    let empty =
        empty.filter_map(|dim| model.dimension(*dim)).filter(|dimension| dimension.len.current() == 0);
    let empty = named(empty.map(|dimension| dimension.name.clone()).collect());
    let reported = [
        strings.map(|names| format!("{names}: netCDF-C 4.8.1 and 4.9.0 do not list strings of NCZarr")),
        scalars.map(|names| format!("{names}: netCDF-C 4.9.0 crashes on a dataset of NCZarr with scalars")),
        empty.map(|names| {
            format!("{names}: netCDF-C 4.9.0 refuses a dataset of NCZarr with dimensions of length 0")
        }),
    ];
    reported.into_iter().flatten().collect()
}

/// What some builds of them read wrongly without an error.
pub(super) fn misread(model: &Model, create: &CreateOptions) -> Option<String> {
    let is_meant = |variable: &Variable| !variable.dims.is_empty() && !variable.filters.is_empty();
    named(paths(model, is_meant)).filter(|_| create.dialect == Some(Dialect::Uc)).map(|names| {
        format!(
            "{names}: netCDF-C 4.9.0 shows encoded bytes as values, without an error, where it was built without filters \
             for NCZarr (Debian's is): -d 0 stores none"
        )
    })
}

/// Paths of the variables concerned.
pub(super) fn paths(model: &Model, is_meant: impl Fn(&Variable) -> bool) -> Vec<String> {
    let mut variables = model.variables();
    variables.retain(|var| model.variable(*var).is_some_and(&is_meant));
    variables.into_iter().map(|var| model.variable_path(var)).collect()
}

/// The first of them, and how many more there are.
pub(super) fn named(names: Vec<String>) -> Option<String> {
    let more = names.len().checked_sub(1)?;
    let first = names.into_iter().next()?;
    Some(if more > 0 { format!("{first} and {more} more") } else { first })
}
