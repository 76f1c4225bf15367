//! Trees of whole files.
mod arrival;
mod corpus;
mod damage;
mod described;
mod peers;
