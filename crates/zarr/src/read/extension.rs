//! The object `_ncirrus`: types, arrays and attributes that NCZarr cannot express (`docs/formats/zarr-writing.md`).
use super::node::{AttributeHolder, names};
use crate::dtype::packed;
use crate::json::JsonValue;
use crate::json_values::numbers;
use crate::special::EXTENSION;
use ncirrus_layout::{
    ByteOrder, Error, Limits, Result, SequenceItem, StoredField, StoredType, TextEncoding, base64,
};
use ncirrus_model::{
    Atomic, Attribute, EnumMember, Field, GroupId, Model, Strings, TypeId, TypeRef, UserKind, UserType,
    Values,
};
use std::collections::{HashMap, HashSet};

#[cfg(test)]
mod tests;

/// The extension object of a group or array, if its version is known.
fn object(holder: &AttributeHolder) -> Option<&JsonValue> {
    holder.find(EXTENSION).filter(|json| json.member("version").and_then(JsonValue::as_u64) == Some(1))
}

/// Why an existing extension object is not used.
pub(super) fn ignored(holder: &AttributeHolder) -> Option<String> {
    let json = holder.find(EXTENSION)?;
    let version =
        json.member("version").map(|version| String::from_utf8_lossy(version.source()).into_owned());
    let why = || format!("{EXTENSION} of version {} is ignored", version.unwrap_or_else(|| "?".to_owned()));
    object(holder).is_none().then(why)
}

/// The group's variables in definition order.
pub(super) fn array_order(group: &AttributeHolder) -> Vec<String> {
    names(object(group).and_then(|json| json.member("arrays")))
}

/// Names of the unlimited dimensions of a group in plain Zarr.
pub(super) fn unlimited(group: &AttributeHolder) -> Vec<String> {
    names(object(group).and_then(|json| json.member("unlimited")))
}

/// Names of attributes that are only for other readers.
pub(super) fn for_others(holder: &AttributeHolder) -> HashSet<String> {
    names(object(holder).and_then(|json| json.member("shown"))).into_iter().collect()
}

/// Nesting depth and total number of fields of a dataset's types, so that types made of types made of types stay
/// within bounds.
#[derive(Debug, Default)]
pub(super) struct TypeNesting(HashMap<TypeId, (u32, u64)>);

impl TypeNesting {
    /// Maximum number of fields of one type, including those of nested types.
    const FIELDS: u64 = 1 << 16;

    /// Depth and number of fields of a type that refers to known ones; `None` if it is too large.
    fn admit(&self, kind: &UserKind, limits: &Limits) -> Option<(u32, u64)> {
        let parts: Vec<TypeRef> = match kind {
            UserKind::Compound(fields) => fields.iter().map(|field| field.ty).collect(),
            UserKind::Vlen(base) => vec![*base],
            UserKind::Enum { .. } | UserKind::Opaque(_) => Vec::new(),
        };
        let mut total = (1, 1u64);
        for part in parts {
            let TypeRef::User(id) = part else {
                total.1 += 1;
                continue;
            };
            let (depth, fields) = self.0.get(&id).copied().unwrap_or((1, 1));
            total = (total.0.max(depth + 1), total.1.saturating_add(fields));
        }
        (total.0 <= limits.depth && total.1 <= Self::FIELDS).then_some(total)
    }

    /// Defines a type.
    ///
    /// # Errors
    /// Why the model refuses it; `Limit` if it nests too deeply or has too many fields.
    pub(super) fn define(
        &mut self,
        model: &mut Model,
        group: GroupId,
        ty: UserType,
        limits: &Limits,
    ) -> Result<TypeId> {
        let Some(size) = self.admit(&ty.kind, limits) else {
            return Err(Error::limit(format!(
                "type {:?} is nested too deeply or has too many fields",
                ty.name
            )));
        };
        let id = model.add_type(group, ty)?;
        self.0.insert(id, size);
        Ok(id)
    }
}

