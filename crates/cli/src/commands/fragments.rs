//! `ncirrus fragments`: what aggregated variables are put together from.
use super::finish;
use super::reading::Reading;
use crate::exit;
use anstyle::{AnsiColor, Style};
use clap::Args as ClapArgs;
use ncirrus::{Dataset, FragmentCheck, FragmentInfo, Result, Selection, Session, Variable, VariableSelect};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::ExitCode;

/// List the fragments of aggregated variables: where they lie and which part of the variable they fill.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus fragments sst.nca                      all fragments of all variables
  ncirrus fragments sst.nca 'sst[0:10]'          those of the first ten steps
  ncirrus fragments --check s3://bucket/sst.nca  whether each is there and fits; 1 when one does not
  ncirrus fragments --json sst.nca | jq '.[].places[0]'")]
pub(crate) struct Args {
    /// Path or URL of the dataset.
    url: String,
    /// Variable and selection: VAR or VAR[0:10:2,5,:] [default: all aggregated variables].
    variable: Option<String>,
    /// As JSON.
    #[arg(long)]
    json: bool,
    /// Open every fragment and compare its shape, type and units.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    reading: Reading,
}

const NAME: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const FAULT: Style = AnsiColor::Red.on_default();

pub(crate) fn run(args: &Args, session: &Session) -> Result<ExitCode> {
    let dataset = args.reading.open(&args.url, session)?;
    let mut listed = Vec::new();
    for (variable, selection) in wanted(&dataset, args.variable.as_deref())? {
        let checks = match args.check {
            true => variable.check_fragments(&selection)?,
            false => variable.fragments(&selection)?.into_iter().map(unchecked).collect(),
        };
        listed.push((variable, checks));
    }
    let is_whole = listed.iter().all(|(_, checks)| checks.iter().all(|check| check.fault.is_none()));
    let mut out = anstream::stdout().lock();
    let written = match args.json {
        true => writeln!(out, "{:#}", listing(&listed)),
        false => listed.iter().try_for_each(|(variable, checks)| show(&mut out, variable, checks)),
    };
    let done = finish(written)?;
    Ok(if is_whole || !args.check { done } else { ExitCode::from(exit::PARTIAL) })
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

fn unchecked(fragment: FragmentInfo) -> FragmentCheck {
    FragmentCheck { fault: fragment.fault.clone(), fragment }
}

fn show(out: &mut impl Write, variable: &Variable, checks: &[FragmentCheck]) -> io::Result<()> {
    let shape = lengths(&variable.shape(), "x");
    let noun = if checks.len() == 1 { "fragment" } else { "fragments" };
    writeln!(out, "{NAME}{}{NAME:#}  {shape}  {} {noun}", variable.path(), checks.len())?;
    for FragmentCheck { fragment, fault } in checks {
        let place = match fragment.places.first().or(fragment.names.first()) {
            Some(place) => place.as_str(),
            None => fragment.kind.name(),
        };
        let names = fragment.variables.first().map_or("", String::as_str);
        let (index, region) = (lengths(&fragment.index, ","), region(fragment));
        writeln!(out, "  {QUIET}[{index}]{QUIET:#} {region}  {place}  {names}")?;
        if let Some(fault) = fault {
            writeln!(out, "    {FAULT}{fault}{FAULT:#}")?;
        }
    }
    Ok(())
}

fn lengths(numbers: &[u64], between: &str) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// The elements that it fills, as a selection is written.
fn region(fragment: &FragmentInfo) -> String {
    let axes = fragment.region.start.iter().zip(&fragment.region.count);
    let axes: Vec<String> = axes.map(|(start, count)| format!("{start}:{}", start + count)).collect();
    format!("[{}]", axes.join(","))
}

fn listing(listed: &[(Variable, Vec<FragmentCheck>)]) -> Value {
    let entry = |variable: &Variable, check: &FragmentCheck| {
        let FragmentCheck { fragment, fault } = check;
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
    };
    listed.iter().flat_map(|(variable, checks)| checks.iter().map(|check| entry(variable, check))).collect()
}
