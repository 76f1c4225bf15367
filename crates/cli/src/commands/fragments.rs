//! `ncirrus fragments`: lists the fragments of aggregated variables.
use super::finish;
use super::reading::ReadingOptions;
use crate::CommandStatus;
use crate::exit;
use anstyle::{AnsiColor, Style};
use clap::Args as ClapArgs;
use ncirrus::{Dataset, FragmentCheck, FragmentInfo, Result, Selection, Session, Variable, VariableSelect};
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;

/// List the fragments of aggregated variables: location, and part of the variable.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus fragments sst.nca                      all fragments of all variables
  ncirrus fragments sst.nca 'sst[0:10]'          those of the first ten steps
  ncirrus fragments --check s3://bucket/sst.nca  check that each exists and fits
  ncirrus fragments --json sst.nca | jq '.[].places[0]'")]
pub(crate) struct Args {
    /// Path or URL of the dataset.
    url: String,
    /// Variable and selection: VAR or VAR[0:10:2,5,:] [default: all aggregated variables].
    variable: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Open every fragment and check its shape, type and units.
    ///
    /// Many fragments are opened at once. The exit code is 1 if one does not fit.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    reading: ReadingOptions,
}

const NAME: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const FAULT: Style = AnsiColor::Red.on_default();

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let dataset = args.reading.open(&args.url, session)?;
    let wanted = wanted(&dataset, args.variable.as_deref())?;
    let mut list = FragmentList {
        out: BufWriter::new(anstream::stdout()),
        json: args.json,
        count: 0,
        faults: 0,
        before: 0,
    };
    let mut written = list.begin();
    for (variable, selection) in &wanted {
        if written.is_err() {
            break;
        }
        written = list.head(variable);
        let mut show = |checks: Vec<FragmentCheck>| {
            let done = std::mem::replace(&mut written, Ok(()));
            written = done.and_then(|()| checks.iter().try_for_each(|check| list.show(variable, check)));
            Ok(if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        variable.each_fragment(selection, args.check, &mut show)?;
        written = written.and_then(|()| list.foot(args.check));
    }
    let done = finish(written.and_then(|()| list.end()))?;
    Ok(if list.faults == 0 || !args.check { done } else { CommandStatus::from(exit::PARTIAL) })
}

/// The variables to list, and of which elements.
fn wanted(dataset: &Dataset, variable: Option<&str>) -> Result<Vec<(Variable, Selection)>> {
    if let Some(text) = variable {
        let select = VariableSelect::parse(text)?;
        let variable = dataset.variable(&select.path)?;
        let selection = select.resolve(&variable.shape())?;
        return Ok(vec![(variable, selection)]);
    }
    let whole = |variable: Variable| {
        let selection = Selection::all(&variable.shape());
        (variable, selection)
    };
    Ok(dataset.variables().into_iter().filter(Variable::is_aggregated).map(whole).collect())
}

/// Output that is printed while fragments are found: there may be a million of them.
struct FragmentList<W> {
    out: W,
    json: bool,
    /// Fragments of the variable, of all variables as JSON.
    count: usize,
    faults: usize,
    /// Faults of the previous variables.
    before: usize,
}

impl<W: Write> FragmentList<W> {
    fn begin(&mut self) -> io::Result<()> {
        if self.json { write!(self.out, "[") } else { Ok(()) }
    }

    fn head(&mut self, variable: &Variable) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        (self.count, self.before) = (0, self.faults);
        writeln!(self.out, "{NAME}{}{NAME:#}  {}", variable.path(), lengths(&variable.shape(), "x"))
    }

    fn show(&mut self, variable: &Variable, check: &FragmentCheck) -> io::Result<()> {
        self.count += 1;
        self.faults += usize::from(check.fault.is_some());
        if !self.json {
            return row(&mut self.out, check);
        }
        let entry = format!("{:#}", entry(variable, check)).replace('\n', "\n  ");
        let comma = if self.count > 1 { "," } else { "" };
        write!(self.out, "{comma}\n  {entry}")
    }

    fn foot(&mut self, checked: bool) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        let noun = if self.count == 1 { "fragment" } else { "fragments" };
        if checked {
            writeln!(self.out, "  {} {noun}, {} with faults", self.count, self.faults - self.before)
        } else {
            writeln!(self.out, "  {} {noun}", self.count)
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match (self.json, self.count) {
            (false, _) => {}
            (true, 0) => writeln!(self.out, "]")?,
            (true, _) => writeln!(self.out, "\n]")?,
        }
        self.out.flush()
    }
}

fn row(out: &mut impl Write, FragmentCheck { fragment, fault }: &FragmentCheck) -> io::Result<()> {
    let place = match fragment.places.first().or(fragment.names.first()) {
        Some(place) => place.as_str(),
        None => fragment.kind.name(),
    };
    let names = fragment.variables.first().map_or("", String::as_str);
    let (index, region) = (lengths(&fragment.index, ","), region(fragment));
    writeln!(out, "  {QUIET}[{index}]{QUIET:#} {region}  {place}  {names}")?;
    match fault {
        Some(fault) => writeln!(out, "    {FAULT}{fault}{FAULT:#}"),
        None => Ok(()),
    }
}

fn lengths(numbers: &[u64], between: &str) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// The elements that it fills, written as a selection.
fn region(fragment: &FragmentInfo) -> String {
    let axes = fragment.region.start.iter().zip(&fragment.region.count);
    let axes: Vec<String> = axes.map(|(start, count)| format!("{start}:{}", start + count)).collect();
    format!("[{}]", axes.join(","))
}

fn entry(variable: &Variable, FragmentCheck { fragment, fault }: &FragmentCheck) -> Value {
    json!({
        "variable": variable.path(),
        "index": fragment.index,
        "start": fragment.region.start,
        "count": fragment.region.count,
        "kind": fragment.kind.name(),
        "names": fragment.names,
        "places": fragment.places,
        "variables": fragment.variables,
        "fault": fault.as_ref().map(ToString::to_string),
    })
}
