//! The interface of version 2: numbers instead of codes, which stand in `ncerr`; `ncopts` says whether an error is told and
//! ends the program.
use crate::abi::table::answer;
use crate::c_types::codes::{Code, NC_EDIMSIZE, NC_EINTERNAL, NC_EINVAL, Outcome, words_of};
use crate::c_types::memory::{
    AddressOut, AddressesIn, Bytes, BytesOut, CReturn, CText, In, Long, NameOut, NoAnswer, Out, UserTable,
};
use crate::files::group_of;
use crate::process::last_error;
use crate::rules::slabs::CSlab;
use crate::{
    definitions::define, definitions::inquiry, definitions::layouts, opening::open, programs::user_calls,
    programs::user_formats, values::attributes, values::data, values::put_attributes, values::put_data,
    values::records,
};
use std::ffi::c_int;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};

/// `NC_FATAL`: an error ends the program.
const FATAL: c_int = 1;
/// `NC_VERBOSE`: an error is told.
const VERBOSE: c_int = 2;

/// `NC_SYSERR`: an error of the system, whose number is elsewhere.
const SYSTEM: c_int = -31;

/// The code of the last error.
pub(crate) static ERROR: &AtomicI32 = &crate::c_types::memory::ncerr;
/// What is done about errors.
pub(crate) static OPTIONS: &AtomicI32 = &crate::c_types::memory::ncopts;

/// What a function of version 2 answers: a number, or -1.
#[derive(Debug)]
pub(crate) struct Number(c_int);

impl CReturn for Number {
    type Raw = c_int;
    fn c_type() -> String {
        "int".to_owned()
    }
    fn into_raw(self) -> c_int {
        self.0
    }
    fn panicked() -> Self {
        tell(last_error::function(), &"a fault of the library", NC_EINTERNAL);
        Self(-1)
    }
}

/// What a message names besides the function.
#[derive(Debug, Clone, Copy)]
enum Subject {
    Path(CText),
    File(c_int),
    Variable(c_int, c_int),
    Attribute(c_int, c_int, CText),
    /// The name alone.
    Named(CText),
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &CText| text.text().unwrap_or_default();
        match self {
            Self::Path(path) => write!(out, "filename \"{}\"", text(path)),
            Self::File(ncid) => write!(out, "ncid {ncid}"),
            Self::Variable(ncid, varid) => write!(out, "ncid {ncid}; varid {varid}"),
            Self::Attribute(ncid, varid, name) => {
                write!(out, "ncid {ncid}; varid {varid}; attname \"{}\"", text(name))
            }
            Self::Named(name) => out.write_str(&text(name)),
        }
    }
}

/// The answer, or -1 after an error was noted.
fn answer(name: &str, subject: Subject, outcome: Outcome<c_int>) -> Number {
    match outcome {
        Ok(number) => Number(number),
        Err(Code(code)) => {
            tell(name, &subject, code);
            Number(-1)
        }
    }
}

/// Notes an error, tells it and ends the program, as the options say.
fn tell(name: &str, about: &dyn fmt::Display, code: c_int) {
    ERROR.store(if code > 0 { SYSTEM } else { code }, Ordering::Relaxed);
    let options = OPTIONS.load(Ordering::Relaxed);
    if options & VERBOSE != 0 {
        let words = if code == 0 { String::new() } else { format!(": {}", words_of(code)) };
        // Without standard error nobody is told.
        let _ = writeln!(std::io::stderr(), "{name}: {about}{words}");
    }
    if options & FATAL != 0 && code != 0 {
        std::process::exit(options);
    }
}

/// `nc_advise`: the message ends where its first value would stand.
pub(crate) fn advise(name: CText, code: c_int, format: CText) -> NoAnswer {
    let format = format.text().unwrap_or_default();
    let about = format.split('%').next().unwrap_or_default().trim_end();
    tell(&name.text().unwrap_or_default(), &about, code);
    NoAnswer
}

/// A call that gives a number.
fn given(name: &str, subject: Subject, call: impl FnOnce(Out<c_int>) -> Outcome<()>) -> Number {
    let mut number = -1;
    let outcome = call(Out::of(&mut number));
    answer(name, subject, outcome.map(|()| number))
}

/// A call that only succeeds or fails.
fn done(name: &str, subject: Subject, outcome: Outcome<()>) -> Number {
    answer(name, subject, outcome.map(|()| 0))
}

pub(crate) fn create(path: CText, mode: c_int) -> Number {
    given("nccreate", Subject::Path(path), |id| crate::opening::create::create(path, mode, id))
}

