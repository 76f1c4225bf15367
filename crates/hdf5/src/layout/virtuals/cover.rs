//! The tiles of mappings in a region, with their overlaps and holes.
use super::block::VirtualMapping;
use super::pair;
use super::source::FoundSource;
use crate::selection::{AxisIndices, ElementSet};
use ncirrus_layout::{BoxTree, Error, Limits, Result, Tile, TileSource, uncovered};
use ncirrus_model::Region;
use std::borrow::Cow;
use std::ops::Range;

/// A mapping, or one block of it.
pub(super) struct CoverPiece<'a> {
    pub(super) mapping: &'a VirtualMapping,
    /// The elements of the mapping, if they do not depend on the source.
    pub(super) target: Option<&'a ElementSet>,
    /// Bounding box of the mapping's elements.
    pub(super) bounds: &'a [Range<u64>],
    pub(super) block: u64,
}

/// A piece with an existing source.
struct ResolvedPiece<'a> {
    source: &'a FoundSource,
    target: Cow<'a, ElementSet>,
    /// The corresponding elements of the source.
    elements: ElementSet,
}

/// Parts are cut until they are likely to have no more tiles than this, if cutting helps.
const FEW: u64 = 16;

/// The tiles that pieces make of a region; the last mapping wins where they overlap. The region is first cut into
/// parts with few tiles, so that each piece is not compared with the remainders of all others.
pub(super) fn tiles(
    region: &Region,
    pieces: &[CoverPiece<'_>],
    sources: &[Option<FoundSource>],
    limits: &Limits,
) -> Result<Vec<Tile>> {
    let (mut given, mut bounds) = (Vec::new(), Vec::new());
    for (piece, source) in pieces.iter().zip(sources) {
        let Some(source) = source else { continue };
        let one = piece.given(source, limits)?;
        bounds.extend(match piece.target {
            Some(_) => piece.bounds.to_vec(),
            None => one.target.bounds(region.rank()),
        });
        given.push(one);
    }
    let places = BoxTree::new(region.rank(), given.len(), bounds);
    let weight = |at: usize, region: &Region| {
        given.get(at).map_or(0, |one: &ResolvedPiece<'_>| one.target.runs_within(region))
    };
    let mut tiles = Vec::new();
    let mut rest = vec![region.clone()];
    while let Some(part) = rest.pop() {
        if let Some([first, second]) = places.halves(&part, FEW, weight) {
            rest.extend([second, first]);
            continue;
        }
        let mut left = vec![part.clone()];
        // Last mapping first: what it covers is no longer left for those before it.
        for at in places.touched(&part).into_iter().rev().filter(|at| weight(*at, &part) > 0) {
            if let (Some(one), false) = (given.get(at), left.is_empty()) {
                one.cover((&mut left, &mut tiles), limits)?;
            }
        }
        tiles.extend(left.into_iter().map(|region| Tile { region, source: TileSource::Missing }));
    }
    Ok(tiles)
}

impl<'a> CoverPiece<'a> {
    /// The elements that it provides, and the corresponding ones of the source.
    fn given(&self, source: &'a FoundSource, limits: &Limits) -> Result<ResolvedPiece<'a>> {
        let mapping = self.mapping;
        let along = mapping.source.unlimited();
        let len =
            along.and_then(|(axis, progression)| Some(progression.count_below(*source.dims.get(axis)?)));
        let elements = ElementSet::new(&mapping.source, &source.dims, len.unwrap_or(0), limits)?;
        if let Some(target) = self.target {
            return Ok(ResolvedPiece { source, target: Cow::Borrowed(target), elements });
        }
        let rank = self.bounds.len();
        let mut target = ElementSet::new(&mapping.target, &vec![0; rank], len.unwrap_or(0), limits)?;
        if let (None, Some((axis, progression)), ElementSet::Product(axes)) =
            (len, mapping.target.unlimited(), &mut target)
            && let Some(slot) = axes.get_mut(axis)
        {
            let start =
                self.block.checked_mul(progression.stride).and_then(|at| at.checked_add(progression.start));
            let start = start.ok_or_else(|| Error::malformed("a block beyond 2^64"))?;
            *slot = AxisIndices::runs([(start, progression.block.unwrap_or(1))]);
        }
        Ok(ResolvedPiece { source, target: Cow::Owned(target), elements })
    }
}

impl ResolvedPiece<'_> {
    /// Adds its tiles of the remaining region, and removes them from it.
    fn cover(&self, (left, tiles): (&mut Vec<Region>, &mut Vec<Tile>), limits: &Limits) -> Result<()> {
        let mut rest = Vec::new();
        for region in std::mem::take(left) {
            let pairs = pair::pairs(&self.target, &self.elements, &region, limits)?;
            rest.extend(uncovered(
                &region,
                &pairs.iter().map(|(region, _)| region).collect::<Vec<_>>(),
                limits,
            )?);
            tiles.extend(pairs.into_iter().map(|(region, from)| {
                let source = TileSource::Variable { variable: self.source.variable.clone(), region: from };
                Tile { region, source }
            }));
            limits.count((tiles.len() + rest.len()) as u64, "a virtual dataset")?;
        }
        *left = rest;
        Ok(())
    }
}
