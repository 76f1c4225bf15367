//! Trees of whole files.
mod corpus;
