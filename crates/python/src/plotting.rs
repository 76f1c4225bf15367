//! Pictures of variables.
use crate::errors::{invalid, wait, wait_telling};
use crate::options::Keywords;
use crate::progress::Reporter;
use crate::selection::resolved;
use crate::tools::opened;
use crate::variable::Variable;
use ncirrus::{Error, VariableSelect};
use ncirrus_plot::{ColourMap, Figure, PictureSize, PlotOptions, PlotPlan, ScaleOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// A picture whose values were read.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct Picture {
    figure: Figure,
    notes: Vec<String>,
}

#[pymethods]
impl Picture {
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let png = wait(py, || self.figure.to_png())?;
        Ok(PyBytes::new(py, &png))
    }

    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        wait(py, || self.figure.to_svg())
    }

    fn description(&self) -> String {
        self.figure.description()
    }

    /// What is not drawn, and why.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Draws variables of one dataset, each with the axes that Python resolved.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(crate) fn plot(
    py: Python<'_>,
    variables: Vec<(Bound<'_, Variable>, Bound<'_, PyAny>)>,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Picture> {
    let mut selects = Vec::with_capacity(variables.len());
    let mut dataset = None;
    for (variable, axes) in &variables {
        let variable = variable.get().facade(py)?;
        selects.push(VariableSelect::of_selection(&variable.path(), &resolved(axes)?));
        dataset.get_or_insert_with(|| variable.dataset().clone());
    }
    let Some(dataset) = dataset else { return Err(invalid(py, "no variable is given")) };
    let (words, reporter) = (Keywords::new(options, "plot")?, Reporter::new(progress));
    let budget = words.size("max_bytes")?.unwrap_or(PlotPlan::BUDGET);
    let options = plot_options(py, &words)?;
    words.done()?;
    wait_telling(py, Some(&reporter), || {
        let plan = PlotPlan::new(&dataset, &selects, &options)?;
        let cost = plan.cost();
        if cost.bytes > budget {
            let (bytes, requests) = (cost.bytes, cost.requests);
            let message = format!(
                "the picture needs about {bytes} bytes in {requests} requests, more than max_bytes={budget}"
            );
            return Err(Error::limit(message));
        }
        let notes = plan.notes().to_vec();
        let figure = plan.read(&mut |done, total| reporter.report(done, total))?;
        Ok(Picture { figure, notes })
    })
}

fn plot_options(py: Python<'_>, words: &Keywords<'_>) -> PyResult<PlotOptions> {
    let size = match words.take::<(u32, u32)>("size")? {
        Some((width, height)) => {
            let (min, max) = (PictureSize::MIN, PictureSize::MAX);
            if [width, height].iter().any(|side| !(min..=max).contains(side)) {
                let message = format!("size is {width} x {height} pixels; sides have {min} to {max}");
                return Err(invalid(py, message));
            }
            PictureSize { width, height, fixed: true }
        }
        None => PictureSize::default(),
    };
    let named = words.take::<String>("colors")?;
    let colours = named.as_deref().map(|name| {
        ColourMap::named(name).ok_or_else(|| {
            let names = ColourMap::NAMES.map(|(name, _)| name).join(", ");
            invalid(py, format!("colors={name:?} is not one of {names}"))
        })
    });
    let scale = ScaleOptions {
        range: words.take("range")?,
        log: words.take("log")?.unwrap_or(false),
        colours: colours.transpose()?,
    };
    if scale.range.is_some_and(|(low, high)| !(low < high && (high - low).is_finite())) {
        return Err(invalid(py, "range is not a pair of finite numbers, the lower one first"));
    }
    if scale.log && scale.range.is_some_and(|(low, _)| low <= 0.0) {
        return Err(invalid(py, "a logarithmic scale needs a positive range"));
    }
    let compare = words.object("compare")?.map(|other| opened(py, &other)).transpose()?;
    Ok(PlotOptions { size, scale, compare, ..PlotOptions::default() })
}
