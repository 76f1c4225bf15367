//! Work on datasets of many members grows with their number, not with its square. A program of its own: it counts the
//! allocations of the whole process.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "linear/allocations.rs"]
mod allocations;

use allocations::counted;
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, GroupId, Kind, Model, NodeId, OpenOptions,
    Session, UserKind, UserType, Values,
};
use ncirrus_tools::cdl::PrintOptions;
use ncirrus_tools::{CopyOptions, GenerateOptions, copy, dump, generate};

const KINDS: [Kind; 3] = [Kind::Nc5, Kind::Nc4, Kind::NcZarr];

/// What there are many of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Members {
    /// Along one dimension.
    Variables,
    /// Each of a variable with another name.
    Dimensions,
    Groups,
    /// Of the root.
    Attributes,
    /// Each of a variable.
    Types,
}

const MEMBERS: [Members; 5] =
    [Members::Variables, Members::Dimensions, Members::Groups, Members::Attributes, Members::Types];

impl Members {
    fn exist_in(self, kind: Kind) -> bool {
        kind != Kind::Nc5 || !matches!(self, Self::Groups | Self::Types)
    }

    /// Whether each comes with a variable of numbers.
    fn have_values(self) -> bool {
        matches!(self, Self::Variables | Self::Dimensions)
    }
}

/// What is done with them.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    /// Each by a call of its own.
    Create,
    Open,
    Copy,
    Dump,
    Generate,
    /// Another attribute for each, and another name.
    Update,
    /// As [`Create`](Self::Create), with a value before the next one.
    Fill,
}

/// What each dataset serves for. The first creates it, and an update comes last, as it changes it.
const WORK: [&[Work]; 3] = [
    &[Work::Create, Work::Copy, Work::Dump, Work::Generate],
    &[Work::Create, Work::Open, Work::Update],
    &[Work::Fill],
];

/// A dataset in memory with so many members.
struct Case {
    kind: Kind,
    members: Members,
    count: usize,
    session: Session,
}

impl Case {
    fn new(kind: Kind, members: Members, count: usize) -> Self {
        Self { kind, members, count, session: Session::new().unwrap() }
    }

    fn address(&self, name: &str) -> String {
        let end = if self.kind.is_zarr() { "zarr" } else { "nc" };
        format!("memory://linear-{:?}-{:?}-{}-{name}/d.{end}", self.kind, self.members, self.count)
    }

    fn options(&self) -> CreateOptions {
        CreateOptions::new().kind(self.kind).overwrite(true)
    }

    fn opened(&self) -> Dataset {
        Dataset::open_with(&self.address("made"), &OpenOptions::default(), &self.session).unwrap()
    }

    /// Creates members; with `fills`, a value is written after each.
    fn create(&self, address: &str, fills: bool) {
        let dataset = Dataset::create_with(address, &self.options(), &self.session).unwrap();
        let root = dataset.root();
        root.add_dimension("x", DimensionLen::Fixed(1)).unwrap();
        let filled = fills.then(|| root.add_variable("filled", Atomic::Int, &["x"]).unwrap());
        for at in 0..self.count {
            let (name, own) = (format!("name_{at}"), format!("v{at}"));
            match self.members {
                Members::Variables => {
                    let variable = root.add_variable(&name, Atomic::Int, &["x"]).unwrap();
                    variable.set_attribute(Attribute::text("units", "m")).unwrap();
                    if fills {
                        variable.write_all(&[1]).unwrap();
                    }
                }
                Members::Dimensions => {
                    root.add_dimension(&name, DimensionLen::Fixed(1)).unwrap();
                    let variable = root.add_variable(&own, Atomic::Int, &[&name]).unwrap();
                    if fills {
                        variable.write_all(&[1]).unwrap();
                    }
                }
                Members::Groups => drop(root.add_group(&name).unwrap()),
                Members::Attributes => root.set_attribute(Attribute::text(name, "value")).unwrap(),
                Members::Types => dataset.edit(|model| add_type(model, name, &own)).unwrap(),
            }
            if let Some(filled) = filled.as_ref().filter(|_| !self.members.have_values()) {
                filled.write_all(&[1]).unwrap();
            }
        }
        dataset.close().unwrap();
    }

    fn update(&self, address: &str) {
        let dataset = Dataset::update_with(address, &OpenOptions::default(), &self.session).unwrap();
        dataset.edit(|model| self.change(model)).unwrap();
        dataset.close().unwrap();
    }

