//! By what an attribute counts as longer than the one that it replaces: in data mode only one that is not longer is written.
use ncirrus_model::Atomic;

/// Bytes of an attribute in a classic file.
pub fn len_in_classic(ty: Atomic, count: usize) -> usize {
    count.saturating_mul(ty.byte_len().unwrap_or(1)).saturating_add(3) / 4 * 4
}

/// Bytes of an attribute of netCDF-4 as netCDF-C counts them: pointers for strings, and -1 for each value of a user-defined type.
pub fn len_in_netcdf4(ty: Option<Atomic>, count: usize) -> usize {
    let each = ty.map_or(usize::MAX, |ty| ty.byte_len().unwrap_or(size_of::<usize>()));
    count.wrapping_mul(each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_classic_files_are_padded_and_those_of_user_defined_types_count_backwards() {
        assert_eq!([0, 1, 4, 5].map(|count| len_in_classic(Atomic::Byte, count)), [0, 4, 4, 8]);
        assert_eq!(len_in_classic(Atomic::Double, 1), 8);
        assert_eq!(len_in_netcdf4(Some(Atomic::Short), 3), 6);
        assert!(len_in_netcdf4(None, 2) < len_in_netcdf4(None, 1));
    }
}
