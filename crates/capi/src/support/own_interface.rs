//! Extensions of netCDF's interface: the functions of `ncirrus.h`.
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use crate::c_types::memory::{
    AddressesIn, BytesOut, CText, ConstText, In, KeptPointer, NoAnswer, OwnedText, StartsIn, TextOut,
    free_address,
};
use crate::definitions::layouts;
use crate::files::{self, FileGroup};
use crate::process;
use crate::rules::slab_checks;
use crate::rules::slabs::{CSlab, SlabAccess, SlabCall};
use ncirrus::{Json, JsonMap, ReadPlan, Selection};
use std::ffi::{CStr, c_int};

/// `nci_version`.
pub(crate) fn version() -> ConstText {
    const TEXT: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    };
    ConstText(TEXT)
}

/// `nci_free`: what the functions of `ncirrus.h` handed out.
pub(crate) fn free(block: KeptPointer) -> NoAnswer {
    free_address(block.0);
    NoAnswer
}

/// `nci_read_many`: slabs of several variables of a group, each in its own type, fetched together.
pub(crate) fn read_many(
    ncid: c_int,
    many: usize,
    vars: In<c_int>,
    starts: StartsIn,
    counts: StartsIn,
    values: AddressesIn,
) -> Outcome<()> {
    let handle = files::handle_of(ncid)?;
    let _in_use = handle.file.core.in_use();
    let addresses = |list: StartsIn| list.untyped().addresses(many);
    let (starts, counts, memory) =
        (addresses(starts)?, addresses(counts)?, values.untyped().addresses(many)?);
    let mut accesses = Vec::new();
    for ((var, start), count) in vars.read(many)?.iter().zip(starts).zip(counts) {
        accesses.push(slab_of(handle.group()?, *var, In::at_address(start), In::at_address(count))?);
    }
    let wanted: Vec<_> = accesses.iter().map(|access| (access.id, access.slab.selection.clone())).collect();
    let Some(first) = accesses.first() else { return Ok(()) };
    let found = first.at.settled()?.read_many(&wanted)?;
    for ((access, values), address) in accesses.iter().zip(found).zip(memory) {
        BytesOut::at_address(address).write(&layouts::image(&access.at.members, access.ty, &values)?)?;
    }
    Ok(())
}

fn slab_of(at: FileGroup, varid: c_int, start: In<usize>, count: In<usize>) -> Outcome<SlabAccess> {
    let slab = CSlab::of(start, count);
    slab_checks::access(at, varid, &SlabCall { slab: Some(slab), map: None, memory: None, writes: false })
}

/// `nci_explain`: how a slab, or the whole variable, would be read.
pub(crate) fn explain(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    json: TextOut,
) -> Outcome<()> {
    let handle = files::handle_of(ncid)?;
    let _in_use = handle.file.core.in_use();
    let at = handle.group()?;
    let (id, selection) = if start.is_null() {
        let id = at.variable_id(varid)?;
        (id, Selection::all(&at.model().shape(id)))
    } else {
        let access = slab_of(handle.group()?, varid, start, count)?;
        (access.id, access.slab.selection)
    };
    let dataset = at.settled()?;
    let plan = dataset.plan(&dataset.variable_by_id(id), &selection)?;
    json.set(Some(described(&plan).to_string().as_bytes()))
}

fn described(plan: &ReadPlan) -> Json {
    let mut object = JsonMap::new();
    let mut add = |name: &str, value: Json| object.insert(name.to_owned(), value);
    add("shape", plan.shape.clone().into());
    add("result_bytes", plan.result_bytes.into());
    add("layout", plan.layout.clone().into());
    add("codecs", plan.codecs.clone().into());
    for (name, count) in plan.counts() {
        add(name, count.into());
    }
    add("text", plan.to_string().into());
    Json::Object(object)
}

/// `nci_statistics`: what the session fetched and decoded so far.
pub(crate) fn statistics(json: TextOut) -> Outcome<()> {
    let counts = process::session()?.statistics().counts();
    let object: JsonMap<String, Json> =
        counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
    json.set(Some(Json::Object(object).to_string().as_bytes()))
}

/// `nc_rc_set`: for what is opened from now on.
pub(crate) fn set_rc(key: CText, value: CText) -> Outcome<()> {
    let key = key.text()?;
    if key.is_empty() {
        return Err(Code(NC_EINVAL));
    }
    process::set_rc(&key, &value.text()?);
    Ok(())
}

/// `nc_rc_get`: the value that the program set, or that of the user's `.ncrc`.
pub(crate) fn rc(key: CText) -> OwnedText {
    let value = key.text().ok().and_then(|key| process::rc(&key));
    OwnedText(value.map(String::into_bytes))
}
