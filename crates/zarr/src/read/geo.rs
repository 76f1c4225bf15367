//! The conventions `proj:`, `spatial:` and `multiscales` of GeoZarr, in the terms of CF: a grid mapping variable for the coordinate
//! reference system, and coordinate variables for an affine transform without rotation. Both are computed; nothing is stored.
//!
//! Attributes of the conventions stay as they are. Ambiguous attributes are ignored: variables that exist are kept, and
//! arrays of a group that contradict each other get no coordinates.
use super::assemble::DatasetAssembly;
use super::node::{ArrayNode, AttributeHolder, GroupNode};
use crate::json::JsonValue;
use affine::{AffineIndex, values_of};
use crs::ReferenceSystem;
use ncirrus_layout::{ByteOrder, ChunkGrid, ChunkIndex, EdgeChunks, Layout, Result, Source, StoredType};
use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, DimId, GroupId, VarId, Variable, default_fill,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

mod affine;
mod crs;

/// What the conventions say of a group or an array.
#[derive(Debug, Clone, Default, PartialEq)]
struct Georeference {
    system: Option<ReferenceSystem>,
    /// Names of the dimensions of y and x.
    dims: Option<Arc<[String; 2]>>,
    /// Along y and x: the coordinate at the edge or centre of the first cell, and the distance of cells.
    axes: Option<[AxisLine; 2]>,
}

/// Coordinates at equal distances: `start + step * index`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AxisLine {
    start: f64,
    step: f64,
}

impl Georeference {
    fn of(holder: &AttributeHolder) -> Self {
        Self {
            system: ReferenceSystem::of(&|name| holder.find(name)),
            dims: dims(holder.find("spatial:dimensions")),
            axes: axes(&|name| holder.find(name)),
        }
    }

    /// The same with what another level says, where this one says nothing.
    fn or(self, outer: &Self) -> Self {
        Self {
            system: self.system.or_else(|| outer.system.clone()),
            dims: self.dims.or_else(|| outer.dims.clone()),
            axes: self.axes.or(outer.axes),
        }
    }

    fn is_empty(&self) -> bool {
        self.system.is_none() && self.axes.is_none()
    }
}

fn dims(json: Option<&JsonValue>) -> Option<Arc<[String; 2]>> {
    match json?.as_array()? {
        [y, x] => {
            let names = [y.as_str()?.to_owned(), x.as_str()?.to_owned()];
            (y.as_str() != x.as_str()).then(|| Arc::new(names))
        }
        _ => None,
    }
}

/// Both axes of an affine transform without rotation.
fn axes<'a>(find: &dyn Fn(&str) -> Option<&'a JsonValue>) -> Option<[AxisLine; 2]> {
    let half = match find("spatial:registration").map(JsonValue::as_str) {
        None | Some(Some("pixel")) => 0.5,
        Some(Some("node")) => 0.0,
        Some(_) => return None,
    };
    if !matches!(find("spatial:transform_type").map(JsonValue::as_str), None | Some(Some("affine"))) {
        return None;
    }
    let numbers = find("spatial:transform")?.as_array()?.iter();
    let numbers: Option<Vec<f64>> = numbers.map(|number| Some(number.as_number()?.as_f64())).collect();
    let [a, b, c, d, e, f] = numbers?[..] else { return None };
    let is_straight = b == 0.0 && d == 0.0 && a != 0.0 && e != 0.0;
    let line = |step: f64, edge: f64| AxisLine { start: edge + half * step, step };
    let all = [line(e, f), line(a, c)];
    let is_finite = all.iter().all(|line| line.start.is_finite() && line.step.is_finite());
    (is_straight && is_finite).then_some(all)
}

