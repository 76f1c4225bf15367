//! The result of a read that is assembled from parts.
use crate::bound_source::ELEMENT_MARK;
use crate::convert;
use crate::filling::fill_elements;
use crate::read::{append, check_memory, mark, runs};
use ncirrus_layout::grid::SelectionPiece;
use ncirrus_layout::grid::{ElementRun, ElementSizes, ElementWalk, row_major};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Model, TypeRef, Values};

/// Values that are assembled from parts; elements that no part has are fill.
pub(crate) struct ValueAssembly<'a> {
    shape: Vec<u64>,
    element: usize,
    fill: &'a Values,
    layout: AssemblyLayout<'a>,
}

/// Which elements of a result come from parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartCoverage {
    /// All of them: there is nothing to fill, which would take as long as to copy the values.
    Whole,
    /// Some may not: they are fill.
    Partial,
}

enum AssemblyLayout<'a> {
    /// Elements of a fixed size, at their places.
    Placed(Values),
    /// The same, in the caller's memory.
    Lent(&'a mut [u8]),
    /// Marks that say where in the parts, which are kept, each element is.
    Marked { marks: Vec<u8>, parts: Vec<Values>, empty: Values },
}

impl<'a> ValueAssembly<'a> {
    /// A result of that shape.
    pub(crate) fn new(
        model: &Model,
        ty: TypeRef,
        fill: &'a Values,
        (shape, count): (&[u64], usize),
        coverage: PartCoverage,
    ) -> Result<Self> {
        let shape = shape.to_vec();
        let (element, layout) = if let Some(fill) = fill.as_bytes().filter(|fill| !fill.is_empty()) {
            let one = fill.len();
            check_memory(count, one)?;
            let mut values = convert::zeros(model, ty, count)?;
            let bytes = values.as_bytes_mut().filter(|bytes| bytes.len() == one * count);
            let bytes = bytes.ok_or_else(|| Error::internal("a fill value of another size"))?;
            if coverage == PartCoverage::Partial && fill.iter().any(|byte| *byte != 0) {
                fill_elements(bytes, fill);
            }
            (one, AssemblyLayout::Placed(values))
        } else {
            check_memory(count, 2 * ELEMENT_MARK)?;
            let marks = vec![0xff; count * ELEMENT_MARK];
            (
                ELEMENT_MARK,
                AssemblyLayout::Marked { marks, parts: Vec::new(), empty: convert::empty(model, ty)? },
            )
        };
        Ok(Self { shape, element, fill, layout })
    }

    /// A result of that shape in the caller's memory, which has its length; for elements of a fixed size.
    pub(crate) fn over(fill: &'a Values, shape: &[u64], coverage: PartCoverage, out: &'a mut [u8]) -> Self {
        let one = fill.as_bytes().unwrap_or_default();
        if coverage == PartCoverage::Partial {
            fill_elements(out, one);
        }
        Self { shape: shape.to_vec(), element: one.len(), fill, layout: AssemblyLayout::Lent(out) }
    }

    /// Puts the elements of a piece: an array of shape `held`, of length 1 along axes on which one element is repeated.
    pub(crate) fn put(&mut self, piece: &SelectionPiece, held: &[u64], values: Values) -> Result<()> {
        if held.iter().product::<u64>() != values.len() as u64 {
            return Err(Error::internal(format!("{} values for {held:?} elements", values.len())));
        }
        let mut strides = row_major(held, 1)?;
        strides.iter_mut().zip(held).filter(|(_, len)| **len == 1).for_each(|(stride, _)| *stride = 0);
        self.put_strided(piece, &strides, values)
    }

