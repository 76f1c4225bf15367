//! Caches of decoded chunks: what programs chose is kept, answered, and decides how much of a variable is held while it is read.
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use crate::c_types::memory::Out;
use crate::files::members::FileMembers;
use crate::files::{group_of, member, number};
use ncirrus::Dataset;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of decoded chunks that a variable of a file that is read holds, as a program chose for it or for what is opened from now on. Slots
/// and preference are answered again.
#[derive(Debug, Clone, Copy)]
struct CacheChoice {
    bytes: usize,
    slots: usize,
    preemption: f32,
}

/// What netCDF-C holds per variable if nothing was chosen.
const DEFAULT_CACHE: CacheChoice = CacheChoice { bytes: 16 << 20, slots: 4133, preemption: 0.75 };
static CACHE: Mutex<CacheChoice> = Mutex::new(DEFAULT_CACHE);
/// Whether a program chose it: otherwise all variables share the cache of the session.
static IS_CACHE_CHOSEN: AtomicBool = AtomicBool::new(false);
static VARIABLE_CACHES: Mutex<BTreeMap<(c_int, c_int), CacheChoice>> = Mutex::new(BTreeMap::new());

fn usual() -> MutexGuard<'static, CacheChoice> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of_variables() -> MutexGuard<'static, BTreeMap<(c_int, c_int), CacheChoice>> {
    VARIABLE_CACHES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CacheChoice {
    fn checked(bytes: usize, slots: usize, preemption: f32) -> Outcome<Self> {
        if !(0.0..=1.0).contains(&preemption) {
            return Err(Code(NC_EINVAL));
        }
        Ok(Self { bytes, slots, preemption })
    }

    fn store(self, bytes: Out<usize>, slots: Out<usize>, preemption: Out<f32>) -> Outcome<()> {
        bytes.set(self.bytes);
        slots.set(self.slots);
        preemption.store(self.preemption)
    }

    /// The same with the preference in percent, as the functions of Fortran have it.
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 100")]
    fn store_ints(self, bytes: Out<c_int>, slots: Out<c_int>, percent: Out<c_int>) -> Outcome<()> {
        bytes.set(number(self.bytes));
        slots.set(number(self.slots));
        percent.store((self.preemption * 100.0) as c_int)
    }
}

/// `nc_set_chunk_cache`.
pub(crate) fn set_cache(bytes: usize, slots: usize, preemption: f32) -> Outcome<()> {
    let choice = CacheChoice::checked(bytes, slots, preemption)?;
    *usual() = choice;
    IS_CACHE_CHOSEN.store(true, Ordering::Release);
    Ok(())
}

/// Gives the variables of a file that is opened for reading the caches that the program chose for all.
pub(crate) fn apply(dataset: &Dataset) -> ncirrus::Result<()> {
    if !IS_CACHE_CHOSEN.load(Ordering::Acquire) {
        return Ok(());
    }
    let bytes = usual().bytes;
    let variables = dataset.model()?.variables();
    variables.into_iter().try_for_each(|id| dataset.variable_by_id(id).set_chunk_cache(bytes))
}

/// Gives the variables of a file that was opened again the caches that the program chose for them.
pub(crate) fn apply_own(ncid: c_int, members: &FileMembers, dataset: &Dataset) -> ncirrus::Result<()> {
    let of_file = |id: c_int| id >> 16 == ncid >> 16;
    for ((id, varid), choice) in of_variables().iter().filter(|((id, _), _)| of_file(*id)) {
        let group = members.group(usize::try_from(id & 0xffff).unwrap_or(usize::MAX));
        let group = group.and_then(|group| members.model.group(group));
        if let Some(var) = group.and_then(|group| member(&group.vars, *varid)) {
            dataset.variable_by_id(var).set_chunk_cache(choice.bytes)?;
        }
    }
    Ok(())
}

/// Bytes of decoded values that a thread may hold of a variable.
pub(crate) fn most_held(ncid: c_int, varid: c_int) -> usize {
    choice_of(ncid, varid).bytes
}

fn choice_of(ncid: c_int, varid: c_int) -> CacheChoice {
    let own = of_variables().get(&(ncid, varid)).copied();
    own.unwrap_or_else(|| *usual())
}

/// `nc_get_chunk_cache`.
pub(crate) fn cache(bytes: Out<usize>, slots: Out<usize>, preemption: Out<f32>) -> Outcome<()> {
    usual().store(bytes, slots, preemption)
}

/// `nc_set_var_chunk_cache`.
pub(crate) fn set_variable_cache(
    ncid: c_int,
    varid: c_int,
    bytes: usize,
    slots: usize,
    preemption: f32,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    at.file.check_netcdf4()?;
    let choice = CacheChoice::checked(bytes, slots, preemption)?;
    let id = at.variable_id(varid)?;
    // A file that is written holds chunks until they are encoded, whatever is chosen.
    at.file.core.look(|state| _ = state.dataset.variable_by_id(id).set_chunk_cache(bytes));
    of_variables().insert((ncid, varid), choice);
    Ok(())
}

/// `nc_get_var_chunk_cache`.
pub(crate) fn variable_cache(
    ncid: c_int,
    varid: c_int,
    bytes: Out<usize>,
    slots: Out<usize>,
    preemption: Out<f32>,
) -> Outcome<()> {
    choice_for(ncid, varid)?.store(bytes, slots, preemption)
}

fn choice_for(ncid: c_int, varid: c_int) -> Outcome<CacheChoice> {
    let at = group_of(ncid)?;
    at.file.check_netcdf4()?;
    at.variable_id(varid)?;
    Ok(choice_of(ncid, varid))
}

/// Forgets what was chosen for the variables of a file that is closed.
pub(crate) fn forget(ncid: c_int) {
    let file = ncid >> 16;
    of_variables().retain(|(id, _), _| id >> 16 != file);
}

/// Bytes of a cache as the functions of Fortran count them.
const MEGABYTE: usize = 1 << 20;

/// `nc_set_chunk_cache_ints`: the preference in percent.
pub(crate) fn set_cache_ints(bytes: c_int, slots: c_int, percent: c_int) -> Outcome<()> {
    let (Ok(bytes), Ok(slots)) = (usize::try_from(bytes), usize::try_from(slots)) else {
        return Err(Code(NC_EINVAL));
    };
    if bytes == 0 || slots == 0 || !(0..=100).contains(&percent) {
        return Err(Code(NC_EINVAL));
    }
    set_cache(bytes, slots, part_of(percent))
}

fn part_of(percent: c_int) -> f32 {
    f32::from(i16::try_from(percent).unwrap_or(0)) / 100.0
}

/// `nc_get_chunk_cache_ints`.
pub(crate) fn cache_ints(bytes: Out<c_int>, slots: Out<c_int>, percent: Out<c_int>) -> Outcome<()> {
    usual().store_ints(bytes, slots, percent)
}

/// `nc_set_var_chunk_cache_ints`: the size in MiB; what is negative stays as it was.
pub(crate) fn set_variable_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: c_int,
    slots: c_int,
    percent: c_int,
) -> Outcome<()> {
    // What is below zero stands for what new variables have.
    let usual = *usual();
    let bytes = usize::try_from(size).map_or(usual.bytes, |size| size.saturating_mul(MEGABYTE));
    let slots = usize::try_from(slots).unwrap_or(usual.slots);
    let preemption = if percent < 0 { usual.preemption } else { part_of(percent) };
    set_variable_cache(ncid, varid, bytes, slots, preemption)
}

/// `nc_get_var_chunk_cache_ints`.
pub(crate) fn variable_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: Out<c_int>,
    slots: Out<c_int>,
    percent: Out<c_int>,
) -> Outcome<()> {
    let choice = choice_for(ncid, varid)?;
    CacheChoice { bytes: choice.bytes / MEGABYTE, ..choice }.store_ints(size, slots, percent)
}

/// What the whole process has of it, which no other thread changes meanwhile.
pub(crate) fn held() -> Box<dyn std::any::Any> {
    Box::new((usual(), of_variables()))
}
