//! Version 2 B-trees (hdf5-netcdf4.md C.4), of links, attributes, heap objects, shared messages and chunks.
use crate::file::{Addr, File};
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// A tree of which the header is known.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Type of the records (hdf5-netcdf4.md C.4).
    pub(crate) kind: u8,
    /// Bytes of one record.
    pub(crate) record_len: usize,
    /// The root; `None` for an empty tree.
    pub(crate) root: Option<NodeRef>,
    /// Number of records of the whole tree.
    pub(crate) total: u64,
}

/// Where a node lies and how many records it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeRef {
    pub(crate) addr: Addr,
    pub(crate) records: usize,
    /// 0 for a leaf.
    pub(crate) depth: u16,
}

/// A node: records in order, and, when it is no leaf, one child more than records (child 0 before record 0).
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) records: Vec<Bytes>,
    pub(crate) children: Vec<NodeRef>,
}

/// How nodes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lies {
    /// Among other metadata: a block around them may be fetched.
    Among,
    /// Perhaps alone between chunks: exactly their bytes.
    Alone,
}

impl Tree {
    /// Reads the header, once.
    pub(crate) fn load(_view: &dyn View, _file: &File, _addr: Addr, _lies: Lies) -> Step<Arc<Self>> {
        Err(Error::unsupported("version 2 B-trees").into())
    }

    /// Reads a node, once.
    pub(crate) fn node(
        &self,
        _view: &dyn View,
        _file: &File,
        _node: NodeRef,
        _lies: Lies,
    ) -> Step<Arc<Node>> {
        Err(Error::unsupported("version 2 B-trees").into())
    }

    /// All records, in order; the nodes of a level are asked for together.
    pub(crate) fn records(&self, _view: &dyn View, _file: &File) -> Step<Vec<Bytes>> {
        Err(Error::unsupported("version 2 B-trees").into())
    }
}
