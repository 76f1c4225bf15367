//! The interface of version 2: calls return numbers instead of codes, and the code is in `ncerr`; `ncopts` says whether an
//! error is printed and ends the program.
use crate::c_types::codes::{Code, NC_EINTERNAL, Outcome, words_of};
use crate::c_types::memory::{Bytes, BytesOut, CText, In, Long, NoAnswer, Out, returned_as};
use crate::files::group_of;
use crate::process::last_error;
use crate::rules::slabs::CSlab;
use crate::{
    definitions::layouts, programs::user_calls, programs::user_formats, values::data, values::put_data,
    values::records,
};
use std::ffi::c_int;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};

/// `NC_FATAL`: an error ends the program.
const FATAL: c_int = 1;
/// `NC_VERBOSE`: errors are printed.
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

returned_as! {
    Number: c_int, "int", |number| number.0, {
        tell(last_error::function(), &"a fault of the library", NC_EINTERNAL);
        Self(-1)
    };
}

/// What a message names besides the function.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject {
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

/// The number that a call answers, or -1 after an error was noted.
pub(crate) fn answered(subject: Subject, call: impl FnOnce() -> Outcome<c_int>) -> Number {
    // Functions of the program that the call makes may call others of the library.
    let name = last_error::function();
    Number(call().unwrap_or_else(|Code(code)| {
        tell(name, &subject, code);
        -1
    }))
}

/// Notes an error, prints it and ends the program, as the options say.
fn tell(name: &str, about: &dyn fmt::Display, code: c_int) {
    ERROR.store(if code > 0 { SYSTEM } else { code }, Ordering::Relaxed);
    let options = OPTIONS.load(Ordering::Relaxed);
    if options & VERBOSE != 0 {
        let words = if code == 0 { String::new() } else { format!(": {}", words_of(code)) };
        // Without standard error there is no message.
        let _ = writeln!(std::io::stderr(), "{name}: {about}{words}");
    }
    if options & FATAL != 0 && code != 0 {
        std::process::exit(options);
    }
}

/// `nc_advise`: the message is cut before its first value.
pub(crate) fn advise(name: CText, code: c_int, format: CText) -> NoAnswer {
    let format = format.text().unwrap_or_default();
    let about = format.split('%').next().unwrap_or_default().trim_end();
    tell(&name.text().unwrap_or_default(), &about, code);
    NoAnswer
}

/// A call that gives a number.
pub(crate) fn given(subject: Subject, call: impl FnOnce(Out<c_int>) -> Outcome<()>) -> Number {
    let mut number = -1;
    answered(subject, || call(Out::of(&mut number)).map(|()| number))
}

/// A call that only succeeds or fails: the number for success.
pub(crate) fn done(subject: Subject, number: c_int, call: impl FnOnce() -> Outcome<()>) -> Number {
    answered(subject, || call().map(|()| number))
}

/// The number of something, or a length; what is below 0 is beyond every end.
pub(crate) fn size(number: Long) -> usize {
    usize::try_from(number.0).unwrap_or(usize::MAX)
}

pub(crate) fn long(size: usize) -> Long {
    Long(i64::try_from(size).unwrap_or(i64::MAX))
}

/// `ncrecinq`: how many variables have records.
pub(crate) fn rec_inq(ncid: c_int, count: Out<c_int>, ids: Out<c_int>, sizes: Out<Long>) -> Outcome<c_int> {
    let records = records::of(ncid)?;
    count.set(crate::files::number(records.len()));
    ids.set_all(&records.iter().map(|record| record.varid).collect::<Vec<_>>());
    sizes.set_all(&records.iter().map(|record| long(record.len)).collect::<Vec<_>>());
    Ok(crate::files::number(records.len()))
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
        let sizes =
            |list: &In<Long>| Ok::<_, Code>(list.read(rank)?.iter().map(|number| size(*number)).collect());
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

/// Writes a slab: its start, and its counts, strides and distances in memory where the call has them.
pub(crate) fn put(
    (ncid, varid): (c_int, c_int),
    start: In<Long>,
    rest: [Option<In<Long>>; 3],
    value: Bytes,
) -> Number {
    done(Subject::File(ncid), 0, || LongSlab::of(ncid, varid, start, rest)?.put(ncid, varid, value))
}

/// As [`put`], reads.
pub(crate) fn get(
    subject: Subject,
    (ncid, varid): (c_int, c_int),
    start: In<Long>,
    rest: [Option<In<Long>>; 3],
    value: BytesOut,
) -> Number {
    done(subject, 0, || LongSlab::of(ncid, varid, start, rest)?.get(ncid, varid, value))
}
