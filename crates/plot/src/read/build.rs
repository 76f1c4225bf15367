//! Figures from what was read.
mod rotated;

use super::PlotOptions;
use super::coordinates::Coordinate;
use super::part::{Drawn, Part};
use super::values;
use crate::axis::{Axis, AxisKind};
use crate::colours::ColourMap;
use crate::facts::{CoordinateFacts, CoordinateRole};
use crate::figure::{FieldPanel, Figure, LinePanel, Panel, Series};
use crate::grid::{self, Cells};
use crate::scale::{ColourScale, ScaleOptions};
use crate::strides;
use ncirrus::{Dataset, Error, Result};

/// A map or an image.
pub(super) fn field(
    part: &Part,
    dataset: &Dataset,
    options: &PlotOptions,
    count: &mut dyn FnMut(u64),
) -> Result<Figure> {
    let Drawn::Field { rows, columns } = part.drawn else {
        return Err(Error::internal("a line is not a field"));
    };
    let (x, y, cells, is_map) = match geographic(part, rows, columns)? {
        Some((x, y, cells)) => (x, y, cells, true),
        None => {
            let (x, x_edges) = axis_of(part, columns)?;
            let (y, y_edges) = axis_of(part, rows)?;
            let is_map = (&x.kind, &y.kind) == (&AxisKind::Longitude, &AxisKind::Latitude);
            let (x, y) = if is_map { (of_longitudes(x), of_latitudes(y)) } else { (x, y) };
            (x, y, Cells::Rectilinear { x: x_edges, y: y_edges }, is_map)
        }
    };
    let values = values::read(part, count)?;
    values::check_any(&values, part)?;
    let facts = CoordinateFacts::of(&part.variable)?;
    let scale = ColourScale::of(&values, &scale_options(options));
    let panel = FieldPanel { x, y, cells, values, scale, label: value_label(&facts, options), is_map };
    let subtitle = part.place()?.join(", ");
    Ok(figure(title(&facts), subtitle, (dataset, options), Panel::Field(panel)))
}

/// Differences have the diverging colours, unless others are chosen or zero is not in the middle.
fn scale_options(options: &PlotOptions) -> ScaleOptions {
    let is_difference = options.compare.is_some() && options.scale.can_centre_zero();
    let difference = is_difference.then_some(ColourMap::Diverging);
    ScaleOptions { colours: options.scale.colours.or(difference), ..options.scale }
}

fn value_label(facts: &CoordinateFacts, options: &PlotOptions) -> String {
    let units = facts.units.clone().unwrap_or_default();
    match (options.compare.is_some(), units.as_str()) {
        (true, "" | "1") => "difference".to_owned(),
        (true, units) => format!("difference [{units}]"),
        (false, "" | "1") => facts.name.clone(),
        (false, units) => units.to_owned(),
    }
}

fn title(facts: &CoordinateFacts) -> String {
    let label = facts.label();
    let name = facts.long_name.as_ref().or(facts.standard_name.as_ref());
    if name.is_some_and(|name| *name != facts.name) { format!("{}: {label}", facts.name) } else { label }
}

fn figure(
    title: String,
    subtitle: String,
    (dataset, options): (&Dataset, &PlotOptions),
    panel: Panel,
) -> Figure {
    let source = match &options.compare {
        Some(other) => format!("{} minus {}", name(dataset), name(other)),
        None => name(dataset),
    };
    Figure { title, subtitle, source, panel, size: options.size }
}

/// The last part of the dataset's address.
fn name(dataset: &Dataset) -> String {
    let url = ncirrus::store::Url::parse(dataset.url()).map_or_else(|_| String::new(), |url| url.to_string());
    let last = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    if last.is_empty() { dataset.name().to_owned() } else { last }
}

