//! Datasets survive a round trip through every dialect and store, except for the known losses of the dialect.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::fixtures::{FIXTURES, source};
use crate::support::{difference, exact, session, temp, values};
use ncirrus::{
    Atomic, Attribute, Attributes, CreateOptions, Dataset, Dialect, Kind, OpenOptions, Session, TypeRef,
    Values,
};
use ncirrus_testkit::corpus::corpus;
use ncirrus_tools::{CopyOptions, copy};
use std::path::Path;

/// What a dialect cannot hold (`docs/formats/zarr-writing.md`).
#[derive(Debug, Clone, Copy, PartialEq)]
enum Loss {
    /// Unlimited dimensions become fixed.
    Unlimited,
    /// Dimensions without variables disappear, and those of outer groups become those of the array's group.
    DimensionHomes,
    /// Dimensions have no names.
    DimensionNames,
    /// Types of attributes are inferred.
    AttributeTypes,
    /// Members are in alphabetical order.
    Order,
}

/// A way to store a dataset.
struct Way {
    name: &'static str,
    kind: Kind,
    dialect: Option<Dialect>,
    array_dimensions: bool,
    losses: &'static [Loss],
}

const fn way(
    name: &'static str,
    kind: Kind,
    dialect: Option<Dialect>,
    array_dimensions: bool,
    losses: &'static [Loss],
) -> Way {
    Way { name, kind, dialect, array_dimensions, losses }
}

const PLAIN: &[Loss] = &[Loss::DimensionHomes, Loss::AttributeTypes];
const UNNAMED: &[Loss] = &[Loss::Unlimited, Loss::DimensionHomes, Loss::DimensionNames, Loss::AttributeTypes];

const WAYS: [Way; 9] = [
    way("att", Kind::NcZarr, None, true, &[]),
    way("nczarr v3", Kind::Zarr3, None, true, &[]),
    way("lc", Kind::NcZarr, Some(Dialect::Lc), true, &[Loss::Unlimited]),
    way("uc", Kind::NcZarr, Some(Dialect::Uc), true, &[Loss::Unlimited]),
    way("2018", Kind::NcZarr, Some(Dialect::D18), true, &[Loss::Unlimited, Loss::Order]),
    way("plain", Kind::Zarr2, None, true, PLAIN),
    way("unnamed", Kind::Zarr2, None, false, UNNAMED),
    way("v3", Kind::Zarr3, Some(Dialect::Plain), true, PLAIN),
    way("nc4", Kind::Nc4, None, true, &[]),
];

