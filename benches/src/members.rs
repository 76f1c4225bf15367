//! Datasets of many members: `ncirrus-bench members CASE KIND MEMBERS FOLDER COUNT RUNS`; CASE one of `create` (each member
//! by a call of its own), `write` (variables, each with its value before the next), `update` (one more attribute on each member), `open` (with all attributes), `copy` (to a dataset of
//! the same kind), `dump` (as CDL) and `generate` (from that CDL); KIND one of `classic`, `nc4` and `nczarr`; MEMBERS one of
//! `variables` (along one dimension), `dimensions` (each of a variable with another name), `groups`, `attributes` and
//! `types`. The dataset of the other cases is FOLDER/COUNT-MEMBERS.KIND, which the first of them creates.
use crate::{Failure, remove, timed_after};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, NodeId, OpenOptions, Session, UserKind,
    UserType, Values,
};
use ncirrus_tools::cdl::PrintOptions;
use ncirrus_tools::{CopyOptions, GenerateOptions, copy, dump, generate};
use std::path::Path;
use std::time::Duration;

/// What is measured, and of which kind.
struct Members<'a> {
    kind: Kind,
    of: &'a str,
    count: usize,
    session: Session,
}

pub(crate) fn run(
    [case, kind, of, folder]: [&str; 4],
    count: usize,
    runs: usize,
) -> Result<Vec<Duration>, Failure> {
    let session = Session::builder().durable(false).build()?;
    let members = Members { kind: kind_named(kind)?, of, count, session };
    std::fs::create_dir_all(folder)?;
    let source = Path::new(folder).join(format!("{count}-{of}.{kind}"));
    let target = Path::new(folder).join(format!("{count}-{of}-{case}.{kind}"));
    let before = || drop_dataset(&target);
    let times = match case {
        "create" => timed_after(runs, before, || members.create(&target, false)),
        "write" => timed_after(runs, before, || members.create(&target, true)),
        "update" => timed_after(runs, || members.create(&target, false), || members.update(&target)),
        "open" => {
            members.prepared(&source).and_then(|()| timed_after(runs, before, || members.open(&source)))
        }
        "copy" => members
            .prepared(&source)
            .and_then(|()| timed_after(runs, before, || members.copy(&source, &target))),
        "dump" => members
            .prepared(&source)
            .and_then(|()| timed_after(runs, before, || members.dump(&source, &mut std::io::sink()))),
        "generate" => members.prepared(&source).and_then(|()| {
            let mut text = Vec::new();
            members.dump(&source, &mut text)?;
            timed_after(runs, before, || members.generate(&text, &target))
        }),
        other => Err(format!("unknown case {other:?}").into()),
    };
    drop_dataset(&target)?;
    times
}

fn kind_named(kind: &str) -> Result<Kind, Failure> {
    Ok(match kind {
        "classic" => Kind::Nc5,
        "nc4" => Kind::Nc4,
        "nczarr" => Kind::NcZarr,
        other => return Err(format!("unknown kind {other:?}").into()),
    })
}

fn drop_dataset(path: &Path) -> Result<(), Failure> {
    if path.is_file() { Ok(std::fs::remove_file(path)?) } else { remove(path) }
}

fn text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| "the folder's name is not UTF-8".into())
}

impl Members<'_> {
    fn prepared(&self, source: &Path) -> Result<(), Failure> {
        if source.exists() { Ok(()) } else { self.create(source, false) }
    }

    fn create(&self, target: &Path, writes: bool) -> Result<(), Failure> {
        drop_dataset(target)?;
        let options = CreateOptions::new().kind(self.kind).overwrite(true);
        let dataset = Dataset::create_with(text(target)?, &options, &self.session)?;
        let root = dataset.root();
        root.add_dimension("x", DimensionLen::Fixed(1))?;
        for at in 0..self.count {
            let name = format!("name_{at}");
            match self.of {
                "variables" => {
                    let variable = root.add_variable(&name, Atomic::Int, &["x"])?;
                    variable.set_attribute(Attribute::text("units", "m"))?;
                    if writes {
                        variable.write_all(&[1i32])?;
                    }
                }
                "dimensions" => {
                    root.add_dimension(&name, DimensionLen::Fixed(1))?;
                    root.add_variable(&format!("v{at}"), Atomic::Int, &[&name])?;
                }
                "groups" => drop(root.add_group(&name)?),
                "attributes" => root.set_attribute(Attribute::text(name, "value"))?,
                "types" => dataset.edit(|model| {
                    let ty = UserType { name: name.clone(), kind: UserKind::Opaque(4) };
                    model.add_type(model.root(), ty)?;
                    Ok(())
                })?,
                other => return Err(format!("unknown members {other:?}").into()),
            }
        }
        Ok(dataset.close()?)
    }

    fn update(&self, target: &Path) -> Result<(), Failure> {
        let dataset = Dataset::update_with(text(target)?, &OpenOptions::default(), &self.session)?;
        let nodes = dataset.model()?.nodes();
        dataset.edit(|model| {
            for at in 0..self.count {
                let node = nodes.get(at + 1).copied().filter(|_| self.of != "attributes");
                let node = node.unwrap_or_else(|| NodeId::Group(model.root()));
                let name = if self.of == "attributes" { format!("name_{at}") } else { "more".to_owned() };
                model.set_attribute(node, Attribute::atomic(name, Values::Int(vec![1])))?;
            }
            Ok(())
        })?;
        Ok(dataset.close()?)
    }

    fn open(&self, source: &Path) -> Result<(), Failure> {
        let dataset = Dataset::open_with(text(source)?, &OpenOptions::default(), &self.session)?;
        let model = dataset.model()?;
        let root = model.group(model.root()).ok_or("no root")?;
        let found = match self.of {
            "variables" => root.vars.len(),
            "dimensions" => root.dims.len() - 1,
            "groups" => root.groups.len(),
            "attributes" => root.attributes.known().map_or(0, |known| known.iter().count()),
            _ => root.types.len(),
        };
        if found == self.count { Ok(()) } else { Err(format!("{found} members").into()) }
    }

    fn copy(&self, source: &Path, target: &Path) -> Result<(), Failure> {
        let dataset = Dataset::open_with(text(source)?, &OpenOptions::default(), &self.session)?;
        let mut options = CopyOptions::default();
        options.create = CreateOptions::new().kind(self.kind);
        let report = copy(&dataset, text(target)?, &options, &self.session)?;
        if report.is_complete() { Ok(()) } else { Err("the copy is not complete".into()) }
    }

    fn dump(&self, source: &Path, out: &mut dyn std::io::Write) -> Result<(), Failure> {
        let dataset = Dataset::open_with(text(source)?, &OpenOptions::default(), &self.session)?;
        dump(&dataset, out, &PrintOptions::default())?;
        Ok(())
    }

    fn generate(&self, text_of: &[u8], target: &Path) -> Result<(), Failure> {
        let options = GenerateOptions::new().create(CreateOptions::new().kind(self.kind));
        generate(&text_of, text(target)?, &options, &self.session)?;
        Ok(())
    }
}
