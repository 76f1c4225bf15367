//! `ncaux_h5filterspec_*`: filters as text, in the memory of C.
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use crate::c_types::memory::{
    CText, FilterListOut, FilterSpecHandle, NoAnswer, Out, WordsOut, allocated, free_address,
};
use ncirrus::netcdf::filter_text::{self, FilterText};
use std::ffi::c_int;

/// Bytes of `struct NC_H5_Filterspec`: a number, the count of parameters, and where they are.
const SPEC_LEN: usize = 24;

fn parsed(text: &str) -> Outcome<FilterText> {
    FilterText::parse(text).ok_or(Code(NC_EINVAL))
}

fn block_of(words: &[u32]) -> Outcome<usize> {
    allocated(&words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>())
}

/// `ncaux_h5filterspec_parse`: one filter, the first of several.
pub(crate) fn parse(text: CText, id: Out<u32>, count: Out<usize>, parameters: WordsOut) -> Outcome<()> {
    if id.is_null() || count.is_null() || parameters.untyped().is_null() {
        return Err(Code(NC_EINVAL));
    }
    let text = text.text()?;
    let filter = parsed(filter_text::parts(text.as_ref()).next().unwrap_or_default())?;
    id.set(filter.id);
    count.set(filter.parameters.len());
    parameters.untyped().set(block_of(&filter.parameters)?);
    Ok(())
}

/// `ncaux_h5filterspec_parse_parameter`: one parameter, one word or two.
pub(crate) fn parse_parameter(text: CText, count: Out<usize>, words: Out<u32>) -> Outcome<()> {
    let list = filter_text::parameter(text.text()?.trim()).ok_or(Code(NC_EINVAL))?;
    count.set(list.len());
    words.store_all(&list)
}

/// `ncaux_h5filterspec_parselist`: filters with bars between them, and before them a format in brackets.
pub(crate) fn parse_list(
    text: CText,
    format: Out<c_int>,
    count: Out<usize>,
    list: FilterListOut,
) -> Outcome<()> {
    // Who wants one kind of filters only does not ask which it is.
    if count.is_null() || list.untyped().is_null() {
        return Err(Code(NC_EINVAL));
    }
    let text = text.text()?;
    let (kind, rest) = filter_text::split_format(text.trim()).ok_or(Code(NC_EINVAL))?;
    let parts = filter_text::parts(rest).filter(|part| !part.trim().is_empty());
    let filters = parts.map(parsed).collect::<Outcome<Vec<_>>>()?;
    let mut addresses = Vec::new();
    for filter in &filters {
        let mut image = Vec::with_capacity(SPEC_LEN);
        image.extend(filter.id.to_ne_bytes());
        image.extend([0; 4]);
        image.extend(filter.parameters.len().to_ne_bytes());
        image.extend(block_of(&filter.parameters)?.to_ne_bytes());
        addresses.extend(allocated(&image)?.to_ne_bytes());
    }
    format.set(kind.unwrap_or(0));
    count.set(filters.len());
    list.untyped().set(allocated(&addresses)?);
    Ok(())
}

/// `ncaux_h5filterspec_free`.
pub(crate) fn free(spec: FilterSpecHandle) -> NoAnswer {
    if let Some(parameters) = spec.parameters(SPEC_LEN) {
        free_address(parameters);
        free_address(spec.address());
    }
    NoAnswer
}

/// `ncaux_h5filterspec_fix8`: eight bytes between the order of the machine and that of parameters.
pub(crate) fn fix8(memory: Out<u8>, _decode: c_int) -> NoAnswer {
    if cfg!(target_endian = "big")
        && let Ok(bytes) = memory.as_bytes().slice(8)
    {
        bytes.rotate_left(4);
    }
    NoAnswer
}
