//! Facts about how a dataset is stored.

/// Facts about how a dataset is stored: for netCDF's special attributes, for rules that depend on them, and for users.
/// A format leaves out what it does not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StorageFacts {
    /// Further facts, which nothing depends on: name and value, such as `("dialect", "ATT")`.
    pub others: Vec<(&'static str, String)>,
    /// Whether consolidated metadata were used.
    pub consolidated: Option<bool>,
    /// The version of NCZarr that wrote it, as it is stored.
    pub nczarr_version: Option<String>,
    /// The version of the superblock, `_SuperblockVersion`.
    pub superblock_version: Option<u8>,
    /// Whether a file of HDF5 is one of netCDF-4, `_IsNetcdf4`.
    pub is_netcdf4: Option<bool>,
    /// The separators between the numbers in names of chunks.
    pub separators: Option<String>,
    /// Who wrote it, `_NCProperties`.
    pub provenance: Option<String>,
    /// The size of the front of the file that holds all metadata.
    pub metadata_end: Option<u64>,
    /// First offset behind the headers of all objects of an HDF5 file, if all of them could be read.
    pub headers_end: Option<u64>,
    /// Bytes before the beginning of the format, if there are any.
    pub user_block_bytes: Option<u64>,
    /// Bytes by which the file is shorter than its header states, if it is.
    pub missing_bytes: Option<u64>,
    /// The first thing of an HDF5 file that its netCDF view does not show: a rewritten file would not have it.
    pub unshown: Option<String>,
    /// What an overlay shows as aggregated.
    pub aggregation: Option<String>,
}

impl StorageFacts {
    /// All of them in words, in the order in which they are printed: name and value.
    #[must_use]
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let known = [
            ("consolidated", self.consolidated.map(yes)),
            ("superblock", self.nczarr_version.clone()),
            ("_SuperblockVersion", self.superblock_version.map(|version| version.to_string())),
            ("_IsNetcdf4", self.is_netcdf4.map(|is| u8::from(is).to_string())),
            ("dimension_separator", self.separators.clone()),
            ("_NCProperties", self.provenance.clone()),
            ("metadata", self.metadata_end.map(|end| format!("in the first {} kB", end.div_ceil(1000)))),
            ("user_block_bytes", self.user_block_bytes.map(|len| len.to_string())),
            ("missing_bytes", self.missing_bytes.map(|len| len.to_string())),
            ("aggregation", self.aggregation.clone()),
        ];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
        self.others.iter().cloned().chain(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_that_a_format_does_not_have_are_left_out() {
        assert!(StorageFacts::default().pairs().is_empty());
        let facts = StorageFacts {
            others: vec![("dialect", "ATT".to_owned())],
            consolidated: Some(false),
            is_netcdf4: Some(true),
            metadata_end: Some(1001),
            aggregation: Some("CF-1.13".to_owned()),
            ..StorageFacts::default()
        };
        let expected = [
            ("dialect", "ATT"),
            ("consolidated", "no"),
            ("_IsNetcdf4", "1"),
            ("metadata", "in the first 2 kB"),
            ("aggregation", "CF-1.13"),
        ];
        assert_eq!(facts.pairs(), expected.map(|(name, value)| (name, value.to_owned())));
    }
}
