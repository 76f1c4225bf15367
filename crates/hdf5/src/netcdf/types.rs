//! User-defined types: committed ones by address, others by structure (docs/spec/hdf5-netcdf4.md D.4, H.5).
use super::ObjectKey;
use crate::datatypes::{Datatype, DatatypeClass, EnumValue, NativeType, native};
use ncirrus_layout::ObjectId;
use ncirrus_model::{Atomic, EnumMember, Field, GroupId, Model, TypeId, TypeRef, UserKind, UserType};
use std::collections::HashMap;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The types of a dataset.
#[derive(Debug, Default)]
pub(super) struct DatasetTypes {
    known: Vec<KnownType>,
    by_address: HashMap<ObjectKey, usize>,
    anonymous: u32,
}

/// A type that was encountered.
#[derive(Debug)]
struct KnownType {
    datatype: Arc<Datatype>,
    group: GroupId,
    state: TypeState,
}

#[derive(Debug, Clone)]
enum TypeState {
    /// Committed under that name, not defined yet.
    Waiting(String),
    Defined(TypeId),
    /// It cannot be defined, for that reason.
    Refused(String),
}

impl DatasetTypes {
    /// Registers a committed type. Those of atomic classes have no name of their own in netCDF.
    pub(super) fn commit(&mut self, object: ObjectKey, group: GroupId, name: &str, datatype: Arc<Datatype>) {
        if is_user_type(&datatype) || matches!(native(&datatype), NativeType::None(_)) {
            self.by_address.entry(object).or_insert(self.known.len());
            self.known.push(KnownType { datatype, group, state: TypeState::Waiting(name.to_owned()) });
        }
    }

    /// Defines all committed types, each after its components; returns what could not be defined.
    pub(super) fn define_committed(&mut self, model: &mut Model) -> Vec<String> {
        let mut refused = Vec::new();
        for at in 0..self.known.len() {
            let name = match self.known.get(at).map(|known| &known.state) {
                Some(TypeState::Waiting(name)) => name.clone(),
                _ => continue,
            };
            if let Err(reason) = self.define(model, at) {
                refused.push(format!("type {name:?} cannot be used: {reason}"));
            }
        }
        refused
    }

    /// The type for values of a datatype; a new type is defined in the group, with a generated name.
    ///
    /// # Errors
    /// Why the data model cannot represent it.
    pub(super) fn reference(
        &mut self,
        model: &mut Model,
        group: GroupId,
        file: &ObjectId,
        datatype: &Datatype,
    ) -> Result<TypeRef, String> {
        match self.committed(file, datatype) {
            Some(at) => self.define(model, at),
            None => self.structural(model, group, datatype),
        }
    }

    /// The committed types that are defined, and where they are.
    pub(super) fn committed_types(&self) -> impl Iterator<Item = (TypeId, &ObjectKey)> + '_ {
        self.by_address.iter().filter_map(|(key, at)| match self.known.get(*at)?.state {
            TypeState::Defined(id) => Some((id, key)),
            TypeState::Waiting(_) | TypeState::Refused(_) => None,
        })
    }

    /// The type of that structure, whatever its name.
    fn structural(
        &mut self,
        model: &mut Model,
        group: GroupId,
        datatype: &Datatype,
    ) -> Result<TypeRef, String> {
        if let Some(atomic) = atomic_of(datatype)? {
            return Ok(atomic.into());
        }
        if let Some(at) = self.alike(model, group, datatype) {
            return self.define(model, at);
        }
        let kind = self.kind(model, group, datatype)?;
        self.anonymous += 1;
        let name = format!("_Anonymous{}{}", kind_name(&kind), self.anonymous);
        let id = insert(model, group, name, kind)?;
        let datatype = Arc::new(datatype.clone());
        self.known.push(KnownType { datatype, group, state: TypeState::Defined(id) });
        Ok(TypeRef::User(id))
    }

    /// As [`reference`](Self::reference), among the defined types.
    ///
    /// # Errors
    /// Why the data model cannot represent it.
    pub(super) fn find(
        &self,
        model: &Model,
        group: GroupId,
        file: &ObjectId,
        datatype: &Datatype,
    ) -> Result<TypeRef, String> {
        if let Some(atomic) = atomic_of(datatype)? {
            return Ok(atomic.into());
        }
        let at = self.committed(file, datatype).or_else(|| self.alike(model, group, datatype));
        match at.and_then(|at| self.known.get(at)).map(|known| &known.state) {
            Some(TypeState::Defined(id)) => Ok(TypeRef::User(*id)),
            Some(TypeState::Refused(reason)) => Err(reason.clone()),
            Some(TypeState::Waiting(_)) | None => Err("a type that is not defined in the file".to_owned()),
        }
    }

    /// The committed type that it is.
    fn committed(&self, file: &ObjectId, datatype: &Datatype) -> Option<usize> {
        let key = ObjectKey { file: file.clone(), addr: datatype.committed? };
        self.by_address.get(&key).copied()
    }

    /// A type of the same structure: the first visible one from the group.
    fn alike(&self, model: &Model, group: GroupId, datatype: &Datatype) -> Option<usize> {
        let scope = model.scope(group);
        let same = || self.known.iter().enumerate().filter(|(_, known)| alike(&known.datatype, datatype));
        let seen = same().find(|(_, known)| scope.contains(&known.group));
        seen.or_else(|| same().next()).map(|(at, _)| at)
    }

    fn define(&mut self, model: &mut Model, at: usize) -> Result<TypeRef, String> {
        let missing = || "a type that is not known".to_owned();
        let known = self.known.get_mut(at).ok_or_else(missing)?;
        let name = match &known.state {
            TypeState::Defined(id) => return Ok(TypeRef::User(*id)),
            TypeState::Refused(reason) => return Err(reason.clone()),
            TypeState::Waiting(name) => name.clone(),
        };
        known.state = TypeState::Refused("a type that contains itself".to_owned());
        let (datatype, group) = (Arc::clone(&known.datatype), known.group);
        let kind = self.kind(model, group, &datatype);
        let defined = kind.and_then(|kind| insert(model, group, name, kind));
        let state = match &defined {
            Ok(id) => TypeState::Defined(*id),
            Err(reason) => TypeState::Refused(reason.clone()),
        };
        if let Some(known) = self.known.get_mut(at) {
            known.state = state;
        }
        defined.map(TypeRef::User)
    }

    fn kind(&mut self, model: &mut Model, group: GroupId, datatype: &Datatype) -> Result<UserKind, String> {
        match native(datatype) {
            NativeType::Opaque => Ok(UserKind::Opaque(datatype.byte_len)),
            NativeType::Enum(base) => Ok(UserKind::Enum { base, members: members(datatype) }),
            NativeType::Vlen => match &datatype.class {
                DatatypeClass::Vlen(base) => Ok(UserKind::Vlen(self.structural(model, group, base)?)),
                _ => Err("a sequence without a base type".to_owned()),
            },
            NativeType::Compound => {
                let mut fields = Vec::new();
                for (name, member) in parts(datatype) {
                    let (dims, base) = unwrap_arrays(member);
                    let ty = self
                        .structural(model, group, base)
                        .map_err(|reason| format!("member {name:?}: {reason}"))?;
                    fields.push(Field { name: name.to_owned(), ty, dims });
                }
                Ok(UserKind::Compound(fields))
            }
            NativeType::None(reason) => Err(reason),
            NativeType::Atomic(_) | NativeType::Array | NativeType::Reference => {
                Err("not a user-defined type".to_owned())
            }
        }
    }
}

