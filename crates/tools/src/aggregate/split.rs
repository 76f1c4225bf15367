//! Splitting a dataset into an aggregation and its fragments.
mod axes;
mod blocks;
mod divide;
mod fragments;
mod legacy;
mod state;

use super::each::{WorkSteps, each};
use super::master::{MasterOptions, MasterPlan, StoredValues, unpack};
use super::names::{folder_of, join, written};
use super::origin::RecordedAggregation;
use super::shape::{named, readable};
pub use axes::AxisKind;
use blocks::VariableBlocks;
pub use divide::{ArrayDivision, DividedAxis};
use fragments::{FragmentWriter, SplitPiece};
use ncirrus::{CreateOptions, Dataset, Error, Kind, LeftOut, Result, Session};
use ncirrus_layout::{Detail, ErrorKind};
use ncirrus_model::{Model, TypeRef, VarId};
use state::SplitState;
pub(super) use state::make_folder;
use std::collections::{BTreeMap, BTreeSet};

/// How a dataset is split.
#[derive(Clone)]
#[non_exhaustive]
pub struct SplitOptions<'a> {
    /// Maximum size of a fragment, in bytes before compression; with `like_s3netcdf4` in elements.
    pub max_size: u64,
    /// Lengths of fragments along dimensions, by name; they override `max_size`.
    pub shape: BTreeMap<String, u64>,
    /// Folder or prefix of the fragments; `None`: beside the master, named after it.
    pub fragments: Option<String>,
    /// Divide with the arithmetic of S3netCDF4. If it would lose elements, that is an error.
    pub like_s3netcdf4: bool,
    /// Kind of the fragments; `None`: netCDF-4, or netCDF-3 for a netCDF-3 master.
    pub fragment_kind: Option<Kind>,
    /// Number of fragments written concurrently; `None`: a few.
    pub at_once: Option<usize>,
    /// Called when a fragment has been written.
    pub steps: Option<&'a WorkSteps<'a>>,
}

/// The default size of a fragment, here and in S3netCDF4 (docs/spec/cfa.md 7.3).
pub const DEFAULT_SIZE: u64 = 52_428_800;

/// More fragments are taken for a mistake: each is a file.
const MAX_FRAGMENTS: usize = 10_000_000;

impl Default for SplitOptions<'_> {
    fn default() -> Self {
        Self {
            max_size: DEFAULT_SIZE,
            shape: BTreeMap::new(),
            fragments: None,
            like_s3netcdf4: false,
            fragment_kind: None,
            at_once: None,
            steps: None,
        }
    }
}

impl<'a> SplitOptions<'a> {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum size of a fragment, in bytes before compression; with `like_s3netcdf4` in elements.
    #[must_use]
    pub fn max_size(mut self, max_size: u64) -> Self {
        self.max_size = max_size;
        self
    }

    /// Lengths of fragments along dimensions, by name; they override `max_size`.
    #[must_use]
    pub fn shape(mut self, shape: BTreeMap<String, u64>) -> Self {
        self.shape = shape;
        self
    }

    /// Folder or prefix of the fragments; `None`: beside the master, named after it.
    #[must_use]
    pub fn fragments(mut self, fragments: impl Into<Option<String>>) -> Self {
        self.fragments = fragments.into();
        self
    }

    /// Divide with the arithmetic of S3netCDF4. If it would lose elements, that is an error.
    #[must_use]
    pub fn like_s3netcdf4(mut self, like_s3netcdf4: bool) -> Self {
        self.like_s3netcdf4 = like_s3netcdf4;
        self
    }

    /// Kind of the fragments; `None`: netCDF-4, or netCDF-3 for a netCDF-3 master.
    #[must_use]
    pub fn fragment_kind(mut self, fragment_kind: impl Into<Option<Kind>>) -> Self {
        self.fragment_kind = fragment_kind.into();
        self
    }

