//! Declarations of types.
use super::declare::{Declarations, is_enum_base};
use super::fault::{Place, Stop};
use super::scope::Reference;
use super::token::Token;
use super::words;
use ncirrus_model::{Atomic, EnumMember, Field, TypeRef, UserKind, UserType};
use std::collections::HashSet;

impl Declarations<'_, '_> {
    pub(super) fn type_or_attribute(&mut self) -> Result<(), Stop> {
        let references = self.references()?;
        let next = self.lexer.peek()?.clone();
        match (references.as_slice(), next) {
            ([(_, Reference::Simple(word)), (at, Reference::Simple(name))], Token::Punct(b'{'))
                if words::is_compound_word(word) =>
            {
                let (at, name) = (*at, name.clone());
                self.compound(at, &name)?;
            }
            ([(_, Reference::Simple(word))], Token::Punct(b'(')) if word == "opaque" => self.opaque()?,
            ([(at, base)], Token::Punct(b'(')) => {
                let base = self.type_of(*at, base)?;
                self.sequence(base)?;
            }
            ([(at, base), (_, Reference::Simple(word))], Token::Name(_)) if word == "enum" => {
                let base = self.enum_base(*at, &base.clone())?;
                self.enumeration(base)?;
            }
            _ => return self.attribute(&references),
        }
        // The semicolon behind a type may be missing.
        self.lexer.take(b';').map(|_| ())
    }

    fn enum_base(&mut self, place: Place, base: &Reference) -> Result<Atomic, Stop> {
        match self.type_of(place, base)? {
            TypeRef::Atomic(atomic) if is_enum_base(atomic) => Ok(atomic),
            _ => Err(place.fault(format!("an enum cannot be made of {base}: its type is an integer"))),
        }
    }

    fn enumeration(&mut self, base: Atomic) -> Result<(), Stop> {
        let name = self.lexer.name("a type")?;
        let at = self.lexer.place;
        self.lexer.expect(b'{')?;
        let mut members = Vec::new();
        let (mut known, mut values) = (HashSet::new(), HashSet::new());
        loop {
            let member = self.lexer.name("a constant")?;
            let place = self.lexer.place;
            if members.len() >= self.options.limits.members {
                let max = self.options.limits.members;
                return Err(place.fault(format!("an enum of more than {max} constants")));
            }
            self.lexer.expect(b'=')?;
            let value = match self.lexer.next()? {
                Token::Number(number) => number.integer(),
                Token::Char(byte) => Some(i128::from(byte)),
                token => return Err(self.lexer.unexpected(&token, "an integer")),
            };
            let value = value.filter(|value| holds(base, *value)).ok_or_else(|| {
                self.lexer.fault(format!("the constant {member:?} does not fit {}", base.name()))
            })?;
            if !known.insert(member.clone()) {
                return Err(place.fault(format!("a constant {member:?} is declared already")));
            }
            if !values.insert(value) {
                return Err(place.fault(format!("the constant {member:?} has the value {value} of another")));
            }
            members.push(EnumMember { name: member, value });
            if !self.lexer.take(b',')? {
                self.lexer.expect(b'}')?;
                break;
            }
        }
        let byte_len = base.byte_len().unwrap_or(8) as u64;
        self.add_type(at, &name, UserKind::Enum { base, members }, (1, byte_len))
    }

    fn opaque(&mut self) -> Result<(), Stop> {
        self.lexer.expect(b'(')?;
        let len = match self.lexer.next()? {
            Token::Number(number) => number.integer().and_then(|len| u64::try_from(len).ok()),
            token => return Err(self.lexer.unexpected(&token, "the length of an opaque type")),
        };
        let max = self.options.limits.element_len;
        let len = len
            .filter(|len| (1..=max).contains(len))
            .ok_or_else(|| self.lexer.fault(format!("an opaque type has 1 to {max} bytes")))?;
        self.lexer.expect(b')')?;
        let name = self.lexer.name("a type")?;
        let at = self.lexer.place;
        self.add_type(at, &name, UserKind::Opaque(len), (1, len))
    }

