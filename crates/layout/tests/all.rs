//! Grids and steps. One binary, so that what it needs is linked once.

mod grid;
mod steps;
