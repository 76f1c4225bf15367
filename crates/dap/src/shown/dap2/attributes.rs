//! Which attributes belong to which variable (docs/spec/dap.md 2.3, 2.6).
mod short_names;

use super::walk::{FoundVariable, name_of};
use crate::conversion::signed_type;
use crate::literal::integer;
use crate::place::DapView;
use crate::{Das, DasAttribute, DasItem, Dds, DdsKind, DdsType, DdsVariable, WireName};
use ncirrus_model::{Atomic, Attribute, Strings, Values};
use std::collections::HashMap;

/// The attributes of a dataset by what they belong to.
#[derive(Debug, Default)]
pub(super) struct SharedAttributes {
    pub(super) global: Vec<Attribute>,
    /// For each variable.
    pub(super) of_variables: Vec<OwnAttributes>,
    /// The dimension that is unlimited.
    pub(super) unlimited: Option<String>,
    pub(super) warnings: Vec<String>,
    places: Vec<Vec<usize>>,
}

/// The attributes of a variable.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnAttributes {
    pub(super) list: Vec<Attribute>,
    /// Whether its bytes are signed.
    pub(super) is_signed: bool,
}

impl SharedAttributes {
    /// The attributes of a DAS; those of variables that the projections of the address leave out (`unprojected` has all) belong
    /// to no variable.
    pub(super) fn new(
        das: &Das,
        (dds, unprojected): (&Dds, Option<&Dds>),
        found: &[FoundVariable<'_>],
        view: DapView,
    ) -> Self {
        let mut sorter = Sorter {
            view,
            nodes: Nodes::of(dds, view),
            unprojected: unprojected.map(|dds| Nodes::of(dds, view)),
            by_place: found.iter().enumerate().map(|(at, variable)| (variable.index.clone(), at)).collect(),
            texts: vec![Vec::new(); found.len()],
            global: [const { Vec::new() }; 3],
            unlimited: None,
            given: 0,
        };
        // netCDF-C finds variables by their short names.
        match view {
            DapView::Native => das.items.iter().for_each(|item| sorter.top(item)),
            DapView::NetcdfC => sorter.by_short_names("", &das.items),
        }
        let mut shared = Self {
            unlimited: sorter.unlimited.take(),
            places: found.iter().map(|variable| variable.index.clone()).collect(),
            ..Self::default()
        };
        if sorter.given > MAX_GIVEN {
            let warning = format!("attributes of variables are left out: they are more than {MAX_GIVEN}");
            shared.warnings.push(warning);
        }
        let style = |is_signed| Style { view, is_signed };
        for (name, attribute) in sorter.global.iter().flatten() {
            let made = made(name.clone(), attribute, style(view == DapView::NetcdfC), &mut shared.warnings);
            shared.global.push(made);
        }
        for texts in &sorter.texts {
            // DAP2 has no signed bytes: attributes of a variable say how its bytes are meant.
            let is_signed = view == DapView::NetcdfC || is_signed(texts);
            let mut list = Vec::new();
            for attribute in texts {
                let name = name_of(&attribute.name, view);
                list.push(made(name, attribute, style(is_signed), &mut shared.warnings));
            }
            shared.of_variables.push(OwnAttributes { list, is_signed });
        }
        shared
    }

    /// Puts the attributes of variables in the order of these.
    pub(super) fn sort_like(&mut self, found: &[FoundVariable<'_>]) {
        let places = std::mem::take(&mut self.places);
        let lists = std::mem::take(&mut self.of_variables);
        let mut by_place: HashMap<Vec<usize>, OwnAttributes> = places.into_iter().zip(lists).collect();
        let own = |variable: &FoundVariable<'_>| by_place.remove(&variable.index).unwrap_or_default();
        self.of_variables = found.iter().map(own).collect();
    }
}

/// The variables and members of a DDS by name.
struct Nodes<'a> {
    /// By the whole path, with points.
    by_path: HashMap<String, Vec<usize>>,
    /// By the last name.
    by_name: HashMap<String, Vec<Vec<usize>>>,
    roots: &'a [DdsVariable],
}

impl<'a> Nodes<'a> {
    fn of(dds: &'a Dds, view: DapView) -> Self {
        let mut nodes = Self { by_path: HashMap::new(), by_name: HashMap::new(), roots: &dds.variables };
        for (at, variable) in dds.variables.iter().enumerate() {
            nodes.add(variable, &mut vec![at], "", view);
        }
        nodes
    }

