//! The machine: sessions, driving of steps, planning, fetching, decoding, scattering, writing.
//!
//! A [`Session`] owns everything that is shared: threads, caches, budgets, codecs. It opens a [`Dataset`] through the
//! formats' drivers; a read is planned, fetched, decoded and scattered straight into the caller's memory.
#![deny(unsafe_code)]

pub mod convert;
