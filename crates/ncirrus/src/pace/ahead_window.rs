//! Parts of a variable that are read before they are asked for.
use crate::session::WindowShare;
use crate::{ErrorKind, Region, Result, Session, SessionTask};
use futures_util::FutureExt;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A part that is being read, or was.
pub(super) struct Window {
    pub(super) region: Region,
    content: Mutex<WindowContent>,
    _share: WindowShare,
}

#[derive(Debug)]
enum WindowContent {
    Coming(SessionTask<Vec<u8>>),
    Here(Vec<u8>),
    /// It could not be read.
    Missing,
}

impl Window {
    /// A box that a task of the session reads.
    pub(super) fn new(region: Region, task: SessionTask<Vec<u8>>, share: WindowShare) -> Self {
        Self { region, content: Mutex::new(WindowContent::Coming(task)), _share: share }
    }

    /// Whether whoever comes to it need not wait.
    pub(super) fn is_here(&self) -> bool {
        let Ok(mut content) = self.content.try_lock() else { return false };
        if let WindowContent::Coming(task) = &mut *content
            && let Some(read) = task.now_or_never()
        {
            *content = read.map_or(WindowContent::Missing, WindowContent::Here);
        }
        !matches!(&*content, WindowContent::Coming(_))
    }

    /// Copies a slab that the window has. `false` if the window could not be read.
    ///
    /// # Errors
    /// `Interrupted` if the wait for it was ended.
    pub(super) fn copy(
        &self,
        session: &Session,
        slab: &Region,
        element: usize,
        out: &mut [u8],
    ) -> Result<bool> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        *content = match std::mem::replace(&mut *content, WindowContent::Missing) {
            WindowContent::Coming(task) => match session.wait_for(task) {
                Ok(bytes) => WindowContent::Here(bytes),
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(_) => WindowContent::Missing,
            },
            known => known,
        };
        Ok(match &*content {
            WindowContent::Here(bytes) => copy_box((&self.region, bytes), slab, element, out).is_some(),
            _ => false,
        })
    }
}

/// Copies a box out of one that has all of it. `None` if it does not, or memory is of another length.
fn copy_box((region, bytes): (&Region, &[u8]), slab: &Region, element: usize, out: &mut [u8]) -> Option<()> {
    let rank = region.rank();
    let size = |count: u64| usize::try_from(count).ok();
    // Axes behind this one are whole: the elements lie one after the other.
    let along = (0..rank).rev().find(|axis| slab.count[*axis] != region.count[*axis]).unwrap_or(0);
    let behind: usize =
        region.count[along + 1..].iter().try_fold(element, |len, count| len.checked_mul(size(*count)?))?;
    let run = behind.checked_mul(size(slab.count[along])?)?;
    for (number, part) in out.chunks_exact_mut(run.max(1)).enumerate() {
        let first = size(slab.start[along].checked_sub(region.start[along])?)?;
        let (mut rest, mut from, mut unit) = (number, first * behind, behind * size(region.count[along])?);
        for axis in (0..along).rev() {
            let (count, within) =
                (size(slab.count[axis])?, size(slab.start[axis].checked_sub(region.start[axis])?)?);
            from += (within + rest % count) * unit;
            (rest, unit) = (rest / count, unit * size(region.count[axis])?);
        }
        part.copy_from_slice(bytes.get(from..from.checked_add(run)?)?);
    }
    Some(())
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("region", &self.region).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: &[u64], count: &[u64]) -> Region {
        Region { start: start.to_vec(), count: count.to_vec() }
    }

    #[test]
    fn a_box_is_copied_out_of_one_that_has_it() {
        let window = region(&[1, 2, 0], &[2, 4, 3]);
        let bytes: Vec<u8> = (0..24).collect();
        let copied = |slab: &Region| {
            let mut out = vec![255; usize::try_from(slab.element_count().unwrap()).unwrap()];
            copy_box((&window, &bytes), slab, 1, &mut out).map(|()| out)
        };
        assert_eq!(copied(&window), Some(bytes.clone()));
        assert_eq!(copied(&region(&[2, 3, 0], &[1, 2, 3])), Some((15..21).collect()));
        assert_eq!(copied(&region(&[1, 5, 0], &[2, 1, 3])), Some(vec![9, 10, 11, 21, 22, 23]));
        assert_eq!(copied(&region(&[1, 2, 1], &[2, 2, 1])), Some(vec![1, 4, 13, 16]));
        assert_eq!(copied(&region(&[0, 2, 0], &[1, 1, 3])), None);
    }
}
