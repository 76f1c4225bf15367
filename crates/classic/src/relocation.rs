//! Moving data inside a file that is being rewritten under a temporary name.
use ncirrus_layout::{ObjectId, Put};

/// Pieces of a file and where they go. Later pieces win where targets overlap.
#[derive(Debug)]
pub(crate) struct Relocation {
    pieces: Vec<Piece>,
    /// Length of the file as it is; nothing behind it can be moved.
    file_len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    from: u64,
    to: u64,
    len: u64,
}

impl Relocation {
    /// Nothing to move yet in a file of that length.
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
            _ => self.pieces.push(Piece { from, to, len }),
        }
    }

    /// The moves, to be carried out in order, for a file that will have `new_len` bytes.
    ///
    /// When everything moves one way the pieces go one after the other, the farthest first. Otherwise the whole file is
    /// first moved behind both its old and its new end: from there every piece finds its target free.
    pub(crate) fn into_puts(mut self, object: &ObjectId, new_len: u64) -> Vec<Put> {
        let put = |from, to, len| Put::Move { object: object.clone(), from, to, len };
        let plain = |piece: Piece| (piece.from != piece.to).then(|| put(piece.from, piece.to, piece.len));
        if self.keeps_order(|piece| piece.to >= piece.from) {
            self.pieces.reverse();
            return self.pieces.into_iter().filter_map(plain).collect();
        }
        if self.keeps_order(|piece| piece.to <= piece.from) {
            return self.pieces.into_iter().filter_map(plain).collect();
        }
        let behind = self.file_len.max(new_len);
        let mut puts = vec![put(0, behind, self.file_len)];
        let shifted = |piece: Piece| put(piece.from.saturating_add(behind), piece.to, piece.len);
        puts.extend(self.pieces.into_iter().map(shifted));
        puts
    }

    /// Whether the pieces, sorted by source, all pass the test and do not change places.
    fn keeps_order(&mut self, one_way: impl Fn(&Piece) -> bool) -> bool {
        let end = |start: u64, len: u64| start.saturating_add(len);
        self.pieces.iter().all(one_way)
            && self.pieces.is_sorted_by(|a, b| end(a.from, a.len) <= b.from && end(a.to, a.len) <= b.to)
    }
}
