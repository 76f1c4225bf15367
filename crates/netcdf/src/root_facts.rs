//! Attributes of the root group that netCDF-C shows and no file stores as such (docs/spec/nczarr.md 12.5).
use crate::names::{IS_NETCDF4, PROPERTIES, SUPERBLOCK_VERSION, is_of_root};
use ncirrus_model::{Attribute, StorageFacts, Values};

/// What is known of the storage of a netCDF-4 dataset, for the attributes that its root group has without storing them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RootFacts<'a> {
    /// The text of `_NCProperties`.
    pub provenance: Option<&'a str>,
    /// Version of the superblock as it is stored; netCDF-C reports 2 where there is none.
    pub superblock: Option<i32>,
    /// Whether an HDF5 file was written by netCDF-4. `None` in other formats: their datasets always are netCDF-4.
    pub is_netcdf4: Option<bool>,
}

impl<'a> RootFacts<'a> {
    /// Those among the facts about the storage of a dataset.
    pub fn of(facts: &'a StorageFacts) -> Self {
        Self {
            provenance: facts.provenance.as_deref(),
            superblock: facts.superblock_version.map(i32::from),
            is_netcdf4: facts.is_netcdf4,
        }
    }

    /// Those of an HDF5 file that is being written, as netCDF-C after 4.9.0 reports them.
    pub fn of_new_hdf5(provenance: &'a str, is_classic_model: bool) -> Self {
        Self { provenance: Some(provenance), superblock: Some(2), is_netcdf4: Some(is_classic_model) }
    }

    /// As netCDF-C after 4.9.0 reports them: a file with provenance counts as netCDF-4 whatever it contains, also with
    /// the classic model, where netCDF-C 4.9.0 reports 0.
    #[must_use]
    pub fn by_newer_netcdf_c(self) -> Self {
        Self { is_netcdf4: self.is_netcdf4.map(|is| is || self.provenance.is_some()), ..self }
    }

    /// The attributes in the order of `ncdump -s`.
    pub fn attributes(&self) -> Vec<Attribute> {
        [PROPERTIES, SUPERBLOCK_VERSION, IS_NETCDF4]
            .into_iter()
            .filter_map(|name| self.attribute(name))
            .collect()
    }

    /// The attribute of that name, if the root group has it.
    pub fn attribute(&self, name: &str) -> Option<Attribute> {
        if !is_of_root(name) {
            return None;
        }
        match name {
            PROPERTIES => self.provenance.map(|text| Attribute::text(PROPERTIES, text)),
            SUPERBLOCK_VERSION => Some(integer(SUPERBLOCK_VERSION, self.superblock_version())),
            _ => Some(integer(IS_NETCDF4, i32::from(self.is_netcdf4.unwrap_or(true)))),
        }
    }

    /// Zarr has no superblock: netCDF-C returns 2 for whatever netCDF wrote, also as plain Zarr, and 0 for everything
    /// else. HDF5 files have the version of their own superblock.
    fn superblock_version(&self) -> i32 {
        let stored = self.superblock.unwrap_or(2);
        let is_foreign = self.is_netcdf4.is_some() || (stored == 0 && self.provenance.is_none());
        if is_foreign { stored } else { stored.max(2) }
    }
}

fn integer(name: &str, value: i32) -> Attribute {
    Attribute::atomic(name, Values::Int(vec![value]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(facts: RootFacts<'_>) -> Option<i128> {
        facts.attribute(SUPERBLOCK_VERSION)?.values.integer(0)
    }

    #[test]
    fn hdf5_files_have_their_own_superblock() {
        for stored in [0, 2, 3] {
            let facts = RootFacts { superblock: Some(stored), is_netcdf4: Some(false), provenance: None };
            assert_eq!(version(facts), Some(i128::from(stored)));
            assert_eq!(
                version(RootFacts { provenance: Some("version=2"), ..facts }),
                Some(i128::from(stored))
            );
        }
    }

    #[test]
    fn zarr_of_netcdf_has_superblock_two_and_foreign_zarr_zero() {
        let foreign = RootFacts { superblock: Some(0), ..RootFacts::default() };
        assert_eq!(version(foreign), Some(0));
        assert_eq!(version(RootFacts { provenance: Some("version=2"), ..foreign }), Some(2));
        assert_eq!(version(RootFacts { superblock: Some(1), ..foreign }), Some(2));
        assert_eq!(version(RootFacts { superblock: Some(3), ..foreign }), Some(3));
        assert_eq!(version(RootFacts::default()), Some(2));
    }

    #[test]
    fn only_hdf5_files_may_not_be_netcdf4() {
        let value =
            |facts: RootFacts<'_>| facts.attribute(IS_NETCDF4).and_then(|found| found.values.integer(0));
        assert_eq!(value(RootFacts::default()), Some(1));
        assert_eq!(value(RootFacts { is_netcdf4: Some(false), ..RootFacts::default() }), Some(0));
    }

    #[test]
    fn newer_versions_take_provenance_for_a_proof() {
        let facts = RootFacts { is_netcdf4: Some(false), ..RootFacts::default() };
        assert_eq!(facts.by_newer_netcdf_c().is_netcdf4, Some(false));
        let known = RootFacts { provenance: Some("version=2"), ..facts };
        assert_eq!(known.by_newer_netcdf_c().is_netcdf4, Some(true));
        assert_eq!(RootFacts { is_netcdf4: None, ..known }.by_newer_netcdf_c().is_netcdf4, None);
        let new = RootFacts::of_new_hdf5("version=2", false);
        assert_eq!((new.superblock, new.is_netcdf4), (Some(2), Some(false)));
    }

    #[test]
    fn provenance_comes_first_and_only_where_it_is_known() {
        let names = |facts: RootFacts<'_>| -> Vec<String> {
            facts.attributes().into_iter().map(|attribute| attribute.name).collect()
        };
        assert_eq!(names(RootFacts::default()), [SUPERBLOCK_VERSION, IS_NETCDF4]);
        let known = RootFacts { provenance: Some("p"), ..RootFacts::default() };
        assert_eq!(names(known), [PROPERTIES, SUPERBLOCK_VERSION, IS_NETCDF4]);
        assert_eq!(known.attribute("_Format"), None);
    }
}
