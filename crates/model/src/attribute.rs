//! Typed attributes, in definition order.
use crate::error::{Fault, ModelError};
use crate::name_index::{Lookup, NameIndex};
use crate::{Member, TypeRef, Values, check_name};

/// A named, typed list of values.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Name, unique in its holder.
    pub name: String,
    /// Declared type; for enums and other user types `values` holds the base representation.
    pub ty: TypeRef,
    /// The values; text (`NC_CHAR`) is bytes, one per character.
    pub values: Values,
    /// Whether the source, a Zarr dataset, stores the value in a form of JSON that the value alone does not determine: text that
    /// is a dictionary or a list, `true` and `false` (values of `ubyte`), and a list of one number or text. Copies to Zarr store
    /// it so. It is not part of the value: attributes that differ in it are equal.
    pub is_json: bool,
}

impl PartialEq for Attribute {
    fn eq(&self, other: &Self) -> bool {
        let Self { name, ty, values, is_json: _ } = self;
        *name == other.name && *ty == other.ty && *values == other.values
    }
}

impl Attribute {
    /// A text (`NC_CHAR`) attribute.
    pub fn text(name: impl Into<String>, text: &str) -> Self {
        Self::atomic(name, Values::Char(text.as_bytes().to_vec()))
    }

    /// An attribute whose type is that of its values. User-defined representations (opaque, vlen, compound) count
    /// as `byte` here: give those their type with a struct literal.
    pub fn atomic(name: impl Into<String>, values: Values) -> Self {
        let ty = TypeRef::Atomic(values.atomic().unwrap_or(crate::Atomic::Byte));
        Self { name: name.into(), ty, values, is_json: false }
    }

    /// The text of a char attribute or of a string attribute with one element; invalid UTF-8 is replaced.
    pub fn as_text(&self) -> Option<String> {
        match &self.values {
            Values::Char(bytes) => Some(String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()),
            Values::String(strings) if strings.len() == 1 => {
                strings.get(0).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            }
            _ => None,
        }
    }
}

/// The attributes of one group or variable, in order. They are found by name in constant time, however many there are.
#[derive(Clone, PartialEq, Default)]
pub struct Attributes {
    list: Vec<Attribute>,
    index: NameIndex,
    /// Attributes that exist but cannot be read, with the reason.
    pub faults: Vec<(String, Fault)>,
}

/// Without what follows from the rest: equal ones are shown alike.
impl std::fmt::Debug for Attributes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { list, faults, .. } = self;
        f.debug_struct("Attributes").field("list", list).field("faults", faults).finish()
    }
}

impl Attributes {
    /// No attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All attributes, in definition order.
    pub fn iter(&self) -> std::slice::Iter<'_, Attribute> {
        self.list.iter()
    }

    /// The attribute of that name; the first one if there are several.
    pub fn find(&self, name: &str) -> Option<&Attribute> {
        self.list.get(self.position(name)?)
    }

    /// Adds an attribute, or replaces the one of that name in its place. The name is not checked: for readers.
    pub fn put(&mut self, attribute: Attribute) {
        match self.position(&attribute.name).and_then(|at| self.list.get_mut(at)) {
            Some(old) => *old = attribute,
            None => self.push_distinct(attribute),
        }
    }

    /// Adds an attribute whose name is known to be new here. Nothing is checked.
    pub fn push_distinct(&mut self, attribute: Attribute) {
        self.list.push(attribute);
        let list = &self.list;
        self.index.add(number(list.len() - 1), 0..number(list.len()), |at| name_at(list, at));
    }

    /// Adds or replaces an attribute after checking its name.
    ///
    /// # Errors
    /// `BadName` if the name violates the rules of [`check_name`].
    pub fn set(&mut self, mut attribute: Attribute) -> Result<(), ModelError> {
        attribute.name = check_name(&attribute.name)?;
        self.put(attribute);
        Ok(())
    }

    /// Removes the attribute of that name and returns it.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let at = self.position(name)?;
        let removed = self.list.remove(at);
        let (list, index) = (&self.list, &mut self.index);
        if let Some(hash) = index.hash(name) {
            index.remove_shifting(number(at), hash, 0..number(list.len()), |at| name_at(list, at));
        }
        Some(removed)
    }

    /// Renames an attribute, keeping its place.
    ///
    /// # Errors
    /// `NotFound`, `BadName`, or `NameInUse` if another attribute has the new name.
    pub fn rename(&mut self, old: &str, new: &str) -> Result<(), ModelError> {
        let new = check_name(new)?;
        if old != new && self.find(&new).is_some() {
            return Err(ModelError::NameInUse { name: new, group: "these attributes".to_owned() });
        }
        let Some(at) = self.position(old) else {
            return Err(ModelError::NotFound { what: Member::Attribute, name: old.to_owned() });
        };
        self.list[at].name = new;
        let (list, index) = (&self.list, &mut self.index);
        if let Some(hash) = index.hash(old) {
            index.remove(number(at), hash, 0..number(list.len()), |at| name_at(list, at));
            index.add(number(at), 0..number(list.len()), |at| name_at(list, at));
        }
        Ok(())
    }

    /// The place of the attribute of that name among all; of the first one if there are several.
    pub fn position(&self, name: &str) -> Option<usize> {
        match self.index.find(name, |at| name_at(&self.list, at)) {
            Lookup::Indexed(at) => at.map(|at| at as usize),
            Lookup::Search => self.list.iter().position(|attribute| attribute.name == name),
        }
    }
}

fn name_at(list: &[Attribute], at: u32) -> Option<&str> {
    list.get(at as usize).map(|attribute| attribute.name.as_str())
}

/// A list in memory never holds 2^32 attributes.
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl FromIterator<Attribute> for Attributes {
    fn from_iter<I: IntoIterator<Item = Attribute>>(items: I) -> Self {
        let mut attributes = Self::new();
        items.into_iter().for_each(|attribute| attributes.put(attribute));
        attributes
    }
}

/// The attributes of a group or variable, which may still have to be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum AttributeState {
    /// Not read yet; the catalog can read them.
    #[default]
    Pending,
    /// In memory.
    Known(Attributes),
    /// They cannot be read at all.
    Damaged(Fault),
}

/// What reading them returned.
impl<E> From<Result<Attributes, E>> for AttributeState
where
    for<'e> Fault: From<&'e E>,
{
    fn from(read: Result<Attributes, E>) -> Self {
        read.map_or_else(|error| Self::Damaged(Fault::from(&error)), Self::Known)
    }
}

impl AttributeState {
    /// The attributes, if they are in memory.
    pub fn known(&self) -> Option<&Attributes> {
        match self {
            Self::Known(attributes) => Some(attributes),
            Self::Pending | Self::Damaged(_) => None,
        }
    }

    /// The attributes for changing; pending or damaged ones become an empty list first.
    pub fn known_mut(&mut self) -> &mut Attributes {
        if let Self::Pending | Self::Damaged(_) = self {
            *self = Self::Known(Attributes::new());
        }
        match self {
            Self::Known(attributes) => attributes,
            Self::Pending | Self::Damaged(_) => unreachable!("made known above"),
        }
    }
}
