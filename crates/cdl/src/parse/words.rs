//! Words of CDL: sections, types and their synonyms, special attributes, names of kinds (docs/spec/nczarr.md 12.6).
use ncirrus_model::{Atomic, Format};

/// The sections of a group, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// Attributes at the top of a group.
    Top,
    Types,
    Dimensions,
    Variables,
    Data,
    /// Subgroups.
    Groups,
}

/// The words that begin a section when a colon follows at once.
const SECTIONS: [(&str, Section); 5] = [
    ("types", Section::Types),
    ("dimensions", Section::Dimensions),
    ("variables", Section::Variables),
    ("data", Section::Data),
    ("group", Section::Groups),
];

impl Section {
    /// The section that a word begins.
    pub(crate) fn of(word: &str) -> Option<Self> {
        SECTIONS.into_iter().find(|(name, _)| *name == word).map(|(_, section)| section)
    }
}

/// Whether a variable of that name needs a blank before the colon of its attributes: section keywords do.
pub(crate) fn is_section_word(name: &str) -> bool {
    Section::of(name).is_some()
}

/// Types by other names than their own.
const SYNONYMS: [(&str, Atomic); 5] = [
    ("long", Atomic::Int),
    ("integer", Atomic::Int),
    ("real", Atomic::Float),
    ("ulong", Atomic::UInt),
    ("uinteger", Atomic::UInt),
];

/// The primitive type that a word names.
pub(crate) fn atomic(word: &str) -> Option<Atomic> {
    Atomic::from_name(word)
        .or_else(|| SYNONYMS.into_iter().find(|(name, _)| *name == word).map(|(_, atomic)| atomic))
}

/// Words that begin a compound type.
pub(crate) fn is_compound_word(word: &str) -> bool {
    matches!(word, "compound" | "struct" | "structure")
}

/// The 29 spellings of formats.
const FORMATS: [(&str, Format); 29] = [
    ("classic", Format::Classic),
    ("nc3", Format::Classic),
    ("1", Format::Classic),
    ("64-bit offset", Format::Offset64),
    ("64-bit-offset", Format::Offset64),
    ("nc6", Format::Offset64),
    ("2", Format::Offset64),
    ("netCDF-4", Format::NetCdf4),
    ("netCDF4", Format::NetCdf4),
    ("netcdf-4", Format::NetCdf4),
    ("netcdf4", Format::NetCdf4),
    ("nc4", Format::NetCdf4),
    ("3", Format::NetCdf4),
    ("hdf5", Format::NetCdf4),
    ("enhanced", Format::NetCdf4),
    ("netCDF-4 classic model", Format::NetCdf4Classic),
    ("netCDF-4-classic", Format::NetCdf4Classic),
    ("netCDF-4_classic", Format::NetCdf4Classic),
    ("netCDF4_classic", Format::NetCdf4Classic),
    ("nc7", Format::NetCdf4Classic),
    ("4", Format::NetCdf4Classic),
    ("hdf5-nc3", Format::NetCdf4Classic),
    ("enhanced-nc3", Format::NetCdf4Classic),
    ("64-bit data", Format::Data64),
    ("64-bit-data", Format::Data64),
    ("cdf5", Format::Data64),
    ("cdf-5", Format::Data64),
    ("nc5", Format::Data64),
    ("5", Format::Data64),
];

/// The format that `ncgen -k` and `_Format` mean by a name.
pub fn format_named(name: &str) -> Option<Format> {
    format_names().find(|(spelling, _)| *spelling == name).map(|(_, format)| format)
}

/// All names of formats, the usual one of each first.
fn format_names() -> impl Iterator<Item = (&'static str, Format)> {
    FORMATS.into_iter()
}

/// Attributes that set properties instead of being stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpecialName {
    Storage,
    ChunkSizes,
    /// The shape of the objects that chunks share (Zarr v3): ncirrus' own.
    Shards,
    ShardIndex,
    DeflateLevel,
    Shuffle,
    Fletcher32,
    Endianness,
    NoFill,
    Filter,
    Codecs,
    Format,
    /// Information that libraries add about a file; it cannot be chosen.
    Informational,
}

