//! `ncgen` and `ncgen3` with netCDF's options: datasets and programs from CDL text.
use super::{Flag, NetcdfTool, ToolFailure, ToolLine, ToolOption, flag, valued};
use crate::CommandStatus;
use crate::commands::generate::{in_text, input, name_of, print_cut};
use crate::commands::pipe::is_pipe;
use crate::message;
use ncirrus::{CreateOptions, DefaultChunks, ErrorKind, Format, Session};
use ncirrus_tools::cdl::parse::{CdlFault, NumberRange, format_named};
use ncirrus_tools::cdl::{ProgramLanguage, ProgramOptions};
use ncirrus_tools::{GenerateOptions, GenerateReport, TextInput, check_text, generate, generate_program};
use std::io::{self, BufWriter};
use std::path::Path;

pub(super) const NCGEN: NetcdfTool = NetcdfTool {
    name: "ncgen",
    about: "Make a dataset from CDL text, with the options of netCDF's ncgen",
    operands: "[FILE]",
    options: OPTIONS,
    examples: "  ncgen -b a.cdl                  makes a.nc
  ncgen -4 -o b.nc a.cdl          netCDF-4
  ncgen -lc a.cdl                 prints a program in C that makes a.nc
  ncgen a.cdl                     only checks the text",
    unknown_option: UNKNOWN_OPTION,
    run: |line, session| run(line, session, false),
};

pub(super) const NCGEN3: NetcdfTool = NetcdfTool {
    name: "ncgen3",
    about: "Make a classic dataset from CDL text, with the options of netCDF's ncgen3",
    examples: "  ncgen3 -b a.cdl                 makes a.nc
  ncgen3 a.cdl                    only checks the text",
    run: |line, session| run(line, session, true),
    ..NCGEN
};

const OPTIONS: &[ToolOption] = &[
    flag('b', "Make a dataset with the name of the text and the ending .nc"),
    valued('o', "TARGET", "Make a dataset of this name or address"),
    valued('k', "KIND", "Kind of the dataset: nc3, nc6, nc5, nc4, nc7, or another of its names"),
    valued('v', "KIND", "The same as -k"),
    flag('3', "The same as -k nc3"),
    flag('4', "The same as -k nc4"),
    flag('5', "The same as -k nc5"),
    flag('6', "The same as -k nc6"),
    flag('7', "The same as -k nc7"),
    flag('1', "Accepted"),
    flag('n', "The same as -b, with the ending .cdf"),
    valued('N', "NAME", "Name of the dataset, in place of the one in the text"),
    flag('H', "Write definitions only, without data"),
    flag('x', "Do not fill variables without _FillValue"),
    valued('l', "LANGUAGE", "b: the same as -b; c, f77: a program that makes the dataset"),
    flag('c', "The old form of -lc"),
    flag('f', "The old form of -lf77"),
    valued('M', "NAME", "Name of the program's main function [default: main]"),
    flag('h', "Print this help"),
    flag('d', "Accepted: debugging output"),
    valued('D', "LEVEL", "Accepted: debugging output"),
    valued('L', "N", "Log requests, as NCTRACING=N does"),
    flag('P', "Accepted: datasets always appear complete or not at all"),
    valued('W', "N", "Accepted: maximum size of a variable that is written at once"),
    valued('B', "N", "Accepted: length of buffers"),
];

/// Exit codes beside 0 and 1.
const UNKNOWN_KIND: u8 = 2;
const TWO_INPUTS: u8 = 6;
const UNREADABLE: u8 = 7;
const UNKNOWN_OPTION: u8 = 8;

/// The request of the options.
#[derive(Default)]
struct GenerateRequest {
    product: Product,
    kind: Option<Format>,
    target: Option<String>,
    /// Of a target without a name of its own.
    ending: Ending,
    name: Option<String>,
    /// Files have the name in the text, not that of its file.
    named_by_text: bool,
    definitions_only: bool,
    no_fill: bool,
    main: Option<String>,
}

/// The product of the text.
#[derive(Default, PartialEq, Eq)]
enum Product {
    /// Only faults are reported.
    #[default]
    Nothing,
    Dataset,
    /// A program in a language.
    Program(String),
}

#[derive(Default, Clone, Copy)]
enum Ending {
    #[default]
    Nc,
    Cdf,
}

fn run(line: &ToolLine, session: &Session, is_classic: bool) -> Result<CommandStatus, ToolFailure> {
    if line.has('h') {
        return Err(ToolFailure::usage(0, ""));
    }
    let request = GenerateRequest::read(line, is_classic)?;
    if line.operands.len() > 1 {
        return Err(ToolFailure::new(TWO_INPUTS, "only one input file argument permitted"));
    }
    let text = line.operands.first().map_or("-", String::as_str);
    let input = input(text, session).map_err(|error| unread(&error, text))?;
    let name = name_of(text);
    let print = |fault: &CdlFault| message::print_fault(fault, name);
    let options = request.options().faults(&print);
    let failed = |error: ncirrus::Error| ToolFailure::from(in_text(error, name));
    let report = match &request.product {
        Product::Nothing => check_text(&input, &options, session).map_err(failed)?,
        Product::Dataset => {
            let target = match request.target(text) {
                Some(target) => target,
                // The text contains its name: it is read first.
                None => {
                    let checked = check_text(&input, &options, session).map_err(failed)?;
                    if checked.name.contains(['/', '\\']) {
                        let message =
                            format!("the name {:?} in the text is not a file name: use -o", checked.name);
                        return Err(ToolFailure::new(1, message));
                    }
                    format!("{}{}", checked.name, request.ending.text())
                }
            };
            generate(&input, &target, &options, session).map_err(failed)?
        }
        Product::Program(language) => program(language, &request, text, &input, &options, session)?,
    };
    print_changes(&report);
    Ok(CommandStatus::SUCCESS)
}