/// The axis along a dimension, and the edges of its cells: by its coordinate, or by indices if it has none that rises or
/// falls.
fn axis_of(part: &Part, axis: usize) -> Result<(Axis, Vec<f64>)> {
    if let Some(coordinate) = part.along(axis) {
        let numbers = coordinate.variable.read_decoded(&part.selection_along(axis))?.numbers();
        let kind = coordinate.axis_kind();
        let numbers = if kind == AxisKind::Longitude { grid::unwrapped(&numbers) } else { numbers };
        if grid::is_monotonic(&numbers) {
            let edges = grid::edges(&numbers);
            return Ok((of_edges(coordinate, kind, &edges), edges));
        }
    }
    let selected = part.selection.axes().get(axis);
    let indices =
        selected.into_iter().flat_map(|axis| (0..axis.count()).filter_map(move |at| axis.index(at)));
    let mut indices: Vec<f64> = indices.map(|index| index as f64).collect();
    if !grid::is_monotonic(&indices) {
        indices = (0..indices.len()).map(|index| index as f64).collect();
    }
    let edges = grid::edges(&indices);
    let ends = (edges.first().copied().unwrap_or(0.0), edges.last().copied().unwrap_or(1.0));
    // Rows of an image without coordinates are drawn from the bottom, as rows of maps are.
    let label = format!("index of {}", part.dimension_name(axis));
    Ok((Axis::numbers(label, ends.0, ends.1), edges))
}

fn of_edges(coordinate: &Coordinate, kind: AxisKind, edges: &[f64]) -> Axis {
    let (first, last) = (edges.first().copied().unwrap_or(0.0), edges.last().copied().unwrap_or(1.0));
    let (low, high) = (first.min(last), first.max(last));
    let down = coordinate.role == CoordinateRole::Vertical { down: true };
    let (start, end) = if down { (high, low) } else { (low, high) };
    Axis { label: coordinate.facts.label(), start, end, kind, log: false }
}

/// At most one turn.
fn of_longitudes(axis: Axis) -> Axis {
    let end = axis.end.min(axis.start + 360.0);
    Axis { end, ..axis }
}

/// Not beyond the poles.
fn of_latitudes(axis: Axis) -> Axis {
    Axis { start: axis.start.max(-90.0), end: axis.end.min(90.0), ..axis }
}

/// Axes and cells of points that have longitudes and latitudes of their own: swaths, curvilinear grids, rotated poles.
fn geographic(part: &Part, rows: usize, columns: usize) -> Result<Option<(Axis, Axis, Cells)>> {
    let is_plain = [rows, columns].into_iter().all(|axis| {
        part.along(axis)
            .is_some_and(|found| matches!(found.role, CoordinateRole::Longitude | CoordinateRole::Latitude))
    });
    if is_plain {
        return Ok(None);
    }
    let width =
        part.selection.shape().get(columns).and_then(|count| usize::try_from(*count).ok()).unwrap_or(1);
    let points = match part.over() {
        Some((lon, lat)) => {
            let read = |coordinate: &Coordinate| -> Result<Vec<f64>> {
                let numbers = coordinate.variable.read_decoded(&part.selection_of(coordinate))?.numbers();
                // Coordinates and values may have their dimensions in different orders.
                let is_turned = coordinate.dims.first() != part.dims.get(rows);
                let rows = numbers.len() / width.max(1);
                Ok(if is_turned { values::transposed(&numbers, rows) } else { numbers })
            };
            Some((read(lon)?, read(lat)?))
        }
        None => rotated::points(part, rows, columns)?,
    };
    Ok(points.and_then(|(lon, lat)| of_points(lon, lat, width)))
}

