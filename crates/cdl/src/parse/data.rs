//! Data sections: lists of constants as typed blocks of variables (ncgen(1), "Specifying Datalists").
use super::attribute::RangeNotes;
use super::fault::{FaultList, ParseFailure, Stop};
use super::lexer::Lexer;
use super::text::CdlText;
use super::values::{ListState, Unfit, ValueReader, default_element};
use super::{BlockSink, DataBlock, DataStatement, DataSummary, Definitions, NumberRange, ParseOptions};
use ncirrus_model::{Atomic, Model, TypeRef, Values, VarId, Variable};

/// Reads all data sections.
pub(super) fn read(
    text: &dyn CdlText,
    definitions: &Definitions,
    options: &ParseOptions,
    sink: &mut dyn BlockSink,
) -> Result<DataSummary, ParseFailure> {
    let mut faults = FaultList::new(text, options.limits.faults);
    let mut summary = DataSummary::default();
    let mut notes = RangeNotes::default();
    // One lexer for all, so that statements one after the other are read from one window.
    let mut lexer = match Lexer::new(text, super::Place::START, &options.limits) {
        Ok(lexer) => lexer,
        Err(stop) => {
            faults.note(stop)?;
            faults.finish()?;
            return Ok(summary);
        }
    };
    for statement in &definitions.data {
        lexer.jump(statement.values);
        let mut reader = StatementReader::new(&mut lexer, definitions, statement, options, sink);
        match reader.read() {
            Ok(elements) => {
                summary.elements = summary.elements.saturating_add(elements);
                let path = definitions.model.variable_path(statement.variable);
                if reader.values.unfit.surplus {
                    summary.cut.push((path.clone(), statement.values.line));
                }
                notes.add(path, &reader.values.unfit);
            }
            Err(stop) => faults.note(stop)?,
        }
    }
    faults.finish()?;
    summary.unfit = notes.0;
    Ok(summary)
}

/// Reads the values of one variable.
struct StatementReader<'a, 't> {
    values: ValueReader<'a, 't>,
    sink: &'a mut dyn BlockSink,
    variable: VarId,
    ty: TypeRef,
    /// Length of each axis; `None` for those that grow.
    axes: Vec<Option<u64>>,
    /// One fill value.
    fill: Values,
    empty: Values,
    /// Elements of a block.
    capacity: u64,
    /// Missing elements are written, too: nothing else gives them a value.
    writes_missing: bool,
    nesting: usize,
    pending: Option<PendingBlock>,
    elements: u64,
}

/// Elements of a variable up to which missing ones are written; in larger ones they are left to the format, so that a short text
/// takes no long.
const MISSING: u64 = 1 << 22;

/// A block that may go on with the next row of an inner unlimited dimension.
struct PendingBlock {
    start: Vec<u64>,
    shape: Vec<u64>,
    /// The axis along which rows are added.
    axis: usize,
    values: Values,
}

impl<'a, 't> StatementReader<'a, 't> {
    fn new(
        lexer: &'a mut Lexer<'t>,
        definitions: &'a Definitions,
        statement: &DataStatement,
        options: &ParseOptions,
        sink: &'a mut dyn BlockSink,
    ) -> Self {
        let model = &definitions.model;
        let variable = model.variable(statement.variable);
        let ty = variable.map_or(TypeRef::Atomic(Atomic::Byte), |variable| variable.ty);
        let own = variable.and_then(Variable::fill_attribute).cloned();
        let axes = model.shape(statement.variable).into_iter().zip(model.growing(statement.variable));
        let is_user = matches!(ty, TypeRef::User(_));
        let total = count(&model.shape(statement.variable));
        Self {
            sink,
            variable: statement.variable,
            ty,
            axes: axes.map(|(len, grows)| (!grows).then_some(len)).collect(),
            fill: own.unwrap_or_else(|| default_element(model, ty, 64)),
            empty: model.zeros(ty, 0, 64).unwrap_or(Values::Byte(Vec::new())),
            capacity: capacity(model, ty, options.block_len),
            writes_missing: total <= MISSING
                && (is_user || variable.is_some_and(|variable| !variable.is_filled())),
            nesting: options.limits.nesting,
            pending: None,
            elements: 0,
            values: ValueReader {
                lexer,
                model,
                names: &definitions.names,
                group: statement.group,
                range: options.range,
                unfit: Unfit::default(),
            },
        }
    }

