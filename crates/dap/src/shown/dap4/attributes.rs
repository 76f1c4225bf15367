//! Attributes of a DMR (docs/spec/dap.md 6.1, 6.6).
use crate::place::{DapPlace, DapView};
use crate::shown::fill;
use crate::{DmrAttribute, DmrVariable};
use ncirrus_model::{Attribute, Model, Strings, TypeRef, UserKind, Values};
use ncirrus_netcdf_view::names::is_reserved_in_dap4;

/// Reads attributes for a view.
pub(super) struct AttributeReader<'a> {
    pub(super) place: &'a DapPlace,
    pub(super) warnings: &'a mut Vec<String>,
}

/// The first value of an attribute that describes its holder for netCDF.
pub(super) fn hint<'a>(attributes: &'a [DmrAttribute], name: &str) -> Option<&'a str> {
    let attribute = attributes.iter().find(|attribute| attribute.name == name)?;
    attribute.texts.first().map(String::as_str)
}

/// The dimension that a container of old servers says to be unlimited.
pub(super) fn unlimited(attributes: &[DmrAttribute]) -> Option<String> {
    let containers = attributes.iter().filter(|attribute| attribute.name.starts_with("DODS"));
    let mut names = containers.filter_map(|container| hint(&container.children, "Unlimited_Dimension"));
    names.next().map(str::to_owned)
}

impl AttributeReader<'_> {
    /// The attributes of a group.
    pub(super) fn of_group(&mut self, attributes: &[DmrAttribute]) -> Vec<Attribute> {
        let mut list = Vec::new();
        self.collect("", attributes, &mut list);
        list
    }

    /// The attributes of a variable of that type; a fill value is one value of it, or none.
    pub(super) fn of_variable(
        &mut self,
        variable: &DmrVariable,
        ty: TypeRef,
        model: &Model,
    ) -> Vec<Attribute> {
        let mut list = Vec::new();
        self.collect("", &variable.attributes, &mut list);
        let mut list: Vec<Attribute> = list
            .into_iter()
            .filter_map(|attribute| self.typed(attribute, &variable.name, ty, model))
            .collect();
        if !variable.maps.is_empty() {
            let maps: Strings = variable.maps.iter().map(Some).collect();
            list.push(Attribute::atomic("_edu.ucar.maps", Values::String(maps)));
        }
        list
    }

    /// Attributes, those of containers named after them; netCDF-C leaves containers out.
    fn collect(&mut self, outer: &str, attributes: &[DmrAttribute], list: &mut Vec<Attribute>) {
        for attribute in attributes {
            let own = attribute.name.replace('/', "%2F");
            let name = if outer.is_empty() { own.clone() } else { format!("{outer}.{own}") };
            let Some((values, odd)) = attribute.values() else {
                if self.place.view == DapView::Native {
                    let is_global = outer.is_empty() && own.to_ascii_lowercase().ends_with("global");
                    self.collect(if is_global { "" } else { &name }, &attribute.children, list);
                }
                continue;
            };
            if outer.is_empty() && is_reserved_in_dap4(&own) {
                continue;
            }
            if odd > 0 {
                let ty = attribute.ty.as_deref().unwrap_or_default();
                self.warnings.push(format!("{name}: {odd} of its values are no {ty}"));
            }
            list.push(Attribute::atomic(name, self.text(values)));
        }
    }

    /// One string is text in netCDF; netCDF-C keeps strings.
    fn text(&self, values: Values) -> Values {
        match values {
            Values::String(strings) if self.place.view == DapView::Native && strings.len() == 1 => {
                Values::Char(strings.get(0).unwrap_or_default().to_vec())
            }
            values => values,
        }
    }

    /// The attribute, unless its variable's type rules it out.
    fn typed(
        &mut self,
        attribute: Attribute,
        variable: &str,
        ty: TypeRef,
        model: &Model,
    ) -> Option<Attribute> {
        if attribute.name != "_FillValue" || attribute.ty == ty && attribute.values.len() == 1 {
            return Some(attribute);
        }
        let converted = match ty {
            TypeRef::Atomic(atomic) => fill::converted(&attribute.values, atomic),
            TypeRef::User(id) => {
                let kind = &model.user_type(id)?.kind;
                constant(&attribute, kind).map(|values| (values, true))
            }
        };
        match converted {
            Some((values, is_same)) => {
                if !is_same {
                    self.warnings
                        .push(format!("{variable}: its _FillValue does not fit its type and was wrapped"));
                }
                Some(Attribute { name: attribute.name, ty, values, is_json: false })
            }
            // It says nothing of values of that type; elsewhere it would make the variable invalid.
            None => {
                self.warnings
                    .push(format!("{variable}: its _FillValue is no value of its type and is left out"));
                None
            }
        }
    }
}

/// The value of a constant that is named, or of a number.
fn constant(attribute: &Attribute, kind: &UserKind) -> Option<Values> {
    let UserKind::Enum { base, members } = kind else { return None };
    if let Some(text) = attribute.as_text() {
        let member = members.iter().find(|member| member.name == text)?;
        let number = Values::Int64(vec![i64::try_from(member.value).ok()?]);
        return fill::converted(&number, *base).map(|(values, _)| values);
    }
    fill::converted(&attribute.values, *base).filter(|(_, is_same)| *is_same).map(|(values, _)| values)
}
