//! Filters as text, as programs take them from their users: `32001,0,0,0,0,5|1,9`.
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use crate::c_types::memory::{
    CText, FilterListOut, FilterSpecHandle, NoAnswer, Out, WordsOut, allocated, free_address,
};
use std::ffi::c_int;

/// Bytes of `struct NC_H5_Filterspec`: a number, the count of parameters, and where they are.
const SPEC_LEN: usize = 24;

/// A filter and its parameters.
#[derive(Debug, PartialEq)]
struct FilterText {
    id: u32,
    parameters: Vec<u32>,
}

impl FilterText {
    /// `ID,PARAMETER,..`
    fn parse(text: &str) -> Outcome<Self> {
        let bad = Code(NC_EINVAL);
        let mut parts = text.trim().trim_matches(|c| c == '"' || c == '\'').split(',').map(str::trim);
        let id = parts.next().filter(|part| !part.is_empty()).ok_or(bad)?.parse().map_err(|_| bad)?;
        let mut parameters = Vec::new();
        for part in parts {
            parameters.extend(parameter(part)?);
        }
        Ok(Self { id, parameters })
    }
}

/// One number as the words that filters take: wide ones are two words. A letter after it says its type.
fn parameter(text: &str) -> Outcome<Vec<u32>> {
    let bad = Code(NC_EINVAL);
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_hex = text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
    if is_hex {
        let value = u64::from_str_radix(&text[2..], 16).map_err(|_| bad)?;
        return Ok(words(value));
    }
    let tag = text[digits.len()..].to_ascii_lowercase();
    let whole = || digits.parse::<i128>().map_err(|_| bad);
    let low = |value: i128| u32::try_from(value & 0xffff_ffff).unwrap_or(0);
    if tag == "f" {
        return Ok(vec![digits.parse::<f32>().map_err(|_| bad)?.to_bits()]);
    }
    if tag == "d" || (tag.is_empty() && digits.contains(['.', 'e', 'E'])) {
        return Ok(split(digits.parse::<f64>().map_err(|_| bad)?.to_bits()));
    }
    match tag.as_str() {
        "" | "u" => Ok(vec![low(whole()?)]),
        "s" | "us" => Ok(vec![low(whole()? & 0xffff)]),
        "b" | "ub" => Ok(vec![low(whole()? & 0xff)]),
        "l" | "ul" | "ll" | "ull" => {
            let value = whole()?;
            Ok(split(u64::try_from(value & 0xffff_ffff_ffff_ffff).unwrap_or(0)))
        }
        _ => Err(bad),
    }
}

fn words(value: u64) -> Vec<u32> {
    u32::try_from(value).map_or_else(|_| split(value), |word| vec![word])
}

fn split(value: u64) -> Vec<u32> {
    let word = |value: u64| u32::try_from(value & 0xffff_ffff).unwrap_or(0);
    vec![word(value), word(value >> 32)]
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
    let filter = FilterText::parse(text.split(['|', '&']).next().unwrap_or_default())?;
    id.set(filter.id);
    count.set(filter.parameters.len());
    parameters.untyped().set(block_of(&filter.parameters)?);
    Ok(())
}

/// `ncaux_h5filterspec_parse_parameter`: one parameter, one word or two.
pub(crate) fn parse_parameter(text: CText, count: Out<usize>, words: Out<u32>) -> Outcome<()> {
    let list = parameter(text.text()?.trim())?;
    count.set(list.len());
    words.set_all(&list);
    Ok(())
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
    let text = text.trim();
    let (kind, rest) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((kind, rest)) => (kind.trim().parse().map_err(|_| Code(NC_EINVAL))?, rest),
        None => (0, text),
    };
    let parts = rest.split(['|', '&']).filter(|part| !part.trim().is_empty());
    let filters = parts.map(FilterText::parse).collect::<Outcome<Vec<_>>>()?;
    let mut addresses = Vec::new();
    for filter in &filters {
        let mut image = Vec::with_capacity(SPEC_LEN);
        image.extend(filter.id.to_ne_bytes());
        image.extend([0; 4]);
        image.extend(filter.parameters.len().to_ne_bytes());
        image.extend(block_of(&filter.parameters)?.to_ne_bytes());
        addresses.extend(allocated(&image)?.to_ne_bytes());
    }
    format.set(kind);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_number_and_parameters() {
        assert_eq!(FilterText::parse("1,9"), Ok(FilterText { id: 1, parameters: vec![9] }));
        assert_eq!(FilterText::parse(" 307 "), Ok(FilterText { id: 307, parameters: vec![] }));
        assert_eq!(FilterText::parse("bzip2"), Err(Code(NC_EINVAL)));
    }

    #[test]
    fn narrow_parameters_have_their_own_width() {
        assert_eq!(parameter("-17b"), Ok(vec![239]));
        assert_eq!(parameter("300UB"), Ok(vec![44]));
        assert_eq!(parameter("-25S"), Ok(vec![65511]));
        assert_eq!(parameter("70000us"), Ok(vec![4464]));
    }

    #[test]
    fn wide_parameters_are_two_words() {
        assert_eq!(parameter("1.5f"), Ok(vec![0x3fc0_0000]));
        assert_eq!(parameter("1.5d"), Ok(vec![0, 0x3ff8_0000]));
        assert_eq!(parameter("4294967297ull"), Ok(vec![1, 1]));
        assert_eq!(parameter("-1"), Ok(vec![u32::MAX]));
        assert_eq!(parameter("5i"), Err(Code(NC_EINVAL)));
        assert_eq!(parameter("x"), Err(Code(NC_EINVAL)));
    }
}
