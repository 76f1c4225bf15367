//! All calls that exist on only one platform; each has a portable fallback.
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Opens a file for reading. On Unix without waiting for the other end of a pipe.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// The path of bytes that are not UTF-8; `None` where paths have no such bytes.
pub(crate) fn path_of_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        Some(std::ffi::OsString::from_vec(bytes).into())
    }
    #[cfg(not(unix))]
    {
        drop(bytes);
        None
    }
}

/// Reads at an offset until the buffer is full or the file ends.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match read_some(file, rest, offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(unix)]
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_some(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Appends the bytes of a file from its start on as long as the buffer has memory for more, and returns whether they are all.
#[cfg(unix)]
pub(crate) fn fill_spare(file: &File, buffer: &mut Vec<u8>) -> io::Result<bool> {
    let room = buffer.capacity() - buffer.len();
    append_spare(file, buffer, 0, room)
}

/// Appends the bytes of a file from its start on as long as the buffer has memory for more, and returns whether they are all.
/// Here it appends none.
#[cfg(not(unix))]
pub(crate) fn fill_spare(_: &File, _: &mut Vec<u8>) -> io::Result<bool> {
    Ok(false)
}

/// Appends `len` bytes from an offset on to a buffer, fewer where the file ends; the buffer is not zeroed first.
#[cfg(unix)]
pub(crate) fn read_append(file: &File, buffer: &mut Vec<u8>, offset: u64, len: usize) -> io::Result<usize> {
    let start = buffer.len();
    buffer.try_reserve_exact(len)?;
    append_spare(file, buffer, offset, len)?;
    buffer.truncate(start + len);
    Ok(buffer.len() - start)
}

/// Appends at least `len` bytes from an offset on to a buffer that has memory for them, more where it has memory for more. Returns
/// whether the file ended before that.
#[cfg(unix)]
fn append_spare(file: &File, buffer: &mut Vec<u8>, offset: u64, len: usize) -> io::Result<bool> {
    let start = buffer.len();
    while buffer.len() - start < len {
        let at = offset + (buffer.len() - start) as u64;
        match rustix::io::pread(file, rustix::buffer::spare_capacity(buffer), at) {
            Ok(0) => return Ok(true),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

/// Appends `len` bytes from an offset on to a buffer, fewer where the file ends.
#[cfg(not(unix))]
pub(crate) fn read_append(file: &File, buffer: &mut Vec<u8>, offset: u64, len: usize) -> io::Result<usize> {
    let start = buffer.len();
    buffer.try_reserve_exact(len)?;
    buffer.resize(start + len, 0);
    let read = read_at(file, buffer.get_mut(start..).unwrap_or_default(), offset)?;
    buffer.truncate(start + read);
    Ok(read)
}

/// Writes all bytes at an offset.
pub(crate) fn write_at(file: &File, mut body: &[u8], mut offset: u64) -> io::Result<()> {
    while !body.is_empty() {
        match write_some(file, body, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                body = body.get(count..).unwrap_or_default();
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn write_some(file: &File, body: &[u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, body, offset)
}

#[cfg(windows)]
fn write_some(file: &File, body: &[u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, body, offset)
}

/// What distinguishes one state of a file from another, besides its length.
#[cfg(unix)]
pub(crate) fn stamp(metadata: &fs::Metadata) -> (i64, i64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.mtime(), metadata.mtime_nsec(), metadata.ino())
}

/// What distinguishes one state of a file from another, besides its length.
#[cfg(not(unix))]
pub(crate) fn stamp(metadata: &fs::Metadata) -> (i64, i64, u64) {
    let modified = metadata.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.unwrap_or_default();
    (i64::try_from(modified.as_secs()).unwrap_or(i64::MAX), i64::from(modified.subsec_nanos()), 0)
}

/// Identifies a file or directory, whatever the path: device and inode.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "unknown on this platform")]
pub(crate) fn identity(metadata: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// The identity of a file or directory is not available here.
#[cfg(not(unix))]
pub(crate) fn identity(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

/// Moves a file or directory to a name that must be free, atomically if the platform can.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    if let Some(renamed) = rename_with(from, to, rustix::fs::RenameFlags::NOREPLACE) {
        return renamed;
    }
    rename_new_portably(from, to)
}

/// `None` if the file system does not support this.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_with(from: &Path, to: &Path, flags: rustix::fs::RenameFlags) -> Option<io::Result<()>> {
    use rustix::fs::{CWD, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, flags) {
        Err(error) if [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error) => None,
        other => Some(other.map_err(io::Error::from)),
    }
}

/// A hard link fails if the name is taken; without hard links, a prior check must do.
fn rename_new_portably(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
            Err(error)
        }
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Atomically exchanges two names; `false` if the platform or the file system cannot.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        let exchanged = rename_with(one, other, rustix::fs::RenameFlags::EXCHANGE);
        exchanged.transpose().map(|done| done.is_some())
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        let _ = (one, other);
        Ok(false)
    }
}

/// Makes all of the file system that holds a directory durable; `false` when the platform cannot.
pub(crate) fn sync_file_system(directory: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        rustix::fs::syncfs(File::open(directory)?)?;
        Ok(true)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = directory;
        Ok(false)
    }
}

/// Makes the names in a directory durable, where directories can be opened.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// Locks a file, or a directory if directories can be locked, until the handle is dropped. `None` if another handle
/// holds the lock.
pub(crate) fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Takes the lock that HDF5 takes on a file it reads.
pub(crate) fn lock_for_reading(path: &Path) -> io::Result<ReadingLock> {
    let file = File::open(path)?;
    match file.try_lock_shared() {
        Ok(()) => Ok(ReadingLock::Held(file)),
        Err(TryLockError::WouldBlock) => Ok(ReadingLock::Refused),
        Err(TryLockError::Error(error)) if is_unsupported_lock(&error) => Ok(ReadingLock::Unsupported),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The result of locking a file against writers.
#[derive(Debug)]
pub(crate) enum ReadingLock {
    /// No writer can lock the file until this is dropped.
    Held(#[expect(dead_code, reason = "dropping it releases the lock")] File),
    /// A writer holds its lock.
    Refused,
    /// The file system has no locks.
    Unsupported,
}

/// Takes the lock that HDF5 takes on a file it changes; `None` if another handle holds a lock. Where such locks would
/// also block this process, none is taken.
pub(crate) fn lock_as_hdf5(path: &Path) -> io::Result<Option<File>> {
    if !cfg!(unix) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // Some network file systems lock only what may be written.
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Waits for the exclusive lock of a file and takes it, until the handle is dropped. Network file systems lock only what may be
/// written; others also lock what may be read only.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path)?,
        opened => opened?,
    };
    file.lock()?;
    Ok(file)
}

/// Whether a file can be locked, so that other programs see the lock. Network file systems grant only a shared lock of what is
/// open for reading.
pub(crate) fn can_lock(path: &Path) -> io::Result<bool> {
    match open(path)?.try_lock_shared() {
        Ok(()) | Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) if is_unsupported_lock(&error) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a file system has no locks.
pub(crate) fn is_unsupported_lock(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let none = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::BADF, Errno::INVAL];
        error.raw_os_error().is_some_and(|code| none.iter().any(|errno| errno.raw_os_error() == code))
            || error.kind() == io::ErrorKind::Unsupported
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::Unsupported
    }
}

/// Downgrades an exclusive lock to a shared one; `false` if another program was faster.
pub(crate) fn share_lock(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Moves a finished file over another one: whose that was, and who may read it, stays. What cannot be replaced, such as a file that is
/// mounted, has other names, or is in a folder that may not be changed, gets the bytes.
pub(crate) fn move_over(from: &Path, to: &Path) -> io::Result<()> {
    if let Ok(old) = fs::metadata(to) {
        if has_other_names(&old) {
            return copy_into(from, to);
        }
        keep_owner(from, &old);
        // Set last: the old file may be read-only.
        fs::set_permissions(from, old.permissions())?;
    }
    match fs::rename(from, to) {
        Err(error) if matches!(error.kind(), io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices) => {
            copy_into(from, to)
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            copy_into(from, to).map_err(|_| error)
        }
        other => other,
    }
}

/// Makes a directory whose contents only this user may read, where there are such permissions.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether a file is found under several names, which stay one file.
pub(crate) fn has_other_names(file: &fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::nlink(file) > 1
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}

/// Gives a file to the owner of another one, or at least to the same group, as far as this user may.
#[cfg(unix)]
pub(crate) fn keep_owner(file: &Path, other: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, chown};
    let is_same = fs::metadata(file).is_ok_and(|own| (own.uid(), own.gid()) == (other.uid(), other.gid()));
    if !is_same && chown(file, Some(other.uid()), Some(other.gid())).is_err() {
        // The file of another user becomes this user's.
        let _ = chown(file, None, Some(other.gid()));
    }
}

/// Gives a file the access control list of another one, if that has one.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn keep_access(file: &Path, other: &Path) -> io::Result<()> {
    const LIST: &str = "system.posix_acl_access";
    const MAX_BYTES: usize = 1 << 16;
    let mut list = vec![0; MAX_BYTES];
    match rustix::fs::getxattr(other, LIST, &mut list) {
        Ok(len) => {
            let list = list.get(..len).unwrap_or_default();
            Ok(rustix::fs::setxattr(file, LIST, list, rustix::fs::XattrFlags::empty())?)
        }
        // There is none, or the file system has none.
        Err(rustix::io::Errno::NODATA | rustix::io::Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Files have no such lists here.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn keep_access(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Files have no such owners here.
#[cfg(not(unix))]
pub(crate) fn keep_owner(_: &Path, _: &fs::Metadata) {}

/// Writes the bytes of a file into one that is there.
fn copy_into(from: &Path, to: &Path) -> io::Result<()> {
    let target = OpenOptions::new().write(true).open(to)?;
    copy_bytes(from, &target)?;
    target.sync_all()?;
    // In a folder that may not be changed any more it stays, as something unfinished without an owner: all bytes are in place.
    let _ = fs::remove_file(from);
    Ok(())
}

/// Replaces the bytes of an open file by those of another one. What needs room is written first: if there is none, the old bytes are whole.
pub(crate) fn copy_bytes(from: &Path, to: &File) -> io::Result<()> {
    let source = File::open(from)?;
    let (old, new) = (to.metadata()?.len(), source.metadata()?.len());
    if let Err(error) = copy_range(&source, to, old..new) {
        to.set_len(old)?;
        return Err(error);
    }
    copy_range(&source, to, 0..old.min(new))?;
    to.set_len(new)
}

/// Copies bytes to the same place in another file.
fn copy_range(mut from: &File, mut to: &File, range: Range<u64>) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    from.seek(io::SeekFrom::Start(range.start))?;
    to.seek(io::SeekFrom::Start(range.start))?;
    io::copy(&mut from.take(range.end - range.start), &mut to).map(|_| ())
}

/// Whether a handle still refers to the file of that name.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let Ok(here) = fs::symlink_metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        file.metadata().is_ok_and(|held| (held.dev(), held.ino()) == (here.dev(), here.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, here);
        true
    }
}

/// Whether names in a directory may be changed.
pub(crate) fn check_writable(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::Access;
        rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK).map_err(io::Error::from)
    }
    #[cfg(not(unix))]
    {
        fs::metadata(directory).map(|_| ())
    }
}

/// How many files this process may have open; `None` if unknown or unlimited.
pub(crate) fn open_files_limit() -> Option<u64> {
    #[cfg(unix)]
    {
        rustix::process::getrlimit(rustix::process::Resource::Nofile).current
    }
    #[cfg(not(unix))]
    {
        None
    }
}

/// Creates a file that only its owner can read.
#[cfg(unix)]
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a file. Home folders are private here.
#[cfg(not(unix))]
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(path)
}

