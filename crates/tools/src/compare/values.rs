//! What differs in the values of two variables.
use super::blocks::{Blocks, common_grain};
use super::elements::{element_text, type_text};
use super::shared::SharedChunks;
use super::{CompareOptions, DifferentElement, VariableComparison};
use ncirrus::cf::CfDecoding;
use ncirrus::{Atomic, Error, Result, Selection, Values, Variable};
use ncirrus_model::ExactNumber;
use std::collections::VecDeque;

/// Bytes of a block of one dataset; a sixteenth of the session's memory if that is less.
const BLOCK: usize = 16 << 20;
/// Bytes that stand for an element of no fixed size.
const ANY_SIZE: u64 = 64;
/// Elements that are passed over at once if their bytes are equal.
const RUN: usize = 1024;

/// Why the values of two variables cannot be compared.
pub(super) fn obstacle(first: &Variable, second: &Variable) -> Result<Option<String>> {
    if let Some(fault) = first.fault() {
        return Ok(Some(format!("the first dataset's cannot be read: {fault}")));
    }
    if let Some(fault) = second.fault() {
        return Ok(Some(format!("the second dataset's cannot be read: {fault}")));
    }
    let (ours, theirs) = (first.shape(), second.shape());
    if ours != theirs {
        return Ok(Some(format!("the shapes are {ours:?} and {theirs:?}")));
    }
    let text = |variable: &Variable| {
        let model = variable.dataset().model()?;
        let ty = variable.ty().map(|ty| type_text(&model, ty)).unwrap_or_default();
        Ok::<_, Error>((ty, base(variable).filter(|base| base.is_numeric())))
    };
    let ((ours, our_number), (theirs, their_number)) = (text(first)?, text(second)?);
    let comparable = ours == theirs || (our_number.is_some() && their_number.is_some());
    Ok((!comparable).then(|| format!("the types are {ours} and {theirs}")))
}

fn base(variable: &Variable) -> Option<Atomic> {
    let model = variable.dataset().model().ok()?;
    model.base_atomic(variable.ty()?)
}

/// The comparison of the values of two variables of the same shape.
pub(super) struct ValueComparison<'a> {
    sides: &'a [Side<'a>; 2],
    options: &'a CompareOptions,
    grain: Vec<u64>,
    max: u64,
    found: VariableComparison,
    squares: f64,
}

/// One of the two variables, and what its missing values are.
pub(super) struct Side<'a> {
    variable: &'a Variable,
    fill: Option<Values>,
    decoding: Option<CfDecoding>,
}

/// Values of a block, and which of them are missing where the fill value does not show that.
struct SideBlock {
    values: Values,
    missing: Option<Vec<bool>>,
}

/// What became of the values of one element.
enum Outcome {
    Same,
    Number { difference: f64, relative: f64, is_same: bool },
    Different,
    Nan,
    Missing,
}

/// The blocks of a selection without what both sides have in common.
struct DifferingBlocks<'a> {
    blocks: Blocks,
    shared: Option<SharedChunks<'a>>,
    /// Parts of the last block.
    ready: VecDeque<Selection>,
    /// Elements that were left out.
    common: u64,
}

impl DifferingBlocks<'_> {
    fn next(&mut self) -> Result<Option<Selection>> {
        let Some(shared) = &self.shared else { return Ok(self.blocks.next()) };
        while self.ready.is_empty()
            && let Some(block) = self.blocks.next()
        {
            let (wanted, common) = shared.split(block)?;
            self.ready.extend(wanted);
            self.common += common;
        }
        Ok(self.ready.pop_front())
    }
}