    /// Reads the statement; how many elements it has.
    fn read(&mut self) -> Result<u64, Stop> {
        if self.axes.is_empty() {
            self.scalar()?;
        } else {
            self.level(0, &mut Vec::new(), b';', 0)?;
            self.flush()?;
        }
        Ok(self.elements)
    }

    fn scalar(&mut self) -> Result<(), Stop> {
        let mut state = ListState::Start;
        let mut values = self.empty.clone();
        if self.ty == TypeRef::Atomic(Atomic::Char) {
            let mut chars = Vec::new();
            while self.values.next_item(&mut state, b';')? {
                self.values.chars(&mut chars, None)?;
            }
            self.values.unfit.surplus |= chars.len() > 1;
            chars.truncate(1);
            values = Values::Char(chars);
        } else {
            let fill = self.fill.clone();
            self.values.run(self.ty, &mut values, 1, (&mut state, b';'), Some(&fill))?;
            if self.values.next_item(&mut state, b';')? {
                self.surplus(1, b';')?;
            }
        }
        if values.is_empty() {
            return Ok(());
        }
        self.send(&[], &[], &values)
    }

    /// Where the list that begins at an axis ends: at the next unlimited dimension.
    fn end_of_level(&self, axis: usize) -> usize {
        let inner = self.axes.iter().enumerate().skip(axis + 1).find(|(_, len)| len.is_none());
        inner.map_or(self.axes.len(), |(axis, _)| axis)
    }

    /// Reads the list whose first axis is `axis`, within the elements that `prefix` selects.
    fn level(&mut self, axis: usize, prefix: &mut Vec<u64>, close: u8, depth: usize) -> Result<(), Stop> {
        let end = self.end_of_level(axis);
        if end == self.axes.len() {
            return self.leaf(axis, prefix, close);
        }
        if depth >= self.nesting {
            return Err(self.values.lexer.fault(format!("more than {} unlimited dimensions", self.nesting)));
        }
        let room = product(self.axes.get(axis..end).unwrap_or_default());
        let mut state = ListState::Start;
        let mut at = 0u64;
        while self.values.next_item(&mut state, close)? {
            if room.is_some_and(|room| at >= room) {
                return self.surplus(at, close);
            }
            self.values.lexer.next().and_then(|token| match token {
                super::token::Token::Punct(b'{') => Ok(()),
                token => Err(self
                    .values
                    .lexer
                    .unexpected(&token, "\"{\": unlimited dimensions but the first stand in braces")),
            })?;
            let kept = prefix.len();
            prefix.extend(indices(at, self.axes.get(axis..end).unwrap_or_default()));
            self.level(end, prefix, b'}', depth + 1)?;
            prefix.truncate(kept);
            at += 1;
        }
        Ok(())
    }

