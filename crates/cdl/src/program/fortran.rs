//! Programs in Fortran 77, fixed form: one subroutine for each attribute and each box of values, so that no statement grows with
//! the data.
use super::{ElementBox, OwnedAttribute, ProgramOptions, WrittenPart, attributes, parts, read};
use crate::number::{format_double, format_float};
use crate::{CdlError, DataSource};
use ncirrus_model::{Atomic, DimId, Endianness, Format, Model, Storage, TypeRef, Values, VarId};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;

/// Bytes of a text literal, so that a line with nothing but apostrophes ends before column 72.
const LITERAL_LEN: usize = 24;

/// Values of one DATA statement, each on a line; the language has 19 lines after the first.
const DATA_LEN: usize = 16;

/// Writes the whole program.
pub(super) fn write(
    out: &mut dyn Write,
    model: &Model,
    source: &mut dyn DataSource,
    options: &ProgramOptions,
) -> Result<(), CdlError> {
    check(model, options)?;
    let vars = model.group(model.root()).map(|root| root.vars.as_slice()).unwrap_or_default();
    let numbers = vars.iter().copied().zip(1..).collect();
    let mut program = FortranProgram { model, source, options, numbers, calls: Vec::new(), subroutines: 0 };
    let main = if options.main.is_empty() { "genfile" } else { options.main() };
    writeln!(out, "      program {main}\n      implicit none\n      include 'netcdf.inc'")?;
    program.declarations(out)?;
    program.definitions(out)?;
    let (global, own) = attributes(model);
    let mut text = Vec::new();
    for owned in global.iter().chain(&own) {
        program.attribute(&mut text, owned)?;
    }
    program.print_calls(out)?;
    checked(out, "nf_enddef(ncid)")?;
    program.data_calls(out)?;
    checked(out, "nf_close(ncid)")?;
    writeln!(out, "      end\n")?;
    writeln!(out, "      subroutine check(stat)\n      implicit none\n      include 'netcdf.inc'")?;
    writeln!(out, "      integer stat\n      if (stat .ne. nf_noerr) then")?;
    writeln!(out, "        print *, nf_strerror(stat)\n        stop 1\n      end if\n      end")?;
    out.write_all(&text)?;
    program.data(out)?;
    Ok(out.flush()?)
}

/// What the language's interface does not have.
fn check(model: &Model, options: &ProgramOptions) -> Result<(), CdlError> {
    let refused =
        |what: String| Err(CdlError::Unsupported(format!("Fortran 77's interface has no {what}: use -lc")));
    if model.walk().len() > 1 || model.group(model.root()).is_some_and(|root| !root.types.is_empty()) {
        return refused("groups and user-defined types".to_owned());
    }
    let is_plain = |id: &VarId| {
        model.variable(*id).is_none_or(|variable| {
            variable.storage == Storage::Default
                && variable.filters.is_empty()
                && variable.endianness == Endianness::Native
                && variable.is_filled()
        })
    };
    if options.format() == Format::NetCdf4 && !model.variables().iter().all(is_plain) {
        return refused("choice of how variables are stored".to_owned());
    }
    let (global, own) = attributes(model);
    let of_attributes = global.iter().chain(&own).map(|owned| owned.attribute.ty);
    let of_variables =
        model.variables().into_iter().filter_map(|id| model.variable(id).map(|found| found.ty));
    for ty in of_variables.chain(of_attributes) {
        match ty {
            TypeRef::Atomic(atomic) if atomic.is_classic() => {}
            TypeRef::Atomic(atomic) => return refused(format!("type {}", atomic.name())),
            TypeRef::User(_) => return refused("user-defined types".to_owned()),
        }
    }
    Ok(())
}

struct FortranProgram<'p> {
    model: &'p Model,
    source: &'p mut dyn DataSource,
    options: &'p ProgramOptions,
    /// The places of variables in the array of their ids.
    numbers: HashMap<VarId, usize>,
    /// Calls of the subroutines that set attributes.
    calls: Vec<String>,
    subroutines: u64,
}

