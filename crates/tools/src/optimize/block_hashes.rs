//! Hashes of the values that a copy reads from its source. With them the copy is checked without reading the source again.
use crate::compare::chunk_grain;
use crc_fast::CrcAlgorithm;
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, Result, Selection, Values, Variable};
use ncirrus_layout::LockExt;
use ncirrus_model::{Region, VarId};
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;

/// The blocks of each variable that were read.
#[derive(Default)]
pub(super) struct BlockHashes(Mutex<BTreeMap<VarId, Vec<HashedBlock>>>);

#[derive(Clone)]
struct HashedBlock {
    /// The elements in the source; `None` if they do not form a box, or have no bytes.
    region: Option<Region>,
    hash: u64,
}

impl BlockHashes {
    /// Notes values that were read from the source.
    pub(super) fn note(&self, var: VarId, selection: &Selection, values: &Values) {
        let bytes = values.as_bytes();
        let region = selection.as_region().filter(|_| bytes.is_some());
        let block = HashedBlock { region, hash: bytes.map_or(0, hash) };
        self.0.guard().entry(var).or_default().push(block);
    }

    /// Forgets everything: a copy begins again.
    pub(super) fn clear(&self) {
        self.0.guard().clear();
    }

    /// Whether all elements of a variable of the source were noted, and the copy has the same values. `false`: they have to be
    /// compared in another way.
    ///
    /// # Errors
    /// `Internal` if a value differs; errors of reading.
    pub(super) fn confirm(&self, var: VarId, copy: &Dataset, variable: &Variable) -> Result<bool> {
        let blocks = self.0.guard().get(&var).cloned().unwrap_or_default();
        let (shape, model) = (variable.shape(), copy.model()?);
        let element = model.variable(variable.id()).and_then(|variable| model.packed_len(variable.ty));
        let Some((element, regions)) = element.zip(tiling(&blocks, &shape, &chunk_grain(variable))) else {
            return Ok(false);
        };
        let (reader, mut buffer) = (copy.reader()?, Vec::new());
        for (region, block) in regions.into_iter().zip(&blocks) {
            let bytes =
                region.element_count().and_then(|count| usize::try_from(count.checked_mul(element)?).ok());
            let bytes = bytes.ok_or_else(|| Error::limit("a block exceeds this machine's addresses"))?;
            buffer.resize(bytes, 0);
            let selection = Selection::slab(&region.start, &region.count);
            copy.engine().wait(reader.read_into(variable.id(), &selection, &mut buffer))?;
            if hash(&buffer) != block.hash {
                let message =
                    format!("the copy differs in {:?} elements from {:?}", region.count, region.start);
                return Err(Error::internal(message).at_path(variable.path()));
            }
        }
        Ok(true)
    }
}

/// CRC-64/NVME: 64 bits, computed at the speed of memory.
fn hash(bytes: &[u8]) -> u64 {
    crc_fast::checksum(CrcAlgorithm::Crc64Nvme, bytes)
}

/// The boxes of blocks, if together they have each element of the array once, and are made of whole chunks, so that no chunk is
/// decoded several times.
fn tiling<'a>(blocks: &'a [HashedBlock], shape: &[u64], chunk: &[u64]) -> Option<Vec<&'a Region>> {
    let regions: Vec<&Region> = blocks.iter().map(|block| block.region.as_ref()).collect::<Option<_>>()?;
    // The first block is that at the origin, and the largest.
    let lens = &regions.first()?.count;
    let axes = || lens.iter().zip(shape);
    let is_whole =
        axes().zip(chunk).all(|((len, all), chunk)| len == all || len.is_multiple_of((*chunk).max(1)));
    let fits = |region: &&Region| {
        let starts = region.start.iter().zip(&region.count).zip(axes());
        region.rank() == shape.len()
            && starts.into_iter().all(|((start, count), (len, all))| {
                start.is_multiple_of((*len).max(1)) && *count == (*len).min(all.saturating_sub(*start))
            })
    };
    let mut known = HashSet::new();
    let is_tiled = regions.iter().all(|region| fits(region) && known.insert(&region.start));
    let elements = regions.iter().map(|region| region.element_count()).sum::<Option<u64>>();
    (is_whole && is_tiled && elements == Region::all(shape).element_count()).then_some(regions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(start: &[u64], count: &[u64]) -> HashedBlock {
        let region = Region { start: start.to_vec(), count: count.to_vec() };
        HashedBlock { region: Some(region), hash: 0 }
    }

    #[test]
    fn blocks_count_only_if_they_have_each_element_once() {
        let all = [block(&[0, 0], &[4, 3]), block(&[4, 0], &[4, 3]), block(&[8, 0], &[1, 3])];
        let is_tiled = |blocks: &[HashedBlock], chunk: &[u64]| tiling(blocks, &[9, 3], chunk).is_some();
        assert!(is_tiled(&all, &[2, 3]) && is_tiled(&all, &[1, 1]) && is_tiled(&all, &[4, 2]));
        // A chunk would be decoded twice.
        assert!(!is_tiled(&all, &[3, 3]));
        assert!(!is_tiled(&[], &[2, 3]) && !is_tiled(&all[..2], &[2, 3]) && !is_tiled(&all[1..], &[2, 3]));
        let again = [all[0].clone(), all[1].clone(), all[1].clone()];
        assert!(!is_tiled(&again, &[2, 3]));
        let odd = [all[0].clone(), block(&[3, 0], &[4, 3]), block(&[8, 0], &[1, 3])];
        assert!(!is_tiled(&odd, &[2, 3]));
        let unknown = [all[0].clone(), all[1].clone(), HashedBlock { region: None, hash: 0 }];
        assert!(!is_tiled(&unknown, &[2, 3]));
        // A scalar has one element.
        assert!(tiling(&[block(&[], &[])], &[], &[]).is_some());
    }
}