    /// Puts the elements of a piece that are at the given strides along its axes.
    pub(crate) fn put_strided(
        &mut self,
        piece: &SelectionPiece,
        strides: &[u64],
        values: Values,
    ) -> Result<()> {
        let walk = self.walk(piece, strides)?;
        match &mut self.layout {
            AssemblyLayout::Placed(result) => {
                let bytes = values.as_bytes().zip(result.as_bytes_mut());
                let (from, to) = bytes.ok_or_else(|| Error::internal("values without bytes"))?;
                copy(&walk, from, to, self.element)
            }
            AssemblyLayout::Lent(to) => {
                let from = values.as_bytes().ok_or_else(|| Error::internal("values without bytes"))?;
                copy(&walk, from, to, self.element)
            }
            AssemblyLayout::Marked { marks, parts, .. } => {
                let part = parts.len() as u64;
                let from: Vec<u8> = (0..values.len() as u64).flat_map(|at| mark(part, at)).collect();
                copy(&walk, &from, marks, self.element)?;
                parts.push(values);
                Ok(())
            }
        }
    }

    /// Where the elements of a piece belong that are at the given strides along its axes.
    pub(crate) fn walk(&self, piece: &SelectionPiece, strides: &[u64]) -> Result<ElementWalk> {
        let element = self.element as u64;
        let from: Vec<u64> = strides.iter().map(|stride| stride.saturating_mul(element)).collect();
        let to = row_major(&self.shape, element)?;
        let sizes = ElementSizes { stored: self.element, native: self.element };
        ElementWalk::new(&piece.segments(), &from, &to, sizes)
            .ok_or_else(|| Error::limit("the selection exceeds this machine's addresses"))
    }

    /// Puts some elements of the source of a walk, from the number `first` on; for elements of a fixed size.
    pub(crate) fn put_elements(&mut self, walk: &ElementWalk, first: u64, bytes: &[u8]) -> Result<()> {
        let to = match &mut self.layout {
            AssemblyLayout::Placed(values) => values.as_bytes_mut(),
            AssemblyLayout::Lent(to) => Some(&mut **to),
            AssemblyLayout::Marked { .. } => None,
        };
        let to = to.ok_or_else(|| Error::internal("values without bytes"))?;
        let start = usize::try_from(first).ok().and_then(|first| first.checked_mul(self.element));
        let window = start.and_then(|start| Some(start..start.checked_add(bytes.len())?));
        let window = window.ok_or_else(|| Error::internal("an element past this machine's addresses"))?;
        let mut is_inside = true;
        walk.for_each_run_within(window, &mut |run| {
            is_inside &= copy_run(run, bytes, to, self.element).is_some();
        });
        if is_inside { Ok(()) } else { Err(Error::internal("a part lies outside of the result")) }
    }

    /// The values.
    pub(crate) fn finish(self) -> Result<Values> {
        match self.layout {
            AssemblyLayout::Placed(values) => Ok(values),
            AssemblyLayout::Lent(_) => Err(Error::internal("values in memory of the caller")),
            AssemblyLayout::Marked { marks, parts, mut empty } => {
                for run in runs(&marks) {
                    append(&mut empty, &parts, run, self.fill)?;
                }
                Ok(empty)
            }
        }
    }
}

fn copy(walk: &ElementWalk, from: &[u8], to: &mut [u8], element: usize) -> Result<()> {
    let mut is_inside = true;
    walk.for_each_run(|run| is_inside &= copy_run(run, from, to, element).is_some());
    if is_inside { Ok(()) } else { Err(Error::internal("a part lies outside of the result")) }
}

fn copy_run(run: ElementRun, from: &[u8], to: &mut [u8], element: usize) -> Option<()> {
    if run.source_step == element && run.target_step == element {
        let len = run.count * element;
        let from = from.get(run.source..run.source + len)?;
        to.get_mut(run.target..run.target + len)?.copy_from_slice(from);
        return Some(());
    }
    for at in 0..run.count {
        let (source, target) = (run.source + at * run.source_step, run.target + at * run.target_step);
        let from = from.get(source..source + element)?;
        to.get_mut(target..target + element)?.copy_from_slice(from);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_filled_only_if_parts_may_leave_gaps() {
        let fill = Values::UByte(vec![9]);
        for (coverage, expected) in [(PartCoverage::Partial, [9; 4]), (PartCoverage::Whole, [1; 4])] {
            let mut out = [1; 4];
            drop(ValueAssembly::over(&fill, &[4], coverage, &mut out));
            assert_eq!(out, expected, "{coverage:?}");
        }
    }
}
