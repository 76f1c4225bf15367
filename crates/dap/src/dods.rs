//! Answers with data of DAP2 (docs/spec/dap.md 3, 8.4).
use crate::Dds;
use crate::answer::{error_within, refuse_error};
use crate::limit;
use crate::xdr::{XdrPeculiarities, XdrReader};
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::Values;

/// An answer with data: the structure of what was asked for, and its values as XDR.
#[derive(Debug, Clone)]
pub struct DodsAnswer {
    /// The structure; it alone says how the values are read, whatever was asked for.
    pub dds: Dds,
    data: Bytes,
}

/// The values of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct DodsValues {
    /// The values of each variable, in the order of the DDS. A structure or grid is a compound of its members, in whose
    /// columns a member with dimensions has all elements of the first compound, then those of the next; a sequence is a
    /// vlen of such compounds. `Byte` is unsigned.
    pub variables: Vec<Values>,
    /// Bytes after the last value; some servers send a line break.
    pub rest: usize,
}

impl DodsAnswer {
    /// Reads the part before the data.
    ///
    /// # Errors
    /// What the server says if the answer is an error or a web page; `Malformed` if it is not a DDS, or ends before its
    /// data.
    pub fn parse(body: &Bytes, limits: &Limits) -> Result<Self> {
        refuse_error(body, "data of DAP2")?;
        let Some((end, start)) = data_mark(body) else {
            // The DDS shows best what is wrong; if it is whole, the data are missing.
            limit::document(body.len(), "the DDS", limits)?;
            Dds::parse(body, limits)?;
            return Err(Error::malformed("the answer is truncated: no data follow the DDS"));
        };
        let dds = Dds::parse(&body[..end], limits)?;
        Ok(Self { dds, data: body.slice(start..) })
    }

    /// Bytes of the data. Where the structure determines the length ([`Dds::exact_len`]), fewer are a truncated answer.
    pub fn data_len(&self) -> u64 {
        self.data.len() as u64
    }

    /// The values of all variables.
    ///
    /// # Errors
    /// The server's own error if it is in the place of values; `Malformed` if counts differ from the DDS or the
    /// answer is truncated; `Limit` for more rows or longer strings than are allowed. The place of the offset is counted
    /// from the first byte of the data.
    pub fn values(&self, peculiarities: XdrPeculiarities, limits: &Limits) -> Result<DodsValues> {
        let mut reader = XdrReader::new(&self.data, peculiarities, limits);
        let read = |variable| reader.variable(variable);
        let variables: Result<Vec<_>> = self.dds.variables.iter().map(read).collect();
        let position = reader.position();
        match variables {
            Ok(variables) => {
                // Numbers can swallow the beginning of an error text; then there are more bytes than there should be.
                let is_longer = position < self.data.len();
                if let Some(error) = is_longer.then(|| self.server_error_near(position)).flatten() {
                    return Err(error);
                }
                Ok(DodsValues { variables, rest: self.data.len() - position })
            }
            Err(error) => Err(self.server_error_near(position).unwrap_or(error)),
        }
    }

    /// The error that a server wrote into its values: near the place that could not be read, or at the end.
    fn server_error_near(&self, position: usize) -> Option<Error> {
        const AROUND: usize = 4096;
        let len = self.data.len();
        let near = position.saturating_sub(AROUND)..len.min(position.saturating_add(AROUND));
        let last = len.saturating_sub(AROUND)..len;
        [near, last]
            .into_iter()
            .find_map(|range| error_within(&self.data[range]))
            .map(|error| error.into_error())
    }
}

/// Where the DDS ends and where the data begin.
pub(crate) fn data_mark(body: &[u8]) -> Option<(usize, usize)> {
    let marks: [&[u8]; 2] = [b"Data:\n", b"Data:\r\n"];
    let mut at = 0;
    while let Some(found) = body[at..].iter().position(|byte| *byte == b'\n') {
        at += found + 1;
        if let Some(mark) = marks.into_iter().find(|mark| body[at..].starts_with(mark)) {
            return Some((at, at + mark.len()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(body: &[u8]) -> Result<DodsValues> {
        let limits = Limits::default();
        DodsAnswer::parse(&Bytes::copy_from_slice(body), &limits)?
            .values(XdrPeculiarities::default(), &limits)
    }

    #[test]
    fn data_begin_at_any_byte_after_either_mark() {
        for mark in ["\nData:\n", "\n\nData:\r\n"] {
            // At odd and at even places.
            for name in ["a", "ab", "Data"] {
                let dds = format!("Dataset {{ Int32 {name}; }} x;{mark}");
                let body = [dds.as_bytes(), &[0, 0, 0, 7], b"\n"].concat();
                let found = values(&body).unwrap();
                assert_eq!((found.variables, found.rest), (vec![Values::Int(vec![7])], 1), "{dds}");
            }
        }
    }

    #[test]
    fn errors_of_the_server_are_found_among_values() {
        let text = b"Error { code = 500; message = \"disk failed\"; };";
        let begun = b"Dataset { Int32 a[30]; } x;\nData:\n\0\0\0\x1e\0\0\0\x1e\0\0\0\x01";
        let after = b"Dataset { Int32 a; } x;\nData:\n\0\0\0\x01";
        for start in [&begun[..], &after[..], b"Dataset { Int32 a[2]; } x;\nData:\n", b" \n"] {
            let error = values(&[start, text].concat()).unwrap_err();
            assert!(error.to_string().contains("disk failed"), "{error}");
        }
    }

    #[test]
    fn a_dds_alone_is_truncated() {
        assert!(values(b"Dataset { Int32 a; } x;\n").unwrap_err().to_string().contains("truncated"));
        assert!(values(b"Dataset { Int32 a;").is_err());
    }
}