/// A text that cannot be read.
fn unread(error: &ncirrus::Error, text: &str) -> ToolFailure {
    match error.kind() {
        ErrorKind::NotFound => ToolFailure::new(
            UNREADABLE,
            format!("can't open file {text} for reading: No such file or directory"),
        ),
        _ => ToolFailure::new(UNREADABLE, error.to_string()),
    }
}

/// Reports constants of the text that were changed.
fn print_changes(report: &GenerateReport) {
    print_cut(report);
    for note in &report.unfit {
        let (name, line, constant) = (&note.name, note.line, &note.constant);
        let others = if note.count > 1 { format!(" ({} in all)", note.count) } else { String::new() };
        message::print(format_args!("{name}: {constant} in line {line} does not fit its type{others}"));
    }
}

/// Prints a program that makes the dataset.
fn program(
    language: &str,
    request: &GenerateRequest,
    text: &str,
    input: &TextInput,
    options: &GenerateOptions<'_>,
    session: &Session,
) -> Result<GenerateReport, ToolFailure> {
    let failed = |error: ncirrus::Error| ToolFailure::from(in_text(error, name_of(text)));
    let language = match language {
        "c" | "C" => ProgramLanguage::C,
        "f77" | "fortran77" | "Fortran77" | "F77" => ProgramLanguage::Fortran77,
        "j" | "java" | "Java" => {
            let message = "the Java interface of netCDF no longer exists: use -lc, or ncirrus generate";
            return Err(ToolFailure::new(1, message));
        }
        other => return Err(ToolFailure::new(1, format!("output language {other} not implemented"))),
    };
    let mut program = ProgramOptions::new();
    program.language = language;
    program.main = request.main.clone().unwrap_or_default();
    program.target = match request.target(text) {
        Some(target) => target,
        None => {
            let checked = check_text(input, options, session).map_err(failed)?;
            format!("{}{}", checked.name, request.ending.text())
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    generate_program(input, &mut out, program, options, session).map_err(failed)
}

impl GenerateRequest {
    fn read(line: &ToolLine, is_classic: bool) -> Result<Self, ToolFailure> {
        let mut request = Self { named_by_text: is_classic, ..Self::default() };
        line.flags.iter().try_for_each(|flag| request.apply(flag))?;
        if request.product == Product::Nothing && (request.kind.is_some() || request.target.is_some()) {
            request.product = Product::Dataset;
        }
        if is_classic && request.kind.is_some_and(|kind| !kind.is_classic()) {
            return Err(ToolFailure::new(UNKNOWN_KIND, "invalid format: ncgen3 makes classic kinds only"));
        }
        if is_classic {
            request.kind.get_or_insert(Format::Classic);
        }
        Ok(request)
    }

    fn apply(&mut self, flag: &Flag) -> Result<(), ToolFailure> {
        let value = flag.value.as_str();
        match flag.letter {
            'b' => self.product = Product::Dataset,
            'n' => (self.product, self.ending) = (Product::Dataset, Ending::Cdf),
            'o' => self.target = Some(value.to_owned()),
            'k' | 'v' => match format_named(value) {
                Some(kind) => self.kind = Some(kind),
                None => return Err(ToolFailure::new(UNKNOWN_KIND, format!("invalid format: {value}"))),
            },
            // Alone it makes nothing, as with netCDF's program.
            '1' => {}
            '3' => self.kind = Some(Format::Classic),
            '4' => self.kind = Some(Format::NetCdf4),
            '5' => self.kind = Some(Format::Data64),
            '6' => self.kind = Some(Format::Offset64),
            '7' => self.kind = Some(Format::NetCdf4Classic),
            'N' => self.name = Some(value.to_owned()),
            'H' => self.definitions_only = true,
            'x' => self.no_fill = true,
            'l' if value == "b" => self.product = Product::Dataset,
            'l' => self.product = Product::Program(value.to_owned()),
            'c' => {
                message::print("-c is deprecated: use -lc");
                self.product = Product::Program("c".to_owned());
            }
            'f' => {
                message::print("-f is deprecated: use -lf77");
                self.product = Product::Program("f77".to_owned());
            }
            'M' => self.main = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn options<'a>(&self) -> GenerateOptions<'a> {
        let create = CreateOptions::new()
            .kind(self.kind.map(ncirrus_tools::kind_of_format))
            .header_pad(0)
            .default_chunks(DefaultChunks::NetcdfC)
            .overwrite(true);
        GenerateOptions::new()
            .create(create)
            .kind_by_text(true)
            .range(NumberRange::Reference)
            .definitions_only(self.definitions_only)
            .no_fill(self.no_fill)
            .overwrite_any(true)
    }

    /// The target, unless the text contains its name.
    fn target(&self, text: &str) -> Option<String> {
        if let Some(target) = &self.target {
            return Some(target.clone());
        }
        if is_pipe(text) {
            return self.name.as_ref().map(|name| format!("{name}{}", self.ending.text()));
        }
        if self.named_by_text {
            return None;
        }
        let path = Path::new(text);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.map(|stem| format!("{stem}{}", self.ending.text()))
    }
}

impl Ending {
    fn text(self) -> &'static str {
        match self {
            Self::Nc => ".nc",
            Self::Cdf => ".cdf",
        }
    }
}
