//! CDL texts, read to their end.
use ncirrus_cdl::parse::{self, BlockSink, DataBlock, NumberRange, ParseFailure, ParseLimits, ParseOptions};

/// Blocks that are as long as their shapes say, and lie within the array.
struct CheckedBlocks;

impl BlockSink for CheckedBlocks {
    fn block(&mut self, block: &DataBlock<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let count = block.shape.iter().try_fold(1u64, |all, len| all.checked_mul(*len));
        assert_eq!(count, Some(block.values.len() as u64));
        assert_eq!(block.start.len(), block.shape.len());
        Ok(())
    }
}

/// A CDL text, in both forms of numbers and with blocks of two lengths.
pub fn cdl_parse(data: &[u8]) {
    let mut limits = ParseLimits::default();
    (limits.constant_len, limits.list_len, limits.element_len) = (1 << 16, 1 << 18, 1 << 12);
    for (range, block_len) in [(NumberRange::Strict, 1 << 16), (NumberRange::Reference, 7)] {
        let options = ParseOptions::new().range(range).block_len(block_len).limits(limits.clone());
        let read = parse::definitions(&data, &options)
            .and_then(|definitions| parse::data(&data, &definitions, &options, &mut CheckedBlocks));
        if let Err(ParseFailure::Faults(faults)) = read {
            assert!(!faults.is_empty() && faults.len() <= limits.faults);
            faults.iter().for_each(|fault| assert!(!fault.display("x").to_string().is_empty()));
        }
    }
}