    fn add(&mut self, variable: &DdsVariable, index: &mut Vec<usize>, outer: &str, view: DapView) {
        let name = name_of(&variable.name, view);
        let path = if outer.is_empty() { name.clone() } else { format!("{outer}.{name}") };
        self.by_path.entry(path.clone()).or_insert_with(|| index.clone());
        self.by_name.entry(name).or_default().push(index.clone());
        for (at, member) in variable.members().into_iter().enumerate() {
            index.push(at);
            self.add(member, index, &path, view);
            index.pop();
        }
    }

    /// The variable at a place.
    fn at(&self, index: &[usize]) -> Option<&'a DdsVariable> {
        let (first, rest) = index.split_first()?;
        rest.iter().try_fold(self.roots.get(*first)?, |variable, at| variable.members().get(*at).copied())
    }
}

/// The lists of attributes that belong to no variable.
const OWN: usize = 0;
const SPECIAL: usize = 1;
const OTHER: usize = 2;

/// Assigns the items of a DAS.
struct Sorter<'a, 'd> {
    view: DapView,
    nodes: Nodes<'d>,
    unprojected: Option<Nodes<'d>>,
    by_place: HashMap<Vec<usize>, usize>,
    texts: Vec<Vec<&'a DasAttribute>>,
    /// Those of the dataset itself, those that servers add, and those of no variable.
    global: [Vec<(String, &'a DasAttribute)>; 3],
    unlimited: Option<String>,
    /// How often an attribute was to be one of a variable.
    given: usize,
}

/// Attributes of all variables together: one container may belong to many.
const MAX_GIVEN: usize = 1 << 20;

impl<'a> Sorter<'a, '_> {
    fn shown(&self, name: &WireName) -> String {
        name_of(name, self.view)
    }

    /// Adds an attribute to the variable at a place, if one is shown there.
    fn give(&mut self, place: &[usize], attribute: &'a DasAttribute) {
        self.given += 1;
        let Some(variable) = self.by_place.get(place) else { return };
        if let Some(texts) = self.texts.get_mut(*variable).filter(|_| self.given <= MAX_GIVEN) {
            texts.push(attribute);
        }
    }

    fn top(&mut self, item: &'a DasItem) {
        match item {
            DasItem::Attribute(attribute) => {
                self.global[OWN].push((name_of(&attribute.name, self.view), attribute));
            }
            DasItem::Container { name, items } => {
                let shown = name_of(name, self.view);
                if is_global(&shown) {
                    return self.hoist(OWN, "", items);
                }
                if is_special(&shown) {
                    self.special(items);
                    return self.hoist(SPECIAL, &shown, items);
                }
                match self.named(&shown) {
                    nodes if nodes.is_empty() && self.is_left_out(&shown) => {}
                    nodes if nodes.is_empty() => self.hoist(OTHER, &shown, items),
                    nodes => nodes.iter().enumerate().for_each(|(at, node)| {
                        let rest = self.assign(node, &shown, items);
                        if at == 0 {
                            self.hoist_all(OTHER, &shown, rest.into_iter());
                        }
                    }),
                }
            }
        }
    }

    /// Whether a container names something that the projections of the address leave out.
    fn is_left_out(&self, name: &str) -> bool {
        let has = |nodes: &Nodes<'_>| nodes.by_path.contains_key(name) || nodes.by_name.contains_key(name);
        self.unprojected.as_ref().is_some_and(has) && !has(&self.nodes)
    }

    /// The places of what a container names: by its whole path, else by its last name.
    fn named(&self, name: &str) -> Vec<Vec<usize>> {
        if let Some(index) = self.nodes.by_path.get(name) {
            return vec![index.clone()];
        }
        self.nodes.by_name.get(name).cloned().unwrap_or_default()
    }

    /// The attributes of a container that is named after a variable. Returns those that belong to none.
    fn assign(&mut self, index: &[usize], path: &str, items: &'a [DasItem]) -> Vec<&'a DasItem> {
        let node = self.nodes.at(index);
        // The attributes of a grid are those of its array.
        let is_grid = node.is_some_and(|node| matches!(node.kind, DdsKind::Grid { .. }));
        let array = [index, &[0]].concat();
        let places = [Some(index), is_grid.then_some(&array[..])];
        let variable = places.into_iter().flatten().find(|place| self.by_place.contains_key(*place));
        let members = node.map(DdsVariable::members).unwrap_or_default();
        // A map that other grids have, too, is shown once.
        let is_map = node.is_some_and(|node| matches!(node.kind, DdsKind::Atomic(_)));
        let mut rest = Vec::new();
        for item in items {
            match (item, variable) {
                (DasItem::Attribute(attribute), Some(place)) => self.give(place, attribute),
                (DasItem::Container { name, items }, _) => {
                    let same = |member: &&DdsVariable| is_same(&member.name, name);
                    match members.iter().position(same) {
                        Some(at) => {
                            let path = format!("{path}.{}", name_of(name, self.view));
                            let inner = self.assign(&[index, &[at]].concat(), &path, items);
                            self.hoist_all(OTHER, &path, inner.into_iter());
                        }
                        None if self.is_left_out(&format!("{path}.{}", name_of(name, self.view))) => {}
                        None => rest.push(item),
                    }
                }
                (DasItem::Attribute(_), None) if is_map => {}
                (DasItem::Attribute(_), None) => rest.push(item),
            }
        }
        rest
    }

    /// Attributes that belong to no variable are the dataset's, named after their containers.
    fn hoist(&mut self, to: usize, path: &str, items: &'a [DasItem]) {
        self.hoist_all(to, path, items.iter());
    }

    fn hoist_all(&mut self, to: usize, path: &str, items: impl Iterator<Item = &'a DasItem>) {
        let inner = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let mut own = Vec::new();
        for item in items {
            match item {
                DasItem::Container { name, items } => {
                    self.hoist(to, &inner(&name_of(name, self.view)), items);
                }
                DasItem::Attribute(attribute) => {
                    own.push((inner(&name_of(&attribute.name, self.view)), attribute));
                }
            }
        }
        if let Some(list) = self.global.get_mut(to) {
            list.extend(own);
        }
    }

    /// What servers say of the dataset in containers of their own.
    fn special(&mut self, items: &[DasItem]) {
        for item in items {
            if let DasItem::Attribute(attribute) = item
                && attribute.name.shown == "Unlimited_Dimension"
                && let Some(name) = attribute.texts.first()
            {
                self.unlimited.get_or_insert_with(|| name_of(&WireName::new(name), self.view));
            }
        }
    }
}

/// Whether the attributes of a container of that name are the dataset's.
fn is_global(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("global")
}

/// Whether servers describe the dataset in a container of that name.
fn is_special(name: &str) -> bool {
    name.starts_with("DODS")
}

fn is_same(ours: &WireName, theirs: &WireName) -> bool {
    ours.wire == theirs.wire || ours.shown == theirs.shown
}

/// Whether the bytes of a variable are signed: it says so, or has values below zero (docs/spec/dap.md 5.1).
fn is_signed(texts: &[&DasAttribute]) -> bool {
    let is_limit = |name: &str| {
        matches!(name, "_FillValue" | "missing_value" | "valid_min" | "valid_max" | "valid_range")
    };
    texts.iter().any(|attribute| match attribute.name.shown.as_str() {
        "_Unsigned" => attribute.texts.iter().any(|text| text.eq_ignore_ascii_case("false")),
        name if is_limit(name) => {
            attribute.texts.iter().any(|text| integer(text).is_some_and(|number| number < 0))
        }
        _ => false,
    })
}

/// How values of attributes are shown.
#[derive(Debug, Clone, Copy)]
struct Style {
    view: DapView,
    /// Whether `Byte` is signed.
    is_signed: bool,
}

fn made(name: String, attribute: &DasAttribute, style: Style, warnings: &mut Vec<String>) -> Attribute {
    let (values, odd) = attribute.values();
    if odd > 0 {
        let ty = attribute.ty;
        warnings.push(format!("{name}: {odd} of its values are no {ty:?}"));
    }
    let values = match (values, style.view) {
        (Values::String(strings), DapView::NetcdfC) => Values::Char(joined(&strings)),
        (Values::String(strings), DapView::Native) if strings.len() == 1 => {
            Values::Char(strings.get(0).unwrap_or_default().to_vec())
        }
        (values, view) => {
            let narrow = view == DapView::NetcdfC || (style.is_signed && attribute.ty == DdsType::Byte);
            if narrow { as_signed(values) } else { values }
        }
    };
    Attribute::atomic(name, values)
}

/// The same bits in a type of netCDF-3.
fn as_signed(values: Values) -> Values {
    match values.atomic().map(signed_type) {
        Some(Atomic::Byte | Atomic::Short | Atomic::Int) => {
            let converted = crate::conversion::ValueConversion::Signed.convert(values.clone());
            converted.unwrap_or(values)
        }
        _ => values,
    }
}

/// Strings as one text: a line for each; an empty one is a NUL (docs/spec/dap.md 2.5).
fn joined(strings: &Strings) -> Vec<u8> {
    let until_nul = |text: &[u8]| text.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
    let lines: Vec<Vec<u8>> = strings.iter().map(|text| until_nul(text.unwrap_or_default())).collect();
    let text = lines.join(&b'\n');
    if text.is_empty() { vec![0] } else { text }
}