#[test]
fn every_fixture_survives_every_dialect_and_place() {
    let Some(root) = corpus("nczarr") else { return };
    let (_folder, temp) = temp();
    let session = session();
    let mut failures = Vec::new();
    for (number, (name, from)) in FIXTURES.into_iter().enumerate() {
        let Some(path) = source(&root, &temp, name, from) else { continue };
        let source = crate::support::open(&path, &session).unwrap();
        let classic = match from {
            "nc3" => Some(Kind::Nc3),
            "nc5" => Some(Kind::Nc5),
            _ => None,
        };
        let trip = Trip { temp: &temp, session: &session, name, source: &source, classic };
        for (turn, way) in WAYS.iter().enumerate() {
            let places = match way.kind {
                // A file: on disk and in memory.
                Kind::Nc4 => vec![0, 3],
                _ if way.losses.is_empty() => vec![0, 1, 2, 3],
                _ => vec![number + turn],
            };
            for place in places {
                if let Err(reason) = trip.there_and_back(way, place % 4) {
                    failures.push(format!("{name} {} at place {}: {reason}", way.name, place % 4));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn no_fixture_is_forgotten() {
    let Some(root) = corpus("nczarr") else { return };
    let files = std::fs::read_dir(root.join("cdl")).unwrap();
    let mut names: Vec<String> =
        files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    let mut known = FIXTURES.map(|(name, _)| name);
    known.sort_unstable();
    assert_eq!(names, known);
}

struct Trip<'a> {
    temp: &'a Path,
    session: &'a Session,
    name: &'a str,
    source: &'a Dataset,
    /// The netCDF-3 kind of the source.
    classic: Option<Kind>,
}

impl Trip<'_> {
    fn there_and_back(&self, way: &Way, place: usize) -> Result<(), String> {
        let there = self.url(way.name, place, "there");
        self.copy(self.source, &there, way, place == 2)?;
        let stored = self.open(&there)?;
        same(self.source, &stored, way.losses).map_err(|reason| format!("there: {reason}"))?;
        if way.losses == [Loss::Unlimited] {
            let fixed = self.url(way.name, 3, "fixed");
            let options = options(&way_back(Kind::NcZarr), false).fix_unlimited(true);
            copy(self.source, &fixed, &options, self.session).map_err(|error| error.to_string())?;
            difference(&exact(&self.open(&fixed)?), &exact(&stored))
                .map_err(|reason| format!("text: {reason}"))?;
        }
        let mut ways = vec![way_back(Kind::NcZarr)];
        ways.extend(self.classic.map(way_back));
        for back in ways {
            let to = self.url(way.name, 0, &format!("{}-{place}", back.name));
            self.copy(&stored, &to, &back, false)?;
            same(self.source, &self.open(&to)?, way.losses)
                .map_err(|reason| format!("{}: {reason}", back.name))?;
        }
        Ok(())
    }

    /// A directory, a zip, a zip with a top folder, memory.
    fn url(&self, way: &str, place: usize, leg: &str) -> String {
        let name = format!("{}-{}-{place}-{leg}", self.name, way.replace(' ', ""));
        match place {
            0 => self.temp.join(name).to_str().unwrap().to_owned(),
            1 | 2 => self.temp.join(name + ".zip").to_str().unwrap().to_owned(),
            _ => format!("memory://trips/{name}"),
        }
    }

    fn open(&self, url: &str) -> Result<Dataset, String> {
        Dataset::open_with(url, &OpenOptions::default(), self.session).map_err(|error| error.to_string())
    }

    fn copy(&self, from: &Dataset, to: &str, way: &Way, zip_top_folder: bool) -> Result<(), String> {
        let create = CreateOptions::new()
            .kind(way.kind)
            .dialect(way.dialect)
            .array_dimensions(way.array_dimensions)
            .zip_top_folder(zip_top_folder);
        let options = CopyOptions::new().create(create);
        let report =
            copy(from, to, &options, self.session).map_err(|error| format!("copy to {to}: {error}"))?;
        if report.losses.is_empty() { Ok(()) } else { Err(format!("losses {:?}", report.losses)) }
    }
}

fn options(way: &Way, zip_top_folder: bool) -> CopyOptions<'static> {
    let create = CreateOptions::new()
        .kind(way.kind)
        .dialect(way.dialect)
        .array_dimensions(way.array_dimensions)
        .zip_top_folder(zip_top_folder);
    CopyOptions::new().create(create)
}

fn way_back(kind: Kind) -> Way {
    way(if kind.is_classic() { "classic" } else { "back" }, kind, None, true, &[])
}

/// Whether two datasets hold the same except for the losses.
fn same(expected: &Dataset, got: &Dataset, losses: &[Loss]) -> Result<(), String> {
    if losses.is_empty() {
        difference(&exact(expected), &exact(got))?;
    }
    let groups = |dataset: &Dataset| {
        let model = dataset.model().unwrap();
        ordered(model.walk().into_iter().map(|group| model.group_path(group)), losses)
    };
    equal("groups", &groups(expected), &groups(got))?;
    let paths = |dataset: &Dataset| ordered(dataset.variables().iter().map(|var| var.path()), losses);
    equal("variables", &paths(expected), &paths(got))?;
    for path in groups(expected) {
        let (a, b) = (expected.group(&path).unwrap(), got.group(&path).unwrap());
        same_attributes(&path, &a.attributes().unwrap(), &b.attributes().unwrap(), losses)?;
        if !losses.contains(&Loss::DimensionHomes) {
            let names = |group: &ncirrus::Group| {
                ordered(group.dimensions().into_iter().map(|dimension| dimension.name), losses)
            };
            equal(&format!("dimensions of {path}"), &names(&a), &names(&b))?;
        }
    }
    paths(expected).iter().try_for_each(|path| same_variable(path, expected, got, losses))
}

fn same_variable(path: &str, expected: &Dataset, got: &Dataset, losses: &[Loss]) -> Result<(), String> {
    let (a, b) = (expected.variable(path).unwrap(), got.variable(path).unwrap());
    equal(&format!("type of {path}"), &a.ty(), &b.ty())?;
    equal(&format!("shape of {path}"), &a.shape(), &b.shape())?;
    let dims = |variable: &ncirrus::Variable, whole: bool| -> Vec<(String, bool)> {
        let dims = variable.dimensions().into_iter();
        dims.map(|dim| (if whole { dim.name } else { String::new() }, dim.len.is_unlimited())).collect()
    };
    let named = !losses.contains(&Loss::DimensionNames);
    let mut wanted = dims(&a, named);
    // Plain Zarr takes an axis of length 0 for an unlimited one.
    let empty = losses.contains(&Loss::AttributeTypes) && a.shape().contains(&0);
    if empty {
        wanted = dims(&b, named);
    } else if losses.contains(&Loss::Unlimited) {
        wanted.iter_mut().for_each(|(_, unlimited)| *unlimited = false);
    }
    equal(&format!("dimensions of {path}"), &wanted, &dims(&b, named))?;
    same_attributes(path, &a.attributes().unwrap(), &b.attributes().unwrap(), losses)?;
    let (x, y) = (values(&a).map_err(|e| e.to_string())?, values(&b).map_err(|e| e.to_string())?);
    if identical(&x, &y) { Ok(()) } else { Err(format!("values of {path}: {x:?}, got {y:?}")) }
}

fn same_attributes(path: &str, a: &Attributes, b: &Attributes, losses: &[Loss]) -> Result<(), String> {
    let names = |list: &Attributes| ordered(list.iter().map(|attribute| attribute.name.clone()), losses);
    equal(&format!("attributes of {path}"), &names(a), &names(b))?;
    for one in a.iter() {
        let other = b.find(&one.name).unwrap();
        let exact = one.ty == other.ty && identical(&one.values, &other.values);
        let inferred = losses.contains(&Loss::AttributeTypes) && same_meaning(one, other);
        if !exact && !inferred {
            return Err(format!("{path}:{}: {:?}, got {:?}", one.name, one.values, other.values));
        }
    }
    Ok(())
}

/// Equal except for the type: the same text, or the same numbers, floats as the shortest decimals that represent them.
#[expect(clippy::cast_possible_truncation, reason = "a float's decimals mean the float")]
fn same_meaning(a: &Attribute, b: &Attribute) -> bool {
    if let (Some(a), Some(b)) = (a.as_text(), b.as_text()) {
        return a == b;
    }
    let strings = |values: &Values| match values {
        Values::String(strings) => {
            Some(strings.iter().map(|text| text.map(<[u8]>::to_vec)).collect::<Vec<_>>())
        }
        _ => None,
    };
    if strings(&a.values).is_some() {
        return strings(&a.values) == strings(&b.values);
    }
    let is_float = a.ty == TypeRef::Atomic(Atomic::Float);
    a.values.len() == b.values.len()
        && (0..a.values.len()).all(|at| match (a.values.number(at), b.values.number(at)) {
            (Some(x), Some(y)) if is_float => (x as f32).to_bits() == (y as f32).to_bits(),
            (Some(x), Some(y)) => {
                x == y && a.values.integer(at).is_none_or(|x| b.values.integer(at) == Some(x))
            }
            _ => false,
        })
}

/// Equal bit for bit.
fn identical(a: &Values, b: &Values) -> bool {
    match (a.as_bytes(), b.as_bytes()) {
        (Some(x), Some(y)) => a.atomic() == b.atomic() && x == y,
        _ => a == b,
    }
}

/// The names, sorted if the order is lost. Without NCZarr's lists, an array's attributes may also be in any order.
fn ordered(names: impl Iterator<Item = String>, losses: &[Loss]) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    if losses.contains(&Loss::Order) {
        names.sort();
    }
    names
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, got: &T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: {expected:?}, got {got:?}")) }
}
