//! Heaps: local (names of old groups), global (variable-length data), fractal (links and attributes of new groups).
mod fractal;
mod global;
mod local;

pub(crate) use fractal::FractalHeap;
pub(crate) use global::{object, objects};
pub(crate) use local::LocalHeap;
