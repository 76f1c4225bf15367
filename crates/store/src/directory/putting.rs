//! Replacing objects: new files, and how they get their names.
use super::{DirectoryStore, create_parents, write_error};
use crate::store::PutCondition;
use crate::{fault, platform, temporary};
use ncirrus_layout::{ObjectId, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

impl DirectoryStore {
    /// Replaces an object, and returns what `of_file` returns of its file.
    pub(super) fn put_and<T>(
        &self,
        object: &ObjectId,
        body: &[u8],
        when: &PutCondition,
        of_file: impl Fn(&File) -> io::Result<T>,
    ) -> Result<T> {
        let path = self.path(object)?;
        if object.key().is_empty() {
            return Err(fault::in_the_way("the root", object));
        }
        let guard = (*when != PutCondition::None).then(|| self.conditional.lock());
        let locked = self.check(object, &path, when)?;
        if let Some(held) = self.held.moved(object.key(), &path) {
            let written = held.set_len(0).and_then(|()| platform::write_at(&held, body, 0));
            return written.and_then(|()| of_file(&held)).map_err(|error| write_error(error, object));
        }
        let (mut file, written_to) = self.create(&path).map_err(|error| write_error(error, object))?;
        let mut written = file.write_all(body);
        if !self.unseen.is_so() {
            // The file system's own clock ticks too slowly to tell two states apart. Without it, tags differ less often.
            _ = file.set_modified(SystemTime::now());
        }
        if written_to != path {
            written = written.and_then(|()| self.place(&file, &written_to, &path, when));
        }
        let written =
            written.and_then(|()| self.held.renew(object.key(), &path)).and_then(|()| of_file(&file));
        drop((locked, guard));
        self.handles.forget(object.key());
        match written {
            Ok(result) => {
                self.note(&path);
                Ok(result)
            }
            Err(error) => {
                _ = fs::remove_file(&written_to);
                Err(write_error(error, object))
            }
        }
    }

    /// A new file for the bytes of an object, and its name: the object's own if it is free and no reader can see it
    /// incomplete.
    pub(super) fn create(&self, path: &Path) -> io::Result<(File, PathBuf)> {
        let temporary = || path.with_file_name(temporary::name_for_put(path.file_name().unwrap_or_default()));
        if self.unseen.is_so() {
            self.made.make(path.parent());
            match create_new(path.to_owned()) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created,
            }
        }
        create_new(temporary())
    }

    /// Moves a finished file to its name. A file that replaces another is made durable first; otherwise a power
    /// failure could leave neither the old bytes nor the new.
    fn place(&self, file: &File, temporary: &Path, path: &Path, when: &PutCondition) -> io::Result<()> {
        match platform::rename_new(temporary, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && *when != PutCondition::Absent => {
                if self.unsynced.is_some() {
                    file.sync_data()?;
                }
                fs::rename(temporary, path)
            }
            other => other,
        }
    }
}

/// How often directories are recreated that another program removes.
const MAX_TRIES: usize = 64;

/// A new file, and its name. Parent directories may vanish while they are created, when another program removes empty
/// ones.
fn create_new(path: PathBuf) -> io::Result<(File, PathBuf)> {
    let open = || OpenOptions::new().write(true).create_new(true).open(&path);
    let mut opened = open();
    for _ in 0..MAX_TRIES {
        match &opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                opened = match create_parents(&path) {
                    Err(error) if !is_race(&error) => Err(error),
                    _ => open(),
                };
            }
            _ => break,
        }
    }
    Ok((opened?, path))
}

/// The error of creating directories when one of them is removed meanwhile.
fn is_race(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
}
