//! `ncdump` with netCDF's options.
use super::{Flag, NetcdfTool, ToolFailure, ToolLine, flag, valued};
use crate::CommandStatus;
use crate::commands::{self, StandardOutput};
use ncirrus::{Dataset, ErrorKind, Session};
use ncirrus_tools::cdl::{AnnotationStyle, DataChoice, IndexAnnotation, IndexOrder, PrintOptions, TimeStyle};
use std::io::Write;

pub(super) const TOOL: NetcdfTool = NetcdfTool {
    name: "ncdump",
    about: "Print a dataset as CDL text, with the options of netCDF's ncdump",
    operands: "FILE",
    options: &[
        flag('c', "Header and the data of coordinate variables"),
        flag('h', "Header only, without data; overrides -c"),
        valued('v', "VAR,...", "Data of these variables only"),
        valued('g', "GROUP,...", "Data of these groups only"),
        valued('b', "c|f", "Brief comments of indices in the data, as in C or Fortran"),
        valued('f', "c|f", "Full comments of indices in the data, as in C or Fortran"),
        valued('l', "N", "Maximum length of lines of data [default: 80]"),
        valued('n', "NAME", "Name of the dataset in the output"),
        valued('p', "F[,D]", "Significant digits of float and double"),
        valued('d', "F[,D]", "The same, but attributes C_format come first (deprecated)"),
        flag('k', "Print only the kind of the dataset"),
        flag('K', "Print only the kind and the mode that it is opened with"),
        flag('s', "Show how variables are stored, as special attributes"),
        flag('F', "With -s: all filters in _Filter or _Codecs"),
        flag('t', "Times as dates, with a space between date and time"),
        flag('i', "Times as ISO 8601 dates, with a T between date and time"),
        flag('x', "NcML instead of CDL"),
        flag('w', "Accepted: whole variables of DAP servers are kept"),
        valued(
            'X',
            "p|F|m",
            "p: omit _NCProperties; F: always print the type of _FillValue; m: accepted (file in memory)",
        ),
        valued('L', "N", "Log requests, as NCTRACING=N does"),
    ],
    examples: "  ncdump -h a.nc                the header only
  ncdump -v sst,time -p9,17 a.nc  two variables, exact numbers
  ncdump -sc a.nc               how it is stored, and coordinates",
    unknown_option: 1,
    run,
};

fn run(line: &ToolLine, session: &Session) -> Result<CommandStatus, ToolFailure> {
    let mut request = DumpRequest { options: PrintOptions::new(), digits: [PrecisionChoice::default(); 2] };
    line.flags.iter().try_for_each(|flag| request.apply(flag))?;
    let [url] = line.operands.as_slice() else { return Err(ToolFailure::usage(1, "")) };
    let dataset = commands::open_as_netcdf_c(url, session).map_err(|error| unopened(url, error))?;
    if let Some(kind) = line.flags.iter().find(|flag| "kK".contains(flag.letter)) {
        let text = match kind.letter {
            'k' => dataset.kind().to_string(),
            _ => ncirrus_tools::extended_kind(&dataset),
        };
        let mut out = StandardOutput::new();
        return Ok(commands::finish(writeln!(out, "{text}").and_then(|()| out.flush()))?);
    }
    let mut options = request.finish();
    if line.has('h') {
        options.data = DataChoice::HeaderOnly;
    }
    if line.value('n').is_none() {
        dataset.name().clone_into(&mut options.name);
    }
    let is_classic = ncirrus_tools::is_classic_model(&dataset);
    if is_classic && !options.groups.is_empty() {
        // netCDF-C fails without a message, even for the root.
        return Err(ToolFailure::new(1, format!("{url}: -g: the classic model has no groups")));
    }
    let options = options.classic(is_classic);
    commands::dump::print(&dataset, &options, line.has('x')).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            ToolFailure::new(1, missing(&dataset, &options).unwrap_or_else(|| error.to_string()))
        }
        _ => error.into(),
    })
}

/// Which of the requested members does not exist, in the tool's words.
fn missing(dataset: &Dataset, options: &PrintOptions) -> Option<String> {
    let model = dataset.model().ok()?;
    let misses = |one: PrintOptions| ncirrus_tools::cdl::has_members(&model, &one).is_err();
    let variable =
        options.variables.iter().find(|name| misses(PrintOptions::new().variables([(*name).clone()])));
    let group = options.groups.iter().find(|name| misses(PrintOptions::new().groups([(*name).clone()])));
    let variable = variable.map(|name| format!("{name}: No such variable"));
    variable.or_else(|| group.map(|name| format!("{name}: No such group")))
}

