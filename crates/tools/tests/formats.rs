//! Formats end to end: corpora, real data, round trips, how other programs read what is written, aggregations,
//! references, filters. One binary, so that the whole stack is linked once.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "support/checked.rs"]
mod checked;
#[path = "../../hdf5/src/checksum.rs"]
mod checksum;
#[path = "../../ncirrus/tests/support/far.rs"]
mod far;
#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "support/numbers.rs"]
mod numbers;
mod support;

mod corpus {
    pub(crate) mod damaged;
    pub(crate) mod mutated;
    pub(crate) mod text;
    pub(crate) mod values;
}
mod nc4 {
    pub(crate) mod fixtures;
    pub(crate) mod reading;
    pub(crate) mod schemas;
    pub(crate) mod structure;
}

mod aggregations;
mod cdl_goldens;
mod copy_plans;
mod corpus_hdf5;
mod corpus_icechunk;
mod corpus_nczarr;
mod corpus_zarr3;
mod dmrpp;
mod everything;
mod fill_values;
mod geozarr;
mod hdf5_dump;
mod irregular_chunks;
mod json_attributes;
mod lossy;
mod nc4_peers;
mod nc4_schemas;
mod netcdf_c_view;
mod other_zarr_readers;
mod packing;
mod passing;
mod peers;
mod plugins;
mod quantize;
mod realdata;
mod rechunking;
mod references;
mod references_in_parquet;
mod repairs;
mod round_trips;
mod sharded;
mod silence;
mod strings;
mod table;
mod uneven_shards;
mod unlimited;
mod zarr_readers;
