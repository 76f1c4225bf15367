//! Tests of the crate: parts, and whole repositories of the corpus.
mod blocks;
mod corpus;
mod hostile;
mod paged;
mod parts;
mod sharing;
