//! Tests of the crate: parts, and whole repositories of the corpus.
mod corpus;
mod hostile;
mod paged;
mod parts;