    /// Reads a list without braces of its own, block by block.
    fn leaf(&mut self, axis: usize, prefix: &[u64], close: u8) -> Result<(), Stop> {
        let lens: Vec<Option<u64>> = self.axes.get(axis..).unwrap_or_default().to_vec();
        let boxes = LeafBoxes::new(&lens, self.capacity);
        let mut state = ListState::Start;
        let mut chars = CharQueue::new(&lens, &self.fill);
        let mut first = 0u64;
        while let Some((start, max)) = boxes.at(first) {
            let want = count(&max);
            let mut values = self.empty.clone();
            let target = usize::try_from(want).unwrap_or(usize::MAX);
            if let Some(chars) = &mut chars {
                values = chars.take(&mut self.values, target, (&mut state, close))?;
            } else {
                let fill = self.fill.clone();
                self.values.run(self.ty, &mut values, target, (&mut state, close), Some(&fill))?;
            }
            let has_ended = state == ListState::Ended && chars.as_ref().is_none_or(CharQueue::is_empty);
            let read = values.len() as u64;
            if read == 0 && !(self.writes_missing && boxes.is_bounded && (first > 0 || has_ended)) {
                break;
            }
            let shape = self.completed(&boxes, &max, &mut values)?;
            if count(&shape) == 0 {
                break;
            }
            first += count(&shape);
            self.place_block(prefix, &start, &shape, values)?;
            // Elements that are not listed are left to the fill value of the format, unless it has none for them.
            if has_ended && !(self.writes_missing && boxes.is_bounded) {
                return Ok(());
            }
        }
        if let Some(chars) = &chars {
            self.values.unfit.surplus |= !chars.is_empty();
        }
        if state != ListState::Ended && self.values.next_item(&mut state, close)? {
            return self.surplus(first, close);
        }
        Ok(())
    }

    /// Fills a block up that the list left incomplete: the row that was begun, or all of it where missing elements are
    /// written. What the block covers then.
    fn completed(&mut self, boxes: &LeafBoxes, max: &[u64], values: &mut Values) -> Result<Vec<u64>, Stop> {
        let read = values.len() as u64;
        let mut shape = max.to_vec();
        let rows = read.div_ceil(boxes.row_len.max(1));
        if let Some(len) = shape.get_mut(boxes.axis)
            && !(self.writes_missing && boxes.is_bounded)
        {
            *len = rows.min(*len);
        }
        let missing = usize::try_from(count(&shape) - read).unwrap_or(0);
        if missing > 0 {
            let filled = values.extend_from(&self.fill.repeat(missing), 0..missing);
            if !filled {
                return Err(self.values.lexer.fault("the fill value is not of the variable's type"));
            }
        }
        Ok(shape)
    }