pub(crate) fn open(path: CText, mode: c_int) -> Number {
    given("ncopen", Subject::Path(path), |id| open::open(path, mode, id))
}

pub(crate) fn redef(ncid: c_int) -> Number {
    done("ncredef", Subject::File(ncid), answer!((define::redef)(UserTable::redef)(ncid)))
}

pub(crate) fn enddef(ncid: c_int) -> Number {
    done("ncendef", Subject::File(ncid), answer!((define::enddef)(user_calls::enddef)(ncid)))
}

pub(crate) fn close(ncid: c_int) -> Number {
    done("ncclose", Subject::File(ncid), answer!((open::close)(user_formats::close)(ncid)))
}

pub(crate) fn sync(ncid: c_int) -> Number {
    done("ncsync", Subject::File(ncid), answer!((open::sync)(UserTable::sync)(ncid)))
}

pub(crate) fn abort(ncid: c_int) -> Number {
    done("ncabort", Subject::File(ncid), answer!((open::abort)(user_formats::abort)(ncid)))
}

pub(crate) fn inquire(
    ncid: c_int,
    dims: Out<c_int>,
    vars: Out<c_int>,
    atts: Out<c_int>,
    unlimited: Out<c_int>,
) -> Number {
    let outcome = answer!((inquiry::inq)(UserTable::inq)(ncid, dims, vars, atts, unlimited));
    answer("ncinquire", Subject::File(ncid), outcome.map(|()| ncid))
}

pub(crate) fn set_fill(ncid: c_int, mode: c_int) -> Number {
    given("ncsetfill", Subject::File(ncid), |old| {
        answer!((define::set_fill)(UserTable::set_fill)(ncid, mode, old))
    })
}

pub(crate) fn def_dim(ncid: c_int, name: CText, len: Long) -> Number {
    given("ncdimdef", Subject::File(ncid), |id| {
        let len = usize::try_from(len.0).map_err(|_| Code(NC_EDIMSIZE))?;
        answer!((define::def_dim)(UserTable::def_dim)(ncid, name, len, id))
    })
}

pub(crate) fn dim_id(ncid: c_int, name: CText) -> Number {
    given("ncdimid", Subject::File(ncid), |id| {
        answer!((inquiry::dim_id)(UserTable::inq_dimid)(ncid, name, id))
    })
}

pub(crate) fn dim(ncid: c_int, id: c_int, name: NameOut, len: Out<Long>) -> Number {
    let mut size = 0;
    let len_out = Out::of(&mut size);
    let outcome = answer!((inquiry::dim)(UserTable::inq_dim)(ncid, id, name, len_out));
    if outcome.is_ok() {
        len.set(Long(i64::try_from(size).unwrap_or(i64::MAX)));
    }
    answer("ncdiminq", Subject::File(ncid), outcome.map(|()| id))
}

pub(crate) fn rename_dim(ncid: c_int, id: c_int, name: CText) -> Number {
    answer(
        "ncdimrename",
        Subject::File(ncid),
        answer!((define::rename_dim)(UserTable::rename_dim)(ncid, id, name)).map(|()| id),
    )
}

pub(crate) fn def_var(ncid: c_int, name: CText, ty: c_int, rank: c_int, dims: In<c_int>) -> Number {
    given("ncvardef", Subject::File(ncid), |id| {
        answer!((define::def_var)(UserTable::def_var)(ncid, name, ty, rank, dims, id))
    })
}

pub(crate) fn var_id(ncid: c_int, name: CText) -> Number {
    given("ncvarid", Subject::File(ncid), |id| {
        answer!((inquiry::var_id)(UserTable::inq_varid)(ncid, name, id))
    })
}

pub(crate) fn var(
    ncid: c_int,
    varid: c_int,
    name: NameOut,
    ty: Out<c_int>,
    rank: Out<c_int>,
    dims: Out<c_int>,
    atts: Out<c_int>,
) -> Number {
    let outcome = answer!((inquiry::var)(user_calls::var)(ncid, varid, name, ty, rank, dims, atts));
    answer("ncvarinq", Subject::File(ncid), outcome.map(|()| varid))
}

pub(crate) fn rename_var(ncid: c_int, varid: c_int, name: CText) -> Number {
    answer(
        "ncvarrename",
        Subject::File(ncid),
        answer!((define::rename_var)(UserTable::rename_var)(ncid, varid, name)).map(|()| varid),
    )
}

/// A slab of `long`s.
struct LongSlab {
    start: Vec<usize>,
    count: Option<Vec<usize>>,
    stride: Option<Vec<isize>>,
    /// Distances in memory, from bytes to elements.
    map: Option<Vec<isize>>,
}