/// The atomic type of a datatype; `None` if it is a user-defined type.
fn atomic_of(datatype: &Datatype) -> Result<Option<Atomic>, String> {
    match native(datatype) {
        NativeType::Atomic(atomic) => Ok(Some(atomic)),
        NativeType::Reference => Ok(Some(Atomic::String)),
        NativeType::None(reason) => Err(reason),
        NativeType::Array => Err("an array where one element is expected".to_owned()),
        NativeType::Enum(_) | NativeType::Opaque | NativeType::Compound | NativeType::Vlen => Ok(None),
    }
}

fn is_user_type(datatype: &Datatype) -> bool {
    matches!(
        native(datatype),
        NativeType::Enum(_) | NativeType::Opaque | NativeType::Compound | NativeType::Vlen
    )
}

/// Whether two datatypes are equal in the data model, ignoring byte order and padding.
fn alike(a: &Datatype, b: &Datatype) -> bool {
    match (&a.class, &b.class) {
        (
            DatatypeClass::Compound(_) | DatatypeClass::Complex(_),
            DatatypeClass::Compound(_) | DatatypeClass::Complex(_),
        ) => {
            let (a, b) = (parts(a), parts(b));
            let same = |((a, x), (b, y)): (&(&str, &Datatype), &(&str, &Datatype))| a == b && alike(x, y);
            a.len() == b.len() && a.iter().zip(&b).all(same)
        }
        (
            DatatypeClass::Enum { base: a, members: these },
            DatatypeClass::Enum { base: b, members: those },
        ) => alike(a, b) && these == those,
        (DatatypeClass::Vlen(a), DatatypeClass::Vlen(b)) => alike(a, b),
        (DatatypeClass::Array { dims, base: a }, DatatypeClass::Array { dims: others, base: b }) => {
            dims == others && alike(a, b)
        }
        (DatatypeClass::Opaque, DatatypeClass::Opaque) => a.byte_len == b.byte_len,
        _ => !is_user_type(a) && native(a) == native(b) && native(a) != NativeType::Array,
    }
}

/// The members of a compound; `r` and `i` of a complex number.
fn parts(datatype: &Datatype) -> Vec<(&str, &Datatype)> {
    match &datatype.class {
        DatatypeClass::Compound(members) => {
            members.iter().map(|member| (member.name.as_str(), &member.datatype)).collect()
        }
        DatatypeClass::Complex(base) => vec![("r", base), ("i", base)],
        _ => Vec::new(),
    }
}

/// The dimensions of an array, or of an array of arrays, and its elements.
pub(super) fn unwrap_arrays(datatype: &Datatype) -> (Vec<u64>, &Datatype) {
    let (mut dims, mut element) = (Vec::new(), datatype);
    while let DatatypeClass::Array { dims: more, base } = &element.class {
        dims.extend(more);
        element = base;
    }
    (dims, element)
}

/// Constants of an enumeration; of several with one name the first wins.
fn members(datatype: &Datatype) -> Vec<EnumMember> {
    let DatatypeClass::Enum { members, .. } = &datatype.class else { return Vec::new() };
    let mut seen = std::collections::HashSet::new();
    let first = members.iter().filter(|member| seen.insert(member.name.as_str()));
    first.map(|EnumValue { name, value }| EnumMember { name: name.clone(), value: *value }).collect()
}

fn insert(model: &mut Model, group: GroupId, name: String, kind: UserKind) -> Result<TypeId, String> {
    model.insert_type(group, UserType { name, kind }).map_err(|error| error.to_string())
}

fn kind_name(kind: &UserKind) -> &'static str {
    match kind {
        UserKind::Compound(_) => "Compound",
        UserKind::Enum { .. } => "Enum",
        UserKind::Opaque(_) => "Opaque",
        UserKind::Vlen(_) => "Vlen",
    }
}