impl FortranProgram<'_> {
    /// Ids of dimensions and variables are in arrays: names of netCDF need not be names of Fortran.
    fn declarations(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        let root = self.model.group(self.model.root());
        let (dims, vars) = root.map_or((0, 0), |root| (root.dims.len(), root.vars.len()));
        writeln!(out, "      integer stat, ncid")?;
        writeln!(out, "      integer dimids({}), varids({})", dims.max(1), vars.max(1))?;
        let rank =
            self.model.variables().iter().filter_map(|id| self.model.variable(*id)).map(|v| v.rank()).max();
        Ok(writeln!(out, "      integer dims({})", rank.unwrap_or(0).max(1))?)
    }

    fn definitions(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        let mode = match self.options.format() {
            Format::Classic => "nf_clobber",
            Format::Offset64 => "ior(nf_clobber, nf_64bit_offset)",
            Format::Data64 => "ior(nf_clobber, nf_64bit_data)",
            Format::NetCdf4 => "ior(nf_clobber, nf_netcdf4)",
            Format::NetCdf4Classic => "ior(nf_clobber, ior(nf_netcdf4,\n     + nf_classic_model))",
        };
        checked(
            out,
            &format!("nf_create(\n     + {},\n     + {mode}, ncid)", literal(self.options.target.as_bytes())),
        )?;
        let Some(root) = self.model.group(self.model.root()) else { return Ok(()) };
        let mut numbers: HashMap<DimId, usize> = HashMap::new();
        for (at, id) in root.dims.iter().enumerate() {
            let Some(dim) = self.model.dimension(*id) else { continue };
            numbers.insert(*id, at + 1);
            let len = if dim.len.is_unlimited() {
                "nf_unlimited".to_owned()
            } else {
                dim.len.current().to_string()
            };
            let name = literal(dim.name.as_bytes());
            checked(out, &format!("nf_def_dim(ncid,\n     + {name},\n     + {len}, dimids({}))", at + 1))?;
        }
        for (at, id) in root.vars.iter().enumerate() {
            let Some(variable) = self.model.variable(*id) else { continue };
            // Fortran has the axes in the other order.
            for (axis, dim) in variable.dims.iter().rev().enumerate() {
                let dim = numbers.get(dim).copied().unwrap_or(0);
                writeln!(out, "      dims({}) = dimids({dim})", axis + 1)?;
            }
            let (name, ty) = (literal(variable.name.as_bytes()), nf_type(variable.ty));
            let rank = variable.rank();
            checked(
                out,
                &format!("nf_def_var(ncid,\n     + {name},\n     + {ty}, {rank}, dims, varids({}))", at + 1),
            )?;
        }
        Ok(())
    }

    fn print_calls(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        Ok(self.calls.iter().try_for_each(|call| writeln!(out, "      call {call}"))?)
    }

    fn number(&self, id: Option<VarId>) -> String {
        let number = id.and_then(|id| self.numbers.get(&id));
        number.map_or_else(|| "nf_global".to_owned(), |number| format!("varids({number})"))
    }

    fn attribute(&mut self, out: &mut dyn Write, owned: &OwnedAttribute<'_>) -> Result<(), CdlError> {
        let attribute = owned.attribute;
        self.subroutines += 1;
        let subroutine = format!("a{}", self.subroutines);
        self.calls.push(format!("{subroutine}(ncid, {})", self.number(owned.variable)));
        head(out, &subroutine)?;
        let (name, values) = (literal(attribute.name.as_bytes()), &attribute.values);
        let len = values.len();
        let type_and_len = match values {
            Values::Char(_) => len.max(1).to_string(),
            _ => format!("{}, {len}", nf_type(attribute.ty)),
        };
        list(out, values)?;
        let put = put_name(values);
        checked(out, &format!("nf_put_att_{put}(ncid, id,\n     + {name},\n     + {type_and_len}, dat)"))?;
        Ok(writeln!(out, "      end")?)
    }

    /// The boxes of all variables that have data.
    fn boxes(&self) -> Vec<(VarId, ElementBox)> {
        let filled = self.model.variables().into_iter().filter(|id| self.options.filled.contains(id));
        let filled = filled.filter(|id| !self.model.shape(*id).contains(&0));
        filled.flat_map(|id| parts(self.model, id).map(move |part| (id, part))).collect()
    }

    fn data_calls(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        for (at, (id, _)) in self.boxes().iter().enumerate() {
            writeln!(out, "      call d{}(ncid, {})", at + 1, self.number(Some(*id)))?;
        }
        Ok(())
    }

    fn data(&mut self, out: &mut dyn Write) -> Result<(), CdlError> {
        for (at, (id, part)) in self.boxes().into_iter().enumerate() {
            let WrittenPart { start, count, values } = read(self.source, id, part)?;
            head(out, &format!("d{}", at + 1))?;
            let rank = start.len().max(1);
            writeln!(out, "      integer start({rank}), count({rank})")?;
            list(out, &values)?;
            for axis in 0..rank {
                let first = start.iter().rev().nth(axis).copied().unwrap_or(0) + 1;
                let len = count.iter().rev().nth(axis).copied().unwrap_or(1);
                writeln!(out, "      start({}) = {first}\n      count({}) = {len}", axis + 1, axis + 1)?;
            }
            let put = put_name(&values);
            checked(out, &format!("nf_put_vara_{put}(ncid, id, start, count,\n     + dat)"))?;
            writeln!(out, "      end")?;
        }
        Ok(())
    }
}

/// The beginning of a subroutine.
fn head(out: &mut dyn Write, name: &str) -> Result<(), CdlError> {
    writeln!(out, "\n      subroutine {name}(ncid, id)\n      implicit none\n      include 'netcdf.inc'")?;
    Ok(writeln!(out, "      integer ncid, id, stat")?)
}

/// A call of the library, and the check of what it returns.
fn checked(out: &mut dyn Write, call: &str) -> Result<(), CdlError> {
    Ok(writeln!(out, "      stat = {call}\n      call check(stat)")?)
}

