//! Values as text: a line for each row, with the indices of the row in front.
use super::declared::{Declared, DeclaredKind};
use super::wanted::Wanted;
use super::xdr::trimmed;
use crate::server::text::{number, quoted};
use ncirrus_model::Values;
use std::fmt::Write as _;

/// The text of one variable.
#[derive(Debug, Default)]
pub(super) struct AsciiWriter {
    /// The number of the next element.
    element: u64,
}

impl AsciiWriter {
    /// The text of the elements that come next.
    pub(super) fn rows(&mut self, declared: &Declared, wanted: &Wanted, values: &Values) -> Vec<u8> {
        let mut text = String::new();
        let row_len = wanted.slices.last().map_or(1, |slice| slice.count.max(1));
        for one in texts(declared, values) {
            if self.element.is_multiple_of(row_len) {
                if self.element > 0 {
                    text.push('\n');
                }
                text.push_str(&declared.name);
                indices(self.element / row_len, wanted, &mut text);
            }
            _ = write!(text, ", {one}");
            self.element += 1;
        }
        text.into_bytes()
    }

    /// The end of the last line.
    pub(super) fn finish(self) -> Vec<u8> {
        if self.element > 0 { b"\n".to_vec() } else { Vec::new() }
    }
}

/// `[i][j]` of the row with this number.
fn indices(mut row: u64, wanted: &Wanted, text: &mut String) {
    let outer = wanted.slices.split_last().map(|(_, outer)| outer).unwrap_or_default();
    let mut numbers = Vec::new();
    for slice in outer.iter().rev() {
        numbers.push(row % slice.count.max(1));
        row /= slice.count.max(1);
    }
    numbers.iter().rev().for_each(|number| _ = write!(text, "[{number}]"));
}

/// The elements as text; compounds between braces.
fn texts(declared: &Declared, values: &Values) -> Vec<String> {
    match (values, &declared.kind) {
        (Values::Compound { len, fields }, DeclaredKind::Structure(members)) => {
            let columns: Vec<(&Declared, Vec<String>)> =
                members.iter().zip(fields).map(|(member, field)| (member, texts(member, field))).collect();
            let compound = |at: usize| {
                let member = |(member, texts): &(&Declared, Vec<String>)| {
                    let each = texts.len() / (*len).max(1);
                    let own = texts.get(at * each..(at + 1) * each).unwrap_or_default();
                    format!("{} = {}", member.name, own.join(", "))
                };
                format!("{{{}}}", columns.iter().map(member).collect::<Vec<_>>().join("; "))
            };
            (0..*len).map(compound).collect()
        }
        (Values::String(strings), _) => strings.iter().map(|text| quoted(text.unwrap_or_default())).collect(),
        (Values::Char(text), _) => {
            let len =
                declared.text.as_ref().map_or(1, |(len, _)| usize::try_from(*len).unwrap_or(usize::MAX));
            text.chunks(len.max(1)).map(|text| quoted(trimmed(text))).collect()
        }
        (values, _) => (0..values.len()).filter_map(|at| number(values, at)).collect(),
    }
}
