//! Attributes that are written, renamed, removed and copied.
use crate::c_types::codes::{
    Code, NC_EBADNAME, NC_EBADTYPE, NC_EBADTYPID, NC_ECHAR, NC_EINVAL, NC_ELATEFILL, NC_EMAXNAME,
    NC_ENAMEINUSE, NC_ENOTATT, NC_ENOTINDEFINE, NC_EPERM, NC_ERANGE, NC_ESTRICTNC3, Outcome,
};
use crate::c_types::memory::{Bytes, BytesOut, CBlock, CText, Out, free_address};
use crate::definitions::define::{check_longer, check_sought, known_name, new_name, variable_id};
use crate::definitions::layouts;
use crate::definitions::types::values_in;
use crate::files::file_edit::FileEdit;
use crate::files::members::atomic_of;
use crate::files::{GLOBAL, edit, group_of};
use crate::programs::user_calls;
use crate::programs::user_formats::table_of;
use crate::rules::convert;
use crate::values::attributes;
use ncirrus::model::NAME_MAX_BYTES;
use ncirrus::netcdf::attribute_sizes::{len_in_classic, len_in_netcdf4};
use ncirrus::netcdf::{AttributeSpace, names::STRING_LENGTHS};
use ncirrus::{Atomic, Attribute, Fill, Format, NodeId, TypeRef, Values};
use std::ffi::c_int;

/// The most values.
const MAX_VALUES: usize = 0x7fff_ffff;

/// What has attributes.
fn node_of(edit: &FileEdit<'_>, varid: c_int) -> Outcome<NodeId> {
    if varid == GLOBAL {
        return Ok(NodeId::Group(edit.group));
    }
    Ok(NodeId::Variable(variable_id(edit, varid)?))
}

fn find<'a>(edit: &'a FileEdit<'_>, node: NodeId, name: &str) -> Option<&'a Attribute> {
    edit.model().attributes(node).and_then(|state| state.known())?.find(name)
}

/// `nc_put_att`: values of the attribute's own type.
pub(crate) fn put(ncid: c_int, varid: c_int, name: CText, ty: c_int, len: usize, data: Bytes) -> Outcome<()> {
    put_as(ncid, varid, &name, ty, len, None, data)
}

/// Values of a type of memory, converted to the attribute's.
pub(crate) fn put_as(
    ncid: c_int,
    varid: c_int,
    name: &CText,
    ty: c_int,
    len: usize,
    memory: Option<Atomic>,
    data: Bytes,
) -> Outcome<()> {
    if let Some(table) = table_of(ncid) {
        let from = memory.map_or(ty, user_calls::number_of);
        return table.put_att(ncid, varid, *name, ty, len, data, from);
    }
    NewAttribute { varid, name, ty, len, memory, data, is_json: false }.put_in(ncid)
}

/// An attribute as a call passes it.
struct NewAttribute<'a> {
    varid: c_int,
    name: &'a CText,
    ty: c_int,
    len: usize,
    memory: Option<Atomic>,
    data: Bytes,
    is_json: bool,
}

