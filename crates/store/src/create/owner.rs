//! The owner of a marker, and whether it is still alive.
use super::lease::LeaseStage;
use bytes::Bytes;
use ncirrus_layout::LockExt;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard};

/// Identifies a writer; it counts as at work as long as this exists.
#[derive(Debug)]
pub(super) struct WriterMark(String);

/// Whether a writer lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriterLife {
    /// It is at work.
    AtWork,
    /// It no longer exists.
    Gone,
    /// Only its next renewal can tell.
    Unknown,
}

/// Identities of this process that are held.
static AT_WORK: Mutex<Option<HashSet<String>>> = Mutex::new(None);

impl WriterMark {
    pub(super) fn new() -> Self {
        let mark = crate::temporary::unique().trim_end().to_owned();
        at_work().get_or_insert_default().insert(mark.clone());
        Self(mark)
    }

    /// The contents of this writer's marker.
    pub(super) fn text(&self, renewals: u64, stage: &LeaseStage) -> Bytes {
        let mut text = format!("{}\n{}\n{renewals}\n", self.0, here());
        if let LeaseStage::Switching(folder) = stage {
            let _ = writeln!(text, "{SWITCHING}{folder}");
        }
        Bytes::from(text)
    }

    /// Whether a marker is this writer's.
    pub(super) fn is_of(&self, sign: &[u8]) -> bool {
        sign.strip_prefix(self.0.as_bytes()).is_some_and(|rest| rest.starts_with(b"\n"))
    }

    /// The identity, as a name.
    pub(super) fn name(&self) -> &str {
        &self.0
    }
}

impl Drop for WriterMark {
    fn drop(&mut self) {
        if let Some(marks) = at_work().as_mut() {
            marks.remove(&self.0);
        }
    }
}

fn at_work() -> MutexGuard<'static, Option<HashSet<String>>> {
    AT_WORK.guard()
}

/// What is known of the owner of a marker.
pub(super) fn life_of(sign: &[u8]) -> WriterLife {
    let text = String::from_utf8_lossy(sign);
    let mut lines = text.lines();
    let (mark, place) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    if at_work().as_ref().is_some_and(|marks| marks.contains(mark)) {
        return WriterLife::AtWork;
    }
    let here = here();
    let (Some((machine, process)), Some((own_machine, own_process))) =
        (place.rsplit_once(' '), here.rsplit_once(' '))
    else {
        return WriterLife::Unknown;
    };
    let number = mark.split_once('-').and_then(|(number, _)| number.parse::<u32>().ok());
    match number {
        _ if machine != own_machine => WriterLife::Unknown,
        // It belongs to this program, which does not hold it any more.
        Some(number) if number == std::process::id() && process == own_process => WriterLife::Gone,
        Some(number) if begin_of(number).as_deref() == Some(process) => WriterLife::Unknown,
        Some(_) => WriterLife::Gone,
        None => WriterLife::Unknown,
    }
}

/// The phase of the owner of a marker.
pub(super) fn stage_of(sign: &[u8]) -> LeaseStage {
    let text = String::from_utf8_lossy(sign);
    let folder =
        text.lines().find_map(|line| line.strip_prefix(SWITCHING)).filter(|name| crate::key::is_name(name));
    folder.map_or(LeaseStage::Making, |folder| LeaseStage::Switching(folder.to_owned()))
}

const SWITCHING: &str = "switching ";

/// The boot of the machine, with its table of processes, and when this process started; empty if that cannot be
/// determined.
fn here() -> String {
    let machine = || {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let table = std::fs::read_link("/proc/self/ns/pid").ok()?;
        let begin = begin_of(std::process::id())?;
        Some(format!("{} {} {begin}", boot.trim(), table.display()))
    };
    if cfg!(target_os = "linux") { machine().unwrap_or_default() } else { String::new() }
}

/// When a process of this machine started; `None` if there is no such process, or it has ended and is only kept for
/// its parent.
fn begin_of(process: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in parentheses, may contain blanks.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_over = matches!(fields.next()?, "Z" | "X");
    let begin = fields.nth(BEGIN)?;
    (!is_over).then(|| begin.to_owned())
}

/// The index, after the state, of the field with the start time of a process (`proc_pid_stat(5)`, field 22).
const BEGIN: usize = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_of_this_program_is_at_work_as_long_as_it_keeps_its_mark() {
        let mark = WriterMark::new();
        let sign = mark.text(3, &LeaseStage::Making);
        assert_eq!((life_of(&sign), stage_of(&sign)), (WriterLife::AtWork, LeaseStage::Making));
        let stage = LeaseStage::Switching("a-b".to_owned());
        assert_eq!(stage_of(&mark.text(4, &stage)), stage);
        drop(mark);
        let left = if cfg!(target_os = "linux") { WriterLife::Gone } else { WriterLife::Unknown };
        assert_eq!(life_of(&sign), left);
    }

    #[test]
    fn of_writers_elsewhere_nothing_is_known() {
        assert_eq!(life_of(b"17-0123456789abcdef\n"), WriterLife::Unknown);
        assert_eq!(life_of(b"17-0123456789abcdef\nanother-boot pid:[1] 5\n0\n"), WriterLife::Unknown);
        assert_eq!(life_of(b"\xff"), WriterLife::Unknown);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_of_this_machine_that_is_no_more_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let begin = begin_of(child.id()).unwrap();
        let machine = here();
        let (machine, _) = machine.rsplit_once(' ').unwrap();
        let sign = format!("{}-0123456789abcdef\n{machine} {begin}\n0\n", child.id());
        assert_eq!(life_of(sign.as_bytes()), WriterLife::Unknown, "it may have given up");
        child.kill().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(life_of(sign.as_bytes()), WriterLife::Gone, "its end has not been checked yet");
        child.wait().unwrap();
        assert_eq!(life_of(sign.as_bytes()), WriterLife::Gone);
    }
}