impl LongSlab {
    fn of(
        ncid: c_int,
        varid: c_int,
        start: In<Long>,
        [count, stride, map]: [Option<In<Long>>; 3],
    ) -> Outcome<Self> {
        let (rank, element) = match user_formats::table_of(ncid) {
            Some(table) => user_calls::rank_and_element(&table, ncid, varid)?,
            None => {
                let at = group_of(ncid)?;
                let variable = at.variable(varid)?;
                (variable.rank(), layouts::size_of_type(&at.members, variable.ty)?.len)
            }
        };
        let sizes = |list: &In<Long>| -> Outcome<Vec<usize>> {
            // What is negative is beyond every end.
            Ok(list
                .read(rank)?
                .iter()
                .map(|number| usize::try_from(number.0).unwrap_or(usize::MAX))
                .collect())
        };
        let steps = |list: &In<Long>| -> Outcome<Vec<isize>> {
            Ok(list.read(rank)?.iter().map(|number| isize::try_from(number.0).unwrap_or(0)).collect())
        };
        let present = |list: Option<In<Long>>| list.filter(|list| !list.is_null());
        let element = isize::try_from(element.max(1)).unwrap_or(1);
        let map = present(map).map(|map| steps(&map)).transpose()?;
        Ok(Self {
            start: sizes(&start)?,
            count: present(count).map(|count| sizes(&count)).transpose()?,
            stride: present(stride).map(|stride| steps(&stride)).transpose()?,
            map: map.map(|map| map.into_iter().map(|bytes| bytes / element).collect()),
        })
    }

    fn slab(&self) -> CSlab {
        CSlab {
            start: In::of(&self.start),
            count: self.count.as_ref().map(|count| In::of(count)),
            stride: self.stride.as_ref().map(|stride| In::of(stride)),
        }
    }

    fn put(&self, ncid: c_int, varid: c_int, value: Bytes) -> Outcome<()> {
        match &self.map {
            Some(map) => put_data::put_mapped(ncid, varid, self.slab(), In::of(map), None, value),
            None => put_data::put(ncid, varid, Some(self.slab()), None, value),
        }
    }

    fn get(&self, ncid: c_int, varid: c_int, value: BytesOut) -> Outcome<()> {
        match &self.map {
            Some(map) => data::get_mapped(ncid, varid, self.slab(), In::of(map), None, value),
            None => data::get(ncid, varid, Some(self.slab()), None, value),
        }
    }
}

pub(crate) fn put1(ncid: c_int, varid: c_int, at: In<Long>, value: Bytes) -> Number {
    let slab = LongSlab::of(ncid, varid, at, [None; 3]);
    done("ncvarput1", Subject::File(ncid), slab.and_then(|slab| slab.put(ncid, varid, value)))
}

pub(crate) fn get1(ncid: c_int, varid: c_int, at: In<Long>, value: BytesOut) -> Number {
    let slab = LongSlab::of(ncid, varid, at, [None; 3]);
    done("ncvarget1", Subject::File(ncid), slab.and_then(|slab| slab.get(ncid, varid, value)))
}

pub(crate) fn put(ncid: c_int, varid: c_int, start: In<Long>, count: In<Long>, value: Bytes) -> Number {
    let slab = LongSlab::of(ncid, varid, start, [Some(count), None, None]);
    done("ncvarput", Subject::File(ncid), slab.and_then(|slab| slab.put(ncid, varid, value)))
}

pub(crate) fn get(ncid: c_int, varid: c_int, start: In<Long>, count: In<Long>, value: BytesOut) -> Number {
    let slab = LongSlab::of(ncid, varid, start, [Some(count), None, None]);
    done("ncvarget", Subject::Variable(ncid, varid), slab.and_then(|slab| slab.get(ncid, varid, value)))
}

pub(crate) fn puts(
    ncid: c_int,
    varid: c_int,
    start: In<Long>,
    count: In<Long>,
    stride: In<Long>,
    value: Bytes,
) -> Number {
    let slab = LongSlab::of(ncid, varid, start, [Some(count), Some(stride), None]);
    done("ncvarputs", Subject::File(ncid), slab.and_then(|slab| slab.put(ncid, varid, value)))
}

pub(crate) fn gets(
    ncid: c_int,
    varid: c_int,
    start: In<Long>,
    count: In<Long>,
    stride: In<Long>,
    value: BytesOut,
) -> Number {
    let slab = LongSlab::of(ncid, varid, start, [Some(count), Some(stride), None]);
    done("ncvargets", Subject::File(ncid), slab.and_then(|slab| slab.get(ncid, varid, value)))
}