    fn sequence(&mut self, base: TypeRef) -> Result<(), Stop> {
        self.lexer.expect(b'(')?;
        self.lexer.expect(b'*')?;
        self.lexer.expect(b')')?;
        let name = self.lexer.name("a type")?;
        let at = self.lexer.place;
        let (depth, _) = self.size_of(base);
        self.add_type(at, &name, UserKind::Vlen(base), (depth + 1, 16))
    }

    fn compound(&mut self, at: Place, name: &str) -> Result<(), Stop> {
        self.lexer.expect(b'{')?;
        let mut fields: Vec<Field> = Vec::new();
        let mut known = HashSet::new();
        let (mut depth, mut byte_len) = (0, 0u64);
        while fields.is_empty() || !self.lexer.take(b'}')? {
            let ty = self.reference("the type of a field")?;
            let ty = self.type_of(self.lexer.place, &ty)?;
            let (inner, each) = self.size_of(ty);
            depth = depth.max(inner);
            loop {
                let field = self.lexer.name("a field")?;
                let place = self.lexer.place;
                let dims = self.field_dims()?;
                if !known.insert(field.clone()) {
                    return Err(place.fault(format!("a field {field:?} is declared already")));
                }
                if fields.len() >= self.options.limits.members {
                    let max = self.options.limits.members;
                    return Err(place.fault(format!("a compound of more than {max} fields")));
                }
                let field = Field { name: field, ty, dims };
                byte_len = byte_len.saturating_add(each.saturating_mul(field.element_count()));
                if byte_len > self.options.limits.element_len {
                    let max = self.options.limits.element_len;
                    return Err(place.fault(format!("a compound of more than {max} bytes")));
                }
                fields.push(field);
                if !self.lexer.take(b',')? {
                    self.lexer.expect(b';')?;
                    break;
                }
            }
        }
        self.add_type(at, name, UserKind::Compound(fields), (depth + 1, byte_len))
    }

    fn field_dims(&mut self) -> Result<Vec<u64>, Stop> {
        let mut dims = Vec::new();
        if !self.lexer.take(b'(')? {
            return Ok(dims);
        }
        loop {
            let len = match self.lexer.next()? {
                Token::Number(number) => number.integer().and_then(|len| u64::try_from(len).ok()),
                token => return Err(self.lexer.unexpected(&token, "the length of a field")),
            };
            dims.push(
                len.filter(|len| *len > 0).ok_or_else(|| self.lexer.fault("not the length of a field"))?,
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

    /// Depth of a type, and the bytes of one element.
    fn size_of(&self, ty: TypeRef) -> (usize, u64) {
        match ty {
            TypeRef::Atomic(atomic) => (0, atomic.byte_len().unwrap_or(16) as u64),
            TypeRef::User(id) => self.types.get(&id).copied().unwrap_or((0, 1)),
        }
    }

    fn add_type(&mut self, at: Place, name: &str, kind: UserKind, size: (usize, u64)) -> Result<(), Stop> {
        let max = self.options.limits.nesting;
        if size.0 > max {
            return Err(at.fault(format!("types more than {max} deep")));
        }
        let group = self.group();
        let name = self.new_name(at, group, name)?;
        let ty = UserType { name: name.clone(), kind };
        let added = self.model.insert_type(group, ty.clone());
        let id = added.map_err(|error| at.fault(error.to_string()))?;
        self.names.add_type(group, &name, id, &ty.kind);
        self.types.insert(id, size);
        Ok(())
    }
}

/// Whether a value is one of an integer type.
fn holds(atomic: Atomic, value: i128) -> bool {
    match atomic {
        Atomic::Byte => i8::try_from(value).is_ok(),
        Atomic::UByte | Atomic::Char => u8::try_from(value).is_ok(),
        Atomic::Short => i16::try_from(value).is_ok(),
        Atomic::UShort => u16::try_from(value).is_ok(),
        Atomic::Int => i32::try_from(value).is_ok(),
        Atomic::UInt => u32::try_from(value).is_ok(),
        Atomic::Int64 => i64::try_from(value).is_ok(),
        Atomic::UInt64 => u64::try_from(value).is_ok(),
        Atomic::Float | Atomic::Double | Atomic::String => false,
    }
}