impl NewAttribute<'_> {
    fn put_in(&self, ncid: c_int) -> Outcome<()> {
        edit(ncid, |edit| {
            if edit.is_classic() {
                edit.check_writable()?;
            }
            let node = node_of(edit, self.varid)?;
            if edit.is_classic() { self.put_classic(edit, node) } else { self.put(edit, node) }
        })
    }

    fn put_classic(&self, edit: &mut FileEdit<'_>, node: NodeId) -> Outcome<()> {
        if self.name.is_null() {
            return Err(Code(NC_EBADNAME));
        }
        edit.check_writable()?;
        let ty = atomic_of(self.ty).filter(|ty| edit.file.core.format.netcdf().holds(*ty));
        let ty = ty.ok_or(Code(NC_EBADTYPE))?;
        self.check_text(ty)?;
        if self.len > MAX_VALUES {
            return Err(Code(NC_EINVAL));
        }
        let known = known_name(self.name);
        if !known.as_ref().is_ok_and(|known| find(edit, node, known).is_some()) {
            edit.enter_define_mode()?;
        }
        let known = known?;
        if let Some(old) = find(edit, node, &known) {
            if !edit.state.is_defining
                && len_in_classic(ty, self.len)
                    > old.values.atomic().map_or(0, |ty| len_in_classic(ty, old.values.len()))
            {
                return Err(Code(NC_ENOTINDEFINE));
            }
        } else {
            new_name(self.name)?;
        }
        self.store(edit, node, known, ty.into())
    }

    fn put(&self, edit: &mut FileEdit<'_>, node: NodeId) -> Outcome<()> {
        if self.len > MAX_VALUES {
            return Err(Code(NC_EINVAL));
        }
        if self.name.is_null() || self.name.bytes()?.len() > NAME_MAX_BYTES {
            return Err(Code(NC_EBADNAME));
        }
        if self.len > 0 && self.data.is_null() {
            return Err(Code(NC_EINVAL));
        }
        edit.check_writable()?;
        let name = new_name(self.name)?;
        check_reserved(edit, &name)?;
        let grows = match find(edit, node, &name) {
            None => true,
            Some(old) => {
                let old_ty = match old.ty {
                    TypeRef::Atomic(atomic) => Some(atomic),
                    TypeRef::User(_) => None,
                };
                len_in_netcdf4(atomic_of(self.ty), self.len) > len_in_netcdf4(old_ty, old.values.len())
            }
        };
        if grows {
            edit.enter_define_mode()?;
        }
        if self.ty <= 0 {
            return Err(Code(if self.ty == 0 { NC_EBADTYPE } else { NC_EINVAL }));
        }
        if let Some(atomic) = atomic_of(self.ty) {
            self.check_text(atomic)?;
        }
        if edit.is_classic_model() && self.ty > c_int::from(Atomic::Double.number()) {
            return Err(Code(NC_ESTRICTNC3));
        }
        let ty = edit.members().ty(self.ty).map_err(|_| Code(NC_EBADTYPID))?;
        if matches!(ty, TypeRef::User(_)) && self.memory.is_some() {
            return Err(Code(NC_EBADTYPE));
        }
        if self.varid != GLOBAL && name == "_FillValue" {
            self.check_fill(edit, node)?;
        }
        self.store(edit, node, name, ty)
    }

    fn check_text(&self, ty: Atomic) -> Outcome<()> {
        let memory = self.memory.unwrap_or(ty);
        let of_text = |ty: Atomic| matches!(ty, Atomic::Char | Atomic::String);
        if memory != ty && (of_text(memory) || of_text(ty)) { Err(Code(NC_ECHAR)) } else { Ok(()) }
    }

    /// A fill value is one value of the variable's type, and is chosen before the variable is in the file.
    fn check_fill(&self, edit: &FileEdit<'_>, node: NodeId) -> Outcome<()> {
        let NodeId::Variable(var) = node else { return Ok(()) };
        let own = edit.model().variable(var).map(|variable| edit.members().number_of_type(variable.ty));
        match (own != Some(self.ty), self.len != 1) {
            (_, true) => Err(Code(NC_EINVAL)),
            _ if edit.state.stored.contains(&var) && !edit.state.unused.contains(&var) => {
                Err(Code(NC_ELATEFILL))
            }
            (true, _) => Err(Code(NC_EBADTYPE)),
            _ => Ok(()),
        }
    }

    /// The values in the attribute's type; whether all fit it.
    fn values(&self, edit: &FileEdit<'_>, ty: TypeRef) -> Outcome<(Values, Outcome<()>)> {
        let memory = self.memory.map_or(ty, TypeRef::Atomic);
        let values = values_in(edit.members(), memory, self.data, self.len)?;
        match (ty, values.atomic()) {
            (TypeRef::Atomic(to), Some(from)) if from != to => {
                convert::to_file(edit.file.core.format, &values, to)
            }
            _ => Ok((values, Ok(()))),
        }
    }

    fn store(&self, edit: &mut FileEdit<'_>, node: NodeId, name: String, ty: TypeRef) -> Outcome<()> {
        let (values, ended) = self.values(edit, ty)?;
        store(edit, node, Attribute { name, ty, values, is_json: self.is_json })?;
        ended
    }
}