    /// Number of fragments written concurrently; `None`: a few.
    #[must_use]
    pub fn at_once(mut self, at_once: impl Into<Option<usize>>) -> Self {
        self.at_once = at_once.into();
        self
    }

    /// Called when a fragment has been written.
    #[must_use]
    pub fn steps(mut self, steps: &'a WorkSteps<'a>) -> Self {
        self.steps = Some(steps);
        self
    }
}

/// The result of a split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitReport {
    /// Fragments that were written.
    pub written: usize,
    /// Fragments that an earlier run had written.
    pub kept: usize,
    /// For each variable that was split, the shape of its array of fragments.
    pub variables: Vec<(String, Vec<u64>)>,
    /// What cannot be read from the dataset.
    pub left_out: Vec<LeftOut>,
}

/// Writes the parts of a dataset's variables to files of their own, and a master that aggregates them. The master
/// comes last: until it exists, nothing changes for readers. A run that was killed is continued by the next one with
/// the same options; fragments that it has written are kept.
///
/// # Errors
/// `Conflict` if the master or fragments of something else exist; `Invalid` if lengths do not fit, or the arithmetic
/// of S3netCDF4 would lose elements; errors of reading and writing.
pub fn split(
    source: &Dataset,
    target: &str,
    options: &SplitOptions<'_>,
    master: &MasterOptions,
    session: &Session,
) -> Result<SplitReport> {
    master.check(target)?;
    check_lengths(source, options)?;
    master.check_target(target, std::iter::once(source.url()), session)?;
    check_free(target, master, session)?;
    let plan = SplitPlan::of(source, target, options, master)?;
    let built = plan.master(source, target, master)?;
    built.rehearse(target, master, session)?;
    let state = SplitState::of(source, target, options, master, session)?;
    let is_resumed = state.begin(&plan.names.folder, plan.names.base(), session)?;
    let work = |_: usize, piece: &SplitPiece| plan.splitter.put(piece, is_resumed, session);
    let at_once = options.at_once.unwrap_or(4).max(1);
    let kept = each(&plan.pieces, at_once, options.steps, work)?;
    let kept = kept.into_iter().filter(|kept| *kept).count();
    built.write(target, master, session)?;
    SplitState::end(&plan.names.folder, session)?;
    let (written, left_out) = (plan.pieces.len() - kept, source.left_out()?);
    Ok(SplitReport { written, kept, variables: plan.shapes, left_out })
}

/// The plan of a split.
struct SplitPlan<'a> {
    names: FragmentNames,
    splitter: FragmentWriter<'a>,
    pieces: Vec<SplitPiece>,
    split: Vec<(VarId, Vec<Vec<u64>>)>,
    shapes: Vec<(String, Vec<u64>)>,
}

impl<'a> SplitPlan<'a> {
    fn of(
        source: &'a Dataset,
        target: &str,
        options: &SplitOptions<'_>,
        master: &MasterOptions,
    ) -> Result<Self> {
        let model = source.model()?;
        let vars = split_variables(&model);
        let names = FragmentNames::of(target, options);
        let blocks = VariableBlocks { model: &model, options };
        let mut plan = Self {
            names: FragmentNames::of(target, options),
            splitter: FragmentWriter {
                source,
                create: CreateOptions::new().kind(fragment_kind(target, options, master)),
                leave_out: vars.iter().map(|var| model.variable_path(*var)).collect(),
                record: RecordedAggregation::attribute(&model, master.convention),
            },
            pieces: Vec::new(),
            split: Vec::new(),
            shapes: Vec::new(),
        };
        for var in vars {
            let path = model.variable_path(var);
            let sizes = blocks.sizes(var).map_err(|error| error.at_path(&*path))?;
            let count = sizes.iter().try_fold(1usize, |count, sizes| count.checked_mul(sizes.len()));
            if count
                .and_then(|count| count.checked_add(plan.pieces.len()))
                .is_none_or(|all| all > MAX_FRAGMENTS)
            {
                let message = format!("more than {MAX_FRAGMENTS} fragments: choose a larger fragment size");
                return Err(Error::limit(message).at_path(path));
            }
            plan.shapes.push((path.clone(), sizes.iter().map(|sizes| sizes.len() as u64).collect()));
            plan.pieces.extend(fragments::pieces(&path, &sizes, |place| names.of_fragment(&path, place)));
            plan.split.push((var, sizes));
        }
        Ok(plan)
    }