fn of_points(mut lon: Vec<f64>, mut lat: Vec<f64>, columns: usize) -> Option<(Axis, Axis, Cells)> {
    for (lon, lat) in lon.iter_mut().zip(&mut lat) {
        // Fill values that no attribute declares.
        if lon.abs() > 720.0 || lat.abs() > 90.0 + 1e-6 {
            (*lon, *lat) = (f64::NAN, f64::NAN);
        }
    }
    let start = grid::first_longitude(&lon);
    lon.iter_mut().for_each(|lon| *lon = grid::in_turn(*lon, start));
    let (mut x, mut y) = ((f64::MAX, f64::MIN), (f64::MAX, f64::MIN));
    grid::each_cell(&lon, &lat, columns, true, |_, corners| {
        for corner in corners {
            x = (x.0.min(corner.0), x.1.max(corner.0));
            y = (y.0.min(corner.1), y.1.max(corner.1));
        }
    });
    if x.0 >= x.1 || y.0 >= y.1 {
        return None;
    }
    if x.1 - x.0 > 345.0 {
        x = (start, start + 360.0);
    }
    let axis = |name: &str, kind, (start, end): (f64, f64)| Axis {
        label: name.to_owned(),
        start,
        end,
        kind,
        log: false,
    };
    let x = axis("longitude", AxisKind::Longitude, x);
    let y = axis("latitude", AxisKind::Latitude, (y.0.max(-90.0), y.1.min(90.0)));
    Some((x, y, Cells::Curvilinear { x: lon, y: lat, columns, degrees: true }))
}

/// Lines over one axis.
pub(super) fn lines(
    parts: &[Part],
    dataset: &Dataset,
    options: &PlotOptions,
    count: &mut dyn FnMut(u64),
) -> Result<Figure> {
    let first = parts.first().ok_or_else(|| Error::internal("no line is drawn"))?;
    // Axes that differ are reported before the values are read.
    let axes = parts.iter().map(line_axis).collect::<Result<Vec<_>>>()?;
    let x = common_axis(parts, &axes)?;
    let mut facts = Vec::new();
    let mut series = Vec::new();
    let mut all = Vec::new();
    for (part, (_, centres)) in parts.iter().zip(&axes) {
        let values = values::read(part, count)?;
        let points: Vec<(f64, f64)> = centres.iter().copied().zip(values).collect();
        let points = strides::envelope(&points, options.size.width as usize);
        all.extend(points.iter().map(|point| point.1));
        series.push(points);
        facts.push(CoordinateFacts::of(&part.variable)?);
    }
    values::check_any(&all, first)?;
    let places = parts.iter().map(Part::place).collect::<Result<Vec<_>>>()?;
    let shared: Vec<String> = places
        .first()
        .into_iter()
        .flatten()
        .filter(|place| places.iter().all(|all| all.contains(place)))
        .cloned()
        .collect();
    let labels = parts.iter().zip(&places).map(|(part, places)| label(part, places, &shared));
    let series: Vec<Series> = labels.zip(series).map(|(label, points)| Series { label, points }).collect();
    let y = value_axis(&facts, &all, options);
    let title = match facts.as_slice() {
        [first, rest @ ..] if rest.iter().all(|facts| facts.name == first.name) => title(first),
        facts => facts.iter().map(|facts| facts.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    let panel = if is_profile(first) { upright(x, y, series) } else { LinePanel { x, y, series } };
    Ok(figure(title, shared.join(", "), (dataset, options), Panel::Lines(panel)))
}

/// The name of a line: its variable, and where it differs from the others.
fn label(part: &Part, places: &[String], shared: &[String]) -> String {
    let own: Vec<&str> = places.iter().filter(|place| !shared.contains(place)).map(String::as_str).collect();
    let name = part.variable.name();
    if own.is_empty() { name } else { format!("{name} ({})", own.join(", ")) }
}

/// Whether a line is over heights, depths or pressures.
fn is_profile(part: &Part) -> bool {
    let coordinate = match part.drawn {
        Drawn::Line { axis } => part.along(axis),
        Drawn::Field { .. } => None,
    };
    coordinate.is_some_and(|coordinate| matches!(coordinate.role, CoordinateRole::Vertical { .. }))
}

/// A profile: heights are drawn upwards.
fn upright(x: Axis, y: Axis, series: Vec<Series>) -> LinePanel {
    let turn = |series: Series| Series {
        points: series.points.into_iter().map(|(at, value)| (value, at)).collect(),
        ..series
    };
    LinePanel { x: y, y: x, series: series.into_iter().map(turn).collect() }
}

/// The axis of a line and its coordinates: from the first to the last.
fn line_axis(part: &Part) -> Result<(Axis, Vec<f64>)> {
    let Drawn::Line { axis } = part.drawn else { return Err(Error::internal("a field is not a line")) };
    if let Some(coordinate) = part.along(axis) {
        let numbers = coordinate.variable.read_decoded(&part.selection_along(axis))?.numbers();
        let kind = coordinate.axis_kind();
        let numbers = if kind == AxisKind::Longitude { grid::unwrapped(&numbers) } else { numbers };
        if grid::is_monotonic(&numbers) {
            return Ok((of_edges(coordinate, kind, &numbers), numbers));
        }
    }
    let selected = part.selection.axes().get(axis);
    let indices =
        selected.into_iter().flat_map(|axis| (0..axis.count()).filter_map(move |at| axis.index(at)));
    let indices: Vec<f64> = indices.map(|index| index as f64).collect();
    let (low, high) =
        indices.iter().fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(*at), high.max(*at)));
    Ok((Axis::numbers(format!("index of {}", part.dimension_name(axis)), low, high), indices))
}

