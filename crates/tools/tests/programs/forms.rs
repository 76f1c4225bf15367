//! The kinds of dataset that programs make, and what they cannot hold (`docs/formats/zarr-writing.md`).
use super::oracle::Oracle;
use ncirrus::{Atomic, CreateOptions, DefaultChunks, Dialect, FileStructures, Kind, StringForm};
use ncirrus_testkit::law::RandomSource;

/// A kind of dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Form {
    pub(crate) name: &'static str,
    pub(crate) ending: &'static str,
    pub(crate) kind: Kind,
    dialect: Option<Dialect>,
    /// Whether dimensions can be unlimited.
    pub(crate) grows: bool,
    /// Whether dimensions are definitions of their own, and attributes have types.
    pub(crate) is_netcdf: bool,
}

const fn form(
    name: &'static str,
    ending: &'static str,
    kind: Kind,
    dialect: Option<Dialect>,
    (grows, is_netcdf): (bool, bool),
) -> Form {
    Form { name, ending, kind, dialect, grows, is_netcdf }
}

pub(crate) const FORMS: [Form; 14] = [
    form("nc3", ".nc", Kind::Nc3, None, (true, true)),
    form("nc6", ".nc", Kind::Nc6, None, (true, true)),
    form("nc5", ".nc", Kind::Nc5, None, (true, true)),
    form("nc4", ".nc", Kind::Nc4, None, (true, true)),
    form("nc4-again", ".nc", Kind::Nc4, None, (true, true)),
    form("nc4c", ".nc", Kind::Nc4Classic, None, (true, true)),
    form("nczarr", ".zarr", Kind::NcZarr, None, (true, true)),
    form("nczarr-zip", ".zip", Kind::NcZarr, None, (true, true)),
    form("lc", ".zarr", Kind::NcZarr, Some(Dialect::Lc), (false, true)),
    form("uc", ".zarr", Kind::NcZarr, Some(Dialect::Uc), (false, true)),
    form("zarr2", ".zarr", Kind::Zarr2, None, (true, false)),
    form("nczarr3", ".zarr", Kind::Zarr3, None, (true, true)),
    form("nczarr3-zip", ".zip", Kind::Zarr3, None, (true, true)),
    form("zarr3", ".zarr", Kind::Zarr3, Some(Dialect::Plain), (true, false)),
];

impl Form {
    pub(crate) fn is_classic_model(&self) -> bool {
        self.kind.is_classic() || self.kind == Kind::Nc4Classic
    }

    pub(crate) fn is_hdf5(&self) -> bool {
        matches!(self.kind, Kind::Nc4 | Kind::Nc4Classic)
    }

    pub(crate) fn is_zarr(&self) -> bool {
        !self.is_hdf5() && !self.kind.is_classic()
    }

    pub(crate) fn types(&self) -> Vec<Atomic> {
        let all = Atomic::ALL.into_iter();
        match self.kind {
            Kind::Nc5 => all.filter(|ty| *ty != Atomic::String).collect(),
            _ if self.is_classic_model() => all.filter(|ty| ty.is_classic()).collect(),
            _ => all.collect(),
        }
    }

    /// Options for creating it.
    pub(crate) fn create(&self, random: &mut RandomSource) -> CreateOptions {
        let mut one_of = |of: u64| random.below(of) == 0;
        let mut options = CreateOptions::new().kind(self.kind).dialect(self.dialect);
        options.consolidated = !one_of(3);
        options.separator = (self.is_zarr() && one_of(4)).then_some('/');
        options.header_pad = one_of(3).then_some(0);
        if one_of(3) {
            options.structures = FileStructures::V110;
        }
        if one_of(4) {
            options.default_chunks = DefaultChunks::NetcdfC;
        }
        options.align = one_of(5).then_some(64);
        // What is written after a copy may be longer than everything before.
        options.strings = StringForm::Variable;
        options
    }

    /// Whether a dataset can be copied to this kind without losses.
    pub(crate) fn holds(&self, oracle: &Oracle) -> bool {
        let dims = || oracle.dims.iter().flatten();
        // netCDF takes a fixed dimension of length 0 for an unlimited one.
        if !self.grows && dims().any(|dim| dim.unlimited && dim.len == 0) {
            return false;
        }
        let types = self.types();
        let attributes = oracle.vars.iter().flat_map(|var| &var.attributes).chain(&oracle.attributes);
        let mut types_of_all = oracle
            .vars
            .iter()
            .map(|var| var.ty)
            .chain(attributes.filter_map(|attr| attr.attribute.values.atomic()));
        if !types_of_all.all(|ty| types.contains(&ty)) {
            return false;
        }
        if !self.is_classic_model() {
            return true;
        }
        let first_only = |dims: &[usize]| dims.iter().skip(1).all(|at| !oracle.dim(*at).unlimited);
        oracle.groups.is_empty()
            && dims().filter(|dim| dim.unlimited).count() <= 1
            && oracle.vars.iter().all(|var| first_only(&var.dims))
    }
}
