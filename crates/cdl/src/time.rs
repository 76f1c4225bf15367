//! Times as dates (`-t`, `-i`; docs/spec/nczarr.md 12.4): variables whose units say "X since Y".
use ncirrus_model::{Attribute, Model, TypeRef, Values, VarId, Variable};
use ncirrus_units::ncdump::{CdlCalendar, CdlTimeBase, CdlTimeUnit, moment_at, parse_units};

use crate::TimeStyle;
use crate::number::write_double;

/// How a variable's numbers are converted to dates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeAxis {
    unit: CdlTimeUnit,
    base: CdlTimeBase,
    calendar: CdlCalendar,
    style: TimeStyle,
}

impl TimeAxis {
    /// The variable's time axis, if it has one: its own, or that of the variable whose bounds it holds.
    ///
    /// As in the reference, only the last variable of the dataset that names bounds counts, and its bounds are
    /// identified by their name alone, whatever units they have of their own.
    pub(crate) fn of(model: &Model, id: VarId, style: TimeStyle) -> Option<Self> {
        let variable = model.variable(id)?;
        if !matches!(variable.ty, TypeRef::Atomic(atomic) if atomic.is_numeric()) {
            return None;
        }
        let mut others = model.variables().into_iter().rev().filter_map(|other| model.variable(other));
        match others.find_map(|other| Some((text(other, "bounds")?, other))) {
            Some((bounds, other)) if bounds == variable.name => Self::own(other, style),
            _ => None,
        }
        .or_else(|| Self::own(variable, style))
    }

    fn own(variable: &Variable, style: TimeStyle) -> Option<Self> {
        let calendar =
            text(variable, "calendar").map_or(CdlCalendar::Mixed, |name| CdlCalendar::from_name(&name));
        let (unit, base) = parse_units(&text(variable, "units")?, calendar)?;
        Some(Self { unit, base, calendar, style })
    }

    /// Writes a value as a date in quotes, or as a number if it is not finite or outside the range of the calendars.
    pub(crate) fn write(&self, out: &mut Vec<u8>, value: f64) {
        let Some(moment) = moment_at(self.unit, &self.base, self.calendar, value) else {
            return write_double(out, value, 15);
        };
        out.push(b'"');
        let separator = match self.style {
            TimeStyle::Blank => ' ',
            TimeStyle::T => 'T',
        };
        moment.write(out, self.calendar, separator);
        out.push(b'"');
    }

    /// The dates of a numeric attribute as a comment after it, including the line end.
    pub(crate) fn comment(&self, attribute: &Attribute, indent: usize, line_len: usize) -> Option<String> {
        let TypeRef::Atomic(atomic) = attribute.ty else { return None };
        let values = &attribute.values;
        if !atomic.is_numeric() || values.is_empty() {
            return None;
        }
        let dates: Vec<String> = (0..values.len()).map(|index| self.date(values, index)).collect();
        if dates.len() <= 2 {
            return Some(format!(" // {}\n", dates.join(", ")));
        }
        let head = format!("\n{}\t\t  // ", " ".repeat(indent));
        let mut comment = head.clone();
        // Two tabs and the text after them.
        let mut column = 21;
        for (at, date) in dates.iter().enumerate() {
            let comma = usize::from(at + 1 < dates.len());
            let blank = usize::from(column > 21);
            if column + blank + date.len() + comma > line_len && column > 21 {
                comment.push_str(&head);
                column = 21;
            } else if blank == 1 {
                comment.push(' ');
                column += 1;
            }
            comment.push_str(date);
            comment.push_str(if comma == 1 { "," } else { "" });
            column += date.len() + comma;
        }
        comment.push('\n');
        Some(comment)
    }

    fn date(&self, values: &Values, index: usize) -> String {
        let mut out = Vec::new();
        self.write(&mut out, values.number(index).unwrap_or(f64::NAN));
        String::from_utf8(out).unwrap_or_default()
    }
}

/// A text attribute of a variable.
fn text(variable: &Variable, name: &str) -> Option<String> {
    variable.attributes.known()?.find(name).and_then(Attribute::as_text)
}

#[cfg(test)]
mod tests;