/// Puts an attribute, which is the fill value if it can be.
fn store(edit: &mut FileEdit<'_>, node: NodeId, attribute: Attribute) -> Outcome<()> {
    check_length(edit, node, &attribute.name, &attribute.values)?;
    keep_fill(edit, node, &attribute.name)?;
    let model = edit.model_mut();
    if let NodeId::Variable(var) = node
        && attribute.name == "_FillValue"
        && let Some(variable) = model.variable_mut(var)
        && variable.is_filled()
    {
        variable.fill = Fill::Attribute;
    }
    // A node that does not exist was refused before.
    _ = model.put_attribute(node, attribute);
    Ok(())
}

/// Before an attribute changes that may be a fill value. In a classic file, elements that were never written are filled with the
/// present one. HDF5 keeps the value that was put by that name, even if the attribute is removed or renamed.
fn keep_fill(edit: &mut FileEdit<'_>, node: NodeId, name: &str) -> Outcome<()> {
    let NodeId::Variable(var) = node else { return Ok(()) };
    if name != "_FillValue" {
        return Ok(());
    }
    if edit.file.is_hdf5()
        && let Some(variable) = edit.model_mut().variable_mut(var)
    {
        variable.fill = variable.settled_fill();
    }
    edit.state.keep_fill(var)
}

/// `nc_del_att`.
pub(crate) fn del(ncid: c_int, varid: c_int, name: CText) -> Outcome<()> {
    edit(ncid, |edit| {
        if !edit.is_classic() {
            edit.check_writable()?;
        }
        edit.enter_define_mode()?;
        let node = node_of(edit, varid)?;
        if name.is_null() && !edit.is_classic() {
            return Err(Code(NC_EINVAL));
        }
        let name = known_name(&name).map_err(|code| match code {
            Code(NC_EBADNAME) if edit.is_classic() => code,
            _ => Code(NC_ENOTATT),
        })?;
        if find(edit, node, &name).is_none() {
            return Err(Code(NC_ENOTATT));
        }
        keep_fill(edit, node, &name)?;
        if let Some(state) = edit.model_mut().attributes_mut(node) {
            state.known_mut().remove(&name);
        }
        Ok(())
    })
}

/// Names of the library itself, whatever has the attribute: it would be hidden once the file is opened again.
fn check_reserved(edit: &FileEdit<'_>, name: &str) -> Outcome<()> {
    let space = if edit.file.is_zarr() { AttributeSpace::Zarr } else { AttributeSpace::Hdf5 };
    if space.is_reserved(name) { Err(Code(NC_ENAMEINUSE)) } else { Ok(()) }
}

/// Lengths of strings in a file of Zarr are numbers that the writer can use: with others it could not write the file.
fn check_length(edit: &FileEdit<'_>, node: NodeId, name: &str, values: &Values) -> Outcome<()> {
    let [own, usual] = STRING_LENGTHS;
    let is_used = edit.file.is_zarr()
        && match node {
            NodeId::Group(group) => name == usual && group == edit.model().root(),
            NodeId::Variable(var) => {
                let ty = edit.model().variable(var).map(|variable| variable.ty);
                name == own && ty == Some(TypeRef::Atomic(Atomic::String))
            }
        };
    let is_length = values.integer(0).is_some_and(|value| (1..=i128::from(u32::MAX)).contains(&value));
    if is_used && !is_length { Err(Code(NC_EINVAL)) } else { Ok(()) }
}

