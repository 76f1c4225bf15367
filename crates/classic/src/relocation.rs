//! Moving data inside a file that is being rewritten under a temporary name.
use ncirrus_layout::{ObjectId, StorePut};

/// Pieces of a file and where they go. Later pieces win where targets overlap.
#[derive(Debug)]
pub(crate) struct FileRelocation {
    pieces: Vec<MovedPiece>,
    /// Current length of the file; nothing behind it can be moved.
    file_len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MovedPiece {
    from: u64,
    to: u64,
    len: u64,
}

impl FileRelocation {
    /// No moves yet in a file of that length.
    pub(crate) fn new(file_len: u64) -> Self {
        Self { pieces: Vec::new(), file_len }
    }

    /// Adds a piece; one that continues the last is joined to it.
    pub(crate) fn push(&mut self, from: u64, to: u64, len: u64) {
        let len = len.min(self.file_len.saturating_sub(from));
        match self.pieces.last_mut() {
            _ if len == 0 => {}
            Some(last)
                if last.from.checked_add(last.len) == Some(from)
                    && last.to.checked_add(last.len) == Some(to) =>
            {
                last.len = last.len.saturating_add(len);
            }
            _ => self.pieces.push(MovedPiece { from, to, len }),
        }
    }

    /// The moves, to be executed in order, for a file that will have `new_len` bytes.
    ///
    /// If everything moves in one direction the pieces are moved one after the other, the farthest first. Otherwise
    /// the whole file is first moved behind both its old and its new end: from there every piece finds its target
    /// free.
    pub(crate) fn into_puts(mut self, object: &ObjectId, new_len: u64) -> Vec<StorePut> {
        let put = |from, to, len| StorePut::Move { object: object.clone(), from, to, len };
        let plain =
            |piece: MovedPiece| (piece.from != piece.to).then(|| put(piece.from, piece.to, piece.len));
        if self.keeps_order(|piece| piece.to >= piece.from) {
            self.pieces.reverse();
            return self.pieces.into_iter().filter_map(plain).collect();
        }
        if self.keeps_order(|piece| piece.to <= piece.from) {
            return self.pieces.into_iter().filter_map(plain).collect();
        }
        let behind = self.file_len.max(new_len);
        let mut puts = vec![put(0, behind, self.file_len)];
        let shifted = |piece: MovedPiece| put(piece.from.saturating_add(behind), piece.to, piece.len);
        puts.extend(self.pieces.into_iter().map(shifted));
        puts
    }

    /// Whether the pieces, sorted by source, all pass the test and keep their order.
    fn keeps_order(&mut self, one_way: impl Fn(&MovedPiece) -> bool) -> bool {
        let end = |start: u64, len: u64| start.saturating_add(len);
        self.pieces.iter().all(one_way)
            && self.pieces.is_sorted_by(|a, b| end(a.from, a.len) <= b.from && end(a.to, a.len) <= b.to)
    }
}

#[cfg(test)]
mod tests {
    use super::FileRelocation;
    use ncirrus_layout::{ObjectId, StoreId, StorePut};
    use proptest::prelude::*;

    fn carry_out(puts: &[StorePut], bytes: &mut Vec<u8>) {
        for put in puts {
            let StorePut::Move { from, to, len, .. } = put else { panic!("{put:?}") };
            let [from, to, len] = [from, to, len].map(|value| usize::try_from(*value).expect("small"));
            bytes.resize(bytes.len().max(to + len), 0);
            bytes.copy_within(from..from + len, to);
        }
    }

    proptest! {
        #[test]
        fn pieces_arrive_whatever_way_they_move(
            lens in prop::collection::vec(1..6u64, 1..8),
            gaps in prop::collection::vec((0..4u64, 0..4u64), 8),
            shuffled in any::<bool>(),
        ) {
            let (mut from, mut to) = (0, 0);
            let mut pieces = Vec::new();
            for (len, (before, after)) in lens.iter().zip(&gaps) {
                from += before;
                to += after;
                pieces.push((from, to, *len));
                (from, to) = (from + len, to + len);
            }
            if shuffled {
                let sources: Vec<_> = pieces.iter().rev().map(|piece| (piece.0, piece.2)).collect();
                let mut to = 0;
                pieces = sources.into_iter().map(|(from, len)| {
                    to += len;
                    (from, to - len, len)
                }).collect();
            }
            let old: Vec<u8> = (1..=u8::try_from(from).expect("small")).collect();
            let new_len = pieces.iter().map(|(_, to, len)| to + len).max().expect("a piece");
            let mut relocation = FileRelocation::new(from);
            pieces.iter().for_each(|(from, to, len)| relocation.push(*from, *to, *len));
            let mut bytes = old.clone();
            let object = ObjectId::new(StoreId::new("memory:"), "file");
            carry_out(&relocation.into_puts(&object, new_len), &mut bytes);
            for (from, to, len) in pieces {
                let [from, to, len] = [from, to, len].map(|value| usize::try_from(value).expect("small"));
                prop_assert_eq!(&bytes[to..to + len], &old[from..from + len]);
            }
        }
    }

    #[test]
    fn neighbours_travel_together_and_what_stays_is_not_moved() {
        let object = ObjectId::new(StoreId::new("memory:"), "file");
        let mut relocation = FileRelocation::new(100);
        relocation.push(0, 0, 10);
        relocation.push(10, 20, 10);
        relocation.push(20, 30, 10);
        relocation.push(90, 100, 50);
        let puts = relocation.into_puts(&object, 120);
        let moved = |from, to, len| StorePut::Move { object: object.clone(), from, to, len };
        assert_eq!(puts, [moved(90, 100, 10), moved(10, 20, 20)]);
    }
}
