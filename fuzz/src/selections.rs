//! User input on command lines: selections, chunking, filters, sizes, times.
use ncirrus::VariableSelect;
use ncirrus_config::{parse_duration, parse_size};
use ncirrus_tools::{ChunkRule, FilterRule, QuantizeRule};

/// Parses each line as everything that it may be.
pub fn selections(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for line in text.lines().take(16) {
        if let Ok(select) = VariableSelect::parse(line) {
            for shape in [&[][..], &[0], &[5], &[7, u64::MAX, 3]] {
                check(&select, shape);
            }
        }
        // No input is read from files.
        if !line.contains('@') {
            _ = FilterRule::parse(line);
        }
        _ = (ChunkRule::parse(line), QuantizeRule::parse(line), parse_size(line), parse_duration(line));
    }
}

/// A selection of an array is inside it.
fn check(select: &VariableSelect, shape: &[u64]) {
    let Ok(selection) = select.resolve(shape) else { return };
    assert_eq!(selection.rank(), shape.len(), "{select:?}");
    assert!(selection.check(shape).is_ok(), "{select:?} of {shape:?}");
    _ = (selection.element_count(), selection.shape(), selection.extent());
}
