//! Datasets in memory, made for a test.
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, OpenOptions, Session, Values, VariableSelect,
};
use ncirrus_plot::{Figure, PlotOptions, PlotPlan};

/// A variable: its name, dimensions, attributes and numbers.
pub(crate) struct Made<'a> {
    pub name: &'a str,
    pub dims: &'a [&'a str],
    pub attributes: &'a [(&'a str, &'a str)],
    pub numbers: Vec<f64>,
}

pub(crate) fn variable<'a>(
    name: &'a str,
    dims: &'a [&'a str],
    attributes: &'a [(&'a str, &'a str)],
    numbers: impl IntoIterator<Item = f64>,
) -> Made<'a> {
    Made { name, dims, attributes, numbers: numbers.into_iter().collect() }
}

/// A dataset of doubles whose missing value is -9999.
pub(crate) fn dataset(name: &str, dims: &[(&str, u64)], variables: &[Made<'_>]) -> Dataset {
    let session = Session::new().unwrap();
    let url = format!("memory://plot/{name}.nc");
    let dataset = Dataset::create_with(&url, &CreateOptions::default(), &session).unwrap();
    dataset
        .edit(|model| {
            let root = model.root();
            for (name, len) in dims {
                model.add_dimension(root, name, DimensionLen::Fixed(*len))?;
            }
            Ok(())
        })
        .unwrap();
    for made in variables {
        let variable = dataset.root().add_variable(made.name, Atomic::Double, made.dims).unwrap();
        for (name, text) in made.attributes {
            variable.set_attribute(Attribute::text(*name, text)).unwrap();
        }
        variable.set_attribute(Attribute::atomic("missing_value", Values::Double(vec![-9999.0]))).unwrap();
    }
    for made in variables {
        dataset.variable(made.name).unwrap().write_all(&made.numbers).unwrap();
    }
    dataset.close().unwrap();
    Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap()
}

pub(crate) fn plan(dataset: &Dataset, selects: &[&str], options: &PlotOptions) -> ncirrus::Result<PlotPlan> {
    let selects: Vec<VariableSelect> =
        selects.iter().map(|text| VariableSelect::parse(text).unwrap()).collect();
    PlotPlan::new(dataset, &selects, options)
}

pub(crate) fn figure(dataset: &Dataset, selects: &[&str]) -> Figure {
    plan(dataset, selects, &PlotOptions::default()).unwrap().read(&mut |_, _| {}).unwrap()
}
