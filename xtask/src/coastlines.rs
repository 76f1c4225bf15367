//! The coastlines of `ncirrus plot`: Natural Earth (public domain) of the npm package `world-atlas`, in the compact form that
//! `crates/plot/src/coastlines.rs` describes and reads.
use crate::run::{Outcome, command_in, project, target};
use serde_json::Value;
use std::path::Path;

/// The package, pinned.
const PACKAGE: &str = "world-atlas@2.0.2";
const FILE: &str = "crates/plot/data/coastlines.bin";
const MAX_BYTES: usize = 250_000;

/// A point in hundredths of a degree.
type Point = (i64, i64);

/// Fetches the package and writes the file.
pub(crate) fn convert() -> Outcome {
    let folder = target().join("coastlines");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let prefix = folder.to_string_lossy().into_owned();
    let install =
        ["install", "--prefix", &prefix, "--no-save", "--no-audit", "--no-fund", "--silent", PACKAGE];
    command_in(&folder, "npm", &install)?;
    let mut bytes = b"NCCOAST1".to_vec();
    for name in ["land-110m.json", "land-50m.json"] {
        let path = folder.join("node_modules/world-atlas").join(name);
        write_set(&mut bytes, &lines(&path)?);
    }
    if bytes.len() > MAX_BYTES {
        return Err(format!("the coastlines have {} bytes, more than {MAX_BYTES}", bytes.len()));
    }
    println!("{FILE}: {} bytes", bytes.len());
    std::fs::write(project().join(FILE), bytes).map_err(|error| format!("{FILE}: {error}"))
}

/// The arcs of a TopoJSON file, in hundredths of a degree.
fn lines(path: &Path) -> Result<Vec<Vec<Point>>, String> {
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
    let topology: Value = serde_json::from_str(&text).map_err(|error| named(&error))?;
    let pair = |key: &str| {
        let pair = &topology["transform"][key];
        Some((pair[0].as_f64()?, pair[1].as_f64()?))
    };
    let (scale, shift) = pair("scale").zip(pair("translate")).ok_or_else(|| named(&"no transform"))?;
    let arcs = topology["arcs"].as_array().ok_or_else(|| named(&"no arcs"))?;
    Ok(arcs.iter().flat_map(|arc| without_borders(&points(arc, scale, shift))).collect())
}

/// The points of an arc: sums of steps, without repeated ones.
fn points(arc: &Value, scale: (f64, f64), shift: (f64, f64)) -> Vec<Point> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut points = Vec::new();
    for step in arc.as_array().into_iter().flatten() {
        x += step[0].as_f64().unwrap_or(0.0);
        y += step[1].as_f64().unwrap_or(0.0);
        points.push((hundredths(x * scale.0 + shift.0), hundredths(y * scale.1 + shift.1)));
    }
    points.dedup();
    points
}

#[expect(clippy::cast_possible_truncation, reason = "degrees are at most 360")]
fn hundredths(degrees: f64) -> i64 {
    (degrees * 100.0).round() as i64
}

/// An arc without the parts along the date line and around the pole, which close polygons and are not coasts.
fn without_borders(points: &[Point]) -> Vec<Vec<Point>> {
    let mut lines: Vec<Vec<Point>> = Vec::new();
    let mut is_open = false;
    for pair in points.windows(2) {
        let is_border =
            pair.iter().all(|point| point.0.abs() == 18_000) || pair.iter().all(|point| point.1 <= -8_990);
        if is_border {
            is_open = false;
        } else if let (true, Some(line)) = (is_open, lines.last_mut()) {
            line.push(pair[1]);
        } else {
            lines.push(pair.to_vec());
            is_open = true;
        }
    }
    lines
}

fn write_set(bytes: &mut Vec<u8>, lines: &[Vec<Point>]) {
    write_number(bytes, lines.len() as u64);
    let mut before = (0, 0);
    for line in lines {
        write_number(bytes, line.len() as u64);
        for point in line {
            for step in [point.0 - before.0, point.1 - before.1] {
                // Zigzag: small numbers of both signs are small.
                write_number(bytes, ((step << 1) ^ (step >> 63)).unsigned_abs());
            }
            before = *point;
        }
    }
}

/// Seven bits a byte, the least significant first.
fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(low_bits(number) | 128);
        number >>= 7;
    }
    bytes.push(low_bits(number));
}

fn low_bits(number: u64) -> u8 {
    u8::try_from(number & 127).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_of_polygons_are_left_out() {
        let arc =
            [(17_900, 10), (18_000, 20), (18_000, 30), (17_900, 40), (0, -9_000), (5, -9_000), (6, -8_000)];
        assert_eq!(
            without_borders(&arc),
            [
                vec![(17_900, 10), (18_000, 20)],
                vec![(18_000, 30), (17_900, 40), (0, -9_000)],
                vec![(5, -9_000), (6, -8_000)]
            ]
        );
    }

    #[test]
    fn numbers_have_seven_bits_a_byte() {
        let mut bytes = Vec::new();
        write_set(&mut bytes, &[vec![(-1, 64), (300, 64)]]);
        assert_eq!(bytes, [1, 2, 1, 0x80, 1, 0xda, 4, 0]);
    }
}
