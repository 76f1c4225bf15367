//! Version 2 B-trees (docs/spec/hdf5-netcdf4.md C.4), of links, attributes, heap objects, shared messages and chunks.
mod node;

use self::node::TreeShape;
use crate::address::FileAddress;
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View, join};
use std::collections::HashSet;
use std::sync::Arc;

/// A tree with a known header.
#[derive(Debug)]
pub(crate) struct BtreeHeader {
    /// Type of the records (docs/spec/hdf5-netcdf4.md C.4).
    pub(crate) kind: u8,
    /// Bytes of one record.
    pub(crate) record_len: usize,
    /// The root; `None` for an empty tree.
    pub(crate) root: Option<NodeRef>,
    /// Capacity of nodes by depth.
    shape: TreeShape,
}

/// The location of a node and its number of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeRef {
    pub(crate) addr: FileAddress,
    pub(crate) records: usize,
    /// 0 for a leaf.
    pub(crate) depth: u16,
}

/// A node: records in order and, unless it is a leaf, one child more than records (child 0 before record 0).
#[derive(Debug)]
pub(crate) struct BtreeNode {
    pub(crate) records: Vec<Bytes>,
    pub(crate) children: Vec<NodeRef>,
    read_as: ReadAs,
}

/// The inputs of parsing a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReadAs {
    node: NodeRef,
    kind: u8,
    record_len: usize,
    pointer_len: usize,
}

/// How nodes are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeRequest {
    /// Among other metadata: a block around them may be fetched.
    Among,
    /// Possibly alone between chunks: exactly their bytes.
    Alone,
}

impl NodeRequest {
    fn read(self, view: &dyn View, file: &Hdf5File, addr: FileAddress, len: u64) -> Step<Bytes> {
        match self {
            Self::Among => file.parse_all(view, addr, len),
            Self::Alone => file.exact(view, addr, len),
        }
    }
}

impl BtreeHeader {
    /// Reads the header, once.
    pub(crate) fn load(
        view: &dyn View,
        file: &Hdf5File,
        addr: FileAddress,
        lies: NodeRequest,
    ) -> Step<Arc<Self>> {
        file.memo(view, addr, "hdf5 tree", || {
            let len = 22 + u64::from(file.sizes.offsets) + u64::from(file.sizes.lengths);
            let bytes = lies.read(view, file, addr, len)?;
            let tree = Self::parse(&bytes, file)?;
            view.limits().depth(u32::from(tree.shape.depth()), "a version 2 B-tree")?;
            let cost = size_of::<Self>() + tree.shape.cost();
            Ok((tree, cost))
        })
    }

    fn parse(bytes: &[u8], file: &Hdf5File) -> Result<Self, Error> {
        let mut cursor = ByteCursor::new(bytes, "the header of a version 2 B-tree");
        cursor.signature(b"BTHD")?;
        cursor.version(&[0])?;
        let kind = cursor.u8()?;
        let node_len = cursor.u32()?;
        let record_len = usize::from(cursor.u16()?);
        let depth = cursor.u16()?;
        cursor.skip(2)?;
        let root = cursor.addr(file.sizes)?;
        let records = usize::from(cursor.u16()?);
        let total = cursor.len(file.sizes)?;
        let summed = cursor.taken();
        if cursor.u32()? != lookup3(summed) {
            return Err(Error::malformed("the checksum of the header of a version 2 B-tree is wrong"));
        }
        let shape = TreeShape::new(node_len, record_len, depth, file.sizes)?;
        let root = root.filter(|_| total > 0).map(|addr| NodeRef { addr, records, depth });
        Ok(Self { kind, record_len, root, shape })
    }

    /// Reads a node, once.
    pub(crate) fn node(
        &self,
        view: &dyn View,
        file: &Hdf5File,
        node: NodeRef,
        lies: NodeRequest,
    ) -> Step<Arc<BtreeNode>> {
        let read = || {
            let len = self.shape.node_len(node)?;
            let bytes = lies.read(view, file, node.addr, len)?;
            let bytes = Bytes::copy_from_slice(ByteCursor::new(&bytes, "a node").take_u64(len)?);
            let parsed = self.parse_node(&bytes, node, file)?;
            let cost = bytes.len()
                + parsed.records.len() * size_of::<Bytes>()
                + parsed.children.len() * size_of::<NodeRef>();
            Ok((parsed, cost))
        };
        let found = file.memo(view, node.addr, "hdf5 tree node", read)?;
        if found.read_as == self.read_as(node) {
            return Ok(found);
        }
        // Another parent describes it differently: the answer must not depend on which of them came first.
        let (read, _) = read().map_err(|stall| stall.map_error(|error| file.at(node.addr, error)))?;
        Ok(Arc::new(read))
    }

    /// All records, in order; the nodes of a level are requested together.
    pub(crate) fn records(&self, view: &dyn View, file: &Hdf5File) -> Step<Vec<Bytes>> {
        let mut seen = HashSet::new();
        let mut budget = file.budget();
        let mut parts: Vec<TreePart> = self.root.map(TreePart::Child).into_iter().collect();
        for _ in 0..=self.shape.depth() {
            let nodes = parts.iter().filter_map(|part| match part {
                TreePart::Child(node) => Some(*node),
                TreePart::Record(_) => None,
            });
            let nodes = join(nodes, |node| {
                if !seen.insert(node.addr) {
                    let error = Error::malformed("a node of a version 2 B-tree with two parents");
                    return Err(file.at(node.addr, error).into());
                }
                budget.take(self.shape.node_len(node)?)?;
                self.node(view, file, node, NodeRequest::Among)
            })?;
            let mut nodes = nodes.iter();
            let mut next = Vec::new();
            for part in parts {
                match part {
                    // In order: child 0, record 0, child 1, and so on (docs/spec/hdf5-netcdf4.md C.4).
                    TreePart::Child(_) => next.extend(nodes.next().into_iter().flat_map(|node| node.parts())),
                    record @ TreePart::Record(_) => next.push(record),
                }
            }
            view.limits().count(next.len() as u64, "a version 2 B-tree")?;
            parts = next;
        }
        Ok(parts.into_iter().filter_map(TreePart::record).collect())
    }
}

/// The contents of a tree, in order.
#[derive(Debug)]
enum TreePart {
    Record(Bytes),
    Child(NodeRef),
}

impl TreePart {
    fn record(self) -> Option<Bytes> {
        match self {
            Self::Record(record) => Some(record),
            Self::Child(_) => None,
        }
    }
}

impl BtreeNode {
    /// Children and records in order: a child before each record, and one behind the last.
    fn parts(&self) -> impl Iterator<Item = TreePart> + '_ {
        let child = |index: usize| self.children.get(index).copied().map(TreePart::Child);
        let with_record = move |(index, record): (usize, &Bytes)| {
            child(index).into_iter().chain(std::iter::once(TreePart::Record(record.clone())))
        };
        let last = self.children.get(self.records.len()).copied().map(TreePart::Child);
        self.records.iter().enumerate().flat_map(with_record).chain(last)
    }
}

#[cfg(test)]
mod tests;
