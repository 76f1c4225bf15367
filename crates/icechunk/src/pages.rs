//! A long flatbuffer in compressed pages. Its reader follows a few offsets: only the pages that these lead to are
//! decompressed, so that a manifest of many million chunks takes little more memory than its file.
use ncirrus_layout::{Error, LockExt, Result};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use zstd_safe::{CCtx, DCtx};

/// Bytes of a page.
pub(crate) const PAGE: usize = 64 << 10;
/// Decompressed pages that are kept.
const KEPT: usize = 64;
/// The fastest level that still finds most of what repeats.
const LEVEL: i32 = 1;

/// Bytes in compressed pages.
pub(crate) struct Pages {
    /// Each of [`PAGE`] bytes, except the last.
    pages: Vec<Box<[u8]>>,
    len: usize,
    recent: Mutex<RecentPages>,
}

/// The pages that were used last, by their number, each with the time of its use.
#[derive(Default)]
struct RecentPages {
    pages: HashMap<usize, (Arc<[u8]>, u64)>,
    clock: u64,
}

/// Makes pages of bytes that arrive in parts.
pub(crate) struct PageMaker {
    pages: Vec<Box<[u8]>>,
    /// The page that is not full.
    last: Vec<u8>,
    len: usize,
    encoder: CCtx<'static>,
    /// The page that was compressed last.
    compressed: Vec<u8>,
    /// Bytes of all compressed pages, and how many there may be.
    held: usize,
    max: usize,
}

impl PageMaker {
    /// Pages that take at most `max` bytes of memory.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            pages: Vec::new(),
            last: Vec::with_capacity(PAGE),
            len: 0,
            encoder: CCtx::create(),
            compressed: vec![0; zstd_safe::compress_bound(PAGE)],
            held: 0,
            max,
        }
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// `Limit` if the pages take too much memory; `Internal` if the bytes cannot be compressed.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.len += bytes.len();
        while !bytes.is_empty() {
            let room = (PAGE - self.last.len()).min(bytes.len());
            let (part, rest) = bytes.split_at(room);
            self.last.extend_from_slice(part);
            bytes = rest;
            if self.last.len() == PAGE {
                self.finish_page()?;
            }
        }
        Ok(())
    }

    fn finish_page(&mut self) -> Result<()> {
        let len = self.encoder.compress(self.compressed.as_mut_slice(), &self.last, LEVEL);
        let len = len.map_err(|code| failed("compressed", code))?;
        self.held += len + size_of::<Box<[u8]>>();
        if self.held > self.max {
            let message = format!("the content takes more than {} bytes of memory", self.max);
            return Err(Error::limit(message));
        }
        self.pages.push(self.compressed.get(..len).unwrap_or_default().into());
        self.last.clear();
        Ok(())
    }

    /// All that was added.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub(crate) fn finish(mut self) -> Result<Pages> {
        if !self.last.is_empty() {
            self.finish_page()?;
        }
        Ok(Pages { pages: self.pages, len: self.len, recent: Mutex::default() })
    }
}

impl Pages {
    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory, with all pages that may be kept.
    pub(crate) fn held(&self) -> usize {
        let compressed: usize = self.pages.iter().map(|page| page.len() + size_of::<Box<[u8]>>()).sum();
        compressed + KEPT.min(self.pages.len()) * PAGE
    }

    /// Copies the bytes from `at` on; `None` if that leads out.
    ///
    /// # Errors
    /// `Internal` if a page cannot be decompressed.
    pub(crate) fn copy(&self, at: usize, out: &mut [u8]) -> Result<Option<()>> {
        if at.checked_add(out.len()).is_none_or(|end| end > self.len) {
            return Ok(None);
        }
        let mut done = 0;
        while done < out.len() {
            let place = at + done;
            let page = self.page(place / PAGE)?;
            let rest = page.get(place % PAGE..).unwrap_or_default();
            let Some(target) = out.get_mut(done..) else { break };
            let count = rest.len().min(target.len());
            if count == 0 {
                return Err(Error::internal("a page is too short"));
            }
            for (to, from) in target.iter_mut().zip(rest) {
                *to = *from;
            }
            done += count;
        }
        Ok(Some(()))
    }

    fn page(&self, number: usize) -> Result<Arc<[u8]>> {
        let mut recent = self.recent.guard();
        recent.clock += 1;
        let clock = recent.clock;
        if let Some((page, used)) = recent.pages.get_mut(&number) {
            *used = clock;
            return Ok(Arc::clone(page));
        }
        drop(recent);
        let stored = self.pages.get(number).ok_or_else(|| Error::internal("no such page"))?;
        let mut page = vec![0u8; (self.len - number * PAGE).min(PAGE)];
        DCtx::create()
            .decompress(page.as_mut_slice(), stored)
            .map_err(|code| failed("decompressed", code))?;
        let page: Arc<[u8]> = page.into();
        let mut recent = self.recent.guard();
        if recent.pages.len() >= KEPT {
            let oldest = recent.pages.iter().min_by_key(|(_, (_, used))| *used).map(|(number, _)| *number);
            oldest.map(|number| recent.pages.remove(&number));
        }
        recent.pages.insert(number, (Arc::clone(&page), clock));
        Ok(page)
    }
}

fn failed(what: &str, code: usize) -> Error {
    let reason = zstd_safe::get_error_name(code).to_lowercase();
    Error::internal(format!("a page of a manifest cannot be {what}: {reason}"))
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pages({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte that differs from place to place.
    fn number_of(at: usize) -> u8 {
        u8::try_from(at % 251).unwrap()
    }

    #[test]
    fn bytes_come_back_whatever_the_parts() {
        let all: Vec<u8> = (0..3 * PAGE + 777).map(number_of).collect();
        for part in [1000, PAGE, 5 * PAGE] {
            let mut maker = PageMaker::new(usize::MAX);
            all.chunks(part).for_each(|part| maker.add(part).unwrap());
            let pages = maker.finish().unwrap();
            assert_eq!(pages.len(), all.len());
            for (at, len) in [(0, 10), (PAGE - 3, 7), (10, 2 * PAGE), (all.len() - 5, 5), (all.len(), 0)] {
                let mut out = vec![0; len];
                assert_eq!(pages.copy(at, &mut out).unwrap(), Some(()));
                assert_eq!(out, all[at..at + len], "{at} {len}");
            }
            assert_eq!(pages.copy(all.len() - 4, &mut [0; 5]).unwrap(), None);
            assert_eq!(pages.copy(usize::MAX, &mut [0; 5]).unwrap(), None);
        }
    }

    #[test]
    fn few_pages_are_kept_decompressed() {
        let mut maker = PageMaker::new(usize::MAX);
        (0..4 * KEPT).for_each(|number| maker.add(&vec![number_of(number); PAGE]).unwrap());
        let pages = maker.finish().unwrap();
        let byte = |number: usize| {
            let mut out = [0];
            pages.copy(number * PAGE + 9, &mut out).unwrap();
            out[0]
        };
        assert!((0..4 * KEPT).chain(0..KEPT).all(|number| byte(number) == number_of(number)));
        assert_eq!(pages.recent.guard().pages.len(), KEPT);
        assert!(pages.held() < 2 * KEPT * PAGE);
    }
}
