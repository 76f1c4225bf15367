//! Arrays, grids and structures of DAP2: what a dataset declares, and what a request asks for of it (docs/spec/dap.md 3.3,
//! 4, 9).
use super::dap2::{container, read, shape, type_of, wire, write_values};
use super::ranges::{PathPart, selection};
use super::{DapBehaviour, Refusal, ServedDataset, ServedGrids, decoded, served_variables};
use ncirrus_model::{Atomic, Field, GroupId, Model, Selection, TypeRef, UserKind, Values, VarId};
use std::fmt::Write as _;

/// A declaration, and the elements of it that are asked for.
pub(super) struct Declared {
    name: String,
    /// Names, and lengths.
    dims: Vec<(Option<String>, u64)>,
    kind: DeclaredKind,
    /// The variable that has its values; those of members of a compound are in the compound's.
    source: Option<VarId>,
    wanted: Option<Selection>,
}

enum DeclaredKind {
    Values(Atomic),
    Structure(Vec<Declared>),
    /// The array and its maps; `is_whole`: the grid was asked for, and not members of it.
    Grid {
        members: Vec<Declared>,
        is_whole: bool,
    },
}

/// What a group declares, but for variables that are none of these.
pub(super) fn declared(
    model: &Model,
    group: GroupId,
    behaviour: &DapBehaviour,
    is_other: &dyn Fn(VarId) -> bool,
) -> Vec<Declared> {
    let served: Vec<VarId> =
        served_variables(model, group, behaviour).into_iter().filter(|id| !is_other(*id)).collect();
    let maps = |id: VarId| maps_of(model, id).filter(|_| behaviour.grids != ServedGrids::None);
    let is_hidden = |id: VarId| {
        let mut others = served.iter().filter_map(|other| maps(*other));
        behaviour.grids == ServedGrids::MapsAlone && others.any(|maps| maps.contains(&id))
    };
    let variable = |id: &VarId| match maps(*id) {
        Some(maps) => Declared::grid(model, *id, &maps),
        None => Declared::variable(model, *id),
    };
    let mut all: Vec<Declared> = served.iter().filter(|id| !is_hidden(**id)).map(variable).collect();
    let inner = model.group(group).map(|group| group.groups.clone()).unwrap_or_default();
    for inner in inner.into_iter().filter(|_| behaviour.structures) {
        let members = declared(model, inner, behaviour, is_other);
        let name = model.group(inner).map(|group| group.name.clone()).unwrap_or_default();
        if !members.is_empty() {
            all.push(Declared::new(name, Vec::new(), DeclaredKind::Structure(members)));
        }
    }
    all
}

/// The coordinates of the dimensions of a variable, if all have one and the variable itself is not one of them.
fn maps_of(model: &Model, id: VarId) -> Option<Vec<VarId>> {
    let is_array = |id: VarId| {
        let ty = model.variable(id).map(|variable| variable.ty);
        matches!(ty, Some(TypeRef::Atomic(atomic)) if atomic != Atomic::Char)
    };
    let variable = model.variable(id).filter(|variable| !variable.dims.is_empty())?;
    let maps = variable.dims.iter().map(|dim| model.coordinate_of(*dim));
    let maps: Vec<VarId> = maps.collect::<Option<_>>()?;
    (!maps.contains(&id) && maps.iter().chain([&id]).all(|id| is_array(*id))).then_some(maps)
}

impl Declared {
    fn new(name: String, dims: Vec<(Option<String>, u64)>, kind: DeclaredKind) -> Self {
        Self { name, dims, kind, source: None, wanted: None }
    }

    fn variable(model: &Model, id: VarId) -> Self {
        let variable = model.variable(id).unwrap();
        let name = |dim: &_| model.dimension(*dim).map(|dim| dim.name.clone());
        let dims = variable.dims.iter().map(name).zip(shape(model, id)).collect();
        let kind = kind_of(model, variable.ty);
        Self { source: Some(id), ..Self::new(variable.name.clone(), dims, kind) }
    }

    fn grid(model: &Model, id: VarId, maps: &[VarId]) -> Self {
        let members: Vec<Self> = [id].iter().chain(maps).map(|id| Self::variable(model, *id)).collect();
        let kind = DeclaredKind::Grid { members, is_whole: false };
        Self { source: Some(id), ..Self::new(model.variable(id).unwrap().name.clone(), Vec::new(), kind) }
    }

