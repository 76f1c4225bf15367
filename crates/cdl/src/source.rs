//! Where the values come from.
use ncirrus_model::{Attribute, NodeId, Selection, Values, VarId};

/// Why values could not be read; told in the text in place of the values.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// Values and storage properties of the dataset that is printed.
pub trait DataSource {
    /// The selected values of a variable, in row-major order.
    ///
    /// # Errors
    /// Whatever keeps the values from being read; the variable's data end there and printing goes on.
    fn read(&mut self, variable: VarId, selection: &Selection) -> Result<Values, ReadError>;

    /// Bytes of values that are read at once where that keeps chunks from being read more than once.
    fn block_len(&self) -> u64 {
        32 << 20
    }

    /// Storage properties as attributes, in `ncdump -s` order (docs/spec/nczarr.md 12.5), of a variable or of the root
    /// group.
    fn special(&mut self, node: NodeId) -> Vec<Attribute> {
        let _ = node;
        Vec::new()
    }
}
