//! Declarations: groups, types, dimensions, variables. Data sections are passed over.
use super::fault::{FaultList, ParseFailure, Place, Stop};
use super::lexer::Lexer;
use super::scope::{NameTable, Reference};
use super::special::SpecialAttributes;
use super::text::CdlText;
use super::token::Token;
use super::words::Section;
use super::{DataStatement, Definitions, ParseOptions, RangeNotes};
use ncirrus_model::{
    Atomic, Attribute, Attributes, DimensionLen, GroupId, Model, NodeId, TypeId, TypeRef, Variable,
    check_name,
};
use std::collections::HashMap;

/// What is read so far.
pub(super) struct Declarations<'t, 'o> {
    pub(super) lexer: Lexer<'t>,
    pub(super) options: &'o ParseOptions,
    pub(super) model: Model,
    pub(super) names: NameTable,
    pub(super) special: SpecialAttributes,
    pub(super) notes: RangeNotes,
    /// Depth of each type, and the bytes of an element without what it points to.
    pub(super) types: HashMap<TypeId, (usize, u64)>,
    attributes: HashMap<NodeId, AttributeList>,
    data: Vec<DataStatement>,
    /// The groups that are open, the innermost last.
    open: Vec<(GroupId, Section)>,
    declared: usize,
}

/// The attributes of a group or variable, and where each name is among them.
#[derive(Default)]
struct AttributeList {
    list: Vec<Attribute>,
    places: HashMap<String, usize>,
}

/// Reads all declarations of a text.
pub(super) fn read(text: &dyn CdlText, options: &ParseOptions) -> Result<Definitions, ParseFailure> {
    let mut faults = FaultList::new(text, options.limits.faults);
    let lexer = match Lexer::new(text, Place::START, &options.limits) {
        Ok(lexer) => lexer,
        Err(stop) => {
            faults.note(stop)?;
            faults.finish()?;
            return Err(ParseFailure::Faults(Vec::new()));
        }
    };
    let model = Model::new();
    let root = model.root();
    let mut reader = Declarations {
        lexer,
        options,
        model,
        names: NameTable::default(),
        special: SpecialAttributes::default(),
        notes: RangeNotes::default(),
        types: HashMap::new(),
        attributes: HashMap::new(),
        data: Vec::new(),
        open: vec![(root, Section::Top)],
        declared: 0,
    };
    let name = match reader.header() {
        Ok(name) => name,
        Err(stop) => {
            // Nothing that follows can be understood.
            faults.note(stop)?;
            faults.finish()?;
            return Err(ParseFailure::Faults(Vec::new()));
        }
    };
    reader.body(&mut faults)?;
    faults.finish()?;
    Ok(reader.into_definitions(name))
}

impl Declarations<'_, '_> {
    /// `netcdf NAME {`; the name may have any characters but a brace.
    fn header(&mut self) -> Result<String, Stop> {
        match self.lexer.next()? {
            Token::Name(word) if matches!(word.as_str(), "netcdf" | "NETCDF" | "netCDF") => {}
            token => return Err(self.lexer.unexpected(&token, "\"netcdf\"")),
        }
        let place = self.lexer.next_place()?;
        let mut name = Vec::new();
        let max = self.options.limits.name_len;
        while let Some(byte) = self.lexer.cursor.peek()?.filter(|byte| *byte != b'{') {
            if name.len() >= max {
                return Err(place.fault(format!("a dataset's name of more than {max} bytes")));
            }
            name.push(byte);
            self.lexer.cursor.next()?;
        }
        self.lexer.expect(b'{')?;
        let name = String::from_utf8(name).map_err(|_| place.fault("the dataset's name is not UTF-8"))?;
        let mut plain = String::with_capacity(name.len());
        let mut chars = name.trim().chars();
        while let Some(c) = chars.next() {
            plain.extend(if c == '\\' { chars.next() } else { Some(c) });
        }
        Ok(plain)
    }