/// Defines the group's types, in order; returns what could not be parsed.
pub(super) fn define_types(
    model: &mut Model,
    group: GroupId,
    holder: &AttributeHolder,
    nesting: &mut TypeNesting,
    limits: &Limits,
) -> Vec<String> {
    let list = object(holder)
        .and_then(|json| json.member("types"))
        .and_then(JsonValue::as_array)
        .unwrap_or_default();
    let mut damaged = Vec::new();
    for json in list {
        let defined = definition(model, json).map(|ty| nesting.define(model, group, ty, limits));
        match defined {
            Some(Ok(_)) => {}
            Some(Err(error)) => damaged.push(error.to_string()),
            None => {
                damaged.push(format!("type {:?} is not understood", String::from_utf8_lossy(json.source())));
            }
        }
    }
    damaged
}

fn definition(model: &Model, json: &JsonValue) -> Option<UserType> {
    let kind = match json.member("kind")?.as_str()? {
        "enum" => {
            let constant = |(name, value): (&str, &JsonValue)| {
                Some(EnumMember { name: name.to_owned(), value: value.as_number()?.as_i128()? })
            };
            let base = Atomic::from_name(json.member("base")?.as_str()?)?;
            let members = json.member("members")?.as_object()?.iter().map(constant).collect::<Option<_>>()?;
            UserKind::Enum { base, members }
        }
        "opaque" => UserKind::Opaque(json.member("size")?.as_u64()?),
        "vlen" => UserKind::Vlen(type_named(model, json.member("base")?.as_str()?)?),
        "compound" => {
            let field = |json: &JsonValue| {
                let ty = type_named(model, json.member("type")?.as_str()?)?;
                let lens = json.member("shape").map_or(Some(&[][..]), JsonValue::as_array)?;
                let dims = lens.iter().map(JsonValue::as_u64).collect::<Option<_>>()?;
                Some(Field { name: json.member("name")?.as_str()?.to_owned(), ty, dims })
            };
            UserKind::Compound(json.member("fields")?.as_array()?.iter().map(field).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some(UserType { name: json.member("name")?.as_str()?.to_owned(), kind })
}

/// The type of that name: a CDL name, or the path of a type.
fn type_named(model: &Model, name: &str) -> Option<TypeRef> {
    if name.starts_with('/') {
        return model.type_at(name).map(TypeRef::User);
    }
    Atomic::from_name(name).map(TypeRef::Atomic)
}

/// The type that the extension gives an array, and how its elements are then stored; `None` if it has none.
///
/// # Errors
/// `Malformed` if the type is not defined or does not match the stored one.
pub(super) fn array_type(
    model: &Model,
    holder: &AttributeHolder,
    stored: &StoredType,
) -> Result<Option<(TypeRef, StoredType)>> {
    let Some(json) = object(holder) else { return Ok(None) };
    let Some(name) = json.member("type") else { return Ok(None) };
    let ty = name.as_str().and_then(|name| type_named(model, name));
    let Some(ty) = ty else {
        return Err(Error::malformed(format!(
            "type {:?} is not defined",
            String::from_utf8_lossy(name.source())
        )));
    };
    let zeros_are_empty = json.member("zeros").and_then(JsonValue::as_str) == Some("empty");
    match retype(model, ty, stored, zeros_are_empty) {
        Some(stored) => Ok(Some((ty, stored))),
        None => Err(Error::malformed(format!(
            "type {:?} does not fit the stored data type",
            String::from_utf8_lossy(name.source())
        ))),
    }
}

/// How elements of a type are stored, given Zarr's data type; `None` if the two do not match.
pub(super) fn retype(
    model: &Model,
    ty: TypeRef,
    stored: &StoredType,
    zeros_are_empty: bool,
) -> Option<StoredType> {
    if let StoredType::Sequence(item) = stored {
        return sequence(model, ty, item);
    }
    let as_is = || Some(stored.clone());
    match (ty, stored) {
        (TypeRef::Atomic(Atomic::Char), _) if stored.byte_len() == Some(1) => Some(StoredType::Char),
        (TypeRef::Atomic(Atomic::String), StoredType::Text { encoding: TextEncoding::Utf32(_), .. }) => {
            as_is()
        }
        (
            TypeRef::Atomic(Atomic::String),
            StoredType::Text { byte_len, .. } | StoredType::Opaque { byte_len },
        ) => {
            let encoding =
                if zeros_are_empty { TextEncoding::NulPaddedEmpty } else { TextEncoding::NulPadded };
            Some(StoredType::Text { byte_len: *byte_len, encoding })
        }
        (_, StoredType::Integer { .. } | StoredType::Float { .. }) => {
            let usual = crate::dtype::stored_number(model.base_atomic(ty)?, ByteOrder::Little);
            (same_kind(&usual, stored)).then(as_is)?
        }
        (TypeRef::User(id), StoredType::Compound { fields, .. }) if has_text(fields) => {
            let UserKind::Compound(members) = &model.user_type(id)?.kind else { return None };
            fits(model, members, fields).then(as_is)?
        }
        (TypeRef::User(id), StoredType::Compound { .. } | StoredType::Opaque { .. }) => {
            let usual = packed(model, ty, ByteOrder::Little)?;
            let is_compound = matches!(model.user_type(id)?.kind, UserKind::Compound(_));
            let keeps_order = is_compound && matches!(stored, StoredType::Compound { .. });
            let fits = usual.byte_len() == stored.byte_len() && (!keeps_order || same_kind(&usual, stored));
            fits.then(|| if keeps_order { stored.clone() } else { usual })
        }
        _ => None,
    }
}

fn has_text(fields: &[StoredField]) -> bool {
    fields.iter().any(|field| match &field.stored {
        StoredType::Text { .. } => true,
        StoredType::Compound { fields, .. } => has_text(fields),
        _ => false,
    })
}

/// Whether fields are stored as a compound's members, of which some are strings of fixed length.
fn fits(model: &Model, members: &[Field], fields: &[StoredField]) -> bool {
    let one = |(member, field): (&Field, &StoredField)| {
        let is_type = match &field.stored {
            StoredType::Text { .. } => member.ty == TypeRef::Atomic(Atomic::String),
            StoredType::Compound { fields, .. } if has_text(fields) => match member.ty {
                TypeRef::User(id) => match model.user_type(id).map(|ty| &ty.kind) {
                    Some(UserKind::Compound(members)) => fits(model, members, fields),
                    _ => false,
                },
                TypeRef::Atomic(_) => false,
            },
            stored => {
                packed(model, member.ty, ByteOrder::Little).is_some_and(|usual| same_kind(&usual, stored))
            }
        };
        is_type && field.count == member.element_count()
    };
    members.len() == fields.len() && members.iter().zip(fields).all(one)
}

/// Whether two types differ only in byte order.
fn same_kind(a: &StoredType, b: &StoredType) -> bool {
    match (a, b) {
        (StoredType::Integer { size, signed, .. }, StoredType::Integer { size: other, signed: sign, .. }) => {
            size == other && signed == sign
        }
        (StoredType::Float { size, .. }, StoredType::Float { size: other, .. }) => size == other,
        (StoredType::Compound { fields, .. }, StoredType::Compound { fields: others, .. }) => {
            let same = |(a, b): (&StoredField, &StoredField)| {
                a.offset == b.offset && a.count == b.count && same_kind(&a.stored, &b.stored)
            };
            fields.len() == others.len() && fields.iter().zip(others.iter()).all(same)
        }
        _ => a == b,
    }
}

fn sequence(model: &Model, ty: TypeRef, item: &SequenceItem) -> Option<StoredType> {
    let sequence = |item| Some(StoredType::Sequence(item));
    match (ty, item) {
        (TypeRef::Atomic(Atomic::String), SequenceItem::Text) => sequence(SequenceItem::Text),
        (TypeRef::User(id), SequenceItem::Bytes) => match &model.user_type(id)?.kind {
            UserKind::Vlen(base) => match packed(model, *base, ByteOrder::Little) {
                Some(base) => sequence(SequenceItem::Array(Box::new(base))),
                None => sequence(SequenceItem::Packed),
            },
            UserKind::Compound(_) => sequence(SequenceItem::Packed),
            UserKind::Enum { .. } | UserKind::Opaque(_) => None,
        },
        _ => None,
    }
}

/// Inserts the attributes without a plain form at their places among the others; returns what could not be parsed.
pub(super) fn insert_attributes(
    model: &Model,
    holder: &AttributeHolder,
    list: &mut Vec<Attribute>,
) -> Vec<String> {
    let entries = object(holder).and_then(|json| json.member("attributes")).and_then(JsonValue::as_array);
    let mut damaged = Vec::new();
    let mut inserted = Vec::new();
    for json in entries.unwrap_or_default() {
        match entry(model, json) {
            Some((index, attribute)) => inserted.push((index, attribute, json.member("shown"))),
            None => {
                let source = String::from_utf8_lossy(json.source());
                damaged.push(format!("attribute {source:?} is not understood"));
            }
        }
    }
    let mut names = HashSet::new();
    let is_plain = inserted.is_sorted_by(|(before, ..), (after, ..)| before < after)
        && inserted.iter().all(|(_, attribute, _)| names.insert(attribute.name.as_str()));
    // Writers list them in the order of their places.
    if is_plain {
        merge(list, inserted);
    } else {
        insert_each(list, inserted);
    }
    damaged
}

/// An attribute, its place, and what other readers are shown instead of it.
type InsertedAttribute<'a> = (usize, Attribute, Option<&'a JsonValue>);

/// Whether an attribute that other readers see is what was written for them.
fn is_unchanged(plain: &Attribute, shown: &JsonValue) -> bool {
    plain.values == crate::json_values::text(shown)
}

/// Inserts attributes of different names in the order of their places, all at once.
fn merge(list: &mut Vec<Attribute>, inserted: Vec<InsertedAttribute<'_>>) {
    let mut plain: HashMap<&str, usize> = HashMap::new();
    for (at, attribute) in list.iter().enumerate() {
        plain.entry(&attribute.name).or_insert(at);
    }
    let mut replaced = HashSet::new();
    let mut wanted = Vec::with_capacity(inserted.len());
    for (index, attribute, shown) in inserted {
        let at = plain.get(attribute.name.as_str()).copied();
        let stands_for =
            |at: usize| list.get(at).zip(shown).is_some_and(|(known, shown)| is_unchanged(known, shown));
        if shown.is_some() && !at.is_some_and(stands_for) {
            continue;
        }
        replaced.extend(at);
        wanted.push((index, attribute));
    }
    let mut wanted = wanted.into_iter().peekable();
    let others = std::mem::take(list).into_iter().enumerate().filter(|(at, _)| !replaced.contains(at));
    for (_, other) in others {
        while let Some((_, attribute)) = wanted.next_if(|(index, _)| *index <= list.len()) {
            list.push(attribute);
        }
        list.push(other);
    }
    list.extend(wanted.map(|(_, attribute)| attribute));
}

/// Inserts attributes in any order.
fn insert_each(list: &mut Vec<Attribute>, inserted: Vec<InsertedAttribute<'_>>) {
    for (index, attribute, shown) in inserted {
        let plain = list.iter().position(|known| known.name == attribute.name);
        if let Some(shown) = shown {
            let stands_for = |at: &usize| list.get(*at).is_some_and(|known| is_unchanged(known, shown));
            match plain.filter(stands_for) {
                Some(at) => drop(list.remove(at)),
                None => continue,
            }
        } else if let Some(at) = plain {
            drop(list.remove(at));
        }
        list.insert(index.min(list.len()), attribute);
    }
}

fn entry(model: &Model, json: &JsonValue) -> Option<(usize, Attribute)> {
    let name = json.member("name")?.as_str()?.to_owned();
    let index = usize::try_from(json.member("index")?.as_u64()?).ok()?;
    let ty = type_named(model, json.member("type")?.as_str()?)?;
    let values = match json.member("base64") {
        Some(text) => Values::Char(base64::decode(text.as_str()?.as_bytes())?),
        None => {
            let items: Vec<&JsonValue> = json.member("value")?.as_array()?.iter().collect();
            column(model, ty, &items)?
        }
    };
    Some((index, Attribute { name, ty, values, is_json: false }))
}

/// The values of a type, one JSON value each. Recursion is bounded by the types, which refer only to earlier ones.
fn column(model: &Model, ty: TypeRef, items: &[&JsonValue]) -> Option<Values> {
    let id = match ty {
        TypeRef::Atomic(Atomic::Char) => return chars(items),
        TypeRef::Atomic(Atomic::String) => return texts(items),
        TypeRef::Atomic(atomic) => return join_numbers(items, atomic),
        TypeRef::User(id) => id,
    };
    match &model.user_type(id)?.kind {
        UserKind::Enum { base, members } => {
            let value = |item: &&JsonValue| match item.as_str() {
                Some(name) => members.iter().find(|member| member.name == name).map(|member| member.value),
                None => item.as_number()?.as_i128(),
            };
            integers(&items.iter().map(value).collect::<Option<Vec<_>>>()?, *base)
        }
        UserKind::Opaque(size) => {
            let size = usize::try_from(*size).ok()?;
            let all: Vec<Vec<u8>> = items.iter().map(|item| hex(item.as_str()?)).collect::<Option<_>>()?;
            let fits = all.iter().all(|bytes| bytes.len() == size);
            fits.then(|| Values::Opaque { size, bytes: all.concat() })
        }
        UserKind::Vlen(base) => {
            let lists: Vec<&[JsonValue]> = items.iter().map(|item| item.as_array()).collect::<Option<_>>()?;
            let mut end = 0;
            let ends = lists.iter().map(|list| {
                end += list.len();
                end
            });
            let ends = ends.collect();
            // The elements of all lists in one call, so that they become one list of values.
            let elements = column(model, *base, &lists.into_iter().flatten().collect::<Vec<_>>())?;
            Some(Values::Vlen { ends, elements: Box::new(elements) })
        }
        UserKind::Compound(fields) => {
            let fields =
                fields.iter().map(|field| field_column(model, field, items)).collect::<Option<_>>()?;
            Some(Values::Compound { len: items.len(), fields })
        }
    }
}

fn field_column(model: &Model, field: &Field, items: &[&JsonValue]) -> Option<Values> {
    let parts: Vec<&JsonValue> = items.iter().map(|item| item.member(&field.name)).collect::<Option<_>>()?;
    let values = if field.dims.is_empty() || field.ty == TypeRef::Atomic(Atomic::Char) {
        column(model, field.ty, &parts)?
    } else {
        let flat: Vec<&[JsonValue]> = parts.iter().map(|part| part.as_array()).collect::<Option<_>>()?;
        column(model, field.ty, &flat.into_iter().flatten().collect::<Vec<_>>())?
    };
    let expected = field.element_count().checked_mul(items.len() as u64)?;
    (values.len() as u64 == expected).then_some(values)
}

/// Characters U+0000 to U+00FF, one byte each.
fn chars(items: &[&JsonValue]) -> Option<Values> {
    let mut bytes = Vec::new();
    for item in items {
        for character in item.as_str()?.chars() {
            bytes.push(u8::try_from(u32::from(character)).ok()?);
        }
    }
    Some(Values::Char(bytes))
}

fn texts(items: &[&JsonValue]) -> Option<Values> {
    let mut all = Strings::new();
    for item in items {
        match item {
            JsonValue::Null => all.push(None),
            JsonValue::String(text) => all.push(Some(text.as_bytes())),
            other => all.push(Some(&base64::decode(other.member("base64")?.as_str()?.as_bytes())?)),
        }
    }
    Some(Values::String(all))
}

fn join_numbers(items: &[&JsonValue], atomic: Atomic) -> Option<Values> {
    let mut all = Values::zeroed(atomic, 0);
    for item in items {
        let one = numbers(item, atomic).filter(|one| one.len() == 1)?;
        all.extend_from(&one, 0..1);
    }
    Some(all)
}

/// Integers as a type; `None` if one does not fit.
fn integers(values: &[i128], base: Atomic) -> Option<Values> {
    fn all<T: TryFrom<i128>>(values: &[i128]) -> Option<Vec<T>> {
        values.iter().map(|value| T::try_from(*value).ok()).collect()
    }
    Some(match base {
        Atomic::Byte => Values::Byte(all(values)?),
        Atomic::Short => Values::Short(all(values)?),
        Atomic::Int => Values::Int(all(values)?),
        Atomic::Int64 => Values::Int64(all(values)?),
        Atomic::UByte => Values::UByte(all(values)?),
        Atomic::UShort => Values::UShort(all(values)?),
        Atomic::UInt => Values::UInt(all(values)?),
        Atomic::UInt64 => Values::UInt64(all(values)?),
        _ => return None,
    })
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = text.as_bytes().iter().map(digit).collect::<Option<_>>()?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| pair.iter().try_fold(0u8, |byte, digit| Some(byte << 4 | digit))).collect()
}
