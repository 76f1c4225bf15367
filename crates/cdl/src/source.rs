//! The source of values.
use ncirrus_model::{Attribute, NodeId, Selection, Values, VarId};

/// Why values could not be read; reported in the text in place of the values.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// Values and storage properties of the dataset that is printed.
pub trait DataSource {
    /// The selected values of a variable, in row-major order.
    ///
    /// # Errors
    /// If the values cannot be read; the variable's data end there and printing continues.
    fn read(&mut self, variable: VarId, selection: &Selection) -> Result<Values, ReadError>;

    /// The variables whose values are read next, whole and in this order.
    fn expect(&mut self, variables: &[VarId]) {
        let _ = variables;
    }

    /// Number of bytes of values that may be read at once to avoid reading chunks more than once.
    fn block_len(&self) -> u64 {
        32 << 20
    }

    /// Number of bytes of values that are read at once where chunks do not matter.
    fn usual_block_len(&self) -> u64 {
        1 << 20
    }

    /// Storage properties as attributes, in `ncdump -s` order (docs/spec/nczarr.md 12.5), of a variable or of the root
    /// group.
    fn special(&mut self, node: NodeId) -> Vec<Attribute> {
        let _ = node;
        Vec::new()
    }
}
