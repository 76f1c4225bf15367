//! Documents of DMR++ as references.
use ncirrus_dap::{Dmrpp, DmrppChunk};
use ncirrus_layout::{Limits, Result};
use ncirrus_store::TranslatedReferences;

/// Translates a document.
pub(super) fn translate(document: &[u8], limits: &Limits) -> Result<TranslatedReferences> {
    let parsed = Dmrpp::parse(document, limits)?;
    let chunk = |chunk: DmrppChunk| (chunk.key, chunk.href, chunk.offset, chunk.len);
    Ok(TranslatedReferences {
        objects: parsed.objects,
        chunks: parsed.chunks.into_iter().map(chunk).collect(),
        data_file: parsed.href,
        warnings: parsed.warnings,
    })
}
