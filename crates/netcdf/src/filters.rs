//! Which filters a variable of netCDF-4 may get, and their order.
use ncirrus_model::CodecSpec;

/// Registered numbers of filters.
pub const DEFLATE: u32 = 1;
/// Shuffles the bytes of elements.
pub const SHUFFLE: u32 = 2;
/// A checksum.
pub const FLETCHER32: u32 = 3;
/// Szip.
pub const SZIP: u32 = 4;
/// Bzip2.
pub const BZIP2: u32 = 307;
/// Blosc.
pub const BLOSC: u32 = 32001;
/// Zstandard.
pub const ZSTD: u32 = 32015;

/// The largest number of a filter.
const MAX_ID: u32 = 0xffff;
/// Flags of szip that programs choose.
const ENTROPY: u32 = 4;
const NEAREST: u32 = 32;

/// Why a filter is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilterRefusal {
    /// It has too many parameters, or too few (`NC_EFILTER`).
    Parameters,
    /// A parameter is out of its range, or another filter excludes this one (`NC_EINVAL`).
    Value,
}

/// Whether filters have such numbers (`NC_EHDFERR`).
pub fn is_number(id: u32) -> bool {
    id <= MAX_ID
}

/// Whether a variable with other filters, whose chunks have so many elements, may get a filter. `None` for the elements of a variable
/// without dimensions.
///
/// # Errors
/// The reason, if it may not.
pub fn check(
    id: u32,
    parameters: &[u32],
    others: &[CodecSpec],
    elements: Option<u64>,
) -> Result<(), FilterRefusal> {
    let excludes = |other: u32| others.iter().any(|filter| id_of(filter) == other);
    let is_allowed = match (id, parameters) {
        (DEFLATE, [level]) => *level <= 9 && !excludes(SZIP),
        (SZIP, [mask, pixels]) => {
            // Blocks are even, of at most 32 values, and not longer than a chunk.
            let is_block = (1..=32).contains(pixels) && pixels % 2 == 0;
            let fits = elements.is_none_or(|elements| elements >= u64::from(*pixels));
            *mask & (ENTROPY | NEAREST) != 0 && is_block && fits && !excludes(DEFLATE)
        }
        (DEFLATE | SZIP, _) => return Err(FilterRefusal::Parameters),
        _ => true,
    };
    if is_allowed { Ok(()) } else { Err(FilterRefusal::Value) }
}

/// Adds a filter, or replaces its parameters: the checksum is first, then shuffle.
pub fn put(filters: &mut Vec<CodecSpec>, id: u32, parameters: &[u32]) {
    let optional = id == SHUFFLE || id == DEFLATE;
    let spec = CodecSpec::Hdf5 { id, parameters: parameters.to_vec(), optional };
    if let Some(old) = filters.iter_mut().find(|old| id_of(old) == id) {
        *old = spec;
        return;
    }
    let place = filters.iter().position(|other| rank_of(id_of(other)) > rank_of(id));
    filters.insert(place.unwrap_or(filters.len()), spec);
}

/// Of szip's parameters, those that the program chose: HDF5 adds flags and two more about the chunk.
pub fn chosen_of_szip(parameters: &mut Vec<u32>) {
    parameters.truncate(2);
    if let Some(mask) = parameters.first_mut() {
        *mask &= ENTROPY | NEAREST;
    }
}

fn rank_of(id: u32) -> u8 {
    match id {
        FLETCHER32 => 0,
        SHUFFLE => 1,
        _ => 2,
    }
}

fn id_of(spec: &CodecSpec) -> u32 {
    if let CodecSpec::Hdf5 { id, .. } = spec { *id } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_first_then_shuffle_and_parameters_are_replaced() {
        let mut filters = Vec::new();
        for (id, parameters) in [(DEFLATE, &[5][..]), (SHUFFLE, &[]), (FLETCHER32, &[]), (DEFLATE, &[9])] {
            put(&mut filters, id, parameters);
        }
        assert_eq!(filters.iter().map(id_of).collect::<Vec<_>>(), [FLETCHER32, SHUFFLE, DEFLATE]);
        assert!(matches!(&filters[2], CodecSpec::Hdf5 { parameters, .. } if parameters == &[9]));
    }

    #[test]
    fn deflate_and_szip_exclude_each_other_and_have_ranges() {
        let deflated = [CodecSpec::hdf5(DEFLATE, &[1])];
        assert_eq!(check(DEFLATE, &[9], &[], None), Ok(()));
        assert_eq!(check(DEFLATE, &[10], &[], None), Err(FilterRefusal::Value));
        assert_eq!(check(DEFLATE, &[], &[], None), Err(FilterRefusal::Parameters));
        assert_eq!(check(SZIP, &[32, 16], &[], Some(16)), Ok(()));
        assert_eq!(check(SZIP, &[32, 16], &[], Some(15)), Err(FilterRefusal::Value));
        assert_eq!(check(SZIP, &[32, 16], &deflated, Some(16)), Err(FilterRefusal::Value));
        assert_eq!(check(SZIP, &[1, 16], &[], None), Err(FilterRefusal::Value));
        assert_eq!(check(SZIP, &[32, 7], &[], None), Err(FilterRefusal::Value));
        assert_eq!(check(ZSTD, &[1, 2, 3], &deflated, None), Ok(()));
    }
}
