//! `ncirrus nccopy`: netCDF's program of that name, with its options, messages and exit codes.
mod flags;

use crate::CommandStatus;
use crate::message::plain;
use crate::trace::RequestTrace;
use clap::Args as ClapArgs;
use flags::{Flag, Flags};
use ncirrus::{Kind, Result, Session};
use ncirrus_tools::{CopyReport, NccopyOptions};
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write as _;

/// Copy as netCDF's nccopy does, with its options.
#[derive(ClapArgs)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// The options and operands of nccopy.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// The flags, as for `getopt`: those with a colon have a value.
const FLAGS: &str = "k:34567d:sum:c:h:e:rwxg:G:v:V:F:L:M:";

const USAGE: &str = "usage: nccopy [OPTION...] SOURCE TARGET
  -k KIND      kind of the target: nc3, nc6, cdf5, nc4 or nc7, or its full name; by default that of the source
  -3 -6 -5 -4 -7  the same as -k nc3, nc6, cdf5, nc4 and nc7
  -d N         deflate at level N, 0 to 9; 0 removes all filters
  -s           shuffle bytes before deflate
  -c CHUNKS    chunks: DIM/LEN,... or VAR:LEN,... or VAR: or VAR:contiguous or VAR:compact or /
  -M N         do not chunk variables whose chunks have fewer than N bytes (8192)
  -F FILTER    filters: none or VAR&VAR,none or VAR&VAR,ID,PARAMETER,...|ID,... or *,ID,...
  -u           make unlimited dimensions fixed
  -v VAR,...   all definitions, and the data of these variables
  -V VAR,...   these variables alone
  -g GROUP,... all definitions, and the data in these groups
  -G GROUP,... these groups alone
  -m -h -e N   sizes of caches, with K, M, G, T or P; without effect
  -r -w -x     without effect
  -L N         log requests, as NCTRACING=N does";

/// What the command line asks for.
struct Request {
    options: NccopyOptions,
    trace: Option<u64>,
    source: String,
    target: String,
}

pub(crate) fn run(args: &Args, session: &Session) -> CommandStatus {
    let request = match Flags::parse(FLAGS, &args.arguments).and_then(Request::read) {
        Ok(request) => request,
        Err(message) => {
            tell(message);
            return FAILED;
        }
    };
    match request.run(session) {
        Ok(report) => told(&report),
        Err(error) => {
            tell(error);
            FAILED
        }
    }
}

/// The only exit code of nccopy besides 0.
const FAILED: CommandStatus = CommandStatus::PARTIAL;

impl Request {
    /// Reads flags and operands.
    ///
    /// # Errors
    /// A message for the user.
    fn read(flags: Flags) -> std::result::Result<Self, String> {
        let mut options = NccopyOptions::new();
        let mut trace = None;
        for flag in &flags.given {
            if flag.letter == 'L' {
                let level = flag.value.parse().map_err(|_| format!("invalid log level: {}", flag.value))?;
                trace = Some(level);
            } else {
                options = apply(options, flag)?;
            }
        }
        match <[String; 2]>::try_from(flags.operands) {
            Ok([source, target]) => Ok(Self { options, trace, source, target }),
            Err(operands) if operands.is_empty() && flags.given.is_empty() => Err(USAGE.to_owned()),
            Err(_) => Err("one input file and one output file required".to_owned()),
        }
    }

    fn run(&self, session: &Session) -> Result<CopyReport> {
        let _trace = match self.trace {
            Some(level) => RequestTrace::start(None, Some(level))?,
            None => None,
        };
        if self.source == self.target {
            return Err(ncirrus::Error::invalid("output would overwrite input").at_object(&*self.target));
        }
        let source = super::open(&self.source, session)?;
        ncirrus_tools::nccopy(&source, &self.target, &self.options, session)
    }
}

