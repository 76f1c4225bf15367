//! One variable of a picture: its axes, and the selection that is read.
use super::coordinates::{Coordinate, Coordinates, dims};
use super::{PlotOptions, PlotPlan};
use crate::axis;
use crate::facts::CoordinateRole;
use crate::figure::PictureSize;
use crate::strides::{self, StoredAxis};
use ncirrus::{
    AxisSelection, Dataset, DimId, Error, Result, Selection, Storage, VarId, Variable, VariableSelect,
};

/// Lines are read whole if that fetches at most so many bytes.
const CHEAP: u64 = 64 << 20;
/// Bytes that a request for a few elements of a variable without filters counts as, so that pictures do not need very many.
const RUN: u64 = 16 << 10;

/// The axes of a part, as numbers of the variable's dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drawn {
    Line { axis: usize },
    Field { rows: usize, columns: usize },
}

/// A variable of a picture.
pub(super) struct Part {
    pub(super) variable: Variable,
    pub(super) other: Option<Variable>,
    pub(super) coordinates: Coordinates,
    pub(super) dims: Vec<DimId>,
    pub(super) drawn: Drawn,
    /// What is read: each axis but the drawn ones has one index.
    pub(super) selection: Selection,
    /// The strides of the drawn axes.
    pub(super) strides: Vec<u64>,
    /// How the user wrote it.
    pub(super) path: String,
}

impl Part {
    pub(super) fn new(
        dataset: &Dataset,
        select: &VariableSelect,
        options: &PlotOptions,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let variable = dataset.variable(&select.path)?;
        check_numbers(&variable)?;
        let shape = variable.shape();
        let selection = select.resolve(&shape)?;
        let coordinates = Coordinates::of(&variable)?;
        let mut part = Self {
            dims: dims(dataset, &variable)?,
            other: options.compare.as_ref().map(|other| other_variable(other, &variable)).transpose()?,
            variable,
            coordinates,
            drawn: Drawn::Line { axis: 0 },
            selection,
            strides: Vec::new(),
            path: select.path.clone(),
        };
        part.drawn = part.axes()?;
        part.take_first(notes)?;
        part.thin_out(options, notes);
        Ok(part)
    }

    /// The axes that are drawn.
    fn axes(&self) -> Result<Drawn> {
        let counts = self.selection.shape();
        if let Some(empty) = counts.iter().position(|count| *count == 0) {
            let name = self.dimension_name(empty);
            return Err(Error::invalid(format!("nothing is selected of {name}")).at_path(&self.path));
        }
        let free: Vec<usize> = (0..counts.len()).filter(|axis| counts.get(*axis) > Some(&1)).collect();
        match free.as_slice() {
            [] => {
                let message = "a single value is selected, and a picture needs a dimension; `ncirrus dump` prints values";
                Err(Error::invalid(message).at_path(&self.path))
            }
            [axis] => Ok(Drawn::Line { axis: *axis }),
            free => Ok(self.oriented(self.map_axes(free).unwrap_or_else(|| last_two(free)))),
        }
    }

    /// The axes of a map: latitude and longitude, by one coordinate each or by two that have both dimensions.
    fn map_axes(&self, free: &[usize]) -> Option<(usize, usize)> {
        let with = |is_wanted: fn(&CoordinateRole) -> bool| {
            free.iter().copied().find(|axis| self.along(*axis).is_some_and(|found| is_wanted(&found.role)))
        };
        let lat = with(|role| matches!(role, CoordinateRole::Latitude));
        let lon = with(|role| matches!(role, CoordinateRole::Longitude));
        if let (Some(lat), Some(lon)) = (lat, lon) {
            return Some((lat, lon));
        }
        let axis_of = |dim: DimId| free.iter().copied().find(|axis| self.dims.get(*axis) == Some(&dim));
        let pairs = self.coordinates.pairs().filter(|pair| self.coordinates.over(*pair).is_some());
        let mut axes = pairs.filter_map(|[one, other]| Some((axis_of(one)?, axis_of(other)?)));
        axes.next().map(|(one, other)| (one.min(other), one.max(other)))
    }

    /// Heights are drawn upwards, and times from left to right unless longitudes are: beside these times run upwards.
    fn oriented(&self, (rows, columns): (usize, usize)) -> Drawn {
        use CoordinateRole::{Latitude, Longitude, Time, Vertical};
        let role = |axis| self.along(axis).map(|coordinate| &coordinate.role);
        let swaps = match (role(rows), role(columns)) {
            (Some(Time(_)), Some(Longitude)) => false,
            (Some(Time(_)), other) => !matches!(other, Some(Time(_))),
            (Some(Longitude), Some(Latitude | Vertical { .. } | Time(_))) => true,
            (Some(Vertical { .. }), _) => false,
            (_, Some(Vertical { .. })) => true,
            _ => false,
        };
        if swaps { Drawn::Field { rows: columns, columns: rows } } else { Drawn::Field { rows, columns } }
    }

