//! The parameters that HDF5 and its filters add to those of the user when a dataset is created
//! (`docs/spec/hdf5-netcdf4.md` G).
use super::{CodecKind, describe, find};
use crate::codecs::szip::usual_scanline;
use crate::codecs::zfp::fitted;
use crate::parameters::CodecParameters;
use crate::{ChunkInfo, CodecError, NumberKind, NumberType};
use ncirrus_model::CodecSpec;
use serde_json::Value;

/// The codec with all parameters that it works with, for chunks of that shape and element whose missing elements are
/// `fill`, as stored. Parameters that depend on the element type are computed for this one, whatever they were computed
/// for before; other descriptions are unchanged.
///
/// # Errors
/// `Unsupported` if the codec cannot process such chunks, `Malformed` if its parameters are invalid.
pub fn complete(spec: &CodecSpec, chunk: &ChunkInfo, fill: Option<&[u8]>) -> Result<CodecSpec, CodecError> {
    let Some(name) = find(spec) else { return Ok(spec.clone()) };
    let chunk = ChunkFacts::new(name.label(), chunk, fill)?;
    match spec {
        CodecSpec::Hdf5 { id, parameters, optional } => {
            let parameters = chunk.complete(name.kind, parameters)?;
            Ok(CodecSpec::Hdf5 { id: *id, parameters, optional: *optional })
        }
        // Filters of HDF5 whose parameters Zarr stores.
        _ if matches!(name.kind, CodecKind::Nbit | CodecKind::ScaleOffset) => {
            let described = describe(spec)?;
            let given = CodecParameters::new(name.label(), &described.parameters).numbers()?;
            let numbers = Value::from(chunk.complete(name.kind, &given)?);
            let mut spec = spec.clone();
            match &mut spec {
                CodecSpec::V2(map) | CodecSpec::V3 { configuration: map, .. } => {
                    map.insert("parameters".to_owned(), numbers);
                }
                CodecSpec::Hdf5 { .. } => {}
            }
            Ok(spec)
        }
        _ => spelt_out(spec, name.kind),
    }
}

/// Adds members that writers may omit but readers require: a level (netCDF-C crashes without one); and removes members
/// that readers do not know (zarr-python refuses the dataset).
fn spelt_out(spec: &CodecSpec, kind: CodecKind) -> Result<CodecSpec, CodecError> {
    let mut spelt = spec.clone();
    let described = describe(spec)?;
    let parameters = CodecParameters::new(described.name.label(), &described.parameters);
    let (CodecSpec::V2(map) | CodecSpec::V3 { configuration: map, .. }) = &mut spelt else {
        return Ok(spelt);
    };
    match kind {
        CodecKind::Zlib | CodecKind::Gzip | CodecKind::Bzip2 | CodecKind::Zstd => {
            for (key, default) in kind.integers() {
                let value = parameters.integer(key)?.unwrap_or(*default);
                map.insert((*key).to_owned(), Value::from(value));
            }
        }
        CodecKind::Fletcher32 => _ = map.remove("parameters"),
        _ => {}
    }
    if let (CodecKind::Zstd, CodecSpec::V3 { configuration, .. }) = (kind, &mut spelt) {
        configuration.entry("checksum").or_insert(Value::Bool(false));
    }
    Ok(spelt)
}

/// The facts from which parameters are computed.
struct ChunkFacts<'a> {
    label: &'static str,
    info: &'a ChunkInfo,
    fill: Option<&'a [u8]>,
    /// Number of elements of the chunk.
    count: u32,
    /// Bytes of an element.
    size: u32,
    /// Bytes of the chunk.
    len: u32,
}

impl<'a> ChunkFacts<'a> {
    fn new(label: &'static str, info: &'a ChunkInfo, fill: Option<&'a [u8]>) -> Result<Self, CodecError> {
        let unfit = || CodecError::unsupported(label, format!("chunks of shape {:?}", info.shape));
        let size = info.element.byte_len.unwrap_or(1) as u64;
        let count =
            info.shape.iter().try_fold(1u64, |count, len| count.checked_mul(*len)).ok_or_else(unfit)?;
        let small = |number: u64| u32::try_from(number).map_err(|_| unfit());
        let len = small(count.checked_mul(size).ok_or_else(unfit)?)?;
        Ok(Self { label, info, fill, count: small(count)?, size: small(size)?, len })
    }

    fn complete(&self, kind: CodecKind, parameters: &[u32]) -> Result<Vec<u32>, CodecError> {
        let given = |index: usize, default: u32| parameters.get(index).copied().unwrap_or(default);
        let Self { size, len, .. } = *self;
        self.check_count(kind, parameters)?;
        Ok(match kind {
            CodecKind::Shuffle => vec![size],
            // HDF5 requires exactly one.
            CodecKind::Zlib => vec![given(0, 1)],
            CodecKind::Szip => {
                let pixels = given(1, 16);
                let scanline = usual_scanline(&self.info.shape, u64::from(pixels))?;
                vec![szip_mask(given(0, 32)), pixels, szip_bits(size), self.small(scanline)?]
            }
            CodecKind::Nbit => self.nbit(),
            CodecKind::ScaleOffset => self.scale_offset(parameters)?,
            CodecKind::Lzf => vec![4, 0x105, len],
            CodecKind::Blosc => vec![2, 2, size, len, given(4, 5), given(5, 1), given(6, 0)],
            CodecKind::Bitshuffle => {
                // The level is present only if it was given.
                let level = parameters.get(5).copied();
                [0, 4, size, given(3, 0), given(4, 0)].into_iter().chain(level).collect()
            }
            CodecKind::Blosc2 => {
                let mut numbers = vec![1, 0, size, len, given(4, 5), given(5, 1), given(6, 0)];
                if let 2.. = self.info.shape.len() {
                    numbers.push(self.small(self.info.shape.len())?);
                    let lens =
                        self.info.shape.iter().map(|len| u32::try_from(*len).map_err(|_| self.unfit()));
                    numbers.extend(lens.collect::<Result<Vec<u32>, _>>()?);
                }
                numbers
            }
            CodecKind::Zfp => fitted(parameters, self.info)?,
            _ => parameters.to_vec(),
        })
    }