    fn change(&self, model: &mut Model) -> ncirrus::Result<()> {
        let root = model.root();
        let more = || Attribute::atomic("more", Values::Int(vec![1]));
        let group = model.group(root).unwrap().clone();
        for at in 0..self.count {
            let name = format!("other_{at}");
            match self.members {
                Members::Variables | Members::Dimensions => {
                    model.set_attribute(NodeId::Variable(group.vars[at]), more())?;
                    model.rename_variable(group.vars[at], &name)?;
                }
                Members::Groups => {
                    model.set_attribute(NodeId::Group(group.groups[at]), more())?;
                    rename_group(model, group.groups[at], &name, self.kind)?;
                }
                Members::Attributes => {
                    let changed = Attribute::atomic(format!("name_{at}"), Values::Int(vec![1]));
                    model.set_attribute(NodeId::Group(root), changed)?;
                    model.set_attribute(NodeId::Group(root), Attribute::text(name, "new"))?;
                }
                Members::Types => {
                    model.set_attribute(NodeId::Variable(group.vars[at]), more())?;
                    model.set_attribute(NodeId::Group(root), Attribute::text(name, "new"))?;
                }
            }
        }
        Ok(())
    }

    /// What one kind of work is. All but the first and the last need the dataset that the first one created.
    fn work(&self, work: Work) -> Box<dyn FnOnce() + '_> {
        let made = self.address("made");
        match work {
            Work::Create => Box::new(move || self.create(&made, false)),
            Work::Fill => Box::new(move || self.create(&self.address("filled"), true)),
            Work::Open => Box::new(|| drop(self.opened().model().unwrap())),
            Work::Update => Box::new(move || self.update(&made)),
            Work::Copy => {
                let source = self.opened();
                let mut options = CopyOptions::default();
                options.create = self.options();
                Box::new(move || {
                    let report = copy(&source, &self.address("copy"), &options, &self.session).unwrap();
                    assert!(report.is_complete());
                })
            }
            Work::Dump => {
                let source = self.opened();
                Box::new(move || {
                    dump(&source, &mut std::io::sink(), &PrintOptions::default()).unwrap();
                })
            }
            Work::Generate => {
                let mut text = Vec::new();
                dump(&self.opened(), &mut text, &PrintOptions::default()).unwrap();
                let options = GenerateOptions::new().create(self.options());
                Box::new(move || {
                    generate(&text.as_slice(), &self.address("text"), &options, &self.session).unwrap();
                })
            }
        }
    }
}

fn add_type(model: &mut Model, name: String, of: &str) -> ncirrus::Result<()> {
    let root = model.root();
    let ty = model.add_type(root, UserType { name, kind: UserKind::Opaque(4) })?;
    let x = model.dimension_in(root, "x").unwrap();
    model.add_variable(root, of, ncirrus::TypeRef::User(ty), &[x])?;
    Ok(())
}

/// Zarr moves the objects of a group that is renamed.
fn rename_group(model: &mut Model, id: GroupId, name: &str, kind: Kind) -> ncirrus::Result<()> {
    if !kind.is_zarr() {
        model.rename_group(id, name)?;
    }
    Ok(())
}

/// What is compared: few members, and four times as many.
fn counts(kind: Kind, work: &[Work]) -> [usize; 2] {
    // A header of netCDF-3 is read in parts that double: how often its first members are parsed differs from count to count
    // as long as these are small.
    let min = if kind == Kind::Nc5 && work.contains(&Work::Open) { 3000 } else { 100 };
    [min, 4 * min]
}

/// At most 2.2 times as many allocations for twice as many members; lists and tables grow by doubling, so that bytes jump. A
/// quadratic part multiplies both by 16.
fn check(kind: Kind, members: Members, work: &[Work], failures: &mut Vec<String>) {
    let [few, many] = counts(kind, work).map(|count| {
        let case = Case::new(kind, members, count);
        work.iter().map(|work| counted(case.work(*work))).collect::<Vec<_>>()
    });
    for ((work, few), many) in work.iter().zip(few).zip(many) {
        if 100 * many[0] > 484 * few[0] || many[1] > 8 * few[1] {
            failures.push(format!("{work:?} {members:?} {kind:?}: allocations and bytes {few:?}, {many:?}"));
        }
    }
}

/// One test: allocations of the process are counted.
#[test]
fn allocations_grow_with_the_number_of_members() {
    let mut failures = Vec::new();
    for kind in KINDS {
        for members in MEMBERS.into_iter().filter(|members| members.exist_in(kind)) {
            WORK.into_iter().for_each(|work| check(kind, members, work, &mut failures));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