/// Declares `dat` and gives it the values; what has no literal is computed.
fn list(out: &mut dyn Write, values: &Values) -> Result<(), CdlError> {
    let len = values.len().max(1);
    if let Values::Char(chars) = values {
        writeln!(out, "      character*{len} dat")?;
        for (at, piece) in chars.chunks(LITERAL_LEN).enumerate() {
            let first = at * LITERAL_LEN + 1;
            let last = first + piece.len() - 1;
            writeln!(out, "      dat({first}:{last}) =\n     + {}", literal(piece))?;
        }
        if chars.is_empty() {
            writeln!(out, "      dat = char(0)")?;
        }
        return Ok(());
    }
    writeln!(out, "      {} dat({len})", declared(values))?;
    if matches!(values, Values::Float(_) | Values::Double(_)) {
        writeln!(out, "      {} zero", declared(values))?;
    }
    let mut computed = Vec::new();
    let items: Vec<String> = (0..values.len())
        .map(|index| match number(values, index) {
            FortranNumber::Literal(text) => text,
            FortranNumber::Computed(text) => {
                computed.push((index + 1, text));
                "0".to_owned()
            }
        })
        .collect();
    for (at, piece) in items.chunks(DATA_LEN).enumerate() {
        let first = at * DATA_LEN + 1;
        // The variable of the loop exists in this statement only.
        let last = first + piece.len() - 1;
        writeln!(out, "      data (dat(stat), stat = {first}, {last}) /")?;
        writeln!(out, "     + {}/", piece.join(",\n     + "))?;
    }
    if !computed.is_empty() && matches!(values, Values::Float(_) | Values::Double(_)) {
        writeln!(out, "      zero = 0")?;
    }
    for (index, text) in computed {
        writeln!(out, "      dat({index}) = {text}")?;
    }
    Ok(())
}

enum FortranNumber {
    Literal(String),
    /// An expression.
    Computed(String),
}

fn number(values: &Values, index: usize) -> FortranNumber {
    match values {
        Values::Float(all) => {
            let value = all.get(index).copied().unwrap_or(0.0);
            real(f64::from(value), &format_float(value, 9), 'e')
        }
        Values::Double(all) => {
            let value = all.get(index).copied().unwrap_or(0.0);
            real(value, &format_double(value, 17), 'd')
        }
        integers => match integers.integer(index).unwrap_or(0) {
            // Without its sign the number is too large for an integer of the language.
            min if min == i128::from(i32::MIN) => FortranNumber::Computed(format!("{} - 1", min + 1)),
            value => FortranNumber::Literal(value.to_string()),
        },
    }
}

fn real(value: f64, digits: &str, exponent: char) -> FortranNumber {
    if value.is_nan() {
        return FortranNumber::Computed("zero / zero".to_owned());
    }
    if value.is_infinite() {
        let one = if value > 0.0 { "1" } else { "-1" };
        return FortranNumber::Computed(format!("{one} / zero"));
    }
    FortranNumber::Literal(match digits.split_once('e') {
        Some((mantissa, power)) => format!("{mantissa}{exponent}{power}"),
        None => format!("{digits}{exponent}0"),
    })
}

/// Bytes as text: literals, and characters by their numbers.
fn literal(bytes: &[u8]) -> String {
    let mut pieces: Vec<String> = Vec::new();
    let (mut run, mut run_len) = (String::new(), 0);
    let end = |run: &mut String, pieces: &mut Vec<String>, run_len: &mut usize| {
        if !run.is_empty() {
            pieces.push(format!("'{run}'"));
            run.clear();
        }
        *run_len = 0;
    };
    for byte in bytes.iter().copied() {
        match byte {
            b'\'' => run.push_str("''"),
            // Some compilers take a backslash for the beginning of an escape.
            b' '..=b'~' if byte != b'\\' => run.push(char::from(byte)),
            _ => {
                end(&mut run, &mut pieces, &mut run_len);
                pieces.push(format!("char({byte})"));
                continue;
            }
        }
        run_len += 1;
        if run_len == LITERAL_LEN {
            end(&mut run, &mut pieces, &mut run_len);
        }
    }
    end(&mut run, &mut pieces, &mut run_len);
    if pieces.is_empty() {
        return "''".to_owned();
    }
    let mut joined = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        let joint = match at {
            0 => "",
            _ if at % 4 == 0 || piece.len() > 12 => "//\n     + ",
            _ => "//",
        };
        let _ = write!(joined, "{joint}{piece}");
    }
    joined
}

fn declared(values: &Values) -> &'static str {
    match values {
        Values::Byte(_) => "integer*1",
        Values::Short(_) => "integer*2",
        Values::Float(_) => "real",
        Values::Double(_) => "double precision",
        _ => "integer",
    }
}

fn put_name(values: &Values) -> &'static str {
    match values {
        Values::Byte(_) => "int1",
        Values::Char(_) => "text",
        Values::Short(_) => "int2",
        Values::Float(_) => "real",
        Values::Double(_) => "double",
        _ => "int",
    }
}

fn nf_type(ty: TypeRef) -> String {
    match ty {
        TypeRef::Atomic(atomic) => format!("nf_{}", atomic.name()),
        TypeRef::User(_) => format!("nf_{}", Atomic::Int.name()),
    }
}
