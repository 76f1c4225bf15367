//! Codecs compared with their peers, golden bytes and laws. One binary, so that its dependencies are linked once.

mod chains;
mod corpus;
mod filters;
mod golden;
mod hdf5;
mod numcodecs;
#[cfg(feature = "plugins")]
mod plugin_peers;
#[cfg(feature = "plugins")]
mod plugins;
mod properties;
