//! Validation of messages that are not parsed elsewhere. Headers of version 1 have no checksum, and a message with a
//! wrong type is one that is lost.
use super::super::{HeaderMessage, kind};
use super::is_known;
use crate::cursor::ByteCursor;

/// Why a message is invalid for its type; `None` for all that are parsed elsewhere.
pub(super) fn strange(message: &HeaderMessage) -> Option<String> {
    let (of, body) = (message.kind, message.body.as_ref());
    if !is_known(of) {
        return Some(format!("a message of unknown type {of:#04x}"));
    }
    let is_sound = match of {
        kind::OLD_FILL if message.flags & SHARED == 0 => {
            let mut cursor = ByteCursor::new(body, "fill value");
            cursor.u32().is_ok_and(|len| len.cast_signed() <= 0 || cursor.left() as u64 >= u64::from(len))
        }
        kind::COMMENT => {
            body.iter().take_while(|byte| **byte != 0).all(|byte| !byte.is_ascii_control() || is_space(*byte))
        }
        kind::OLD_TIME => {
            body.get(..14).is_some_and(|text| text.iter().all(|byte| byte.is_ascii_digit() || *byte == b' '))
        }
        kind::TIME => body.len() >= 8 && body.first() == Some(&1),
        _ => true,
    };
    (!is_sound).then(|| format!("a malformed message of type {of:#04x}"))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r')
}

/// The flag of messages whose body is a location.
const SHARED: u8 = 2;
