//! Zip files (docs/spec/nczarr.md 10.2): read in any layout, written with stored entries.
mod directory;
mod format;
mod inflate;
mod methods;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::ZipStore;
pub use write::ZipWriterStore;
