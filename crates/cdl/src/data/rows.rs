//! Rows, braces and lines of a variable's data (docs/spec/nczarr.md 12.1, 12.3).
use super::{annotate, fill};
use crate::cell::CellWriter;
use crate::cformat::CFormat;
use crate::name::escape_name;
use crate::number::{write_double, write_float, write_integer};
use crate::out::OutputText;
use crate::time::TimeAxis;
use crate::{AnnotationStyle, IndexAnnotation, PrintOptions, text};
use ncirrus_model::{Model, TypeRef, Values, Variable};
use std::io;
use std::ops::Range;

/// Values printed between two checks of the buffer.
const RUN_LEN: usize = 4096;

/// The state of printing one variable.
pub(super) struct RowPrinter<'a> {
    cells: CellWriter<'a>,
    ty: TypeRef,
    style: CellStyle,
    fill: Option<Values>,
    name: String,
    /// The column after `name = `: the reference counts the name's bytes without escapes.
    start_column: usize,
    shape: &'a [u64],
    /// For each unlimited axis except the first: number of elements of one record, which are enclosed in braces.
    records: Vec<u64>,
    row_len: u64,
    total: u64,
    /// Flat index of the next element.
    at: u64,
    /// NULs of a char row that are printed only if something follows.
    pending_nuls: u64,
    indent: usize,
    annotation: Option<IndexAnnotation>,
    float_digits: usize,
    double_digits: usize,
}

/// How the variable's elements are written.
enum CellStyle {
    /// According to their type.
    Plain,
    /// Characters as strings, one per row.
    Text,
    /// According to the variable's `C_format`.
    Format(CFormat),
    /// As dates.
    Time(TimeAxis),
}

impl<'a> RowPrinter<'a> {
    pub(super) fn new(
        model: &'a Model,
        variable: &Variable,
        shape: &'a [u64],
        growing: &[bool],
        time: Option<TimeAxis>,
        indent: usize,
        options: &PrintOptions,
    ) -> Self {
        let inner =
            |axis: usize| shape.iter().skip(axis).fold(1u64, |product, len| product.saturating_mul(*len));
        let unlimited = (1..shape.len()).filter(|&axis| growing.get(axis).copied().unwrap_or(false));
        Self {
            cells: CellWriter::new(model, options),
            ty: variable.ty,
            style: CellStyle::of(variable, time, options),
            fill: fill::fill_of(variable),
            name: escape_name(&variable.name),
            start_column: variable.name.len() + 4 + indent,
            shape,
            records: unlimited.map(inner).collect(),
            row_len: shape.last().copied().unwrap_or(1),
            total: inner(0),
            at: 0,
            pending_nuls: 0,
            indent,
            annotation: options.annotation,
            float_digits: options.float_precision(),
            double_digits: options.double_precision(),
        }
    }

    /// Prints what follows the variable's name.
    pub(super) fn start(&mut self, out: &mut OutputText<'_>) {
        if self.shape.len() <= 1 {
            out.push(" = ");
            out.line.set_column(self.start_column);
        } else {
            out.push(" =\n  ");
            out.line.set_column(2 + self.indent);
        }
    }

    /// Prints the next values.
    pub(super) fn block(&mut self, out: &mut OutputText<'_>, values: &Values) -> io::Result<()> {
        let mut done = 0;
        while done < values.len() {
            let column = self.at % self.row_len;
            if column == 0 {
                self.start_row(out);
            }
            let left = usize::try_from(self.row_len - column).unwrap_or(usize::MAX);
            let len = (values.len() - done).min(left).min(RUN_LEN);
            self.run(out, values, done..done + len, len == left);
            done += len;
            if len == left {
                self.end_row(out);
            }
            out.relieve()?;
        }
        Ok(())
    }

    /// Ends the data.
    pub(super) fn end(&self, out: &mut OutputText<'_>) {
        if self.full().is_none() {
            out.push(" ;\n");
            out.line.set_column(0);
        }
    }

