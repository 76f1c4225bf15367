//! `nccopy` with netCDF's options, messages and exit codes.
use super::{Flag, NetcdfTool, ToolFailure, ToolLine, flag, valued};
use crate::CommandStatus;
use crate::commands;
use ncirrus::{Kind, Result, Session};
use ncirrus_tools::cdl::parse::format_named;
use ncirrus_tools::{NccopyOptions, kind_of_format};

pub(super) const TOOL: NetcdfTool = NetcdfTool {
    name: "nccopy",
    about: "Copy a dataset, with the options of netCDF's nccopy",
    operands: "SOURCE TARGET",
    options: &[
        valued(
            'k',
            "KIND",
            "Kind of the target: nc3, nc6, cdf5, nc4, nc7, or another of its names [default: that of the source]",
        ),
        flag('3', "The same as -k nc3"),
        flag('6', "The same as -k nc6"),
        flag('5', "The same as -k cdf5"),
        flag('4', "The same as -k nc4"),
        flag('7', "The same as -k nc7"),
        valued('d', "N", "Deflate at level N, 0 to 9; 0 removes all filters"),
        flag('s', "Shuffle bytes before deflate"),
        valued(
            'c',
            "CHUNKS",
            "Chunks: DIM/LEN,... or VAR:LEN,... or VAR: or VAR:contiguous or VAR:compact or /; repeatable",
        ),
        valued('M', "N", "Do not chunk variables whose chunks have fewer than N bytes [default: 8192]"),
        valued(
            'F',
            "FILTER",
            "Filters: none or VAR&VAR,none or VAR&VAR,ID,PARAMETER,...|ID,... or *,ID,...; repeatable",
        ),
        flag('u', "Make unlimited dimensions fixed"),
        valued('v', "VAR,...", "All definitions, and the data of these variables"),
        valued('V', "VAR,...", "These variables only"),
        valued('g', "GROUP,...", "All definitions, and the data in these groups"),
        valued('G', "GROUP,...", "These groups only"),
        valued('m', "SIZE", "Accepted: size of the copy buffer, with K, M, G, T or P"),
        valued('h', "SIZE", "Accepted: size of the chunk cache"),
        valued('e', "N", "Accepted: number of chunks in the cache"),
        flag('r', "Accepted: the source is read into memory first"),
        flag('w', "Accepted: the target is kept in memory until it is complete"),
        flag('x', "Accepted"),
        valued('L', "N", "Log requests, as NCTRACING=N does"),
    ],
    examples: "  nccopy -k nc4 -d1 -s a.nc b.nc       netCDF-4, compressed
  nccopy -c time/1,lat/,lon/ a.nc c.nc  with other chunks",
    unknown_option: 1,
    run,
};

/// The request of the command line.
struct Request {
    options: NccopyOptions,
    source: String,
    target: String,
}

fn run(line: &ToolLine, session: &Session) -> std::result::Result<CommandStatus, ToolFailure> {
    Ok(Request::read(line)?.run(session)?)
}

impl Request {
    /// Reads flags and operands.
    ///
    /// # Errors
    /// A message for the user.
    fn read(line: &ToolLine) -> std::result::Result<Self, ToolFailure> {
        let failed = |message| ToolFailure::new(1, message);
        let options = line.flags.iter().try_fold(NccopyOptions::new(), apply).map_err(failed)?;
        match line.operands.as_slice() {
            [source, target] => Ok(Self { options, source: source.clone(), target: target.clone() }),
            _ => Err(ToolFailure::usage(1, "one input file and one output file required")),
        }
    }

    fn run(&self, session: &Session) -> Result<CommandStatus> {
        if self.source == self.target {
            return Err(ncirrus::Error::invalid("output would overwrite input").at_object(&*self.target));
        }
        let source = commands::open_as_netcdf_c(&self.source, session)?;
        let report = ncirrus_tools::nccopy(&source, &self.target, &self.options, session)?;
        Ok(commands::copy::print_copied(&report, &source))
    }
}

/// Adds the request of a flag.
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

/// Names of kinds that ncgen accepts and nccopy rejects.
const ONLY_OF_NCGEN: [&str; 3] = ["netcdf-4", "netcdf4", "cdf-5"];

/// The kind that `-k` names.
fn kind(name: &str) -> Option<Kind> {
    format_named(name).filter(|_| !ONLY_OF_NCGEN.contains(&name)).map(kind_of_format)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn request(arguments: &[&str]) -> std::result::Result<Request, String> {
        let line = TOOL.read(arguments.iter().map(std::ffi::OsString::from));
        line.and_then(|line| Request::read(&line)).map_err(|failure| failure.message)
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
            let reported = request(arguments).err().unwrap_or_default();
            assert!(reported.starts_with(message), "{reported}");
        }
    }
}
