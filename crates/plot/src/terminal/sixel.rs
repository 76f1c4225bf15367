//! Sixel graphics (DEC STD 070): bands of six rows, each colour of a band as a row of characters.
use std::collections::HashMap;
use std::fmt::Write as _;
use tiny_skia::Pixmap;

/// Terminals have at least so many colours.
const COLOURS: usize = 255;

/// Pixels as sixels; transparent ones are left as they are on the screen.
pub(super) fn encode(pixmap: &Pixmap) -> Vec<u8> {
    let (width, height) = (pixmap.width() as usize, pixmap.height() as usize);
    let pixels: Vec<Option<[u8; 3]>> = pixmap.pixels().iter().map(coarse).collect();
    let palette = palette(&pixels);
    let mut known = HashMap::new();
    let mut number_of = |colour: [u8; 3]| *known.entry(colour).or_insert_with(|| nearest(&palette, colour));
    let numbers: Vec<Option<usize>> = pixels.iter().map(|pixel| pixel.map(&mut number_of)).collect();
    let mut text = format!("\x1bP0;1;0q\"1;1;{width};{height}");
    for (number, colour) in palette.iter().enumerate() {
        let [red, green, blue] = colour.map(|part| (u32::from(part) * 100 + 127) / 255);
        _ = write!(text, "#{number};2;{red};{green};{blue}");
    }
    for band in numbers.chunks(width.max(1) * 6) {
        write_band(&mut text, band, width);
        text.push('-');
    }
    text.push_str("\x1b\\\n");
    text.into_bytes()
}

/// A colour in steps of eight, so that few remain; `None` for transparent pixels.
fn coarse(pixel: &tiny_skia::PremultipliedColorU8) -> Option<[u8; 3]> {
    if pixel.alpha() < 128 {
        return None;
    }
    let colour = pixel.demultiply();
    Some(
        [colour.red(), colour.green(), colour.blue()].map(|part| if part >= 248 { 255 } else { part & 0xf8 }),
    )
}

/// The most frequent colours.
fn palette(pixels: &[Option<[u8; 3]>]) -> Vec<[u8; 3]> {
    let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
    pixels.iter().flatten().for_each(|colour| *counts.entry(*colour).or_default() += 1);
    let mut colours: Vec<([u8; 3], usize)> = counts.into_iter().collect();
    colours.sort_unstable_by_key(|(colour, count)| (std::cmp::Reverse(*count), *colour));
    colours.into_iter().take(COLOURS).map(|(colour, _)| colour).collect()
}

fn nearest(palette: &[[u8; 3]], colour: [u8; 3]) -> usize {
    let distance = |known: &[u8; 3]| {
        known.iter().zip(colour).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum::<u32>()
    };
    palette.iter().enumerate().min_by_key(|(_, known)| distance(known)).map_or(0, |(number, _)| number)
}

fn write_band(text: &mut String, band: &[Option<usize>], width: usize) {
    let mut colours: Vec<usize> = band.iter().flatten().copied().collect();
    colours.sort_unstable();
    colours.dedup();
    for (place, colour) in colours.into_iter().enumerate() {
        if place > 0 {
            text.push('$');
        }
        _ = write!(text, "#{colour}");
        let sixel = |column: usize| {
            let rows = band.iter().skip(column).step_by(width.max(1)).enumerate();
            rows.filter(|(_, number)| **number == Some(colour)).fold(0u8, |bits, (row, _)| bits | 1 << row)
        };
        write_runs(text, (0..width).map(sixel));
    }
}

/// Characters, with repeated ones counted.
fn write_runs(text: &mut String, sixels: impl Iterator<Item = u8>) {
    let mut run: Option<(u8, usize)> = None;
    let mut flush = |run: Option<(u8, usize)>| {
        let Some((sixel, count)) = run else { return };
        let letter = char::from(sixel + 63);
        if count > 3 {
            _ = write!(text, "!{count}{letter}");
        } else {
            text.extend(std::iter::repeat_n(letter, count));
        }
    };
    for sixel in sixels {
        run = match run {
            Some((before, count)) if before == sixel => Some((sixel, count + 1)),
            other => {
                flush(other);
                Some((sixel, 1))
            }
        };
    }
    // What remains of a row is empty.
    flush(run.filter(|(sixel, _)| *sixel != 0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_picture_is_encoded() {
        let mut pixmap = Pixmap::new(5, 7).unwrap();
        pixmap.fill(tiny_skia::Color::from_rgba8(255, 0, 0, 255));
        let text = String::from_utf8(encode(&pixmap)).unwrap();
        assert_eq!(text, "\x1bP0;1;0q\"1;1;5;7#0;2;100;0;0#0!5~-#0!5@-\x1b\\\n");
    }

    #[test]
    fn transparent_pixels_are_left_out() {
        let pixmap = Pixmap::new(4, 6).unwrap();
        assert_eq!(String::from_utf8(encode(&pixmap)).unwrap(), "\x1bP0;1;0q\"1;1;4;6-\x1b\\\n");
    }
}
