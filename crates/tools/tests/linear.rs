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
}

/// What is done with them.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    Create,
    Open,
    /// Another attribute for each, and another name.
    Update,
    Copy,
    Dump,
    Generate,
}

const WORK: [Work; 6] = [Work::Create, Work::Open, Work::Update, Work::Copy, Work::Dump, Work::Generate];

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

    fn create(&self, address: &str) {
        let dataset = Dataset::create_with(address, &self.options(), &self.session).unwrap();
        let root = dataset.root();
        root.add_dimension("x", DimensionLen::Fixed(1)).unwrap();
        for at in 0..self.count {
            let (name, own) = (format!("name_{at}"), format!("v{at}"));
            match self.members {
                Members::Variables => {
                    let variable = root.add_variable(&name, Atomic::Int, &["x"]).unwrap();
                    variable.set_attribute(Attribute::text("units", "m")).unwrap();
                }
                Members::Dimensions => {
                    root.add_dimension(&name, DimensionLen::Fixed(1)).unwrap();
                    root.add_variable(&own, Atomic::Int, &[&name]).unwrap();
                }
                Members::Groups => drop(root.add_group(&name).unwrap()),
                Members::Attributes => root.set_attribute(Attribute::text(name, "value")).unwrap(),
                Members::Types => dataset.edit(|model| add_type(model, name, &own)).unwrap(),
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

    /// What one kind of work is, after everything that it needs was made.
    fn work(&self, work: Work) -> Box<dyn FnOnce() + '_> {
        let made = self.address("made");
        if work != Work::Create {
            self.create(&made);
        }
        match work {
            Work::Create => Box::new(move || self.create(&made)),
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

fn cases() -> impl Iterator<Item = (Kind, Members, Work)> {
    let of_kind = |kind| {
        MEMBERS.into_iter().filter(move |members| members.exist_in(kind)).map(move |members| (kind, members))
    };
    KINDS
        .into_iter()
        .flat_map(of_kind)
        .flat_map(|(kind, members)| WORK.map(move |work| (kind, members, work)))
}

/// At most 2.2 times as many allocations for twice as many members; lists and tables grow by doubling, so that bytes jump. A
/// quadratic part multiplies both by 16.
#[test]
fn allocations_grow_with_the_number_of_members() {
    let mut failures = Vec::new();
    for (kind, members, work) in cases() {
        // A header of netCDF-3 is read in parts that double: how often its first members are parsed differs from count to count
        // as long as these are small.
        let min = if kind == Kind::Nc5 { 3000 } else { 250 };
        let [few, many] = [min, 4 * min].map(|count| {
            let case = Case::new(kind, members, count);
            counted(case.work(work))
        });
        if 100 * many[0] > 484 * few[0] || many[1] > 8 * few[1] {
            failures.push(format!("{work:?} {members:?} {kind:?}: allocations and bytes {few:?}, {many:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