    /// The master: it stores the variables that are not split.
    fn master(&self, source: &Dataset, target: &str, options: &MasterOptions) -> Result<MasterPlan> {
        let model = readable(source.model()?.as_ref())?;
        let mut master = MasterPlan { model: Model::clone(&model), ..MasterPlan::empty() };
        let mut urls = self.pieces.iter().map(|piece| piece.url.as_str());
        for (var, sizes) in self.split.clone() {
            if options.convention.is_unpacked() {
                unpack(&mut master.model, var);
            }
            let path = model.variable_path(var);
            let count = sizes.iter().map(Vec::len).product();
            let cells = urls.by_ref().take(count).map(|url| {
                fragments::cell(
                    options.effective_naming().name(target, url)?,
                    &path,
                    self.splitter.create.kind,
                )
            });
            let cells = cells.collect::<Result<Vec<_>>>()?;
            let lacking = vec![false; sizes.len()];
            master.aggregated.push((var, ncirrus_aggregate::write::FragmentArray { sizes, cells, lacking }));
        }
        let split: BTreeSet<VarId> = master.aggregated.iter().map(|(var, _)| *var).collect();
        for var in model.variables().into_iter().filter(|var| !split.contains(var)) {
            master.stored.push(StoredValues::Copied(var, source.clone(), var));
        }
        Ok(master)
    }
}

/// The variables that are split: those with dimensions that are not coordinates and do not describe others.
fn split_variables(model: &Model) -> Vec<VarId> {
    const NAMING: [&str; 8] = [
        "coordinates",
        "bounds",
        "climatology",
        "grid_mapping",
        "formula_terms",
        "cell_measures",
        "geometry",
        "nodes",
    ];
    let mut stays: BTreeSet<VarId> = BTreeSet::new();
    for var in model.variables() {
        stays.extend(named(model, var, &NAMING));
        let dims = model.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default();
        stays.extend(dims.into_iter().filter_map(|dim| model.coordinate_of(dim)));
    }
    let is_split = |var: &VarId| {
        model.variable(*var).is_some_and(|variable| {
            let is_whole = variable.dims.is_empty() || matches!(variable.ty, TypeRef::User(_));
            !is_whole && !model.shape(*var).contains(&0) && variable.fault.is_none()
        })
    };
    model.variables().into_iter().filter(|var| !stays.contains(var)).filter(is_split).collect()
}

/// Locations and names of fragments (`docs/spec/cfa.md` 7.4).
pub(super) struct FragmentNames {
    pub(super) folder: String,
    base: String,
}

impl FragmentNames {
    fn of(target: &str, options: &SplitOptions<'_>) -> Self {
        Self::beside(target, options.fragments.as_deref())
    }

    /// Names of the fragments of a master; in the given folder, or in one of its own.
    pub(super) fn beside(target: &str, folder: Option<&str>) -> Self {
        let address = target.split(['#', '?']).next().unwrap_or_default().trim_end_matches('/');
        let name = address.get(folder_of(address).len()..).unwrap_or_default();
        // The extension is removed from the name alone, not from folders' names (docs/spec/cfa.md D25).
        let base = [".nca", ".nc4", ".nc3", ".nc5", ".nc", ".zarr", ".zip"]
            .into_iter()
            .find_map(|ending| name.strip_suffix(ending))
            .filter(|base| !base.is_empty());
        let own = || match base {
            Some(base) => join(folder_of(address), base),
            None => format!("{address}.fragments"),
        };
        let folder = folder.map_or_else(own, |folder| folder.trim_end_matches('/').to_owned());
        Self { folder, base: base.unwrap_or(name).to_owned() }
    }

