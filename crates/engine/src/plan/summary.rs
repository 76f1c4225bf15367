//! A plan in figures, for users.
use ncirrus_layout::ObjectId;
use std::fmt;
use std::ops::Range;

/// What reading a selection will do. Made without fetching data; only index nodes are read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadPlan {
    /// How many reads the plan is of, if they are done together; 0 for a single one.
    pub reads: u64,
    /// Shape of the result; empty for reads of several variables.
    pub shape: Vec<u64>,
    /// Bytes of the result; `None` for elements without a fixed size.
    pub result_bytes: Option<u64>,
    /// How the variable is stored, in words.
    pub layout: String,
    /// Names of the codecs in the order of encoding.
    pub codecs: Vec<String>,
    /// Chunks (or blocks of rows) that the selection touches; `None` if their number exceeds 64 bits.
    pub chunks: Option<u64>,
    /// How many of these the following figures cover: only the first ones if there are very many.
    pub counted: u64,
    /// Chunks that are known never to have been written.
    pub missing: u64,
    /// Chunks that are contained in the metadata.
    pub inline: u64,
    /// Requests that planning made for headers and index nodes that were not cached; reading does not repeat them.
    pub metadata_requests: u64,
    /// Bytes that these requests fetched.
    pub metadata_bytes: u64,
    /// Requests to the store, in addition to those.
    pub requests: u64,
    /// Bytes that requests of known length will fetch.
    pub bytes: u64,
    /// Whether that is an estimate, since the length of some elements is not known.
    pub is_estimate: bool,
    /// Requests for whole objects, whose length is unknown.
    pub whole_objects: u64,
    /// Whether the elements refer to data elsewhere: the cost of fetching those is known only when they are read.
    pub references: bool,
    /// Bytes that codecs produce when chunks are decoded whole.
    pub decoded_bytes: u64,
    /// Bytes of stored elements that the selection needs.
    pub needed_bytes: u64,
    /// The first requests.
    pub examples: Vec<PlannedRequest>,
    /// Parts from which the selection is assembled; 0 for a variable that is stored itself.
    pub tiles: u64,
    /// How many of these the other figures cover.
    pub tiles_counted: u64,
    /// Fragments from other datasets among the sources; reading opens each of them.
    pub fragments: u64,
    /// How many of these were examined: the other figures cover those.
    pub fragments_counted: u64,
    /// Variables from which the parts are read, besides fragments.
    pub sources: u64,
    /// The first of those that exist.
    pub source_examples: Vec<PlannedSource>,
}

/// A variable from which values are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSource {
    /// The dataset.
    pub dataset: ObjectId,
    /// Path of the variable in it.
    pub path: String,
}

/// One request of a [`ReadPlan`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRequest {
    /// The object.
    pub object: ObjectId,
    /// Its bytes; `None` for the whole object.
    pub range: Option<Range<u64>>,
}

impl ReadPlan {
    /// Its counts by their names; `None` for one that is not known.
    pub fn counts(&self) -> [(&'static str, Option<u64>); 12] {
        [
            ("chunks", self.chunks),
            ("counted", Some(self.counted)),
            ("missing", Some(self.missing)),
            ("inline", Some(self.inline)),
            ("metadata_requests", Some(self.metadata_requests)),
            ("metadata_bytes", Some(self.metadata_bytes)),
            ("requests", Some(self.requests)),
            ("bytes", Some(self.bytes)),
            ("whole_objects", Some(self.whole_objects)),
            ("decoded_bytes", Some(self.decoded_bytes)),
            ("needed_bytes", Some(self.needed_bytes)),
            ("fragments", Some(self.fragments)),
        ]
    }

    /// Bytes fetched per byte needed: counted in the requests if their lengths are known, otherwise in decoded bytes;
    /// `None` if nothing is needed.
    pub fn over_read(&self) -> Option<f64> {
        let moved = if self.whole_objects > 0 { self.decoded_bytes } else { self.bytes };
        #[expect(clippy::cast_precision_loss, reason = "a ratio to be shown")]
        let ratio = moved as f64 / self.needed_bytes as f64;
        (self.needed_bytes > 0).then_some(ratio)
    }
}

impl fmt::Display for ReadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.reads, self.result_bytes) {
            (0, Some(bytes)) => writeln!(f, "result      {:?}, {bytes} bytes", self.shape)?,
            (0, None) => writeln!(f, "result      {:?}", self.shape)?,
            // Variables that are read together have no common shape.
            (reads, Some(bytes)) => writeln!(f, "result      {reads} variables, {bytes} bytes")?,
            (reads, None) => writeln!(f, "result      {reads} variables")?,
        }
        writeln!(f, "layout      {}", self.layout)?;
        if self.fragments > 0 {
            write!(f, "fragments   {} in {} parts", self.fragments, self.tiles)?;
            if self.fragments == self.fragments_counted {
                writeln!(f)?;
            } else {
                writeln!(f, "; the following is of the first {}", self.fragments_counted)?;
            }
        }
        // Tiles without fragments are those of virtual datasets, whose sources are variables.
        if self.tiles > 0 && self.fragments == 0 {
            writeln!(f, "sources     {} variables in {} parts", self.sources, self.tiles)?;
        }
        for source in &self.source_examples {
            writeln!(f, "  {} {}", source.dataset, source.path)?;
        }
        if self.tiles != self.tiles_counted {
            writeln!(f, "counted     the first {} parts", self.tiles_counted)?;
        }
        if !self.codecs.is_empty() {
            writeln!(f, "codecs      {}", self.codecs.join(" -> "))?;
        }
        match self.chunks {
            Some(chunks) => write!(f, "chunks      {chunks}")?,
            None => write!(f, "chunks      more than 2^64")?,
        }
        match (self.missing, self.inline) {
            (0, 0) => writeln!(f)?,
            (missing, inline) => writeln!(f, " ({missing} missing, {inline} in the metadata)")?,
        }
        // A plan locates a bounded number of chunks: everything below is about those.
        if self.chunks != Some(self.counted) {
            writeln!(
                f,
                "counted     the first {} chunks; finding the others would take requests",
                self.counted
            )?;
        }
        if self.metadata_requests > 0 {
            let (requests, bytes) = (self.metadata_requests, self.metadata_bytes);
            writeln!(f, "index       {requests} requests, {bytes} bytes, already made for this plan")?;
        }
        write!(f, "requests    {}", self.requests)?;
        let about = if self.is_estimate { "about " } else { "" };
        match self.whole_objects {
            0 => writeln!(f, ", {about}{} bytes", self.bytes)?,
            whole => writeln!(f, ", {about}{} bytes and {whole} whole objects", self.bytes)?,
        }
        if self.references {
            writeln!(f, "references  take further requests, how many is not known in advance")?;
        }
        writeln!(f, "decode      {} bytes, of which {} are needed", self.decoded_bytes, self.needed_bytes)?;
        if let Some(ratio) = self.over_read() {
            writeln!(f, "over-read   {ratio:.2}")?;
        }
        for request in &self.examples {
            match &request.range {
                Some(range) => writeln!(f, "  {} bytes {}..{}", request.object, range.start, range.end)?,
                None => writeln!(f, "  {}", request.object)?,
            }
        }
        Ok(())
    }
}