impl<'a> ValueComparison<'a> {
    pub(super) fn new(sides: &'a [Side<'a>; 2], options: &'a CompareOptions) -> Self {
        let [first, second] = sides.each_ref().map(|side| side.variable);
        let memory = (first.dataset().session().memory() / 16).min(BLOCK) as u64;
        let size = |variable: &Variable| {
            let len = variable
                .dataset()
                .model()
                .ok()
                .zip(variable.ty())
                .and_then(|(model, ty)| model.packed_len(ty));
            len.unwrap_or(ANY_SIZE).max(1)
        };
        Self {
            sides,
            options,
            grain: common_grain(first, second),
            max: memory / size(first).max(size(second)),
            found: VariableComparison { path: first.path(), ..VariableComparison::default() },
            squares: 0.0,
        }
    }

    /// Compares the elements of a selection, block by block; the next block is read while one is compared.
    pub(super) fn run(mut self, selection: &Selection) -> Result<VariableComparison> {
        let mut blocks = DifferingBlocks {
            blocks: Blocks::new(selection, self.grain.clone(), self.max),
            shared: self.shared()?,
            ready: VecDeque::new(),
            common: 0,
        };
        let mut current = match blocks.next()? {
            Some(block) => Some((read_both(self.sides, block.clone())()?, block)),
            None => None,
        };
        while let Some(([ours, theirs], block)) = current {
            let following = blocks.next()?;
            let sides = self.sides;
            let read = std::thread::scope(|scope| {
                let reading = following.map(|block| (scope.spawn(read_both(sides, block.clone())), block));
                self.compare(&ours, &theirs, &block);
                reading.map(|(reading, block)| (joined(reading), block))
            });
            current = match read {
                Some((read, block)) => Some((read?, block)),
                None => None,
            };
        }
        self.found.compared += blocks.common;
        self.found.elements.sort_by(|one, other| one.index.cmp(&other.index));
        self.found.rms = match self.found.compared {
            0 => 0.0,
            #[expect(clippy::cast_precision_loss, reason = "a mean over so many is no more exact")]
            count => (self.squares / count as f64).sqrt(),
        };
        Ok(self.found)
    }

    /// The chunks that need not be compared, if missing values are the same on both sides.
    fn shared(&self) -> Result<Option<SharedChunks<'a>>> {
        let [first, second] = self.sides;
        if !self.have_same_fill() || first.decoding.is_some() || second.decoding.is_some() {
            return Ok(None);
        }
        SharedChunks::between([first.variable, second.variable])
    }

    fn have_same_fill(&self) -> bool {
        let [first, second] = self.sides;
        match (&first.fill, &second.fill) {
            (Some(one), Some(other)) => one.is_identical(other),
            (None, None) => true,
            _ => false,
        }
    }

    fn compare(&mut self, ours: &SideBlock, theirs: &SideBlock, block: &Selection) {
        let count = ours.values.len().min(theirs.values.len());
        self.found.compared += count as u64;
        let mut at = 0;
        while at < count {
            let end = (at + RUN).min(count);
            if !self.is_run_equal(ours, theirs, at, end) {
                (at..end).for_each(|index| self.element(ours, theirs, index, block));
            }
            at = end;
        }
    }

    /// Whether elements are the same because their bytes are.
    fn is_run_equal(&self, ours: &SideBlock, theirs: &SideBlock, start: usize, end: usize) -> bool {
        let same_mask = match (&ours.missing, &theirs.missing) {
            (Some(one), Some(other)) => one.get(start..end) == other.get(start..end),
            (None, None) => self.have_same_fill(),
            _ => false,
        };
        let size = ours.values.atomic().and_then(Atomic::byte_len);
        let Some(size) = size.filter(|_| same_mask && ours.values.atomic() == theirs.values.atomic()) else {
            return false;
        };
        match (run_of(ours, start * size..end * size), run_of(theirs, start * size..end * size)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        }
    }

    fn element(&mut self, ours: &SideBlock, theirs: &SideBlock, index: usize, block: &Selection) {
        let outcome = self.outcome(ours, theirs, index);
        let count = match outcome {
            Outcome::Same => return,
            Outcome::Number { difference, relative, is_same } => {
                self.found.max_absolute = self.found.max_absolute.max(difference);
                self.found.max_relative = self.found.max_relative.max(relative);
                self.squares += difference * difference;
                if is_same {
                    return;
                }
                &mut self.found.differing
            }
            Outcome::Different => &mut self.found.differing,
            Outcome::Nan => &mut self.found.nan,
            Outcome::Missing => &mut self.found.missing,
        };
        *count += 1;
        if self.found.elements.len() < self.options.first {
            self.found.elements.push(DifferentElement {
                index: position(block, index),
                first: element_text(&ours.values, index),
                second: element_text(&theirs.values, index),
            });
        }
    }

    fn outcome(&self, ours: &SideBlock, theirs: &SideBlock, index: usize) -> Outcome {
        let [first, second] = self.sides;
        let number = |block: &SideBlock| ExactNumber::of(&block.values, index);
        let (Some(x), Some(y)) = (number(ours), number(theirs)) else {
            let same =
                ours.values.slice(index..index + 1).is_identical(&theirs.values.slice(index..index + 1));
            return if same { Outcome::Same } else { Outcome::Different };
        };
        let is_missing = [first.is_missing(ours, index), second.is_missing(theirs, index)];
        match (is_missing, [x.is_nan(), y.is_nan()]) {
            ([true, true], _) | (_, [true, true]) => return Outcome::Same,
            (_, [true, false] | [false, true]) => return Outcome::Nan,
            ([true, false] | [false, true], _) => return Outcome::Missing,
            ([false, false], [false, false]) => {}
        }
        if x == y {
            return Outcome::Same;
        }
        let difference = x.minus(y).abs();
        let relative = difference / x.to_f64().abs().max(y.to_f64().abs());
        let is_same = self.options.tolerance.is_some_and(|max| difference <= max)
            || self.options.relative.is_some_and(|max| relative <= max)
            || self
                .options
                .ulps
                .is_some_and(|max| steps(&ours.values, &theirs.values, index) <= u128::from(max));
        Outcome::Number { difference, relative, is_same }
    }
}

