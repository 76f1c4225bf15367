//! Compressed answers: `gzip`, and `deflate` with and without the header of zlib (docs/spec/dap.md 1.4).
use flate2::{Decompress, FlushDecompress, Status};
use ncirrus_layout::{Error, Result};

/// Bytes that are decompressed at a time: what a small input expands to is never held whole.
const AT_ONCE: usize = 64 << 10;

/// Turns the bytes of a body into those of the answer.
pub(super) enum BodyDecoder {
    /// They are the same.
    Plain,
    Compressed(CompressedBody),
}

/// A compressed body.
pub(super) struct CompressedBody {
    encoding: CompressionKind,
    /// Begins with the first bytes, which show the kind of header.
    stream: Option<Decompress>,
    first: Vec<u8>,
    ended: bool,
    out: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CompressionKind {
    Gzip,
    Deflate,
}

impl BodyDecoder {
    /// For the value of `Content-Encoding`.
    ///
    /// # Errors
    /// `Unsupported` for any other encoding.
    pub(super) fn new(encoding: Option<&str>) -> Result<Self> {
        let encoding = match encoding.map(|encoding| encoding.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => return Ok(Self::Plain),
            Some("gzip" | "x-gzip") => CompressionKind::Gzip,
            Some("deflate") => CompressionKind::Deflate,
            Some(other) => {
                let message = format!("the server sent content encoding {other:?}, which was not requested");
                return Err(Error::unsupported(message));
            }
        };
        let (stream, first, out) = (None, Vec::new(), Vec::new());
        Ok(Self::Compressed(CompressedBody { encoding, stream, first, ended: false, out }))
    }
}

impl CompressedBody {
    /// Adds bytes of the body. [`next`](Self::next) then gives what they decode to.
    pub(super) fn input<'a>(&'a mut self, bytes: &'a [u8]) -> CompressedInput<'a> {
        CompressedInput { body: self, bytes }
    }

    /// Whether the compressed stream has ended: otherwise the body was cut.
    pub(super) fn is_complete(&self) -> bool {
        self.ended
    }
}

/// Bytes of a compressed body that are being decoded.
pub(super) struct CompressedInput<'a> {
    body: &'a mut CompressedBody,
    bytes: &'a [u8],
}

impl CompressedInput<'_> {
    /// The next decoded bytes; `None` if more of the body is needed.
    ///
    /// # Errors
    /// `Malformed` if the body is not what its encoding says.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>> {
        let body = &mut *self.body;
        loop {
            if body.ended && (self.bytes.is_empty() || body.encoding == CompressionKind::Deflate) {
                return Ok(None);
            }
            if body.ended {
                // Another member follows; other bytes after the end are ignored.
                if self.bytes.first() != Some(&0x1f) {
                    return Ok(None);
                }
                (body.stream, body.ended) = (None, false);
            }
            let stream = match &mut body.stream {
                Some(stream) => stream,
                none => {
                    while body.first.len() < 2
                        && let Some((byte, rest)) = self.bytes.split_first()
                    {
                        body.first.push(*byte);
                        self.bytes = rest;
                    }
                    let Some(stream) = begun(body.encoding, &body.first) else { return Ok(None) };
                    none.insert(stream)
                }
            };
            body.out.resize(AT_ONCE, 0);
            // The bytes that were looked at come first.
            let is_first = !body.first.is_empty();
            let input = if is_first { body.first.as_slice() } else { self.bytes };
            let (read, written) = (stream.total_in(), stream.total_out());
            let status = stream
                .decompress(input, &mut body.out, FlushDecompress::None)
                .map_err(|error| Error::malformed(format!("the compressed answer is damaged: {error}")))?;
            let read = usize::try_from(stream.total_in() - read).unwrap_or(usize::MAX);
            let written = usize::try_from(stream.total_out() - written).unwrap_or(usize::MAX);
            if is_first {
                body.first.drain(..read.min(body.first.len()));
            } else {
                self.bytes = self.bytes.get(read..).unwrap_or_default();
            }
            body.ended = status == Status::StreamEnd;
            if written > 0 {
                return Ok(body.out.get(..written));
            }
            if read == 0 && !body.ended {
                return Ok(None);
            }
        }
    }
}

