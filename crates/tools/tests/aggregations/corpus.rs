//! Every case of the corpus reads as it should, every invalid one is refused with a message that says what is wrong.
use crate::support::{Exceptions, Tally, json, open, session, values};
use ncirrus::{Attribute, Dataset, Session, Values, Variable};
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::path::{Path, PathBuf};

type Check = Result<(), String>;

/// The expected errors of the invalid cases: the start of an id, and a part of the message.
const REFUSED: [(&str, &str); 16] = [
    ("04-index-outside", "index"),
    ("04-no-cfa-array", "cfa_array"),
    ("04-no-partitions", "Partitions"),
    ("04-pp-format", "PP"),
    ("05-location-outside", "it ends at 11"),
    ("features-mixed", "unique_values"),
    ("features-no-map", "map"),
    ("fragment-not-netcdf", "fragment [1]"),
    ("identifiers-shape", "identifiers"),
    ("map-sum", "7"),
    ("map-zero-row", "the sizes along dimension x"),
    ("missing-fragment", "is not there"),
    ("no-aggregated-data", "aggregated_data"),
    ("self-reference", "aggregated from itself"),
    ("unknown-dimension", "dimension"),
    ("uris-shape", "the array of fragments 3"),
];

struct Case {
    id: String,
    folder: PathBuf,
    described: Value,
}

impl Case {
    fn master(&self, session: &Session) -> Result<Dataset, String> {
        let master = self.described["master"].as_str().unwrap();
        open(&self.folder.join(master), session).map_err(|error| error.to_string())
    }

    fn generation(&self) -> &str {
        self.id.split('/').next().unwrap()
    }
}

fn cases(root: &Path) -> Vec<Case> {
    let manifest = json(&root.join("manifest.json"));
    let case = |described: &Value| {
        let id = described["id"].as_str().unwrap().to_owned();
        Case { folder: root.join(&id), id, described: described.clone() }
    };
    manifest["cases"].as_array().unwrap().iter().map(case).collect()
}

#[test]
fn every_case_reads_as_it_should() {
    let Some(root) = corpus("cfa") else { return };
    let (session, exceptions) = (session(), Exceptions::load("cfa_exceptions.tsv"));
    let mut cases = cases(&root);
    cases.sort_by(|one, other| one.id.cmp(&other.id));
    let mut all = Tally::default();
    for generation in cases.chunk_by(|one, other| one.generation() == other.generation()) {
        let passed = generation.iter().filter(|case| {
            let outcome =
                if case.generation() == "invalid" { refused(case, &session) } else { equal(case, &session) };
            let is_right = outcome.is_ok();
            all.record(&exceptions, &case.id, "read", outcome);
            is_right
        });
        let passed = passed.count();
        println!("{}: {passed} of {}", generation[0].generation(), generation.len());
    }
    all.finish("aggregations", &exceptions);
}

fn refused(case: &Case, session: &Session) -> Check {
    let name = case.id.rsplit('/').next().unwrap();
    let (_, due) = REFUSED.iter().find(|(id, _)| *id == name).ok_or("what is due is not in the table")?;
    let said = case.master(session).and_then(|dataset| {
        let faulty = case.described["expect_error"][0]["variable"].as_str().unwrap();
        let variable = dataset.variable(faulty).map_err(|error| error.to_string())?;
        values(&variable).map(|_| ()).map_err(|error| error.to_string())
    });
    match said {
        Ok(()) => Err("it is read".to_owned()),
        Err(said) if said.contains(due) => Ok(()),
        Err(said) => Err(format!("{said:?} does not say {due:?}")),
    }
}

fn equal(case: &Case, session: &Session) -> Check {
    let dataset = case.master(session)?;
    let expected = open(&case.folder.join("expected.nc"), session).map_err(|error| error.to_string())?;
    for name in case.described["variables"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let find = |dataset: &Dataset| dataset.variable(name).map_err(|error| error.to_string());
        same(&find(&dataset)?, &find(&expected)?).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

fn same(variable: &Variable, due: &Variable) -> Check {
    if variable.ty() != due.ty() || variable.shape() != due.shape() {
        let describe = |variable: &Variable| format!("{:?} {:?}", variable.ty(), variable.shape());
        return Err(format!("{} where {} is due", describe(variable), describe(due)));
    }
    same_attributes(variable, due)?;
    let (one, other) = (values(variable), values(due));
    let (one, other) = (one.map_err(|it| it.to_string())?, other.map_err(|it| it.to_string())?);
    match first_difference(&one, &other) {
        None => Ok(()),
        Some(at) => {
            let show = |values: &Values| format!("{:?}", values.slice(at..at + 1));
            Err(format!("element {at} is {} where {} is due", show(&one), show(&other)))
        }
    }
}

/// The first element that differs; NaN equals NaN.
fn first_difference(one: &Values, other: &Values) -> Option<usize> {
    if one == other {
        return None;
    }
    let is_same = |at: usize| {
        let is_nan = |values: &Values| values.number(at).is_some_and(f64::is_nan);
        one.slice(at..at + 1) == other.slice(at..at + 1) || is_nan(one) && is_nan(other)
    };
    (0..one.len().max(other.len())).find(|at| !is_same(*at))
}

fn same_attributes(variable: &Variable, due: &Variable) -> Check {
    let all = |variable: &Variable| variable.attributes().map_err(|error| error.to_string());
    let (ours, due) = (all(variable)?, all(due)?);
    for attribute in due.iter() {
        let found = ours.find(&attribute.name).ok_or(format!("no attribute {}", attribute.name))?;
        if text(found) != text(attribute) {
            return Err(format!("attribute {:?} where {:?} is due", text(found), text(attribute)));
        }
    }
    // The expected dataset has only the attributes that matter.
    let plumbing =
        |name: &str| name.starts_with("cfa_") || name.starts_with("aggregated_") || name == "cf_role";
    let surplus = ours.iter().find(|attribute| plumbing(&attribute.name));
    surplus.map_or(Ok(()), |attribute| Err(format!("surplus attribute {}", attribute.name)))
}

/// Text is text, whether of chars or strings.
fn text(attribute: &Attribute) -> String {
    attribute.as_text().unwrap_or_else(|| format!("{:?}", attribute.values))
}