    /// Ends the line if no more values can be read.
    pub(super) fn break_off(&self, out: &mut OutputText<'_>) {
        out.push("\n");
        out.line.set_column(0);
    }

    fn start_row(&mut self, out: &mut OutputText<'_>) {
        for _ in self.records.iter().filter(|&&len| self.at.is_multiple_of(len)) {
            out.item("{");
        }
        if let Some(IndexAnnotation { style: AnnotationStyle::Brief | AnnotationStyle::Both, order }) =
            self.annotation
            && self.shape.len() > 1
        {
            out.push(&annotate::row(&self.name, self.shape, self.at, order));
            out.push("\n");
            out.blanks(self.indent + 4);
            out.line.set_column(self.indent + 4);
        }
        if matches!(self.style, CellStyle::Text) {
            self.pending_nuls = 0;
            out.push("\"");
        }
    }

    /// Number of braces that close after the last value of a row, which ends at `end`.
    fn closing(&self, end: u64) -> usize {
        self.records.iter().filter(|&&len| end.is_multiple_of(len)).count()
    }

    fn end_row(&mut self, out: &mut OutputText<'_>) {
        let is_last = self.at == self.total;
        if matches!(self.style, CellStyle::Text) {
            out.push("\"");
            out.text.resize(out.text.len() + self.closing(self.at), b'}');
            if self.full().is_some() {
                self.annotate_end(&mut out.text, self.at);
            }
        }
        if !is_last && self.full().is_none() {
            out.push(",\n  ");
            out.line.set_column(2 + self.indent);
        }
    }

    fn full(&self) -> Option<IndexAnnotation> {
        self.annotation.filter(|annotation| annotation.style != AnnotationStyle::Brief)
    }

    /// Prints `values[range]`, a part of one row; `ends_row` says whether it is the row's last part.
    fn run(&mut self, out: &mut OutputText<'_>, values: &Values, range: Range<usize>, ends_row: bool) {
        // One loop per type: a match for each element would take longer than printing it.
        macro_rules! numbers {
            ($variant:ident, $v:expr, $is:expr, $write:expr) => {{
                let fill = match &self.fill {
                    Some(Values::$variant(fill)) => fill.first().copied(),
                    _ => None,
                };
                let values = $v.get(range).unwrap_or_default();
                self.items(out, values.len(), ends_row, |text, index| {
                    let value = values[index];
                    if fill.is_some_and(|fill| $is(value, fill)) {
                        text.push(b'_');
                    } else {
                        $write(text, value);
                    }
                });
            }};
        }
        let (float_digits, double_digits) = (self.float_digits, self.double_digits);
        match (&self.style, self.ty, values) {
            (CellStyle::Text, _, Values::Char(v)) => {
                self.chars(&mut out.text, v.get(range).unwrap_or_default());
            }
            (CellStyle::Plain, TypeRef::Atomic(_), values) => match values {
                Values::Byte(v) => numbers!(Byte, v, same, write_integer),
                Values::Short(v) => numbers!(Short, v, same, write_integer),
                Values::Int(v) => numbers!(Int, v, same, write_integer),
                Values::UByte(v) => numbers!(UByte, v, same, write_integer),
                Values::UShort(v) => numbers!(UShort, v, same, write_integer),
                Values::UInt(v) => numbers!(UInt, v, same, write_integer),
                Values::Int64(v) => numbers!(Int64, v, same, write_integer),
                Values::UInt64(v) => numbers!(UInt64, v, same, write_integer),
                Values::Float(v) => numbers!(Float, v, fill::float_is, |text: &mut Vec<u8>, value| {
                    write_float(text, value, float_digits);
                }),
                Values::Double(v) => numbers!(Double, v, fill::double_is, |text: &mut Vec<u8>, value| {
                    write_double(text, value, double_digits);
                }),
                other => self.others(out, other, range, ends_row),
            },
            _ => self.others(out, values, range, ends_row),
        }
    }