pub(crate) fn putg(
    ncid: c_int,
    varid: c_int,
    start: In<Long>,
    count: In<Long>,
    stride: In<Long>,
    map: In<Long>,
    value: Bytes,
) -> Number {
    let slab = LongSlab::of(ncid, varid, start, [Some(count), Some(stride), Some(map)]);
    done("ncvarputg", Subject::File(ncid), slab.and_then(|slab| slab.put(ncid, varid, value)))
}

pub(crate) fn getg(
    ncid: c_int,
    varid: c_int,
    start: In<Long>,
    count: In<Long>,
    stride: In<Long>,
    map: In<Long>,
    value: BytesOut,
) -> Number {
    let slab = LongSlab::of(ncid, varid, start, [Some(count), Some(stride), Some(map)]);
    done("ncvargetg", Subject::File(ncid), slab.and_then(|slab| slab.get(ncid, varid, value)))
}

/// `ncrecinq`: how many variables have records.
pub(crate) fn rec_inq(ncid: c_int, count: Out<c_int>, ids: Out<c_int>, sizes: Out<Long>) -> Number {
    let found = records::of(ncid).map(|records| {
        count.set(crate::files::number(records.len()));
        ids.set_all(&records.iter().map(|record| record.varid).collect::<Vec<_>>());
        let size = |len: usize| Long(i64::try_from(len).unwrap_or(i64::MAX));
        sizes.set_all(&records.iter().map(|record| size(record.len)).collect::<Vec<_>>());
        crate::files::number(records.len())
    });
    answer("ncrecinq", Subject::File(ncid), found)
}

/// The number of a record; one below 0 is beyond every end.
fn record(number: Long) -> usize {
    usize::try_from(number.0).unwrap_or(usize::MAX)
}

pub(crate) fn rec_get(ncid: c_int, number: Long, memory: AddressOut) -> Number {
    done("ncrecget", Subject::File(ncid), records::get(ncid, record(number), memory))
}

pub(crate) fn rec_put(ncid: c_int, number: Long, memory: AddressesIn) -> Number {
    done("ncrecput", Subject::File(ncid), records::put(ncid, record(number), memory))
}

pub(crate) fn att_put(ncid: c_int, varid: c_int, name: CText, ty: c_int, len: c_int, value: Bytes) -> Number {
    let outcome = usize::try_from(len)
        .map_err(|_| Code(NC_EINVAL))
        .and_then(|len| put_attributes::put(ncid, varid, name, ty, len, value));
    done("ncattput", Subject::File(ncid), outcome)
}

pub(crate) fn att(ncid: c_int, varid: c_int, name: CText, ty: Out<c_int>, len: Out<c_int>) -> Number {
    let mut count = 0;
    let len_out = Out::of(&mut count);
    let outcome = answer!((attributes::inq)(UserTable::inq_att)(ncid, varid, name, ty, len_out));
    if outcome.is_ok() {
        len.set(crate::files::number(count));
    }
    // The reference answers 1 for an attribute that is there.
    answer("ncattinq", Subject::Attribute(ncid, varid, name), outcome.map(|()| 1))
}

pub(crate) fn att_get(ncid: c_int, varid: c_int, name: CText, value: BytesOut) -> Number {
    answer(
        "ncattget",
        Subject::File(ncid),
        answer!((attributes::get)(user_calls::get_own_att)(ncid, varid, name, value)).map(|()| 1),
    )
}

pub(crate) fn att_copy(from: c_int, from_var: c_int, name: CText, to: c_int, to_var: c_int) -> Number {
    done("ncattcopy", Subject::Named(name), put_attributes::copy(from, from_var, name, to, to_var))
}

pub(crate) fn att_name(ncid: c_int, varid: c_int, number: c_int, name: NameOut) -> Number {
    answer(
        "ncattname",
        Subject::File(ncid),
        answer!((attributes::inq_name)(UserTable::inq_attname)(ncid, varid, number, name)).map(|()| number),
    )
}

pub(crate) fn att_rename(ncid: c_int, varid: c_int, name: CText, new: CText) -> Number {
    answer(
        "ncattrename",
        Subject::File(ncid),
        answer!((put_attributes::rename)(UserTable::rename_att)(ncid, varid, name, new)).map(|()| 1),
    )
}

pub(crate) fn att_del(ncid: c_int, varid: c_int, name: CText) -> Number {
    answer(
        "ncattdel",
        Subject::File(ncid),
        answer!((put_attributes::del)(UserTable::del_att)(ncid, varid, name)).map(|()| 1),
    )
}