    /// Hands a block of a leaf over, or keeps it to see whether the next row goes on where it ends.
    fn place_block(
        &mut self,
        prefix: &[u64],
        start: &[u64],
        shape: &[u64],
        values: Values,
    ) -> Result<(), Stop> {
        let whole_start: Vec<u64> = prefix.iter().chain(start).copied().collect();
        let ones = std::iter::repeat_n(1, prefix.len());
        let whole_shape: Vec<u64> = ones.chain(shape.iter().copied()).collect();
        let Some(axis) = prefix.len().checked_sub(1) else {
            return self.send(&whole_start, &whole_shape, &values);
        };
        let mut next = PendingBlock { start: whole_start, shape: whole_shape, axis, values };
        if let Some(pending) = &mut self.pending
            && pending.absorb(&mut next, self.capacity)
        {
            return Ok(());
        }
        self.flush()?;
        self.pending = Some(next);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Stop> {
        match self.pending.take() {
            Some(PendingBlock { start, shape, values, .. }) => self.send(&start, &shape, &values),
            None => Ok(()),
        }
    }

    fn send(&mut self, start: &[u64], shape: &[u64], values: &Values) -> Result<(), Stop> {
        self.elements = self.elements.saturating_add(values.len() as u64);
        self.sink.block(&DataBlock { variable: self.variable, start, shape, values }).map_err(Stop::Sink)
    }

    /// More values than there are elements, of which the first was reached: an error, or passed over as by the reference.
    fn surplus(&mut self, room: u64, close: u8) -> Result<(), Stop> {
        if self.values.range == NumberRange::Strict && self.ty != TypeRef::Atomic(Atomic::Char) {
            let place = self.values.lexer.next_place()?;
            let path = self.values.model.variable_path(self.variable);
            return Err(place.fault(format!("more values than the {room} elements of {path} here")));
        }
        self.values.unfit.surplus = true;
        let mut open = 0usize;
        loop {
            match self.values.lexer.next()? {
                super::token::Token::Punct(b'{') => open += 1,
                token if open == 0 && token.is(close) => return Ok(()),
                super::token::Token::Punct(b'}') => open = open.saturating_sub(1),
                super::token::Token::End => {
                    return Err(self.values.lexer.fault("unexpected end of the text, expected \";\""));
                }
                _ => {}
            }
        }
    }
}

impl PendingBlock {
    /// Takes the next block in if it continues this one by one row.
    fn absorb(&mut self, next: &mut Self, capacity: u64) -> bool {
        let Some(rows) = self.shape.get(self.axis).copied() else { return false };
        let same_shape = self
            .shape
            .iter()
            .zip(&next.shape)
            .enumerate()
            .all(|(axis, (ours, theirs))| axis == self.axis || ours == theirs);
        let follows = self.start.iter().zip(&next.start).enumerate().all(|(axis, (ours, theirs))| {
            if axis == self.axis { ours + rows == *theirs } else { ours == theirs }
        });
        let fits = (self.values.len() + next.values.len()) as u64 <= capacity;
        if !(same_shape && follows && fits) {
            return false;
        }
        if let Some(len) = self.shape.get_mut(self.axis) {
            *len += 1;
        }
        self.values.extend_from(&next.values, 0..next.values.len())
    }
}

/// How a list of elements along axes is cut into boxes, in its order.
struct LeafBoxes {
    lens: Vec<Option<u64>>,
    /// The axis that is cut; in front of it boxes have one element, behind it all.
    axis: usize,
    /// Elements behind that axis.
    row_len: u64,
    /// Rows of a box.
    rows: u64,
    /// Whether no axis grows.
    is_bounded: bool,
}

impl LeafBoxes {
    fn new(lens: &[Option<u64>], capacity: u64) -> Self {
        let mut axis = lens.len().saturating_sub(1);
        let mut row_len = 1u64;
        while axis > 0 {
            let len = lens.get(axis).copied().flatten().unwrap_or(1);
            match row_len.checked_mul(len).filter(|all| *all <= capacity) {
                Some(all) => row_len = all,
                None => break,
            }
            axis -= 1;
        }
        let rows = (capacity / row_len.max(1)).max(1);
        let is_bounded = lens.first().is_none_or(Option::is_some);
        Self { lens: lens.to_vec(), axis, row_len, rows, is_bounded }
    }

    /// Start and largest shape of the box whose first element is `first` of the list; `None` behind the last.
    fn at(&self, first: u64) -> Option<(Vec<u64>, Vec<u64>)> {
        if self.row_len == 0 || self.lens.contains(&Some(0)) {
            return None;
        }
        let row = first / self.row_len;
        let outer = self.lens.get(..=self.axis)?;
        if product(outer).is_some_and(|rows| row >= rows) {
            return None;
        }
        let mut start = indices(row, outer);
        let begun = start.last().copied()?;
        let left = outer.last().copied().flatten().map_or(self.rows, |len| self.rows.min(len - begun));
        let mut shape = vec![1; self.axis];
        shape.push(left);
        for len in self.lens.get(self.axis + 1..)? {
            start.push(0);
            shape.push(len.unwrap_or(1));
        }
        Some((start, shape))
    }
}

/// Characters of strings on their way into blocks.
struct CharQueue {
    bytes: Vec<u8>,
    taken: usize,
    row: Option<(usize, u8)>,
    /// The row that the last text began, while it may go on.
    open: Option<OpenRow>,
}

/// A row of which the first characters are known.
struct OpenRow {
    len: usize,
    /// Whether it began where `ncdump` begins rows, and ends with a line end so far: then it may go on.
    may_go_on: bool,
}

/// Blanks in front of the rest of a row that `ncdump` broke behind a line end; rows themselves have fewer.
const BROKEN_ROW: u64 = 4;

impl CharQueue {
    /// For characters only. Strings are padded to the last dimension if there is another one and it has a length.
    fn new(lens: &[Option<u64>], fill: &Values) -> Option<Self> {
        let Values::Char(fill) = fill else { return None };
        let last = if lens.len() > 1 { lens.last().copied().flatten() } else { None };
        let row = last.and_then(|len| usize::try_from(len).ok()).filter(|row| *row > 0);
        let row = row.map(|row| (row, fill.first().copied().unwrap_or(0)));
        Some(Self { bytes: Vec::new(), taken: 0, row, open: None })
    }

