//! Codecs that depend on which elements they encode: those that lose information each time, and those that distribute
//! their bits over all elements of a chunk, so that elements outside the array cost precision of those inside.
use crate::decode::element_of;
use ncirrus_codec::names;
use ncirrus_layout::Encoding;

/// The requirements of a variable's codecs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CodecNeeds {
    /// Codecs that change values each time, as bits of the mask of skipped ones.
    pub(super) changing: u32,
    /// Whether elements outside the array should resemble those inside.
    pub(super) padding: bool,
}

impl CodecNeeds {
    /// The requirements of the codecs of an encoding.
    pub(super) fn new(encoding: &Encoding) -> Self {
        let element = element_of(&encoding.stored);
        let mut care = Self::default();
        for (at, spec) in encoding.codecs.iter().enumerate() {
            care.padding |= names::minds_padding(spec);
            if names::changes_again(spec, &element) {
                let bit = u32::try_from(at).ok().and_then(|at| 1u32.checked_shl(at));
                care.changing |= bit.unwrap_or(0);
            }
        }
        care
    }

    /// Whether a stored chunk has gone through codecs that would change it again.
    pub(super) fn has_changed(self, mask: u32) -> bool {
        self.changing & !mask != 0
    }
}