impl<'a> Side<'a> {
    pub(super) fn new(variable: &'a Variable, options: &CompareOptions) -> Result<Self> {
        let is_number = base(variable).is_some_and(Atomic::is_numeric);
        let decoding = if options.unpacked && is_number { Some(variable.decoding()?) } else { None };
        let fill = if decoding.is_none() { fill_of(variable)? } else { None };
        Ok(Self { variable, fill, decoding })
    }

    fn read(&self, block: &Selection) -> Result<SideBlock> {
        let values = self.variable.values(block)?;
        Ok(match &self.decoding {
            None => SideBlock { values, missing: None },
            Some(decoding) => {
                let decoded = decoding
                    .decode(values)
                    .map_err(|error| Error::invalid(error.message()).at_path(self.variable.path()))?;
                SideBlock { values: decoded.values, missing: Some(decoded.missing) }
            }
        })
    }

    fn is_missing(&self, block: &SideBlock, index: usize) -> bool {
        if let Some(missing) = &block.missing {
            return missing.get(index).copied().unwrap_or_default();
        }
        let Some(fill) = &self.fill else { return false };
        ExactNumber::of(fill, 0) == ExactNumber::of(&block.values, index)
    }
}

/// The value that stands for missing ones. Types of one byte have one only if it is defined: each of their values may
/// be data.
fn fill_of(variable: &Variable) -> Result<Option<Values>> {
    let model = variable.dataset().model()?;
    let Some(known) = model.variable(variable.id()) else { return Ok(None) };
    let is_small = base(variable).and_then(Atomic::byte_len) == Some(1);
    let is_undefined = !known.is_filled() || (is_small && known.own_fill().is_none());
    Ok(if is_undefined { None } else { known.fill_value() })
}

fn run_of(block: &SideBlock, bytes: std::ops::Range<usize>) -> Option<&[u8]> {
    block.values.as_bytes()?.get(bytes)
}

/// Reads a block of both variables, at the same time.
fn read_both<'a>(
    [first, second]: &'a [Side<'a>; 2],
    block: Selection,
) -> impl FnOnce() -> Result<[SideBlock; 2]> + Send + 'a {
    move || {
        let (ours, theirs) = std::thread::scope(|scope| {
            let theirs = scope.spawn(|| second.read(&block));
            (first.read(&block), joined(theirs))
        });
        Ok([ours?, theirs?])
    }
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|_| Err(Error::internal("a thread that reads a block panicked")))
}

/// The index in the variable of the `at`-th element of a block.
fn position(block: &Selection, mut at: usize) -> Vec<u64> {
    let mut index = Vec::with_capacity(block.rank());
    for axis in block.axes().iter().rev() {
        let len = usize::try_from(axis.count()).unwrap_or(usize::MAX).max(1);
        index.push(axis.index((at % len) as u64).unwrap_or_default());
        at /= len;
    }
    index.reverse();
    index
}

/// How many representable numbers lie between two, with one of them.
fn steps(ours: &Values, theirs: &Values, index: usize) -> u128 {
    if let (Some(x), Some(y)) = (ours.integer(index), theirs.integer(index)) {
        return x.abs_diff(y);
    }
    // The sign and magnitude of IEEE 754 as a number line.
    let line = |bits: i64, lowest: i64| {
        if bits < 0 { i128::from(lowest) - i128::from(bits) } else { i128::from(bits) }
    };
    if let (Values::Float(x), Values::Float(y)) = (ours, theirs) {
        let at = |list: &[f32]| {
            list.get(index).map(|x| line(i64::from(x.to_bits().cast_signed()), i64::from(i32::MIN)))
        };
        return at(x).unwrap_or_default().abs_diff(at(y).unwrap_or_default());
    }
    let at = |values: &Values| values.number(index).map(|x| line(x.to_bits().cast_signed(), i64::MIN));
    at(ours).unwrap_or_default().abs_diff(at(theirs).unwrap_or_default())
}
