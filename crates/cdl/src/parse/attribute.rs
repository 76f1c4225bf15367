//! Attributes: of groups and variables, typed or not.
use super::declare::Declarations;
use super::fault::{Place, Stop};
use super::scope::Reference;
use super::token::Token;
use super::values::{Unfit, ValueReader};
use super::words::{self, SpecialName};
use super::{RangeNote, words::quantize_name};
use ncirrus_model::{Atomic, Attribute, NodeId, TypeRef, Values, VarId};

/// What the constants of an untyped attribute are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inferred {
    Nothing,
    Text,
    Number(Atomic),
}

impl Declarations<'_, '_> {
    /// Reads the rest of an attribute: the part before its colon has been read.
    pub(super) fn attribute(&mut self, references: &[(Place, Reference)]) -> Result<(), Stop> {
        if !self.lexer.peek()?.is(b':') {
            return Err(self.no_attribute(references)?);
        }
        self.lexer.expect(b':')?;
        let name = self.lexer.name("an attribute")?;
        let at = self.lexer.place;
        self.lexer.expect(b'=')?;
        let (ty, holder) = self.holder(references)?;
        let name = self.checked_name(at, &name)?;
        let variable = match holder {
            NodeId::Variable(id) => Some(id),
            NodeId::Group(_) => None,
        };
        let is_of_root = holder == NodeId::Group(self.model.root());
        if let Some(special) = SpecialName::of(&name, variable.is_some())
            && (variable.is_some() || is_of_root)
        {
            return self.special_attribute(special, variable);
        }
        // CDL may spell an attribute of quantization in another way than it is stored.
        let name = match quantize_name(&name).filter(|_| variable.is_some()) {
            Some(stored) => {
                self.special.is_any = true;
                stored.to_owned()
            }
            None => name,
        };
        match variable.filter(|_| name == "_FillValue") {
            Some(id) => self.fill_value(id, at),
            None => {
                let values = self.lexer.next_place()?;
                // Without a type in front, the values decide; they are looked at and then read from the same place.
                let ty = match ty {
                    Some(ty) => ty,
                    None => TypeRef::Atomic(self.inferred(values)?),
                };
                let values = self.attribute_values(ty, &name, holder)?;
                self.put_attribute(holder, Attribute { name, ty, values, is_json: false });
                Ok(())
            }
        }
    }

    /// The fault of a statement that is not an attribute either.
    fn no_attribute(&mut self, references: &[(Place, Reference)]) -> Result<Stop, Stop> {
        // A word in place of a type says more than what follows the name.
        if let [(at, ty), _] = references
            && self.names.any_type(&self.model, self.group(), ty).is_none()
            && !matches!(self.lexer.peek()?, Token::Number(_))
        {
            return Ok(at.undeclared(format!("no type {ty} is declared")));
        }
        let token = self.lexer.next()?;
        Ok(self.lexer.unexpected(&token, "\":\" and the name of an attribute"))
    }

    /// The type, if it is written, and what has the attribute.
    fn holder(&self, references: &[(Place, Reference)]) -> Result<(Option<TypeRef>, NodeId), Stop> {
        let group = NodeId::Group(self.group());
        match references {
            [] => Ok((None, group)),
            [(place, one)] => match self.names.attribute_holder(&self.model, self.group(), one) {
                Some(Ok(ty)) => Ok((Some(ty), group)),
                Some(Err(holder)) => Ok((None, holder)),
                None => Err(place.undeclared(format!("no variable and no type {one} is declared"))),
            },
            [(at, ty), (place, variable), ..] => {
                let ty = self.type_of(*at, ty)?;
                let found = self.names.variable(&self.model, self.group(), variable);
                let found =
                    found.ok_or_else(|| place.undeclared(format!("no variable {variable} is declared")));
                Ok((Some(ty), NodeId::Variable(found?)))
            }
        }
    }