fn unopened(url: &str, error: ncirrus::Error) -> ToolFailure {
    match error.kind() {
        ErrorKind::NotFound => ToolFailure::new(1, format!("{url}: No such file or directory")),
        _ => error.into(),
    }
}

/// The request of the options so far.
struct DumpRequest {
    options: PrintOptions,
    /// Of float and double.
    digits: [PrecisionChoice; 2],
}

/// Digits of a type, and whether they come before attributes `C_format`.
#[derive(Clone, Copy, Default)]
struct PrecisionChoice {
    digits: Option<usize>,
    is_first: bool,
}

impl DumpRequest {
    fn apply(&mut self, flag: &Flag) -> Result<(), ToolFailure> {
        let value = flag.value.as_str();
        let names = || value.split(',').filter(|name| !name.is_empty()).map(str::to_owned);
        let options = &mut self.options;
        match flag.letter {
            'c' => options.data = DataChoice::Coordinates,
            'v' => options.variables.extend(names()),
            'g' => options.groups.extend(names()),
            'b' | 'f' => {
                // `-b` and `-f` together show both annotations, in whichever order they are given.
                let (own, other) = match flag.letter {
                    'b' => (AnnotationStyle::Brief, AnnotationStyle::Full),
                    _ => (AnnotationStyle::Full, AnnotationStyle::Brief),
                };
                let style = match options.annotation.map(|before| before.style) {
                    Some(before) if before == other || before == AnnotationStyle::Both => {
                        AnnotationStyle::Both
                    }
                    _ => own,
                };
                options.annotation = Some(IndexAnnotation { style, order: order(flag)? });
            }
            'l' => match leading_number(value) {
                len @ 10.. => options.line_len = len,
                len => {
                    let message = format!("unreasonably small line length specified: {len}");
                    return Err(ToolFailure::new(1, message));
                }
            },
            'n' => value.clone_into(&mut options.name),
            'p' | 'd' => self.precision(flag)?,
            's' => options.special = true,
            'F' => options.all_filters = true,
            't' => options.times = Some(TimeStyle::Blank),
            'i' => options.times = Some(TimeStyle::T),
            'X' => match value {
                "p" => options.no_properties = true,
                "F" => options.fill_types = true,
                "m" => {}
                other => {
                    return Err(ToolFailure::new(1, format!("invalid value for -X option: {other}")));
                }
            },
            _ => {}
        }
        Ok(())
    }

    /// `-p F,D` and its old form `-d`.
    fn precision(&mut self, flag: &Flag) -> Result<(), ToolFailure> {
        let parts = flag.value.splitn(2, ',').zip(["float", "double"]).zip(&mut self.digits);
        for ((text, what), choice) in parts {
            let digits = leading_number(text);
            if !(1..=64).contains(&digits) {
                let message = format!("unreasonable value for {what} significant digits: {digits}");
                return Err(ToolFailure::new(1, message));
            }
            choice.digits = Some(digits);
            choice.is_first |= flag.letter == 'p';
        }
        Ok(())
    }

    fn finish(mut self) -> PrintOptions {
        let [float, double] = self.digits;
        let first = |choice: PrecisionChoice| choice.digits.filter(|_| choice.is_first);
        let second = |choice: PrecisionChoice| choice.digits.filter(|_| !choice.is_first);
        self.options.float_digits = first(float);
        self.options.double_digits = first(double);
        self.options.unformatted_digits = [second(float), second(double)];
        self.options
    }
}

/// How indices are counted, by the first letter in either case.
fn order(flag: &Flag) -> Result<IndexOrder, ToolFailure> {
    match flag.value.chars().next() {
        Some('c' | 'C') => Ok(IndexOrder::C),
        Some('f' | 'F') => Ok(IndexOrder::Fortran),
        _ => Err(ToolFailure::new(1, format!("invalid value for -{} option: {}", flag.letter, flag.value))),
    }
}

/// The number that a text begins with, as C's `atoi` has it; 0 if there is none.
fn leading_number(text: &str) -> usize {
    let digits = text.trim_start().bytes().take_while(u8::is_ascii_digit).count();
    text.trim_start().get(..digits).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}