    /// Too many parameters of one of HDF5's own filters make it fail on reading.
    fn check_count(&self, kind: CodecKind, parameters: &[u32]) -> Result<(), CodecError> {
        let max = match kind {
            CodecKind::Zlib | CodecKind::Shuffle => 1,
            CodecKind::Fletcher32 => 0,
            CodecKind::Szip => 4,
            _ => return Ok(()),
        };
        if parameters.len() <= max {
            return Ok(());
        }
        let reason = format!("it has at most {max} parameters, and these are given: {parameters:?}");
        Err(CodecError::malformed(self.label, reason))
    }

    /// Types that are written keep all their bits, so that nothing is packed; the parameters say so to HDF5.
    fn nbit(&self) -> Vec<u32> {
        const PLAIN: u32 = 1;
        let mut numbers = match self.info.element.number {
            Some(number) => {
                vec![0, PLAIN, self.count, 1, self.size, u32::from(number.big_endian), 8 * self.size, 0]
            }
            None => vec![0, PLAIN, self.count, 4, self.size],
        };
        let count = u32::try_from(numbers.len()).unwrap_or(0);
        numbers.splice(..1, [count]);
        numbers
    }

    /// The method and the number of digits or bits are those requested; the type is that of the elements. The fill
    /// value is the stored one if it belongs to the same number type.
    fn scale_offset(&self, parameters: &[u32]) -> Result<Vec<u32>, CodecError> {
        let malformed = |reason: String| CodecError::malformed(self.label, reason);
        let number = self.info.element.number.filter(|number| !(number.is_float() && number.size == 2));
        let number = number
            .ok_or_else(|| CodecError::unsupported(self.label, "elements that are not one number each"))?;
        let wanted = if number.is_float() { 0 } else { 2 };
        let (kind, factor) = match parameters {
            [kind, factor, ..] => (*kind, *factor),
            _ if number.is_float() => {
                return Err(malformed("the number of decimal digits is missing".to_owned()));
            }
            _ => (wanted, 0),
        };
        if kind != wanted {
            let names = ["floats by digits", "floats by exponents", "integers"];
            let kind = names.get(kind as usize).copied().unwrap_or("an unknown kind of values");
            return Err(malformed(format!(
                "its parameters are for {kind}, but the numbers are of type {number:?}"
            )));
        }
        if wanted == 2 && factor > 8 * self.size {
            return Err(malformed(format!("{factor} bits for numbers of {} bytes", self.size)));
        }
        let is_float = u32::from(number.is_float());
        let is_signed = u32::from(number.kind == NumberKind::Signed);
        let ty = [is_float, self.size, is_signed, u32::from(number.big_endian)];
        let mut numbers = vec![kind, factor, self.count];
        numbers.extend(ty);
        match parameters.get(3..7) {
            Some(of) if of == ty => numbers.extend_from_slice(parameters.get(7..).unwrap_or_default()),
            _ => numbers.extend(self.stated_fill(number)),
        }
        // HDF5 stores all of them, however many are used.
        numbers.resize(numbers.len().max(SCALE_OFFSET_NUMBERS), 0);
        Ok(numbers)
    }

    /// Whether there is a fill value, and its bits in two words.
    fn stated_fill(&self, number: NumberType) -> [u32; 3] {
        let Some(fill) = self.fill.filter(|fill| fill.len() == number.size) else { return [0; 3] };
        let mut word = [0; 8];
        for (i, byte) in fill.iter().enumerate().take(8) {
            word[if number.big_endian { fill.len().min(8) - 1 - i } else { i }] = *byte;
        }
        let [a, b, c, d, e, f, g, h] = word;
        [1, u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
    }

    fn small(&self, number: usize) -> Result<u32, CodecError> {
        u32::try_from(number).map_err(|_| self.unfit())
    }

    fn unfit(&self) -> CodecError {
        CodecError::unsupported(self.label, format!("chunks of shape {:?}", self.info.shape))
    }
}

/// Number of parameters that scale-offset has in the file.
const SCALE_OFFSET_NUMBERS: usize = 20;

/// Pixels have the byte order of the file: little-endian, unless specified otherwise. As in HDF5's own call, blocks may
/// use the shortcut for k = 13.
fn szip_mask(mask: u32) -> u32 {
    const RAW: u32 = 128 | 1;
    const LITTLE: u32 = 8;
    const BIG: u32 = 16;
    if mask & (LITTLE | BIG) == 0 { mask | RAW | LITTLE } else { mask | RAW }
}

fn szip_bits(element: u32) -> u32 {
    match element.saturating_mul(8) {
        bits @ 0..=24 => bits,
        25..=32 => 32,
        _ => 64,
    }
}