    /// `P/base.group.variable.i.j.k.nc`.
    pub(super) fn of_fragment(&self, path: &str, place: &[usize]) -> String {
        let path = written(&self.folder, &path.trim_start_matches('/').replace('/', "."));
        let place: String = place.iter().map(|at| format!(".{at}")).collect();
        join(&self.folder, &format!("{}.{path}{place}.nc", self.base))
    }

    /// The name of a fill fragment of that shape.
    pub(super) fn of_fill(&self, path: &str, shape: &[u64]) -> String {
        let path = written(&self.folder, &path.trim_start_matches('/').replace('/', "."));
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        join(&self.folder, &format!("{}.{path}.fill-{}.nc", self.base, shape.join("x")))
    }

    /// The prefix of all fragments' names.
    pub(super) fn base(&self) -> &str {
        &self.base
    }
}

fn fragment_kind(target: &str, options: &SplitOptions<'_>, master: &MasterOptions) -> Kind {
    let master = master.kind_for(target);
    options.fragment_kind.unwrap_or(if master.is_classic() { master } else { Kind::Nc4 })
}

/// Invalid lengths are detected before anything is created.
fn check_lengths(source: &Dataset, options: &SplitOptions<'_>) -> Result<()> {
    let model = source.model()?;
    if options.max_size == 0 {
        return Err(Error::invalid("empty fragments: the maximum size is 0"));
    }
    let groups = model.walk().into_iter().filter_map(|group| model.group(group));
    let dims = groups.flat_map(|group| &group.dims).filter_map(|dim| model.dimension(*dim));
    let names: BTreeSet<&str> = dims.map(|dim| dim.name.as_str()).collect();
    match options.shape.keys().find(|name| !names.contains(name.as_str())) {
        Some(name) => {
            let there: Vec<&str> = names.into_iter().collect();
            let message =
                format!("dimension {name:?} does not exist; the dimensions are {}", there.join(", "));
            Err(Error::not_found(message).at_object(source.url()))
        }
        None => Ok(()),
    }
}

/// An existing master is detected before fragments are written.
fn check_free(target: &str, master: &MasterOptions, session: &Session) -> Result<()> {
    if master.replaces() {
        return Ok(());
    }
    match Dataset::open_with(target, &ncirrus::OpenOptions::new().raw(true), session) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(_) => {
            let error = Error::new(ErrorKind::Conflict, "exists already").with_detail(Detail::Exists);
            Err(error.at_object(target))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::FragmentNames;

    #[test]
    fn fragments_are_called_as_s3netcdf4_calls_them() {
        for (target, path, place, want) in [
            ("m.nca", "/tas", &[0, 0, 0][..], "m/m.tas.0.0.0.nc"),
            ("/d/m.nc", "/ocean/sst", &[1, 10], "/d/m/m.ocean.sst.1.10.nc"),
            ("s3://alias/bucket/dir/test.nca", "/tas", &[0, 0], "s3://alias/bucket/dir/test/test.tas.0.0.nc"),
            // Extensions of folders stay, and a name without an extension does not become a folder of its own name.
            ("/d.nca/m.nca", "/tas", &[2], "/d.nca/m/m.tas.2.nc"),
            ("/d/m", "/tas", &[2], "/d/m.fragments/m.tas.2.nc"),
        ] {
            assert_eq!(FragmentNames::beside(target, None).of_fragment(path, place), want);
        }
        let elsewhere = FragmentNames::beside("m.nca", Some("s3://b/x/"));
        assert_eq!(elsewhere.of_fragment("/tas", &[0]), "s3://b/x/m.tas.0.nc");
        assert_eq!(elsewhere.of_fill("/tas", &[4, 3]), "s3://b/x/m.tas.fill-4x3.nc");
    }
}