    fn is_empty(&self) -> bool {
        self.taken >= self.bytes.len() && self.open.is_none()
    }

    /// The next characters, fewer at the list's end only.
    fn take(
        &mut self,
        values: &mut ValueReader<'_, '_>,
        want: usize,
        (state, close): (&mut ListState, u8),
    ) -> Result<Values, Stop> {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        // One more than is wanted: the next item decides whether the row has ended.
        while self.bytes.len() <= want {
            if !values.next_item(state, close)? {
                self.end_row();
                break;
            }
            self.item(values)?;
        }
        self.taken = want.min(self.bytes.len());
        Ok(Values::Char(self.bytes.get(..self.taken).unwrap_or_default().to_vec()))
    }

    /// Takes one item in.
    fn item(&mut self, values: &mut ValueReader<'_, '_>) -> Result<(), Stop> {
        let mut text = Vec::new();
        let is_text = values.chars(&mut text, None)?;
        if !is_text || self.row.is_none() {
            self.end_row();
            self.bytes.extend_from_slice(&text);
            return Ok(());
        }
        let place = values.lexer.place;
        let max = values.lexer.limits().list_len;
        if let Some((row, _)) = self.row.filter(|(row, _)| *row > max) {
            return Err(place.fault(format!("text cannot be padded to {row} bytes: at most to {max}")));
        }
        let column = place.offset - place.line_start;
        let before = match self.open.take() {
            Some(row) if row.may_go_on && column == BROKEN_ROW => row.len,
            open => {
                self.open = open;
                self.end_row();
                0
            }
        };
        let is_dump = values.range == NumberRange::Strict && (before > 0 || column < BROKEN_ROW);
        let may_go_on = is_dump && text.last() == Some(&b'\n');
        self.open = Some(OpenRow { len: before + text.len(), may_go_on });
        self.bytes.extend_from_slice(&text);
        Ok(())
    }

    /// Fills the row up; empty text is a row as well.
    fn end_row(&mut self) {
        if let (Some(open), Some((row, fill))) = (self.open.take(), self.row) {
            let missing = open.len.max(1).next_multiple_of(row) - open.len;
            self.bytes.resize(self.bytes.len() + missing, fill);
        }
    }
}

/// Elements of a shape.
fn count(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |all, len| all.saturating_mul(*len))
}

/// The product of lengths; `None` if one is not bounded.
fn product(lens: &[Option<u64>]) -> Option<u64> {
    lens.iter().try_fold(1u64, |all, len| Some(all.saturating_mul((*len)?)))
}

/// Indices of an element by its number; the first axis may be unbounded.
fn indices(mut number: u64, lens: &[Option<u64>]) -> Vec<u64> {
    let mut indices = vec![0; lens.len()];
    for (axis, (index, len)) in indices.iter_mut().zip(lens).enumerate().rev() {
        match len {
            Some(len) if axis > 0 => {
                *index = number % (*len).max(1);
                number /= (*len).max(1);
            }
            _ => *index = number,
        }
    }
    indices
}

/// Elements of a block of at most that many bytes.
fn capacity(model: &Model, ty: TypeRef, block_len: usize) -> u64 {
    // What has no fixed size is counted as short text.
    let each = model.packed_len(ty).unwrap_or(64).max(1);
    (block_len as u64 / each).max(1)
}
