//! The end of a process whose first thread ended before others did. It ends with the last one of the program: those of the session
//! wait for work that never comes.
use crate::process;
use std::path::Path;
use std::time::Duration;
use std::{fs, io, thread};

/// What the names of the session's threads begin with.
const OWN: &str = "ncirrus";
/// The first wait between two looks at the threads, and the longest one.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];
/// Looks that must find no thread of the program: one may miss a thread that another one started while it looked.
const LOOKS: u32 = 2;

/// Starts a thread that ends the process when the program has none any more.
pub(crate) fn watch() {
    // Without it the process goes on.
    let _ = process::without_signals(|| thread::Builder::new().name(format!("{OWN}-last")).spawn(wait));
}

fn wait() {
    let ([mut pause, longest], mut seen) = (PAUSES, 0);
    while seen < LOOKS {
        thread::sleep(pause);
        pause = longest.min(pause * 2);
        match has_program(Path::new("/proc/self/task")) {
            Ok(true) => seen = 0,
            Ok(false) => seen += 1,
            // It is unknown.
            Err(_) => return,
        }
    }
    exit();
}

#[expect(clippy::exit, reason = "the last thread of a program ends its process, and with no failure")]
fn exit() {
    std::process::exit(0);
}

/// Whether a thread of the program goes on.
fn has_program(tasks: &Path) -> io::Result<bool> {
    for task in fs::read_dir(tasks)? {
        match fs::read(task?.path().join("stat")) {
            Ok(stat) if is_of_program(&String::from_utf8_lossy(&stat)) => return Ok(true),
            Ok(_) => {}
            // It has ended since then.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(NO_TASK) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// `ESRCH`: what the system says when a thread ends while it is looked at.
const NO_TASK: i32 = 3;

/// Whether a line of the system describes a thread of the program that goes on: its number, its name in brackets, its state.
fn is_of_program(stat: &str) -> bool {
    let Some((start, rest)) = stat.rsplit_once(')') else { return false };
    let name = start.split_once('(').map_or("", |(_, name)| name);
    let has_ended = rest.trim_start().starts_with(['Z', 'X', 'x']);
    !has_ended && !name.starts_with(OWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_session_and_those_that_ended_are_none_of_the_program() {
        for (stat, expected) in [
            ("7 (ncirrus-0) S 1 7", false),
            ("8 (ncirrus-net) R 1 7", false),
            ("9 (model) S 1 7", true),
            ("9 (odd) name) S 1 7", true),
            ("9 (model) Z 1 7", false),
            ("9 (model) X 1 7", false),
            ("", false),
        ] {
            assert_eq!(is_of_program(stat), expected, "{stat}");
        }
    }

    #[test]
    fn this_process_has_threads_of_its_own() {
        assert!(has_program(Path::new("/proc/self/task")).unwrap());
        let none = tempfile::tempdir().unwrap();
        assert!(!has_program(none.path()).unwrap());
        assert!(has_program(&none.path().join("nothing")).is_err());
    }
}
