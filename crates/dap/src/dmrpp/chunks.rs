//! The chunks of a variable, and how they are stored.
use super::wrong;
use ncirrus_layout::xml::XmlNode;
use ncirrus_layout::{Error, Result};
use serde_json::{Value, json};

/// A chunk in a data file, and the end of its key in Zarr.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlacedChunk {
    pub(super) cell: String,
    pub(super) href: Option<String>,
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// How the chunks of a variable are stored.
#[derive(Debug)]
pub(super) struct StoredChunks {
    pub(super) shape: Vec<u64>,
    pub(super) filters: Vec<Value>,
    pub(super) is_big_endian: bool,
    /// The value of chunks that do not exist, as written.
    pub(super) fill: Option<String>,
    pub(super) list: Vec<PlacedChunk>,
    /// Whether all chunks exist.
    pub(super) is_complete: bool,
}

impl StoredChunks {
    /// Reads the element `chunks`, or the only element `chunk`, of a variable.
    ///
    /// # Errors
    /// `Malformed` for chunks that do not fit, `Unsupported` for other arrangements and filters.
    pub(super) fn read(
        variable: &XmlNode,
        extent: &[u64],
        element_len: u64,
        lists_in_order: bool,
    ) -> Result<Option<Self>> {
        let holder = match (variable.child("chunks"), variable.child("chunk")) {
            (Some(chunks), _) => chunks,
            (None, Some(_)) => variable,
            (None, None) => return Ok(None),
        };
        if holder.child("block").is_some() || holder.attribute("LBChunk").is_some_and(|it| it == "true") {
            return Err(Error::unsupported("linked blocks of HDF4"));
        }
        let whole = || extent.iter().map(|len| (*len).max(1)).collect();
        let shape = match holder.child("chunkDimensionSizes") {
            Some(sizes) => {
                numbers(&sizes.text).ok_or_else(|| wrong(sizes, "sizes of chunks that are no numbers"))?
            }
            None => whole(),
        };
        if shape.len() != extent.len() || shape.contains(&0) {
            return Err(wrong(holder, format_args!("chunks of {shape:?} in a variable of shape {extent:?}")));
        }
        let byte_order = holder.attribute("byteOrder");
        let mut chunks = Self {
            filters: filters(holder, element_len, lists_in_order)?,
            is_big_endian: byte_order == Some("BE"),
            fill: holder.attribute("fillValue").map(str::to_owned),
            list: Vec::new(),
            is_complete: false,
            shape,
        };
        for node in holder.each("chunk") {
            chunks.list.push(chunks.place(node, extent)?);
        }
        let counts = extent.iter().zip(&chunks.shape).map(|(len, chunk)| len.div_ceil(*chunk));
        let all = counts.fold(1, u64::saturating_mul);
        chunks.is_complete = chunks.list.len() as u64 >= all;
        Ok(Some(chunks))
    }

    fn place(&self, node: &XmlNode, extent: &[u64]) -> Result<PlacedChunk> {
        let number = |name: &str| {
            let number = node.attribute(name).and_then(|text| text.trim().parse::<u64>().ok());
            number.ok_or_else(|| wrong(node, format_args!("a chunk without a valid {name}")))
        };
        let (offset, len) = (number("offset")?, number("nBytes")?);
        if offset.checked_add(len).is_none() {
            return Err(wrong(node, format_args!("a chunk of {len} bytes from {offset} on")));
        }
        if node.attribute("fm").is_some_and(|mask| mask.trim() != "0") {
            return Err(Error::unsupported("a chunk for which filters were skipped"));
        }
        if node.attribute("LinkedBlockIndex").is_some() {
            return Err(Error::unsupported("linked blocks of HDF4"));
        }
        let position = node.attribute("chunkPositionInArray").filter(|text| !text.trim().is_empty());
        let start = match position {
            Some(text) => numbers(text.trim().trim_start_matches('[').trim_end_matches(']')),
            None => Some(vec![0; extent.len()]),
        };
        let inside = |start: &Vec<u64>| {
            let mut axes = start.iter().zip(&self.shape).zip(extent);
            start.len() == extent.len()
                && axes.all(|((at, chunk), len)| at.is_multiple_of(*chunk) && (at < len || *at == 0))
        };
        let start = start.filter(inside).ok_or_else(|| {
            let text = crate::shortened(position.unwrap_or_default());
            wrong(node, format_args!("a chunk at {text:?} in a variable of shape {extent:?}"))
        })?;
        let cell = start.iter().zip(&self.shape).map(|(at, chunk)| (at / chunk).to_string());
        let href = node.attribute("href").or_else(|| node.attribute("dmrpp:href")).map(str::to_owned);
        Ok(PlacedChunk { cell: cell_key(&cell.collect::<Vec<_>>()), href, offset, len })
    }
}

/// The end of a chunk's key.
pub(super) fn cell_key(numbers: &[String]) -> String {
    if numbers.is_empty() { "0".to_owned() } else { numbers.join(".") }
}

/// The filters in the order in which they were applied.
fn filters(node: &XmlNode, element_len: u64, lists_in_order: bool) -> Result<Vec<Value>> {
    let mut names: Vec<&str> =
        node.attribute("compressionType").unwrap_or_default().split_whitespace().collect();
    if !lists_in_order {
        // HDF5's own order.
        let rank = |name: &&str| ["shuffle", "deflate", "fletcher32"].iter().position(|known| known == name);
        names.sort_by_key(|name| rank(name).unwrap_or(usize::MAX));
    }
    let levels = node.attribute("deflateLevel").or_else(|| node.attribute("deflate_level"));
    let mut levels = levels.unwrap_or_default().split_whitespace();
    let filter = |name: &str| match name {
        "shuffle" => Ok(json!({"id": "shuffle", "elementsize": element_len})),
        "deflate" => {
            // The level is not needed to decompress.
            let level = levels.next().and_then(|level| level.parse::<u8>().ok()).filter(|level| *level < 10);
            Ok(json!({"id": "zlib", "level": level.unwrap_or(4)}))
        }
        "fletcher32" => Ok(json!({"id": "fletcher32"})),
        other => Err(Error::unsupported(format!("the filter {:?}", crate::shortened(other)))),
    };
    names.into_iter().map(filter).collect()
}

/// Numbers between spaces or commas.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let parts = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    parts.filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}
