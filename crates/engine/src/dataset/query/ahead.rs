//! What is fetched before it is asked for, since that saves requests.
use super::{ELEMENT, QueryRead, UNDER_WAY};
use crate::resources::Noting;
use ncirrus_layout::{QueryAxis, QueryBox};

/// Answers with several boxes have about this many bytes.
pub(super) const TOGETHER_BYTES: u64 = 4 << 20;

/// What is fetched with a box, or instead of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FetchedAhead {
    /// Nothing: the box is asked for alone.
    Nothing,
    /// Boxes that were announced.
    Announced(Vec<QueryBox>),
    /// Small variables that are usually read together.
    Companions(Vec<QueryBox>),
    /// All of a variable that is read box after box.
    Whole(QueryBox),
}

impl QueryRead<'_> {
    /// What is fetched ahead of a box that is read now, or that would be.
    pub(super) fn ahead(&self, requested: &QueryBox, noting: Noting) -> FetchedAhead {
        let (cache, opening) = (&self.reading.context.shared.boxes, self.reading.opening);
        let is_kept = cache.find(opening, requested).is_some();
        // A column that is kept may have come in another answer than those that are read with it.
        if self.is_near() || self.delivered.is_some() || (is_kept && self.sequence().is_none()) {
            return FetchedAhead::Nothing;
        }
        let is_next = cache.is_next(opening, requested, noting);
        let max = TOGETHER_BYTES.min(cache.max_at_once());
        let window = |boxes: &[QueryBox]| self.window(boxes, (max, cache.max_at_once()));
        let announced = self.not_at_hand(cache.expected(opening, requested, window, noting));
        let may_batch = !cache.refuses_batches(opening);
        if announced.len() > 1 && may_batch {
            return FetchedAhead::Announced(announced);
        }
        if self.sequence().is_some() {
            return FetchedAhead::Nothing;
        }
        let is_new = |companion: &QueryBox| cache.find(opening, companion).is_none();
        let companions: Vec<_> = self.source.companions(self.variable).into_iter().filter(is_new).collect();
        if companions.len() > 1
            && may_batch
            && self.are_kept(&companions)
            && cache.is_first_batch(opening, noting)
        {
            return FetchedAhead::Companions(companions);
        }
        let whole = self.whole();
        if is_next && whole != *requested && self.are_kept(std::slice::from_ref(&whole)) {
            FetchedAhead::Whole(whole)
        } else {
            FetchedAhead::Nothing
        }
    }

    /// Whether boxes that are fetched ahead are kept until they are read.
    fn are_kept(&self, boxes: &[QueryBox]) -> bool {
        let bytes = boxes.iter().map(|requested| self.bytes_of(requested)).fold(0, u64::saturating_add);
        bytes <= self.reading.context.shared.boxes.max_at_once()
            && boxes.iter().all(|requested| self.kept_len(requested).is_some())
    }

    /// How many announced boxes are fetched now: as many answers as are in flight at once.
    fn window(&self, boxes: &[QueryBox], (each, all): (u64, u64)) -> usize {
        let (mut count, mut bytes) = (0, 0_u64);
        for _ in 0..UNDER_WAY {
            let rest = boxes.get(count..).unwrap_or_default();
            let group =
                rest.get(..group_len(rest, each, |requested| self.bytes_of(requested))).unwrap_or_default();
            bytes = group.iter().fold(bytes, |sum, requested| sum.saturating_add(self.bytes_of(requested)));
            if group.is_empty() || (count > 0 && bytes > all) {
                break;
            }
            count += group.len();
        }
        // The columns of a sequence come in one answer.
        let sequence =
            |at: usize| boxes.get(at).and_then(|requested| self.source.sequence(requested.variable));
        while count > 0 && sequence(count).is_some() && sequence(count) == sequence(count - 1) {
            count += 1;
        }
        count
    }

    /// All of the variable.
    pub(super) fn whole(&self) -> QueryBox {
        let axis = |len: &u64| QueryAxis { start: 0, count: *len, stride: 1 };
        QueryBox {
            variable: self.variable,
            axes: self.reading.bound.source.extent.iter().map(axis).collect(),
        }
    }

    /// Whether answers are files, which are read again for nothing.
    pub(super) fn is_near(&self) -> bool {
        self.reading.context.snapshot.store().local().is_some()
    }

    /// Bytes of a box in an answer, as far as they are known.
    pub(super) fn bytes_of(&self, requested: &QueryBox) -> u64 {
        let element = self.source.element_len(requested.variable).unwrap_or(ELEMENT);
        requested.count().saturating_mul(element)
    }
}

/// How many of these boxes travel in one answer: at least one, and no more bytes than that.
pub(super) fn group_len(boxes: &[QueryBox], max: u64, bytes_of: impl Fn(&QueryBox) -> u64) -> usize {
    let mut bytes = 0_u64;
    let fits = |requested: &&QueryBox| {
        bytes = bytes.saturating_add(bytes_of(requested));
        bytes <= max
    };
    boxes.iter().take_while(fits).count().max(usize::from(!boxes.is_empty()))
}
