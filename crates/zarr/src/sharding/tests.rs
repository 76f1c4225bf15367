use super::*;
use proptest::prelude::*;

fn form(per_shard: &[u64], index_at_end: bool) -> ShardingLayout {
    ShardingLayout {
        shards: ChunkGrid::Regular(per_shard.to_vec()),
        axes: (0..per_shard.len()).collect(),
        index_at_end,
        index_order: ByteOrder::Little,
        has_checksum: true,
        outer: Vec::new(),
        inner: None,
    }
}

fn chunks_in(form: &ShardingLayout, object: &Bytes) -> Result<Vec<Option<Bytes>>> {
    let ranges = form.ranges(&vec![0; form.shards.rank()], object)?;
    Ok(ranges.into_iter().map(|range| range.map(|range| object.slice(range))).collect())
}

proptest! {
    #[test]
    fn a_shard_returns_its_chunks(
        chunks in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..20)), 12),
        (at_end, big, has_checksum) in any::<(bool, bool, bool)>(),
    ) {
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let form = ShardingLayout { index_order: order, has_checksum, ..form(&[3, 4], at_end) };
        let chunks: Vec<Option<Bytes>> = chunks.into_iter().map(|chunk| chunk.map(Bytes::from)).collect();
        let object = form.assemble(&[0, 0], &chunks).unwrap();
        prop_assert_eq!(chunks_in(&form, &object).unwrap(), chunks);
    }

    #[test]
    fn any_bytes_are_a_shard_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..150), at_end: bool) {
        let form = ShardingLayout { has_checksum: false, ..form(&[2, 2], at_end) };
        let object = Bytes::from(bytes);
        if let Ok(ranges) = form.ranges(&[0, 0], &object) {
            prop_assert_eq!(ranges.len(), 4);
            prop_assert!(ranges.into_iter().flatten().all(|range| object.get(range).is_some()));
        }
    }

    #[test]
    fn every_chunk_of_a_shard_has_its_own_number(
        counts in prop::collection::vec(1..5u64, 0..4),
        (turned, uneven) in any::<(bool, bool)>(),
    ) {
        let mut form = form(&counts, true);
        if turned {
            form.axes.reverse();
        }
        if uneven {
            let lens: Vec<Vec<u64>> = counts.iter().map(|count| vec![2, *count, 1]).collect();
            form.shards = ChunkGrid::rectilinear(&lens).unwrap();
        }
        let sharding: &dyn Sharding = &form;
        let shard: Vec<u64> = counts.iter().map(|count| count % 3).collect();
        let cells: Vec<Vec<u64>> = sharding.cells_of(&shard).collect();
        prop_assert!(cells.iter().all(|cell| sharding.shard_of(cell) == shard));
        let mut slots: Vec<usize> = cells.iter().map(|cell| sharding.slot(cell)).collect();
        slots.sort_unstable();
        prop_assert!(slots.into_iter().eq(0..usize::try_from(sharding.slot_count(&shard)).unwrap()));
        prop_assert!(cells.is_sorted());
    }
}

#[test]
fn a_shard_that_is_cut_or_damaged_is_refused() {
    let form = form(&[2], true);
    let object = form.assemble(&[0], &[Some(Bytes::from_static(b"abc")), None]).unwrap();
    assert_eq!(object.len(), 3 + 36);
    for len in 0..object.len() {
        assert!(form.ranges(&[0], &object.slice(..len)).is_err(), "{len} bytes");
    }
    for at in 3..object.len() {
        let mut damaged = object.to_vec();
        damaged[at] ^= 1;
        assert!(form.ranges(&[0], &damaged.into()).is_err(), "byte {at}");
    }
}

#[test]
fn the_index_is_as_the_specification_has_it() {
    let object = form(&[2], true).assemble(&[0], &[None, Some(Bytes::from_static(b"xy"))]).unwrap();
    let mut wanted = b"xy".to_vec();
    wanted.extend([0xff; 16]);
    wanted.extend(0u64.to_le_bytes());
    wanted.extend(2u64.to_le_bytes());
    wanted.extend(crc32c(&wanted[2..]).to_le_bytes());
    assert_eq!(object, wanted);
    // Offsets count from the start of the object, the index included.
    let object = form(&[1], false).assemble(&[0], &[Some(Bytes::from_static(b"xy"))]).unwrap();
    assert_eq!(object[..8], 20u64.to_le_bytes());
    assert_eq!(object[20..], *b"xy");
}

#[test]
fn shards_are_multiples_of_chunks() {
    let new = |shape: &[u64], chunks: &[u64]| ShardingLayout::new(&Shards::new(shape.to_vec()), chunks);
    assert_eq!(new(&[10, 6], &[5, 6]).unwrap().shards, ChunkGrid::Regular(vec![2, 1]));
    for (shape, chunks) in [(&[10][..], &[5, 6][..]), (&[11], &[5]), (&[0], &[5]), (&[3], &[5])] {
        assert!(new(shape, chunks).is_err(), "{shape:?} of {chunks:?}");
    }
    assert!(new(&[1 << 25], &[1]).is_err());
}

#[test]
fn shards_of_different_sizes_are_added_where_the_array_grows() {
    let uneven = |lens: &[Vec<u64>]| ShardingLayout {
        shards: ChunkGrid::rectilinear(lens).unwrap(),
        ..form(&vec![1; lens.len()], true)
    };
    let grown = |lens: &[Vec<u64>], chunks: &[u64]| {
        let grown = uneven(lens).reaching(chunks).unwrap()?;
        Some(grown.shards().clone())
    };
    let grid = |lens: &[Vec<u64>]| Some(ChunkGrid::rectilinear(lens).unwrap());
    assert_eq!(grown(&[vec![1, 2, 3]], &[6]), None, "every chunk has a shard");
    assert_eq!(grown(&[vec![1, 2, 3]], &[8]), grid(&[vec![1, 2, 3, 2]]), "one with what is missing");
    assert_eq!(
        grown(&[vec![1, 2, 3]], &[14]),
        grid(&[vec![1, 2, 3, 3, 3, 2]]),
        "none is longer than the longest"
    );
    assert_eq!(
        grown(&[vec![2, 2], vec![1, 4]], &[5, 6]),
        grid(&[vec![2, 2, 2], vec![1, 4, 1]]),
        "even axes stay so"
    );
    assert_eq!(form(&[2], true).reaching(&[100]).unwrap().map(|_| ()), None, "equal shards have no end");
    let far = uneven(&[vec![1, 1]]).reaching(&[u64::MAX]).unwrap_err();
    assert!(far.to_string().contains("more shards"), "{far}");
    let sharding = uneven(&[vec![1, 2]]);
    assert!(sharding.index_len(&[2]).is_err(), "there is no such shard");
    assert_eq!((sharding.index_len(&[0]).unwrap(), sharding.index_len(&[1]).unwrap()), (20, 36));
}