    /// Reduces the axes that are not drawn to their first index, and says so.
    fn take_first(&mut self, notes: &mut Vec<String>) -> Result<()> {
        let drawn = self.drawn_axes();
        let mut axes = self.selection.axes().to_vec();
        for (number, axis) in axes.iter_mut().enumerate() {
            let count = axis.count();
            let first = axis.index(0).unwrap_or(0);
            if drawn.contains(&number) || count <= 1 {
                continue;
            }
            *axis = AxisSelection::Slice { start: first, count: 1, stride: 1 };
            let name = self.dimension_name(number);
            let at = self.text_at(number, first)?.map(|text| format!(" ({text})")).unwrap_or_default();
            notes.push(format!(
                "{}: index {first} of {name}{at} is drawn, of {count}; select another one: {}",
                self.path,
                self.example(number)
            ));
        }
        self.selection = Selection::new(axes);
        Ok(())
    }

    /// How to select another index of an axis.
    fn example(&self, axis: usize) -> String {
        let drawn = self.drawn_axes();
        let of = |number: usize| match number {
            number if number == axis => "N".to_owned(),
            number if drawn.contains(&number) => ":".to_owned(),
            _ => "0".to_owned(),
        };
        let axes: Vec<String> = (0..self.dims.len()).map(of).collect();
        format!("'{}[{}]'", self.path, axes.join(","))
    }

    /// Applies the strides.
    fn thin_out(&mut self, options: &PlotOptions, notes: &mut Vec<String>) {
        let (chunk, bytes) = self.chunk();
        let visible = options.visible.unwrap_or_else(|| visible(options.size));
        let axes = self.drawn_axes();
        let stored = |axis: usize, visible: u64| {
            let selected = self.selection.axes().get(axis);
            let step = selected.map_or(1, |axis| match axis {
                AxisSelection::Slice { stride, .. } => *stride,
                AxisSelection::Indices(_) => 1,
            });
            let chunk = chunk.get(axis).copied().unwrap_or(1);
            StoredAxis { count: selected.map_or(1, AxisSelection::count), step, chunk, visible }
        };
        self.strides = match self.drawn {
            Drawn::Line { axis } => {
                vec![strides::of_line(stored(axis, visible.0 * 2), bytes, (CHEAP, PlotPlan::BUDGET))]
            }
            Drawn::Field { rows, columns } => strides::choose(
                &[stored(rows, visible.1), stored(columns, visible.0)],
                bytes,
                PlotPlan::BUDGET,
            ),
        };
        let mut selected = self.selection.axes().to_vec();
        for (axis, stride) in axes.into_iter().zip(&self.strides) {
            if *stride > 1 {
                let (name, count) =
                    (self.dimension_name(axis), selected.get(axis).map_or(0, AxisSelection::count));
                notes.push(format!("{}: 1 of {stride} values along {name} is drawn, of {count}", self.path));
                if let Some(selected) = selected.get_mut(axis) {
                    *selected = thinned(selected, *stride);
                }
            }
        }
        self.selection = Selection::new(selected);
    }

    /// The shape of a chunk, and its bytes before compression.
    fn chunk(&self) -> (Vec<u64>, u64) {
        let size =
            self.variable.decoding().ok().and_then(|decoding| decoding.stored_type().byte_len()).unwrap_or(8)
                as u64;
        let shape = match self.variable.storage() {
            // Parts of chunks without filters are read on their own.
            Storage::Chunked(shape)
                if shape.len() == self.dims.len() && !self.variable.filters().is_empty() =>
            {
                shape
            }
            _ => {
                let mut shape = vec![1; self.dims.len()];
                if let Some(last) = shape.last_mut() {
                    *last = (RUN / size.max(1)).max(1);
                }
                shape
            }
        };
        let bytes = shape.iter().fold(size, |bytes, len| bytes.saturating_mul(*len));
        (shape, bytes)
    }

    pub(super) fn drawn_axes(&self) -> Vec<usize> {
        match self.drawn {
            Drawn::Line { axis } => vec![axis],
            Drawn::Field { rows, columns } => vec![rows, columns],
        }
    }

    /// The coordinate along an axis.
    pub(super) fn along(&self, axis: usize) -> Option<&Coordinate> {
        self.coordinates.along(*self.dims.get(axis)?)
    }

    /// Longitude and latitude that have both drawn dimensions.
    pub(super) fn over(&self) -> Option<(&Coordinate, &Coordinate)> {
        let Drawn::Field { rows, columns } = self.drawn else { return None };
        self.coordinates.over([*self.dims.get(rows)?, *self.dims.get(columns)?])
    }

    pub(super) fn dimension_name(&self, axis: usize) -> String {
        self.variable.dimensions().get(axis).map(|dim| dim.name.clone()).unwrap_or_default()
    }

    /// The name of the dimension of a line.
    pub(super) fn line_dimension(&self) -> Option<String> {
        let Drawn::Line { axis } = self.drawn else { return None };
        Some(self.dimension_name(axis))
    }

    /// The selection of the coordinate along an axis. Several axes may have the same dimension.
    pub(super) fn selection_along(&self, axis: usize) -> Selection {
        Selection::new(self.selection.axes().get(axis).cloned().into_iter().collect())
    }