    /// Values of types that need case distinctions for each one.
    fn others(&mut self, out: &mut OutputText<'_>, values: &Values, range: Range<usize>, ends_row: bool) {
        let (cells, ty) = (self.cells, self.ty);
        let (fill, style) = (self.fill.take(), std::mem::replace(&mut self.style, CellStyle::Plain));
        self.items(out, range.len(), ends_row, |text, offset| {
            let index = range.start + offset;
            if fill.as_ref().is_some_and(|fill| fill::is_fill(values, index, fill)) {
                return text.push(b'_');
            }
            match &style {
                CellStyle::Format(format) if format.write(text, values, index) => {}
                CellStyle::Time(axis) => axis.write(text, values.number(index).unwrap_or(f64::NAN)),
                _ => cells.write(text, ty, values, index),
            }
        });
        (self.fill, self.style) = (fill, style);
    }

    /// Writes `count` items with their separators.
    #[inline]
    fn items(
        &mut self,
        out: &mut OutputText<'_>,
        count: usize,
        ends_row: bool,
        mut write: impl FnMut(&mut Vec<u8>, usize),
    ) {
        if let Some(annotation) = self.full() {
            return self.annotated_items(&mut out.text, count, ends_row, annotation, write);
        }
        let OutputText { text, line, .. } = out;
        let separated = if ends_row { count.saturating_sub(1) } else { count };
        for index in 0..separated {
            let start = text.len();
            write(text, index);
            text.extend_from_slice(b", ");
            line.item(text, start);
        }
        self.at += count as u64;
        if separated < count {
            let start = text.len();
            write(text, separated);
            text.resize(text.len() + self.closing(self.at), b'}');
            line.item(text, start);
        }
    }

    /// One item per line, never wrapped.
    fn annotated_items(
        &mut self,
        text: &mut Vec<u8>,
        count: usize,
        ends_row: bool,
        annotation: IndexAnnotation,
        mut write: impl FnMut(&mut Vec<u8>, usize),
    ) {
        for index in 0..count {
            write(text, index);
            self.at += 1;
            if ends_row && index + 1 == count {
                text.resize(text.len() + self.closing(self.at), b'}');
                self.annotate_end(text, self.at);
            } else {
                text.extend_from_slice(b", ");
                self.annotate(text, self.at - 1, annotation);
            }
        }
    }

    /// After the last value of a row: the end of the row or of the variable, then the comment.
    fn annotate_end(&self, text: &mut Vec<u8>, end: u64) {
        let Some(annotation) = self.full() else { return };
        text.push(if end == self.total { b';' } else { b',' });
        self.annotate(text, end.saturating_sub(1), annotation);
    }

    fn annotate(&self, text: &mut Vec<u8>, at: u64, annotation: IndexAnnotation) {
        let comment = annotate::value(&self.name, self.shape, at, annotation.order);
        text.extend_from_slice(format!("  {comment}\n    ").as_bytes());
    }

    /// A part of a row of characters; NULs wait until something else follows them.
    fn chars(&mut self, text: &mut Vec<u8>, chars: &[u8]) {
        let kept = text::trim_nuls(chars);
        if !kept.is_empty() {
            (0..self.pending_nuls).for_each(|_| text.extend_from_slice(b"\\000"));
            self.pending_nuls = 0;
            text::write_char_data(text, kept, b"\\n\",\n    \"");
        }
        self.pending_nuls += (chars.len() - kept.len()) as u64;
        self.at += chars.len() as u64;
    }
}

impl CellStyle {
    fn of(variable: &Variable, time: Option<TimeAxis>, options: &PrintOptions) -> Self {
        if let Some(axis) = time {
            return Self::Time(axis);
        }
        let format = CFormat::of(variable, options);
        match (variable.ty, format) {
            (_, Some(format)) => Self::Format(format),
            (TypeRef::Atomic(ncirrus_model::Atomic::Char), None) => Self::Text,
            _ => Self::Plain,
        }
    }
}

fn same<T: PartialEq + Copy>(value: T, fill: T) -> bool {
    value == fill
}
