//! Copying picked elements between a write's values and chunks.
use super::boxes::for_each_run;
use super::cells::{ChunkPart, ChunkSelection};
use super::contents::DirtyContents;
use super::target::WriteTarget;
use crate::convert::{self, RowCopier};
use bytes::Bytes;
use ncirrus_layout::{Error, PreparedPlacement, Result};
use ncirrus_model::{Atomic, Model, Values};
use std::borrow::Cow;
use std::ops::Deref;

/// Elements in the caller's memory.
#[derive(Clone, Copy)]
pub(super) enum NativeBytes<'a> {
    /// For the time of the write.
    Lent(&'a [u8]),
    /// As long as anybody needs them.
    Shared(&'a Bytes),
}

impl Deref for NativeBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// The values of one write, ready to be put into chunks.
pub(super) enum WriteData<'a> {
    /// The caller's memory, byte-swapped in the copy where needed.
    Native(NativeBytes<'a>, RowCopier),
    /// Elements as they are stored.
    Stored(Vec<u8>),
    /// Elements without a fixed size.
    Values(Cow<'a, Values>),
}

/// What one window of chunks is written with.
pub(super) struct WriteWindow<'a> {
    pub(super) target: &'a WriteTarget,
    pub(super) model: &'a Model,
    pub(super) array: Vec<u64>,
    pub(super) data: &'a WriteData<'a>,
    pub(super) touched: &'a ChunkSelection,
    pub(super) prepared: PreparedPlacement,
}

impl<'a> WriteData<'a> {
    /// Prepares the values of a write. Values that cannot be stored are found here, before a chunk is changed.
    ///
    /// # Errors
    /// `Invalid` naming the value that cannot be represented in the stored type.
    pub(super) fn new(model: &Model, target: &WriteTarget, values: &'a Values) -> Result<Self> {
        target.check(model, values)?;
        if let (Some(copier), Some(native)) = (target.copier.clone(), values.as_bytes()) {
            return Ok(Self::Native(NativeBytes::Lent(native), copier));
        }
        Self::slow(model, target, Cow::Borrowed(values))
    }

    /// Values that are stored differently than in memory.
    fn slow(model: &Model, target: &WriteTarget, values: Cow<'a, Values>) -> Result<Self> {
        let stored = &target.encoding.stored;
        let encode = || {
            let encoded = convert::encode(model, target.ty, stored, &values, 0..values.len());
            encoded.map_err(|error| error.at_path(target.path.clone()))
        };
        if target.element.is_some() {
            return encode().map(Self::Stored);
        }
        if !matches!(stored, ncirrus_layout::StoredType::Reference { .. }) {
            encode()?;
        }
        Ok(Self::Values(values))
    }

    /// Prepares numbers of that type in the caller's memory.
    ///
    /// # Errors
    /// `Invalid` if the variable has another type, or a number cannot be represented in the stored type.
    pub(super) fn native(model: &Model, target: &WriteTarget, ty: Atomic, native: &'a [u8]) -> Result<Self> {
        if model.base_atomic(target.ty) != Some(ty) {
            let message = format!("values of type {} for a variable of a different type", ty.name());
            return Err(Error::invalid(message).at_path(target.path.clone()));
        }
        Self::packed(model, target, NativeBytes::Lent(native))
    }

    /// Prepares elements of the variable's type in the caller's memory.
    ///
    /// # Errors
    /// `Invalid` if the last element is incomplete, the type has no fixed size, or a number cannot be represented in
    /// the stored type.
    pub(super) fn packed(model: &Model, target: &WriteTarget, native: NativeBytes<'a>) -> Result<Self> {
        if let Some(copier) = target.packed.as_ref().filter(|copier| copier.is_reversible()) {
            return Ok(Self::Native(native, copier.clone()));
        }
        let values = convert::unpack(model, target.ty, &native);
        Self::slow(model, target, Cow::Owned(values.map_err(|error| error.at_path(target.path.clone()))?))
    }

    /// The stored elements of a chunk, if they are contiguous in the caller's memory, and the memory, if parts of it may be kept.
    pub(super) fn piece(
        &self,
        touched: &ChunkSelection,
        part: &ChunkPart,
        shape: &[usize],
        element: usize,
    ) -> Option<(&[u8], Option<&Bytes>)> {
        let (bytes, owner): (&[u8], Option<&Bytes>) = match self {
            Self::Native(NativeBytes::Lent(bytes), copier) if copier.is_plain() => (bytes, None),
            Self::Native(NativeBytes::Shared(bytes), copier) if copier.is_plain() => (bytes, Some(bytes)),
            Self::Stored(bytes) => (bytes, None),
            _ => return None,
        };
        let (mut runs, mut first) = (0, None);
        touched
            .runs(part, shape, &mut |run| {
                runs += 1;
                first = Some(run);
            })
            .ok()?;
        let run = first.filter(|run| runs == 1 && run.is_row() && run.inside == 0)?;
        if run.len != shape.iter().product::<usize>() {
            return None;
        }
        Some((bytes.get(run.source * element..(run.source + run.len) * element)?, owner))
    }

    /// Copies all elements, as they are stored. `false` if they have no fixed size, or are not as many.
    pub(super) fn store_all(&self, out: &mut [u8]) -> bool {
        match self {
            Self::Native(from, copier) => {
                let is_fitting =
                    from.len() / copier.native_len().max(1) == out.len() / copier.stored_len().max(1);
                if is_fitting {
                    copier.store(from, out);
                }
                is_fitting
            }
            Self::Stored(from) if from.len() == out.len() => {
                out.copy_from_slice(from);
                true
            }
            Self::Stored(_) | Self::Values(_) => false,
        }
    }

    /// The stored elements of a box that starts at `start` of the values' shape, contiguous; empty for values without a
    /// fixed size.
    pub(super) fn cut(
        &self,
        (shape, start, count): (&[usize], &[usize], &[usize]),
        element: usize,
        out: &mut [u8],
    ) {
        let (from, copier) = match self {
            Self::Native(from, copier) => (&**from, copier.clone()),
            Self::Stored(from) => (from.as_slice(), RowCopier::bytes(element)),
            Self::Values(_) => return,
        };
        let native = copier.native_len();
        for_each_run(shape, start, count, |run| {
            let out = &mut out[run.inner * element..(run.inner + run.len) * element];
            match run.step {
                1 => copier.store(&from[run.outer * native..(run.outer + run.len) * native], out),
                step => copier.store_gather(&from[run.outer * native..], step * native, out),
            }
        });
    }

    /// Puts the picked elements into a chunk of that shape.
    ///
    /// # Errors
    /// `Internal` if chunk and values do not match.
    pub(super) fn scatter(
        &self,
        touched: &ChunkSelection,
        part: &ChunkPart,
        shape: &[usize],
        target: &WriteTarget,
        contents: &mut DirtyContents,
    ) -> Result<()> {
        match (self, contents, target.element) {
            (Self::Values(from), DirtyContents::Values(to), None) => {
                let (mut to_at, mut from_at) = (Vec::new(), Vec::new());
                touched.runs(part, shape, &mut |run| {
                    run.pairs().for_each(|(inside, source)| {
                        to_at.push(inside);
                        from_at.push(source);
                    });
                })?;
                convert::assign(to, &to_at, from, &from_at)
            }
            (_, DirtyContents::Bytes(bytes), Some(element)) => {
                self.scatter_bytes(touched, part, shape, element, bytes)
            }
            _ => Err(Error::internal("a staged cell of another kind")),
        }
    }

    /// As [`scatter`](Self::scatter), into the stored elements of a chunk.
    ///
    /// # Errors
    /// `Limit` if there are too many elements for this machine.
    pub(super) fn scatter_bytes(
        &self,
        touched: &ChunkSelection,
        part: &ChunkPart,
        shape: &[usize],
        element: usize,
        cell: &mut [u8],
    ) -> Result<()> {
        let span = |first: usize, len: usize| first * element..(first + len) * element;
        match self {
            Self::Native(from, copier) => {
                let native = copier.native_len();
                let of_caller = |first: usize, len: usize| first * native..(first + len) * native;
                touched.runs(part, shape, &mut |run| {
                    // Neighbours in the chunk are converted by one call, even where the caller's elements are apart.
                    if run.inside_step == 1 || run.len == 1 {
                        let step = if run.len == 1 { 1 } else { run.source_step };
                        let reach = (run.len.max(1) - 1) * step + 1;
                        let (from, to) = (&from[of_caller(run.source, reach)], span(run.inside, run.len));
                        match step {
                            1 => copier.store(from, &mut cell[to]),
                            step => copier.store_gather(from, step * native, &mut cell[to]),
                        }
                        return;
                    }
                    for (inside, source) in run.pairs() {
                        copier.store(&from[of_caller(source, 1)], &mut cell[span(inside, 1)]);
                    }
                })
            }
            Self::Stored(from) => touched.runs(part, shape, &mut |run| {
                if run.is_row() {
                    cell[span(run.inside, run.len)].copy_from_slice(&from[span(run.source, run.len)]);
                    return;
                }
                for (inside, source) in run.pairs() {
                    cell[span(inside, 1)].copy_from_slice(&from[span(source, 1)]);
                }
            }),
            Self::Values(_) => Ok(()),
        }
    }
}

/// The result of a read, while it is assembled from chunks.
pub(super) enum GatheredValues<'a> {
    /// Machine numbers, through a copier.
    Native(Values, RowCopier),
    /// The caller's memory, through a copier.
    Lent(&'a mut [u8], RowCopier),
    /// Elements as they are stored, converted at the end.
    Stored(Vec<u8>),
    /// Elements without a fixed size.
    Values(Values),
}

impl GatheredValues<'_> {
    /// Room for `count` elements.
    ///
    /// # Errors
    /// `Limit` if there are too many for this machine.
    pub(super) fn new(model: &Model, target: &WriteTarget, count: usize) -> Result<Self> {
        Ok(match (&target.copier, target.element) {
            (Some(copier), _) => Self::Native(convert::zeros(model, target.ty, count)?, copier.clone()),
            (None, Some(element)) => Self::Stored(vec![0; element.saturating_mul(count)]),
            (None, None) => Self::Values(convert::zeros(model, target.ty, count)?),
        })
    }

    /// Copies the picked elements from a chunk of that shape.
    ///
    /// # Errors
    /// `Internal` if chunk and values do not match.
    pub(super) fn gather(
        &mut self,
        touched: &ChunkSelection,
        part: &ChunkPart,
        shape: &[usize],
        target: &WriteTarget,
        contents: &DirtyContents,
    ) -> Result<()> {
        let element = target.element.unwrap_or(0);
        let span = |at: usize| at * element..(at + 1) * element;
        let copy = |copier: &RowCopier, cell: &[u8], out: &mut [u8]| {
            let native = copier.native_len();
            touched.runs(part, shape, &mut |run| {
                let place = |at: usize, len: usize| at * native..(at + len) * native;
                // One copy for a row; a stride or a list of indices has elements one by one.
                if run.is_row() {
                    let from = run.inside * element..(run.inside + run.len) * element;
                    return copier.copy(&cell[from], &mut out[place(run.source, run.len)]);
                }
                run.pairs().for_each(|(inside, source)| {
                    copier.copy(&cell[span(inside)], &mut out[place(source, 1)]);
                });
            })
        };
        match (self, contents) {
            (Self::Native(values, copier), DirtyContents::Bytes(cell)) => {
                let out = values.as_bytes_mut().ok_or_else(|| Error::internal("numbers without memory"))?;
                copy(copier, cell, out)?;
            }
            (Self::Lent(out, copier), DirtyContents::Bytes(cell)) => copy(copier, cell, out)?,
            (Self::Stored(out), DirtyContents::Bytes(cell)) => touched.runs(part, shape, &mut |run| {
                run.pairs()
                    .for_each(|(inside, source)| out[span(source)].copy_from_slice(&cell[span(inside)]));
            })?,
            (Self::Values(out), DirtyContents::Values(cell)) => {
                // Values own memory of various lengths: they are assigned all at once, which rebuilds the list once.
                let (mut to_at, mut from_at) = (Vec::new(), Vec::new());
                touched.runs(part, shape, &mut |run| {
                    run.pairs().for_each(|(inside, source)| {
                        to_at.push(source);
                        from_at.push(inside);
                    });
                })?;
                convert::assign(out, &to_at, cell, &from_at)?;
            }
            _ => return Err(Error::internal("a staged cell of another kind")),
        }
        Ok(())
    }

    /// The values.
    ///
    /// # Errors
    /// Errors of conversion.
    pub(super) fn finish(self, model: &Model, target: &WriteTarget, count: usize) -> Result<Values> {
        match self {
            Self::Native(values, _) | Self::Values(values) => Ok(values),
            Self::Lent(..) => convert::empty(model, target.ty),
            Self::Stored(bytes) => convert::decode(model, target.ty, &target.encoding.stored, &bytes, count)
                .map_err(|error| error.at_path(target.path.clone())),
        }
    }
}