    /// The selection of a coordinate that has two of the variable's dimensions.
    pub(super) fn selection_of(&self, coordinate: &Coordinate) -> Selection {
        let axis = |dim: &DimId| {
            let number = self.dims.iter().position(|known| known == dim);
            let selected = number.and_then(|number| self.selection.axes().get(number).cloned());
            selected.unwrap_or(AxisSelection::Slice { start: 0, count: 1, stride: 1 })
        };
        Selection::new(coordinate.dims.iter().map(axis).collect())
    }

    /// The coordinate at an index of an axis, as text.
    fn text_at(&self, axis: usize, index: u64) -> Result<Option<String>> {
        let Some(coordinate) = self.along(axis) else { return Ok(None) };
        coordinate.text(&Selection::slab(&[index], &[1]))
    }

    /// Which part of the variable is drawn: the coordinates of the axes that have one index.
    pub(super) fn place(&self) -> Result<Vec<String>> {
        let drawn = self.drawn_axes();
        let mut places = Vec::new();
        for (number, axis) in self.selection.axes().iter().enumerate() {
            if drawn.contains(&number)
                || self.variable.shape().get(number) == Some(&1) && self.along(number).is_none()
            {
                continue;
            }
            let index = axis.index(0).unwrap_or(0);
            let name = self.dimension_name(number);
            places.push(match self.text_at(number, index)? {
                Some(text) => format!("{name} = {text}"),
                None => format!("{name}[{index}]"),
            });
        }
        for scalar in self.coordinates.scalars() {
            if let Some(text) = scalar.text(&Selection::slab(&[], &[]))? {
                places.push(format!("{} = {text}", scalar.facts.name));
            }
        }
        Ok(places)
    }

    /// What is read of the dataset.
    pub(super) fn wanted(&self) -> Vec<(VarId, Selection)> {
        let mut wanted = vec![(self.variable.id(), self.selection.clone())];
        let coordinates: Vec<(&Coordinate, Selection)> = match self.over() {
            Some((lon, lat)) => [lon, lat].map(|found| (found, self.selection_of(found))).into(),
            None => {
                let along = |axis: usize| Some((self.along(axis)?, self.selection_along(axis)));
                self.drawn_axes().into_iter().filter_map(along).collect()
            }
        };
        let others = coordinates.into_iter().filter(|(found, _)| found.variable.id() != self.variable.id());
        wanted.extend(others.map(|(found, selection)| (found.variable.id(), selection)));
        wanted
    }

    pub(super) fn wanted_of_other(&self) -> Option<(VarId, Selection)> {
        Some((self.other.as_ref()?.id(), self.selection.clone()))
    }
}

impl Coordinate {
    /// The value at one place, as text.
    fn text(&self, selection: &Selection) -> Result<Option<String>> {
        let values = self.variable.read_decoded(selection)?.numbers();
        let Some(value) = values.first().filter(|value| value.is_finite()) else { return Ok(None) };
        let kind = self.axis_kind();
        let text = axis::text(&kind, *value);
        let units =
            self.facts.units.as_deref().filter(|units| *units != "1" && kind == axis::AxisKind::Number);
        Ok(Some(units.map_or_else(|| text.clone(), |units| format!("{text} {units}"))))
    }
}

fn check_numbers(variable: &Variable) -> Result<()> {
    if variable.decoding()?.stored_type().is_numeric() {
        Ok(())
    } else {
        Err(Error::invalid("text cannot be drawn").at_path(variable.path()))
    }
}

/// The variable of the other dataset whose values are subtracted.
fn other_variable(other: &Dataset, variable: &Variable) -> Result<Variable> {
    let found = other.variable(&variable.path())?;
    check_numbers(&found)?;
    if found.shape() != variable.shape() {
        let message = format!(
            "its shape is {:?}, that of the first dataset's variable is {:?}; they cannot be subtracted",
            found.shape(),
            variable.shape()
        );
        return Err(Error::invalid(message).at_path(found.path()));
    }
    Ok(found)
}

fn last_two(free: &[usize]) -> (usize, usize) {
    match free {
        [.., rows, columns] => (*rows, *columns),
        _ => (0, 0),
    }
}

/// The values that a picture shows: about the pixels of its panel.
fn visible(size: PictureSize) -> (u64, u64) {
    (u64::from(size.width).saturating_sub(180).max(50), u64::from(size.height).saturating_sub(100).max(50))
}

/// Every n-th index of a selection.
fn thinned(axis: &AxisSelection, by: u64) -> AxisSelection {
    match axis {
        AxisSelection::Slice { start, count, stride } => AxisSelection::Slice {
            start: *start,
            count: count.div_ceil(by),
            stride: stride.saturating_mul(by),
        },
        AxisSelection::Indices(indices) => {
            let by = usize::try_from(by).unwrap_or(usize::MAX);
            AxisSelection::Indices(indices.iter().copied().step_by(by).collect())
        }
    }
}