/// The levels of a pyramid: what the conventions say of the groups or arrays that `multiscales` names, by their paths.
fn levels(path: &str, node: &GroupNode, own: &Georeference) -> Vec<(String, Georeference)> {
    let layout = node.attributes.find("multiscales").and_then(|scales| scales.member("layout"));
    let level = |json: &JsonValue| {
        let asset = json.member("asset")?.as_str()?.trim_matches('/').to_owned();
        let find = |name: &str| json.member(name);
        let of_level = Georeference {
            system: ReferenceSystem::of(&find),
            dims: dims(json.member("spatial:dimensions")),
            axes: axes(&find),
        };
        // The transform of the group is that of one level, if any.
        let outer = Georeference { axes: None, ..own.clone() };
        Some((format!("{}/{asset}", path.trim_end_matches('/')), of_level.or(&outer)))
    };
    layout.and_then(JsonValue::as_array).unwrap_or_default().iter().filter_map(level).collect()
}

/// An array and what the conventions say of it.
struct Georeferenced {
    var: VarId,
    dims: Vec<DimId>,
    said: Georeference,
}

impl DatasetAssembly<'_> {
    /// Adds what the conventions mean in CF.
    ///
    /// # Errors
    /// If the model rejects a variable.
    pub(super) fn georeference(&mut self, groups: &[(GroupId, &GroupNode)]) -> Result<()> {
        let mut of_paths: HashMap<String, Georeference> = HashMap::new();
        for (id, node) in groups {
            let path = self.model.group_path(*id);
            self.warn_of_long_wkt(&path, node);
            let own = Georeference::of(&node.attributes);
            of_paths.extend(levels(&path, node, &own));
            let own = match of_paths.get(&path) {
                Some(level) => own.or(level),
                None => own,
            };
            let arrays: Vec<Georeferenced> =
                node.arrays.iter().filter_map(|array| self.said_of(*id, array, &own, &of_paths)).collect();
            self.add_systems(*id, &arrays)?;
            self.add_coordinates(*id, &arrays)?;
        }
        Ok(())
    }

    /// Warns of descriptions of coordinate reference systems that are ignored.
    fn warn_of_long_wkt(&mut self, path: &str, node: &GroupNode) {
        let path = path.trim_end_matches('/');
        if crs::has_long_wkt(&|name| node.attributes.find(name)) {
            self.warnings.push(format!("{path}/: proj:wkt2 is ignored: it is too long"));
        }
        for array in &node.arrays {
            if crs::has_long_wkt(&|name| array.attributes.find(name)) {
                self.warnings.push(format!("{path}/{}: proj:wkt2 is ignored: it is too long", array.name));
            }
        }
    }

    fn said_of(
        &self,
        group: GroupId,
        array: &ArrayNode,
        outer: &Georeference,
        of_paths: &HashMap<String, Georeference>,
    ) -> Option<Georeferenced> {
        let var = self.model.variable_in(group, &array.name)?;
        let variable = self.model.variable(var)?;
        if variable.fault.is_some() || variable.dims.len() < 2 {
            return None;
        }
        let own = Georeference::of(&array.attributes);
        let said = match of_paths.get(&self.model.variable_path(var)) {
            Some(level) => own.or(level),
            None => own,
        };
        let mut said = said.or(outer);
        let name = |dim: &DimId| self.model.dimension(*dim).map(|dim| dim.name.as_str());
        if let Some(dims) = &said.dims {
            let has = |wanted: &String| variable.dims.iter().any(|dim| name(dim) == Some(wanted));
            if !dims.iter().all(has) {
                return None;
            }
        } else {
            said.axes = None;
        }
        (!said.is_empty()).then(|| Georeferenced { var, dims: variable.dims.clone(), said })
    }

    /// A grid mapping variable for each coordinate reference system, and its name in the arrays.
    fn add_systems(&mut self, group: GroupId, arrays: &[Georeferenced]) -> Result<()> {
        let mut known: Vec<(ReferenceSystem, String)> = Vec::new();
        for array in arrays {
            let Some(system) = array.said.system.as_ref().filter(|system| system.is_known()) else {
                continue;
            };
            let attributes = self.model.variable(array.var).and_then(|variable| variable.attributes.known());
            if attributes.is_none_or(|known| known.find("grid_mapping").is_some()) {
                continue;
            }
            let found = known.iter().find(|(other, _)| other == system).map(|(_, name)| name.clone());
            let name = match found {
                Some(name) => name,
                None => {
                    let Some(name) = self.free_name(group) else { continue };
                    let variable = Variable {
                        attributes: AttributeState::Known(system.attributes()),
                        ..Variable::new(name.clone(), Atomic::Int.into(), Vec::new())
                    };
                    let source = computed(Atomic::Int, Vec::new(), Arc::new(values_of(vec![0; 4])));
                    self.model.insert_variable(group, variable)?;
                    self.sources.push(Ok(source));
                    known.push((system.clone(), name.clone()));
                    name
                }
            };
            if let Some(AttributeState::Known(attributes)) =
                self.model.variable_mut(array.var).map(|variable| &mut variable.attributes)
            {
                attributes.put(Attribute::text("grid_mapping", &name));
            }
        }
        Ok(())
    }

    fn free_name(&self, group: GroupId) -> Option<String> {
        let names = ["spatial_ref", "crs"].map(str::to_owned).into_iter();
        let numbered = (1..64).map(|number| format!("spatial_ref_{number}"));
        names.chain(numbered).find(|name| self.model.variable_in(group, name).is_none())
    }

    /// Coordinate variables of the dimensions on which all arrays agree, unless there are any.
    fn add_coordinates(&mut self, group: GroupId, arrays: &[Georeferenced]) -> Result<()> {
        let mut found: BTreeMap<DimId, Option<(AxisLine, bool, Option<ReferenceSystem>)>> = BTreeMap::new();
        for array in arrays {
            let (Some(dims), Some(axes)) = (&array.said.dims, &array.said.axes) else { continue };
            for (number, (name, line)) in dims.iter().zip(axes).enumerate() {
                let named = |dim: &&DimId| self.model.dimension(**dim).is_some_and(|dim| dim.name == *name);
                let Some(dim) = array.dims.iter().find(named) else { continue };
                let said = (*line, number == 1, array.said.system.clone());
                let entry = found.entry(*dim).or_insert_with(|| Some(said.clone()));
                if entry.as_ref() != Some(&said) {
                    *entry = None;
                }
            }
        }
        for (dim, said) in found {
            let Some((line, is_x, system)) = said else { continue };
            let Some(dimension) = self.model.dimension(dim).cloned() else { continue };
            if self.model.variable_in(group, &dimension.name).is_some() {
                continue;
            }
            let attributes = match &system {
                Some(system) => system.coordinate(is_x),
                None => crs::axis(is_x),
            };
            let variable = Variable {
                attributes: AttributeState::Known(attributes),
                ..Variable::new(dimension.name.clone(), Atomic::Double.into(), vec![dim])
            };
            let index = AffineIndex { start: line.start, step: line.step };
            let source = computed(Atomic::Double, vec![dimension.len.current()], Arc::new(index));
            self.model.insert_variable(group, variable)?;
            self.sources.push(Ok(source));
        }
        Ok(())
    }
}

/// The source of values that an index has in memory: little-endian numbers of 4 or 8 bytes.
fn computed(atomic: Atomic, extent: Vec<u64>, index: Arc<dyn ChunkIndex>) -> Source {
    let order = ByteOrder::Little;
    let stored = match atomic {
        Atomic::Double => StoredType::Float { size: 8, order },
        _ => StoredType::Integer { size: 4, signed: true, order },
    };
    let grid = ChunkGrid::Regular(extent.iter().map(|_| affine::CHUNK).collect());
    let layout = Layout::Grid { grid, edge: EdgeChunks::Full, index, codecs: [].into() };
    Source { layout, stored, extent, fill: default_fill(atomic), resolver: None, swapped_fill: false }
}

/// Attributes from pairs of names and texts.
fn texts(pairs: &[(&str, &str)]) -> Attributes {
    pairs.iter().map(|(name, text)| Attribute::text(*name, text)).collect()
}