    fn shape(&self) -> Vec<u64> {
        self.dims.iter().map(|(_, len)| *len).collect()
    }

    fn members(&self) -> &[Self] {
        match &self.kind {
            DeclaredKind::Values(_) => &[],
            DeclaredKind::Structure(members) | DeclaredKind::Grid { members, .. } => members,
        }
    }

    /// Asks for all of it.
    pub(super) fn want_all(&mut self) {
        self.wanted = Some(Selection::all(&self.shape()));
        match &mut self.kind {
            DeclaredKind::Values(_) => {}
            DeclaredKind::Structure(members) => members.iter_mut().for_each(Self::want_all),
            DeclaredKind::Grid { members, is_whole } => {
                *is_whole = true;
                members.iter_mut().for_each(Self::want_all);
            }
        }
    }

    fn want(&mut self, ranges: &[String], rest: &[PathPart]) -> Result<(), Refusal> {
        let wrong = |what: String| Err(("400 Bad Request", what));
        let own = self.shape();
        match &mut self.kind {
            DeclaredKind::Values(_) if !rest.is_empty() => {
                return wrong(format!("{} has no members", self.name));
            }
            DeclaredKind::Grid { members, is_whole } if rest.is_empty() => {
                let [array, maps @ ..] = members.as_mut_slice() else { return Ok(()) };
                let part = selection(ranges, &array.shape())?;
                for (map, axis) in maps.iter_mut().zip(part.axes()) {
                    map.wanted = Some(Selection::new(vec![axis.clone()]));
                }
                (array.wanted, self.wanted, *is_whole) = (Some(part), Some(Selection::all(&[])), true);
                return Ok(());
            }
            DeclaredKind::Grid { members, is_whole } => {
                (*is_whole, self.wanted) = (false, Some(selection(ranges, &own)?));
                return want(members, rest);
            }
            DeclaredKind::Structure(members) if rest.is_empty() => {
                members.iter_mut().for_each(Self::want_all);
            }
            DeclaredKind::Structure(members) => want(members, rest)?,
            DeclaredKind::Values(_) => {}
        }
        self.wanted = Some(selection(ranges, &own)?);
        Ok(())
    }

    /// Number of variables that are asked for.
    pub(super) fn len(&self) -> usize {
        let is_one = !matches!(&self.kind, DeclaredKind::Structure(_) if self.source.is_none());
        match &self.wanted {
            None => 0,
            Some(_) if is_one => 1,
            Some(_) => self.members().iter().map(Self::len).sum(),
        }
    }

    /// Its declaration, of what is asked for.
    pub(super) fn dds(&self, indent: &str, text: &mut String) {
        let Some(wanted) = &self.wanted else { return };
        let within = format!("{indent}    ");
        match &self.kind {
            DeclaredKind::Values(atomic) => _ = write!(text, "{indent}{} ", type_of(*atomic)),
            DeclaredKind::Grid { members, is_whole: true } => {
                _ = writeln!(text, "{indent}Grid {{\n{indent}  Array:");
                for (at, member) in members.iter().enumerate() {
                    text.push_str(&if at == 1 { format!("{indent}  Maps:\n") } else { String::new() });
                    member.dds(&within, text);
                }
                _ = write!(text, "{indent}}} ");
            }
            DeclaredKind::Structure(members) | DeclaredKind::Grid { members, .. } => {
                _ = writeln!(text, "{indent}Structure {{");
                members.iter().for_each(|member| member.dds(&within, text));
                _ = write!(text, "{indent}}} ");
            }
        }
        text.push_str(&wire(&self.name));
        for ((name, _), len) in self.dims.iter().zip(wanted.shape()) {
            let name = name.as_ref().map(|name| format!("{} = ", wire(name))).unwrap_or_default();
            _ = write!(text, "[{name}{len}]");
        }
        text.push_str(";\n");
    }

