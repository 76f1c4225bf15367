//! What completes a superblock: the driver information block, or the superblock extension (A.4, A.5).
use super::SuperblockParts;
use crate::address::FileAddress;
use crate::cursor::ByteCursor;
use crate::file::{Hdf5File, NodeRanks, SharedTable};
use crate::object::{ObjectHeader, header_at, kind};
use ncirrus_layout::{Error, ErrorKind, Stall, Step, View, settle};

/// The file completed by its other parts. Damage there is recorded as a loss; anything that changes the meaning of
/// addresses is an error.
pub(super) fn complete(view: &dyn View, (mut file, parts): (Hdf5File, SuperblockParts)) -> Step<Hdf5File> {
    let mut found = ExtensionMessages::default();
    let driver = parts.driver.map(|addr| settle(driver_block(view, &file, addr)));
    let extension = parts.extension.map(|addr| settle(header_at(view, &file, addr)));
    if let Some(Err(error)) = driver.transpose().map_err(Stall::Need)? {
        found.problem(error)?;
    }
    match extension.transpose().map_err(Stall::Need)? {
        Some(Ok(header)) => found.read(&header, &file)?,
        Some(Err(error)) => found.problem(error)?,
        None => {}
    }
    file.ranks = found.ranks.unwrap_or(file.ranks);
    file.shared = found.shared;
    file.page = found.page;
    let at_extension = |error| match parts.extension {
        Some(addr) => file.at(addr, error),
        None => error,
    };
    let losses: Vec<Error> = found.losses.into_iter().map(at_extension).collect();
    file.losses.extend(losses);
    Ok(file)
}

/// The contents of the parts.
#[derive(Debug, Default)]
struct ExtensionMessages {
    ranks: Option<NodeRanks>,
    shared: Option<SharedTable>,
    page: Option<u64>,
    losses: Vec<Error>,
}

impl ExtensionMessages {
    fn read(&mut self, header: &ObjectHeader, file: &Hdf5File) -> Result<(), Error> {
        header.all(kind::DRIVER_INFO).try_for_each(|message| check_driver_message(&message.body))?;
        header.all(kind::CACHE_IMAGE).try_for_each(|message| check_cache_image(&message.body, file))?;
        for message in &header.messages {
            let mut cursor = ByteCursor::new(&message.body, "a message of the superblock extension");
            let read = match message.kind {
                kind::SHARED_TABLE => self.shared_table(&mut cursor, file),
                kind::BTREE_RANKS => self.ranks(&mut cursor),
                kind::SPACE_INFO => self.space(&mut cursor, file),
                _ => Ok(()),
            };
            self.losses.extend(read.err());
        }
        Ok(())
    }

    fn shared_table(&mut self, cursor: &mut ByteCursor<'_>, file: &Hdf5File) -> Result<(), Error> {
        cursor.version(&[0])?;
        let addr = cursor.addr(file.sizes)?;
        let indexes = cursor.u8()?;
        self.shared = addr.map(|addr| SharedTable { addr, indexes });
        Ok(())
    }

    fn ranks(&mut self, cursor: &mut ByteCursor<'_>) -> Result<(), Error> {
        cursor.version(&[0])?;
        let (chunk, group_internal, group_leaf) = (cursor.u16()?, cursor.u16()?, cursor.u16()?);
        self.ranks = Some(NodeRanks { group_leaf, group_internal, chunk });
        Ok(())
    }

    /// Only version 1 with the page strategy defines pages.
    fn space(&mut self, cursor: &mut ByteCursor<'_>, file: &Hdf5File) -> Result<(), Error> {
        if cursor.u8()? != 1 {
            return Ok(());
        }
        let strategy = cursor.u8()?;
        cursor.skip(1)?;
        cursor.len(file.sizes)?;
        let page = cursor.len(file.sizes)?;
        self.page = (strategy == PAGES).then_some(page);
        Ok(())
    }

    /// Records damage as a loss; passes on unsupported features.
    fn problem(&mut self, error: Error) -> Result<(), Error> {
        if error.kind() == ErrorKind::Unsupported {
            return Err(error);
        }
        self.losses.push(error);
        Ok(())
    }
}

/// Checks the driver information block of old superblocks.
fn driver_block(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<()> {
    let bytes = file.parse_all(view, addr, 16)?;
    let mut cursor = ByteCursor::new(&bytes, "the driver information block");
    cursor.skip(8)?;
    Ok(check_driver(cursor.take(8)?).map_err(|error| file.at(addr, error))?)
}

fn check_driver_message(body: &[u8]) -> Result<(), Error> {
    let mut cursor = ByteCursor::new(body, "the driver information message");
    cursor.version(&[0])?;
    check_driver(cursor.take(8)?)
}

fn check_driver(id: &[u8]) -> Result<(), Error> {
    let drivers = match id {
        b"NCSAmult" => "the multi driver: metadata and data are in several files",
        b"NCSAfami" => "the family driver: the file is split into several",
        _ => return Ok(()),
    };
    Err(Error::unsupported(format!("files written with {drivers}")))
}

fn check_cache_image(body: &[u8], file: &Hdf5File) -> Result<(), Error> {
    let mut cursor = ByteCursor::new(body, "the cache image message");
    cursor.version(&[0])?;
    match (cursor.addr(file.sizes)?, cursor.len(file.sizes)?) {
        (Some(_), 1..) => Err(Error::unsupported("files with a metadata cache image")),
        _ => Ok(()),
    }
}

/// Number of the file-space strategy with pages.
const PAGES: u8 = 1;