/// Adds what a flag asks for.
fn apply(options: NccopyOptions, flag: &Flag) -> std::result::Result<NccopyOptions, String> {
    let value = flag.value.as_str();
    let joined = |mut list: Vec<String>| {
        list.extend(value.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
        list
    };
    Ok(match flag.letter {
        'k' => options.kind(kind(value).ok_or_else(|| format!("invalid output format: {value}"))?),
        '3' => options.kind(Kind::Nc3),
        '4' => options.kind(Kind::Nc4),
        '5' => options.kind(Kind::Nc5),
        '6' => options.kind(Kind::Nc6),
        '7' => options.kind(Kind::Nc4Classic),
        'd' => match value.parse() {
            Ok(level @ 0..=9) => options.deflate(level),
            _ => return Err(format!("invalid deflation level: {value}")),
        },
        's' => options.shuffle(true),
        'u' => options.fix_unlimited(true),
        'c' => {
            let chunks = [options.chunks.clone(), vec![value.to_owned()]].concat();
            options.chunks(chunks)
        }
        'F' => {
            let removes_all = value == "none" || value.eq_ignore_ascii_case("*,none");
            let options = if removes_all { options } else { options.kind(Kind::Nc4) };
            let filters = [options.filters.clone(), vec![value.to_owned()]].concat();
            options.filters(filters)
        }
        'M' => match value.parse::<u64>() {
            Ok(bytes) => options.min_chunk_bytes(bytes),
            Err(_) => return Err(format!("invalid minimum chunk size: {value}")),
        },
        'm' | 'h' | 'e' => {
            check_size(flag.letter, value)?;
            options
        }
        letter @ ('v' | 'V') => {
            let names = joined(options.variables.clone());
            options.variables(names).variables_alone(letter == 'V')
        }
        letter @ ('g' | 'G') => {
            let names = joined(options.groups.clone());
            options.groups(names).groups_alone(letter == 'G')
        }
        // -r, -w and -x choose between ways of reading and writing that make no difference here.
        _ => options,
    })
}

/// The names of kinds that `-k` takes.
fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "classic" | "nc3" | "1" => Kind::Nc3,
        "64-bit offset" | "64-bit-offset" | "nc6" | "2" => Kind::Nc6,
        "netCDF-4" | "netCDF4" | "nc4" | "3" | "hdf5" | "enhanced" => Kind::Nc4,
        "netCDF-4 classic model"
        | "netCDF-4-classic"
        | "netCDF-4_classic"
        | "netCDF4_classic"
        | "nc7"
        | "4"
        | "hdf5-nc3"
        | "enhanced-nc3" => Kind::Nc4Classic,
        "64-bit data" | "64-bit-data" | "cdf5" | "nc5" | "5" => Kind::Nc5,
        _ => return None,
    })
}

/// A size is a number that is not negative, with a suffix that multiplies it by a power of ten.
fn check_size(letter: char, text: &str) -> std::result::Result<(), String> {
    let number = text.trim_end_matches(|last: char| "kmgtpKMGTP".contains(last));
    let is_suffix_single = text.len() - number.len() <= 1;
    match number.parse::<f64>() {
        Ok(size) if size >= 0.0 && size.is_finite() && is_suffix_single => Ok(()),
        _ => Err(format!("Suffix used for '-{letter}' option value must be K, M, G, T, or P: {text}")),
    }
}

/// Prints what differs from the source or was left out.
fn told(report: &CopyReport) -> CommandStatus {
    report.notes.iter().for_each(|note| tell(format_args!("note: {note}")));
    report.stays.iter().for_each(|name| {
        tell(format_args!("{name} was kept: it is not part of the dataset that was replaced"));
    });
    report.losses.iter().for_each(tell);
    report.unread.iter().for_each(tell);
    report.left_out.iter().for_each(tell);
    if report.is_complete() { CommandStatus::SUCCESS } else { FAILED }
}

/// Prints a line to standard error. A closed standard error is ignored.
fn tell(line: impl Display) {
    let text = line.to_string();
    let lines: Vec<String> = text.lines().map(plain).collect();
    _ = writeln!(std::io::stderr().lock(), "nccopy: {}", lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> std::result::Result<Request, String> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        Flags::parse(FLAGS, &arguments).and_then(Request::read)
    }

    #[test]
    fn flags_are_bundled_attached_and_behind_operands() {
        let request = request(&["-sd3", "a.nc", "-cx/3", "-c", "y/4", "b.nc"]).unwrap();
        assert_eq!((request.source.as_str(), request.target.as_str()), ("a.nc", "b.nc"));
        assert_eq!((request.options.deflate, request.options.shuffle), (Some(3), true));
        assert_eq!(request.options.chunks, ["x/3", "y/4"]);
    }

    #[test]
    fn sizes_have_at_most_one_suffix() {
        for size in ["5", "1.5m", "2P", "0", "1e6K"] {
            assert!(request(&["-m", size, "a", "b"]).is_ok(), "{size}");
        }
        for size in ["x", "-5", "5Q", "5KB", "5KK", "", "nan", "inf"] {
            assert!(request(&["-m", size, "a", "b"]).is_err(), "{size}");
        }
    }

    #[test]
    fn a_filter_asks_for_netcdf4_unless_a_kind_follows() {
        let kind = |arguments: &[&str]| request(arguments).unwrap().options.kind;
        assert_eq!(kind(&["-3", "-Fv,1,5", "a", "b"]), Some(Kind::Nc4));
        assert_eq!(kind(&["-Fv,1,5", "-7", "a", "b"]), Some(Kind::Nc4Classic));
        assert_eq!(kind(&["-Fnone", "a", "b"]), None);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (arguments, message) in [
            (&["-d10", "a", "b"][..], "invalid deflation level: 10"),
            (&["-k", "nope", "a", "b"], "invalid output format: nope"),
            (&["-z", "a", "b"], "invalid option -- 'z'"),
            (&["-d"], "option requires an argument -- 'd'"),
            (&["a"], "one input file and one output file required"),
        ] {
            let told = request(arguments).err().unwrap_or_default();
            assert!(told.starts_with(message), "{told}");
        }
    }
}