/// A new file in a folder, for reading and writing, that is removed when it is closed.
pub(crate) fn create_nameless(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let nameless =
            options.clone().custom_flags(rustix::fs::OFlags::TMPFILE.bits().cast_signed()).open(folder);
        // Not every file system supports files without names.
        if nameless.is_ok() {
            return nameless;
        }
    }
    options.create_new(true);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        const DELETE_ON_CLOSE: u32 = 0x0400_0000;
        options.share_mode(0).custom_flags(DELETE_ON_CLOSE);
    }
    let path = folder.join(crate::temporary::name_for("map".as_ref()));
    let file = options.open(&path)?;
    if !cfg!(windows) {
        fs::remove_file(&path)?;
    }
    Ok(file)
}

/// Free space of a folder's file system for this user; `None` if unknown.
pub(crate) fn room(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let facts = rustix::fs::statvfs(folder).ok()?;
        Some(facts.f_bavail.saturating_mul(facts.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Extends a new file to that many zero bytes, and allocates the space for them.
pub(crate) fn reserve(file: &File, len: u64) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        use rustix::io::Errno;
        match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            reserved => return reserved.map_err(io::Error::from),
        }
    }
    file.set_len(len)?;
    if cfg!(windows) {
        return Ok(());
    }
    let zeros = vec![0; 1 << 20];
    let mut at = 0;
    while at < len {
        let part = zeros.get(..usize::try_from(len - at).unwrap_or(usize::MAX).min(zeros.len()));
        write_at(file, part.unwrap_or(&zeros), at)?;
        at += zeros.len() as u64;
    }
    Ok(())
}