/// The decoder of a stream that begins with these two bytes.
fn begun(encoding: CompressionKind, first: &[u8]) -> Option<Decompress> {
    let [method, flags] = *first.first_chunk::<2>()?;
    let is_zlib = method & 0x0f == 8 && u16::from_be_bytes([method, flags]) % 31 == 0;
    Some(match encoding {
        CompressionKind::Gzip => Decompress::new_gzip(15),
        CompressionKind::Deflate => Decompress::new(is_zlib),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write as _;

    /// What a body decodes to in pieces of `len` bytes, and whether it is complete.
    fn decoded(encoding: &str, body: &[u8], len: usize) -> Result<(Vec<u8>, bool)> {
        let BodyDecoder::Compressed(mut decoder) = BodyDecoder::new(Some(encoding))? else {
            panic!("{encoding} is no compression");
        };
        let mut whole = Vec::new();
        for piece in body.chunks(len) {
            let mut input = decoder.input(piece);
            while let Some(bytes) = input.next()? {
                assert!(bytes.len() <= AT_ONCE);
                whole.extend_from_slice(bytes);
            }
        }
        Ok((whole, decoder.is_complete()))
    }

    fn bodies(plain: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(plain).unwrap();
        zlib.write_all(plain).unwrap();
        raw.write_all(plain).unwrap();
        let gzip = gzip.finish().unwrap();
        let twice = [gzip.clone(), gzip.clone()].concat();
        vec![
            ("gzip", gzip),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("x-gzip", twice),
        ]
    }

    #[test]
    fn all_encodings_are_decoded_in_pieces_of_any_length() {
        let plain: Vec<u8> = (0..300_000_u32).flat_map(|at| (at / 7).to_le_bytes()).collect();
        for (encoding, body) in bodies(&plain) {
            for len in [1, 2, 1000, body.len()] {
                let (whole, is_complete) = decoded(encoding, &body, len).unwrap();
                let times = if encoding == "x-gzip" { 2 } else { 1 };
                assert!(is_complete && whole == plain.repeat(times), "{encoding} in pieces of {len}");
            }
        }
        assert!(matches!(BodyDecoder::new(Some("identity")), Ok(BodyDecoder::Plain)));
        assert!(BodyDecoder::new(Some("br")).is_err());
    }

    #[test]
    fn the_end_of_a_stream_is_distinguished_from_a_cut() {
        let plain: Vec<u8> = (0..2000_u32).flat_map(u32::to_le_bytes).collect();
        for (encoding, body) in bodies(&plain).into_iter().take(3) {
            for end in 0..body.len() {
                let cut = decoded(encoding, &body[..end], 64);
                assert!(
                    cut.is_ok_and(|(whole, is_complete)| !is_complete && plain.starts_with(&whole)),
                    "{end}"
                );
            }
            let trailed = [body.as_slice(), b"\n"].concat();
            assert_eq!(decoded(encoding, &trailed, 999).unwrap(), (plain.clone(), true));
        }
    }

    #[test]
    fn damaged_streams_are_errors_and_small_ones_do_not_expand_at_once() {
        let plain = vec![0; 8 << 20];
        let (_, mut body) = bodies(&plain).remove(0);
        assert!(body.len() < plain.len() / 50);
        assert_eq!(decoded("gzip", &body, body.len()).unwrap().0.len(), plain.len());
        let last = body.len() - 6;
        body[last] ^= 0xff;
        assert!(decoded("gzip", &body, 4096).is_err(), "the checksum is wrong");
        assert!(decoded("gzip", b"Dataset { Int32", 4).is_err());
    }
}