/// The axis of all lines: that of the first one, which has its direction, from the lowest to the highest coordinate of all.
fn common_axis(parts: &[Part], axes: &[(Axis, Vec<f64>)]) -> Result<Axis> {
    let Some((first, _)) = axes.first() else { return Err(Error::internal("no line is drawn")) };
    let (mut low, mut high) = (f64::MAX, f64::MIN);
    for (part, (axis, _)) in parts.iter().zip(axes) {
        if axis.kind != first.kind || axis.label != first.label {
            let message = format!(
                "its axis is another one: {}; that of the first line: {}",
                measure(axis),
                measure(first)
            );
            return Err(Error::invalid(message).at_path(&part.path));
        }
        (low, high) = (low.min(axis.start).min(axis.end), high.max(axis.start).max(axis.end));
    }
    let (start, end) = if first.start > first.end { (high, low) } else { (low, high) };
    Ok(Axis { start, end, ..first.clone() })
}

/// The label of an axis; of times also their units, which labels do not contain.
fn measure(axis: &Axis) -> String {
    match &axis.kind {
        AxisKind::Time(units) => {
            let (unit, reference, calendar) = (units.unit(), units.reference(), units.calendar().name());
            format!("{} in {unit} since {reference} ({calendar})", axis.label)
        }
        _ => axis.label.clone(),
    }
}

/// The axis of the values of lines.
fn value_axis(facts: &[CoordinateFacts], values: &[f64], options: &PlotOptions) -> Axis {
    let log = options.scale.log;
    let usable = values.iter().copied().filter(|value| value.is_finite() && (!log || *value > 0.0));
    let (low, high) =
        usable.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let (start, end) = match options.scale.range {
        Some((low, high)) => (low, high),
        None if low > high => (1.0, 10.0),
        None if log => (low / 1.1, high * 1.1),
        None if low == high => {
            let around = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
            (low - around, high + around)
        }
        None => {
            let margin = (high / 2.0 - low / 2.0) * 0.08;
            (low - margin, high + margin)
        }
    };
    let units: Vec<&str> = facts.iter().filter_map(|facts| facts.units.as_deref()).collect();
    let same = |units: &[&str]| units.len() == facts.len() && units.windows(2).all(|pair| pair[0] == pair[1]);
    let label = match units.first() {
        Some(unit) if same(&units) && *unit != "1" => value_label(
            &CoordinateFacts { units: Some((*unit).to_owned()), ..CoordinateFacts::default() },
            options,
        ),
        _ if options.compare.is_some() => "difference".to_owned(),
        _ => facts.first().filter(|_| facts.len() == 1).map(|facts| facts.name.clone()).unwrap_or_default(),
    };
    Axis { label, start, end, kind: AxisKind::Number, log }
}