const SPECIAL: [(&str, SpecialName); 15] = [
    ("_Storage", SpecialName::Storage),
    ("_ChunkSizes", SpecialName::ChunkSizes),
    ("_Shards", SpecialName::Shards),
    ("_ShardIndex", SpecialName::ShardIndex),
    ("_DeflateLevel", SpecialName::DeflateLevel),
    ("_Shuffle", SpecialName::Shuffle),
    ("_Fletcher32", SpecialName::Fletcher32),
    ("_Endianness", SpecialName::Endianness),
    ("_NoFill", SpecialName::NoFill),
    ("_Filter", SpecialName::Filter),
    ("_Codecs", SpecialName::Codecs),
    ("_Format", SpecialName::Format),
    ("_NCProperties", SpecialName::Informational),
    ("_IsNetcdf4", SpecialName::Informational),
    ("_SuperblockVersion", SpecialName::Informational),
];

impl SpecialName {
    /// The property that an attribute sets, of a variable or else of the dataset.
    pub(crate) fn of(name: &str, is_of_variable: bool) -> Option<Self> {
        let found = SPECIAL.into_iter().find(|(special, _)| *special == name).map(|(_, special)| special)?;
        let is_global = matches!(found, Self::Format | Self::Informational);
        (is_global != is_of_variable).then_some(found)
    }
}

/// Attributes by which values are quantized; the library stores them as they are. The third is how `ncgen` calls what
/// `ncdump -s` prints as the fourth.
const QUANTIZE: [&str; 4] = [
    "_QuantizeBitGroomNumberOfSignificantDigits",
    "_QuantizeGranularBitRoundNumberOfSignificantDigits",
    "_QuantizeBitRoundNumberOfSignificantDigits",
    "_QuantizeBitRoundNumberOfSignificantBits",
];

/// The name under which an attribute of quantization is stored.
pub(crate) fn quantize_name(name: &str) -> Option<&'static str> {
    let found = QUANTIZE.iter().position(|spelling| *spelling == name)?;
    QUANTIZE.get(if found == 2 { 3 } else { found }).copied()
}

/// Words that stand for numbers: the value, and whether it is a float.
const NUMBER_WORDS: [(&str, f64, bool); 12] = [
    ("NaN", f64::NAN, false),
    ("nan", f64::NAN, false),
    ("NaNf", f64::NAN, true),
    ("nanf", f64::NAN, true),
    ("Infinity", f64::INFINITY, false),
    ("Inf", f64::INFINITY, false),
    ("infinity", f64::INFINITY, false),
    ("DoubleInf", f64::INFINITY, false),
    ("Infinityf", f64::INFINITY, true),
    ("Inff", f64::INFINITY, true),
    ("infinityf", f64::INFINITY, true),
    ("FloatInf", f64::INFINITY, true),
];

/// The number that a word stands for, and whether it is a float.
pub(crate) fn number_word(word: &str) -> Option<(f64, bool)> {
    NUMBER_WORDS.into_iter().find(|(name, ..)| *name == word).map(|(_, value, single)| (value, single))
}

/// Whether the word is a null string.
pub(crate) fn is_nil(word: &str) -> bool {
    matches!(word, "NIL" | "Nil" | "nil")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_names_and_no_name_two_formats() {
        let mut names: Vec<&str> = format_names().map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 29);
        assert_eq!(format_named("4"), Some(Format::NetCdf4Classic));
        assert_eq!(format_named("NC4"), None);
    }

    #[test]
    fn both_spellings_of_bit_rounding_become_the_one_that_is_read() {
        let stored = "_QuantizeBitRoundNumberOfSignificantBits";
        assert_eq!(quantize_name("_QuantizeBitRoundNumberOfSignificantDigits"), Some(stored));
        assert_eq!(quantize_name(stored), Some(stored));
    }
}