    fn body(&mut self, faults: &mut FaultList<'_>) -> Result<(), ParseFailure> {
        loop {
            let begun = self.begun_type();
            let start = begun.as_ref().ok().copied().flatten();
            match begun.and_then(|_| self.statement()) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(stop) => {
                    let recovered = match start {
                        Some(start) => {
                            faults.note_lost(stop)?;
                            self.lexer.recover_type(start)
                        }
                        None => {
                            faults.note(stop)?;
                            self.lexer.recover()
                        }
                    };
                    match recovered {
                        Ok(true) => {}
                        Ok(false) => return Ok(()),
                        Err(stop) => return faults.note(stop),
                    }
                }
            }
        }
    }

    /// Where the declaration of a type begins, if it is one that comes next.
    fn begun_type(&mut self) -> Result<Option<Place>, Stop> {
        if self.section() != Section::Types
            || matches!(self.lexer.peek()?, Token::Section(..) | Token::Punct(_) | Token::End)
        {
            return Ok(None);
        }
        self.lexer.next_place().map(Some)
    }

    /// The innermost open group.
    pub(super) fn group(&self) -> GroupId {
        self.open.last().map_or(self.model.root(), |(group, _)| *group)
    }

    fn section(&self) -> Section {
        self.open.last().map_or(Section::Groups, |(_, section)| *section)
    }

    /// Reads one statement, the beginning of a section or a group's end; false behind the last.
    fn statement(&mut self) -> Result<bool, Stop> {
        match self.lexer.peek()? {
            Token::Punct(b'}') => return self.close_group(),
            Token::Section(..) => {
                let token = self.lexer.next()?;
                self.begin_section(&token)?;
                return Ok(true);
            }
            // An empty statement.
            Token::Punct(b';') => {
                let token = self.lexer.next()?;
                return Err(self.lexer.unexpected(&token, self.expected()));
            }
            Token::End => {
                let token = self.lexer.next()?;
                return Err(self.lexer.unexpected(&token, "\"}\""));
            }
            _ => {}
        }
        match self.section() {
            Section::Data => self.data_statement()?,
            Section::Types => self.type_or_attribute()?,
            Section::Dimensions => self.dimensions_or_attribute()?,
            Section::Variables => self.variables_or_attribute()?,
            Section::Top | Section::Groups => {
                let references = self.references()?;
                self.attribute(&references)?;
            }
        }
        Ok(true)
    }

    /// What is allowed here, for messages.
    fn expected(&self) -> &'static str {
        match self.section() {
            Section::Top => "a section, an attribute or \"}\"",
            Section::Types => "a type, an attribute, a section or \"}\"",
            Section::Dimensions => "a dimension, an attribute, a section or \"}\"",
            Section::Variables => "a variable, an attribute, a section or \"}\"",
            Section::Data => "the name of a variable, \"group:\" or \"}\"",
            Section::Groups => "\"group:\", an attribute or \"}\"",
        }
    }

    fn begin_section(&mut self, token: &Token) -> Result<(), Stop> {
        let Token::Section(section, _) = token else { return Ok(()) };
        let is_in_order = *section > self.section() || *section == Section::Groups;
        if !is_in_order {
            return Err(self.lexer.unexpected(token, self.expected()));
        }
        if let Some((_, current)) = self.open.last_mut() {
            *current = *section;
        }
        if *section == Section::Groups {
            self.open_group()?;
        }
        Ok(())
    }

    fn open_group(&mut self) -> Result<(), Stop> {
        let parent = self.group();
        let name = self.lexer.name("a group")?;
        let place = self.lexer.place;
        self.lexer.expect(b'{')?;
        if self.open.len() > self.options.limits.nesting {
            return Err(place.fault(format!("groups more than {} deep", self.options.limits.nesting)));
        }
        // Members of the second of two groups belong to the first, so that one fault is reported and not many.
        if let Some(id) = self.names.subgroup(parent, &name) {
            self.open.push((id, Section::Top));
            return Err(place.fault(format!("a group {name:?} is declared already")));
        }
        let name = self.new_name(place, parent, &name)?;
        let id = self.model.insert_group(parent, name.clone()).map_err(|e| place.fault(e.to_string()))?;
        self.names.add_group(parent, &name, id);
        self.open.push((id, Section::Top));
        Ok(())
    }

    fn close_group(&mut self) -> Result<bool, Stop> {
        self.lexer.next()?;
        self.open.pop();
        if !self.open.is_empty() {
            return Ok(true);
        }
        match self.lexer.next()? {
            Token::End => Ok(false),
            token => Err(self.lexer.unexpected(&token, "the end of the text")),
        }
    }

    /// A name that may be declared in the group: permitted, and not in use by a group, type or variable.
    pub(super) fn new_name(&mut self, place: Place, group: GroupId, name: &str) -> Result<String, Stop> {
        let name = self.checked_name(place, name)?;
        match self.names.taken(group, &name) {
            Some(what) => Err(place.fault(format!("a {what} {name:?} is declared already"))),
            None => Ok(name),
        }
    }

    /// A name that is permitted, in the form in which it is stored.
    pub(super) fn checked_name(&mut self, place: Place, name: &str) -> Result<String, Stop> {
        self.declared += 1;
        if self.declared > self.options.limits.declarations {
            let max = self.options.limits.declarations;
            return Err(place.fault(format!("more than {max} declarations")));
        }
        check_name(name).map_err(|error| place.fault(error.to_string()))
    }

    /// A name or path.
    pub(super) fn reference(&mut self, what: &str) -> Result<Reference, Stop> {
        match self.lexer.next()? {
            Token::Name(name) => Ok(Reference::Simple(ncirrus_model::normalize_name(&name))),
            Token::Path(parts) => {
                Ok(Reference::Path(parts.iter().map(|part| ncirrus_model::normalize_name(part)).collect()))
            }
            token => Err(self.lexer.unexpected(&token, what)),
        }
    }

    /// The names in front of an attribute's colon, or at the beginning of another statement: at most two.
    pub(super) fn references(&mut self) -> Result<Vec<(Place, Reference)>, Stop> {
        let mut references = Vec::new();
        while references.len() < 2 && matches!(self.lexer.peek()?, Token::Name(_) | Token::Path(_)) {
            let reference = self.reference(self.expected())?;
            references.push((self.lexer.place, reference));
        }
        if references.is_empty() && !self.lexer.peek()?.is(b':') {
            let token = self.lexer.next()?;
            return Err(self.lexer.unexpected(&token, self.expected()));
        }
        Ok(references)
    }

    /// The type that a name means; in classic kinds the words of newer types mean none.
    pub(super) fn type_of(&self, place: Place, reference: &Reference) -> Result<TypeRef, Stop> {
        let found = self.names.any_type(&self.model, self.group(), reference);
        found.ok_or_else(|| place.undeclared(format!("no type {reference} is declared")))
    }

    fn dimensions_or_attribute(&mut self) -> Result<(), Stop> {
        let references = self.references()?;
        let is_dimension = self.lexer.peek()?.is(b'=');
        let (mut place, mut name) = match references.as_slice() {
            [(place, Reference::Simple(name))] if is_dimension => (*place, name.clone()),
            _ => return self.attribute(&references),
        };
        loop {
            self.lexer.expect(b'=')?;
            self.dimension(place, &name)?;
            if !self.lexer.take(b',')? {
                return self.lexer.expect(b';');
            }
            name = self.lexer.name("a dimension")?;
            place = self.lexer.place;
        }
    }

    fn dimension(&mut self, place: Place, name: &str) -> Result<(), Stop> {
        let len = self.dimension_len()?;
        let group = self.group();
        let name = self.checked_name(place, name)?;
        if self.names.has_dimension(group, &name) {
            return Err(place.fault(format!("a dimension {name:?} is declared already")));
        }
        let added = self.model.insert_dimension(group, ncirrus_model::Dimension { name: name.clone(), len });
        let id = added.map_err(|error| place.fault(error.to_string()))?;
        self.names.add_dimension(group, &name, id);
        Ok(())
    }

    fn dimension_len(&mut self) -> Result<DimensionLen, Stop> {
        match self.lexer.next()? {
            Token::Name(word) if matches!(word.as_str(), "UNLIMITED" | "unlimited") => {
                Ok(DimensionLen::Unlimited(0))
            }
            Token::Number(number) => {
                let whole = match number {
                    super::number::Number::Double(value) if value.fract() == 0.0 && value.abs() < 1e18 =>
                    {
                        #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^63")]
                        Some(i128::from(value as i64))
                    }
                    ref number => number.integer(),
                };
                let len = whole.and_then(|len| u64::try_from(len).ok());
                let max = self.options.limits.dimension_len;
                match len {
                    // The number of NC_UNLIMITED: the library knows no other dimension without elements.
                    Some(0) => Ok(DimensionLen::Unlimited(0)),
                    Some(len) if len <= max => Ok(DimensionLen::Fixed(len)),
                    Some(len) => Err(self.lexer.fault(format!("a dimension of {len}: at most {max}"))),
                    None => Err(self.lexer.fault(format!("{number} is not the length of a dimension"))),
                }
            }
            token => Err(self.lexer.unexpected(&token, "a length or UNLIMITED")),
        }
    }

    fn variables_or_attribute(&mut self) -> Result<(), Stop> {
        let references = self.references()?;
        let is_attribute = self.lexer.peek()?.is(b':');
        match references.as_slice() {
            [(at, ty), (name_at, Reference::Simple(name))] if !is_attribute => {
                let ty = self.type_of(*at, ty)?;
                self.variables(ty, *name_at, name.clone())
            }
            _ => self.attribute(&references),
        }
    }

    /// The variables of a type, of which the first name was read.
    fn variables(&mut self, ty: TypeRef, mut place: Place, mut name: String) -> Result<(), Stop> {
        loop {
            let dims = self.shape()?;
            let group = self.group();
            name = self.new_name(place, group, &name)?;
            let added = self.model.insert_variable(group, Variable::new(name.clone(), ty, dims));
            let id = added.map_err(|error| place.fault(error.to_string()))?;
            self.names.add_variable(group, &name, id);
            if !self.lexer.take(b',')? {
                return self.lexer.expect(b';');
            }
            name = self.lexer.name("a variable")?;
            place = self.lexer.place;
        }
    }

    /// The dimensions of a variable, if it has any.
    fn shape(&mut self) -> Result<Vec<ncirrus_model::DimId>, Stop> {
        let mut dims = Vec::new();
        if !self.lexer.take(b'(')? {
            return Ok(dims);
        }
        loop {
            let reference = self.reference("the name of a dimension")?;
            let found = self.names.dimension(&self.model, self.group(), &reference);
            dims.push(
                found.ok_or_else(|| self.lexer.fault(format!("no dimension {reference} is declared")))?,
            );
            if dims.len() > self.options.limits.rank {
                return Err(self.lexer.fault(format!("more than {} dimensions", self.options.limits.rank)));
            }
            if !self.lexer.take(b',')? {
                self.lexer.expect(b')')?;
                return Ok(dims);
            }
        }
    }

    /// `VARIABLE = ...;`: where its values are is kept for the second pass.
    fn data_statement(&mut self) -> Result<(), Stop> {
        let reference = self.reference(self.expected())?;
        let found = self.names.variable(&self.model, self.group(), &reference);
        let place = self.lexer.place;
        let variable = found.ok_or_else(|| place.undeclared(format!("no variable {reference} is declared")));
        self.lexer.expect(b'=')?;
        let values = self.lexer.next_place()?;
        self.lexer.skip_statement()?;
        self.data.push(DataStatement { variable: variable?, group: self.group(), values });
        Ok(())
    }

    /// Adds or replaces an attribute.
    pub(super) fn put_attribute(&mut self, holder: NodeId, attribute: Attribute) {
        let known = self.attributes.entry(holder).or_default();
        match known.places.get(&attribute.name).and_then(|at| known.list.get_mut(*at)) {
            Some(old) => *old = attribute,
            None => {
                known.places.insert(attribute.name.clone(), known.list.len());
                known.list.push(attribute);
            }
        }
    }

    fn into_definitions(self, name: String) -> Definitions {
        let Self { mut model, attributes, special, names, notes, data, .. } = self;
        for (holder, known) in attributes {
            let mut all = Attributes::new();
            known.list.into_iter().for_each(|attribute| all.push_distinct(attribute));
            if let Some(state) = model.attributes_mut(holder) {
                *state.known_mut() = all;
            }
        }
        special.apply(&mut model);
        Definitions {
            name,
            format: special.format,
            chosen_storage: special.chosen_storage(),
            filters: special.filters,
            model,
            names,
            notes,
            data,
        }
    }
}

/// The types that enums may have.
pub(super) fn is_enum_base(atomic: Atomic) -> bool {
    atomic.is_integer()
}