    /// Its attributes, and those of its members.
    pub(super) fn das(&self, model: &Model, behaviour: &DapBehaviour) -> String {
        let each =
            |members: &[Self]| members.iter().map(|member| member.das(model, behaviour)).collect::<String>();
        let members = match &self.kind {
            DeclaredKind::Values(_) => String::new(),
            DeclaredKind::Structure(members) => each(members),
            DeclaredKind::Grid { members, .. } if behaviour.grids == ServedGrids::MapsAlone => {
                each(members.get(1..).unwrap_or_default())
            }
            DeclaredKind::Grid { .. } => String::new(),
        };
        match self.source {
            Some(id) => container(model, id, &members),
            None => format!("  {} {{\n{members}  }}\n", wire(&self.name)),
        }
    }

    /// The values that are asked for.
    pub(super) fn values(&self, dataset: &ServedDataset, body: &mut Vec<u8>) -> Result<(), Refusal> {
        let Some(wanted) = &self.wanted else { return Ok(()) };
        match (&self.kind, self.source) {
            (DeclaredKind::Grid { members, .. }, _) | (DeclaredKind::Structure(members), None) => {
                return members.iter().try_for_each(|member| member.values(dataset, body));
            }
            (_, Some(id)) => self.write(&read(dataset, id, wanted)?, body),
            (DeclaredKind::Values(_), None) => {}
        }
        Ok(())
    }

    /// Values of the elements that are asked for.
    fn write(&self, values: &Values, body: &mut Vec<u8>) {
        let count = self.wanted.as_ref().and_then(Selection::element_count).unwrap_or(0);
        let (DeclaredKind::Structure(members), Values::Compound { len, fields }) = (&self.kind, values)
        else {
            return write_values(values, count, !self.dims.is_empty(), body);
        };
        if !self.dims.is_empty() {
            body.extend(u32::try_from(count).unwrap().to_be_bytes());
        }
        for at in 0..*len {
            for (member, field) in members.iter().zip(fields) {
                let each = field.len() / len;
                member.write_part(&field.slice(at * each..(at + 1) * each), body);
            }
        }
    }

    /// The elements that are asked for among all of a member.
    fn write_part(&self, all: &Values, body: &mut Vec<u8>) {
        let Some(wanted) = &self.wanted else { return };
        let mut part = all.empty_like();
        for at in places(wanted, &self.shape()) {
            part.extend_from(all, at..at + 1);
        }
        self.write(&part, body);
    }

    fn is_called(&self, requested: &str) -> bool {
        wire(&self.name) == requested || self.name == decoded(requested)
    }
}

/// Asks for what a path names among declarations.
pub(super) fn want(all: &mut [Declared], path: &[PathPart]) -> Result<(), Refusal> {
    // The longest name first: names may have dots.
    for len in (1..=path.len()).rev() {
        let (own, rest) = path.split_at(len);
        let has_ranges = own.iter().rev().skip(1).any(|part| !part.ranges.is_empty());
        let name = own.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(".");
        if let Some(found) = all.iter_mut().find(|found| found.is_called(&name) && !has_ranges) {
            return found.want(&own[len - 1].ranges, rest);
        }
    }
    let requested = path.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(".");
    Err(("404 Not Found", format!("variable '{requested}' was not found")))
}

fn kind_of(model: &Model, ty: TypeRef) -> DeclaredKind {
    let fields = match ty {
        TypeRef::Atomic(atomic) => return DeclaredKind::Values(atomic),
        TypeRef::User(id) => match model.user_type(id).map(|ty| &ty.kind) {
            Some(UserKind::Compound(fields)) => fields.as_slice(),
            _ => &[],
        },
    };
    let member = |field: &Field| {
        let dims = field.dims.iter().map(|len| (None, *len)).collect();
        Declared::new(field.name.clone(), dims, kind_of(model, field.ty))
    };
    DeclaredKind::Structure(fields.iter().map(member).collect())
}

/// The numbers of the selected elements of an array, in row-major order.
fn places(part: &Selection, shape: &[u64]) -> Vec<usize> {
    let mut places = vec![0_u64];
    for (axis, len) in part.axes().iter().zip(shape) {
        let along = |place: u64| (0..axis.count()).filter_map(move |at| Some(place * len + axis.index(at)?));
        places = places.into_iter().flat_map(along).collect();
    }
    places.into_iter().map(|place| usize::try_from(place).unwrap()).collect()
}