    /// The type of the constants up to the semicolon, behind which nothing is taken.
    fn inferred(&mut self, start: Place) -> Result<Atomic, Stop> {
        let mut inferred = Inferred::Nothing;
        loop {
            let token = self.lexer.next()?;
            let next = match &token {
                Token::Punct(b';') => break,
                Token::Punct(b',') => continue,
                Token::Text(_) => Inferred::Text,
                Token::Char(_) => Inferred::Number(Atomic::Byte),
                Token::Number(number) => Inferred::Number(number.inferred()),
                Token::Name(word) => match words::number_word(word) {
                    Some((_, true)) => Inferred::Number(Atomic::Float),
                    Some((_, false)) => Inferred::Number(Atomic::Double),
                    None => {
                        let message = format!(
                            "unexpected {token}, expected a number or text: other attributes have their type in front"
                        );
                        return Err(self.lexer.fault(message));
                    }
                },
                _ => return Err(self.lexer.unexpected(&token, "a number, text or \";\"")),
            };
            inferred = match (inferred, next) {
                (Inferred::Nothing, next) => next,
                (Inferred::Text, Inferred::Text) => Inferred::Text,
                (Inferred::Number(one), Inferred::Number(other)) => Inferred::Number(join(one, other)),
                _ => return Err(self.lexer.fault("an attribute has numbers or text, not both")),
            };
        }
        // The constants are read again, as values of this type.
        self.lexer.jump(start);
        Ok(match inferred {
            Inferred::Number(atomic) => atomic,
            Inferred::Text | Inferred::Nothing => Atomic::Char,
        })
    }

    /// Reads values with what they may refer to.
    fn values_by<T>(
        &mut self,
        read: impl FnOnce(&mut ValueReader<'_, '_>) -> Result<T, Stop>,
    ) -> Result<(T, Unfit), Stop> {
        let group = self.group();
        let mut reader = ValueReader {
            lexer: &mut self.lexer,
            model: &self.model,
            names: &self.names,
            group,
            range: self.options.range,
            unfit: Unfit::default(),
        };
        let read = read(&mut reader)?;
        Ok((read, reader.unfit))
    }

    fn attribute_values(&mut self, ty: TypeRef, name: &str, holder: NodeId) -> Result<Values, Stop> {
        let none = self.model.zeros(ty, 0, 64);
        let mut values = none.ok_or_else(|| self.lexer.fault("a type that cannot be had"))?;
        let ((), unfit) = self.values_by(|reader| reader.attribute(ty, &mut values))?;
        let path = match holder {
            NodeId::Group(id) => self.model.group_path(id),
            NodeId::Variable(id) => self.model.variable_path(id),
        };
        self.notes.add(format!("{path}:{name}"), &unfit);
        Ok(values)
    }

    /// `_FillValue`: one element of the variable's own type, whatever type is written in front.
    fn fill_value(&mut self, id: VarId, at: Place) -> Result<(), Stop> {
        let ty = self.model.variable(id).map(|variable| variable.ty);
        let ty = ty.ok_or_else(|| at.fault("no such variable"))?;
        let values = self.attribute_values(ty, "_FillValue", NodeId::Variable(id))?;
        // Text that is empty is one NUL.
        let values = match values {
            Values::Char(chars) if chars.is_empty() => Values::Char(vec![0]),
            values => values,
        };
        if values.len() != 1 {
            return Err(at.fault(format!("_FillValue has one value, not {}", values.len())));
        }
        let attribute = Attribute { name: "_FillValue".to_owned(), ty, values, is_json: false };
        self.put_attribute(NodeId::Variable(id), attribute);
        Ok(())
    }
}

/// The type of an attribute with constants of two types: the larger; of two of one size, the later.
fn join(one: Atomic, other: Atomic) -> Atomic {
    let is = |atomic| one == atomic || other == atomic;
    if is(Atomic::Double) {
        return Atomic::Double;
    }
    if is(Atomic::Float) {
        return Atomic::Float;
    }
    if one.byte_len() > other.byte_len() { one } else { other }
}

/// Constants that did not fit their types, as the reference takes them.
#[derive(Debug, Default)]
pub(crate) struct RangeNotes(pub(super) Vec<RangeNote>);

impl RangeNotes {
    /// Notes what a list had that did not fit.
    pub(super) fn add(&mut self, name: String, unfit: &Unfit) {
        if let Some((line, constant)) = &unfit.first {
            let (line, constant) = (*line, constant.clone());
            self.0.push(RangeNote { name, line, constant, count: unfit.count });
        }
    }
}
