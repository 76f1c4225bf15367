//! OPeNDAP: the documents and answers of DAP2 and DAP4, parsed and decoded.
//!
//! Everything here is *pure*: bytes of an answer go in, structures and values come out. What an answer is
//! ([`classify`]) is settled before it is parsed, since servers send errors and login pages with any status. Sizes and
//! counts are checked against [`Limits`](ncirrus_layout::Limits) and against the bytes that are there before memory is
//! taken.
//!
//! ```
//! use ncirrus_dap::{Dds, DodsAnswer, XdrPeculiarities};
//! use ncirrus_layout::Limits;
//! use ncirrus_model::Values;
//!
//! let limits = Limits::default();
//! let answer = b"Dataset { Int16 depth[x = 2]; } sea;\nData:\n\0\0\0\x02\0\0\0\x02\0\0\0\x07\xff\xff\xff\xff";
//! let answer = DodsAnswer::parse(&answer.to_vec().into(), &limits)?;
//! assert_eq!(answer.dds.variables[0].name.shown, "depth");
//! let values = answer.values(XdrPeculiarities::default(), &limits)?;
//! assert_eq!(values.variables, [Values::Short(vec![7, -1])]);
//! # Ok::<(), ncirrus_layout::Error>(())
//! ```
#![forbid(unsafe_code)]

mod answer;
mod byte_order;
mod catalog;
mod chunks;
mod column;
mod constraint;
mod conversion;
mod cut;
mod das;
mod dds;
mod dmr;
mod dmrpp;
mod dods;
mod driver;
mod lex;
mod limit;
mod literal;
mod lookup;
mod name;
mod path;
mod place;
mod query;
mod serial;
mod server;
mod server_error;
mod shown;
mod xdr;
mod xml;

#[cfg(test)]
mod tests;

pub use answer::{AnswerKind, classify, refuse_error};
pub use chunks::{ChecksumRule, DapAnswer, DapValues};
pub use constraint::{Dap2Constraint, Dap4Constraint, QUERY_BYTES, QueryEncoding, QueryRange};
pub use das::{Das, DasAttribute, DasItem};
pub use dds::{Dds, DdsDimension, DdsKind, DdsType, DdsVariable};
pub use dmr::{Dmr, DmrAttribute, DmrAxis, DmrDimension, DmrEnumeration, DmrGroup, DmrKind, DmrVariable};
pub use dmrpp::{Dmrpp, DmrppChunk};
pub use dods::{DodsAnswer, DodsValues};
pub use driver::DapDriver;
pub use name::WireName;
pub use server::{
    AnswerStep, Dap2Answer, Dap2Dataset, Dap2Request, Dap4Answer, Dap4Dataset, Dap4Request, NotServed,
    ReadStep, StepBytes, StepValues, dap2_error, dap4_error,
};
pub use server_error::ServerError;
pub use xdr::XdrPeculiarities;

/// The beginning of a text from outside, for messages.
fn shortened(text: &str) -> String {
    const MAX_BYTES: usize = 200;
    let mut short: String = text.chars().take(MAX_BYTES).collect();
    if text.chars().nth(MAX_BYTES).is_some() {
        short.push_str("..");
    }
    short
}
