//! Sizes and times as users write them.
use std::time::Duration;

/// A number of bytes: `512`, `1.5G`, `500MB`, `64 MiB`. `K`, `M`, `G`, `T`, `P`, `E` and those with `iB` are powers of 1024;
/// with `B` alone, of 1000.
///
/// # Errors
/// The text if it is not a size, or is too large for 64 bits.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let no_size = || format!("{text:?} is not a size such as 500M or 2G");
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (digits, suffix) = trimmed.split_at(end);
    let unit = unit(suffix.trim()).ok_or_else(no_size)?;
    if let Ok(whole) = digits.parse::<u64>() {
        return whole.checked_mul(unit).ok_or_else(|| format!("{text:?} is too large"));
    }
    let number: f64 = digits.parse().map_err(|_| no_size())?;
    let bytes = number * unit as f64;
    // The conversion is exact below the largest integer that such a float represents exactly.
    if bytes.is_nan() || bytes >= 9e15 {
        return Err(format!("{text:?} is too large"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "the fraction of a byte is dropped")]
    Ok(bytes as u64)
}

/// How many bytes a suffix stands for.
fn unit(suffix: &str) -> Option<u64> {
    let suffix = suffix.to_ascii_lowercase();
    if matches!(suffix.as_str(), "" | "b") {
        return Some(1);
    }
    let (letter, rest) = suffix.split_at_checked(1)?;
    let power = u32::try_from("kmgtpe".find(letter)? + 1).ok()?;
    match rest {
        "" | "i" | "ib" => 1024u64.checked_pow(power),
        "b" => 1000u64.checked_pow(power),
        _ => None,
    }
}

/// A time: seconds, also `30s`, `500ms`, `2m`, `1h`.
///
/// # Errors
/// The text if it is not a time.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let no_time = || format!("{text:?} is not a time such as 30s");
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (digits, suffix) = trimmed.split_at(end);
    let seconds = match suffix {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(no_time()),
    };
    let number: f64 = digits.trim().parse().map_err(|_| no_time())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| no_time())
}