/// `nc_rename_att`.
pub(crate) fn rename(ncid: c_int, varid: c_int, name: CText, new: CText) -> Outcome<()> {
    edit(ncid, |edit| {
        if name.is_null() || new.is_null() {
            return Err(Code(if edit.is_classic() { NC_EBADNAME } else { NC_EINVAL }));
        }
        if !edit.is_classic() && new.bytes()?.len() > NAME_MAX_BYTES {
            return Err(Code(NC_EMAXNAME));
        }
        edit.check_writable()?;
        if !edit.is_classic() {
            new_name(&new)?;
        }
        let node = node_of(edit, varid)?;
        check_sought(edit.is_classic(), &name)?;
        let old = match known_name(&name) {
            // In classic files a name that is not UTF-8 matches nothing.
            Err(Code(NC_EBADNAME)) if edit.is_classic() => String::new(),
            other => other?,
        };
        // In classic files the new name is checked once the old one is found.
        let to = new_name(&new)?;
        let found = find(edit, node, &old);
        if edit.is_classic() && found.is_none() {
            return Err(Code(NC_ENOTATT));
        }
        if find(edit, node, &to).is_some() {
            return Err(Code(NC_ENAMEINUSE));
        }
        let found = found.ok_or(Code(NC_ENOTATT))?;
        if !edit.is_classic() {
            check_reserved(edit, &to)?;
            check_length(edit, node, &to, &found.values)?;
        }
        check_longer(edit, &old, &to)?;
        keep_fill(edit, node, &old)?;
        keep_fill(edit, node, &to)?;
        let state = edit.model_mut().attributes_mut(node).ok_or(Code(NC_ENOTATT))?;
        state.known_mut().rename(&old, &to).map_err(|_| Code(NC_EBADNAME))?;
        Ok(())
    })
}

/// `nc_copy_att`: an attribute of the same type in another place.
pub(crate) fn copy(from: c_int, from_var: c_int, name: CText, to: c_int, to_var: c_int) -> Outcome<()> {
    if [from, to].into_iter().any(|ncid| table_of(ncid).is_some()) {
        return copy_by_calls(from, from_var, name, to, to_var);
    }
    let there = group_of(to)?;
    if from == to && from_var == to_var {
        return Ok(());
    }
    if there.file.core.format.netcdf() == Format::NetCdf4Classic {
        // There the order of attributes is kept: it is looked up first whether one is replaced.
        match attributes::inq_id(to, to_var, name, Out::default()) {
            Ok(()) | Err(Code(NC_ENOTATT)) => {}
            Err(code) => return Err(code),
        }
    }
    let at = group_of(from)?;
    attributes::inq(from, from_var, name, Out::default(), Out::default())?;
    let attribute = attributes::stored(&at, from_var, &name)?;
    there.node(to_var)?;
    let ty = match attribute.ty {
        TypeRef::Atomic(atomic) => c_int::from(atomic.number()),
        TypeRef::User(_) => crate::rules::equality::same_type(&at, attribute.ty, to)?,
    };
    let image = layouts::image(&at.members, attribute.ty, &attribute.values)?;
    let (len, data, is_json) = (attribute.values.len(), Bytes::of(&image), attribute.is_json);
    let put = NewAttribute { varid: to_var, name: &name, ty, len, memory: None, data, is_json }.put_in(to);
    layouts::reclaim(&at.members, attribute.ty, &image)?;
    match put {
        // Values of one type cannot be out of its range.
        Err(Code(NC_ERANGE)) => Ok(()),
        Err(Code(NC_EPERM)) => Err(Code(NC_EPERM)),
        other => other,
    }
}

/// Copies an attribute of an atomic type by reading and writing it: one of the files is of a format of the program.
fn copy_by_calls(from: c_int, from_var: c_int, name: CText, to: c_int, to_var: c_int) -> Outcome<()> {
    let (mut number, mut len) = (0, 0);
    let (ty_out, len_out) = (Out::of(&mut number), Out::of(&mut len));
    match table_of(from) {
        Some(table) => table.inq_att(from, from_var, name, ty_out, len_out)?,
        None => attributes::inq(from, from_var, name, ty_out, len_out)?,
    }
    let ty = atomic_of(number).ok_or(Code(NC_EBADTYPE))?;
    let each = ty.byte_len().unwrap_or(size_of::<usize>());
    let mut image = vec![0; len.checked_mul(each).filter(|len| *len <= MAX_VALUES).ok_or(Code(NC_EINVAL))?];
    let memory = BytesOut::of(&mut image);
    match table_of(from) {
        Some(table) => user_calls::get_own_att(&table, from, from_var, name, memory)?,
        None => attributes::get(from, from_var, name, memory)?,
    }
    let put = put_as(to, to_var, &name, number, len, None, Bytes::of(&image));
    if ty == Atomic::String {
        image.chunks_exact(each).for_each(|text| free_address(CBlock::at(text).address()));
    }
    put
}
