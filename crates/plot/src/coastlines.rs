//! Coastlines of Natural Earth (public domain), 1:110m and 1:50m, as `cargo xtask coastlines` converts them.
//!
//! The file begins with [`MAGIC`]. Each of the two sets is a number of lines; each line is a number of points and, for each
//! point, the steps of longitude and latitude from the point before it, across lines. All numbers are integers of 7 bits a
//! byte, least significant first; steps are zigzag-coded hundredths of a degree. The first point of a set counts from 0.
use std::fmt;

/// The first bytes of the file.
const MAGIC: &[u8; 8] = b"NCCOAST1";
/// The file.
static DATA: &[u8] = include_bytes!("../data/coastlines.bin");

/// A line has at most this many points, and a set this many lines.
const MAX: u64 = 1 << 20;

/// How detailed coastlines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// 1:110m, for maps of the globe and of continents.
    Coarse,
    /// 1:50m, for maps of regions.
    Fine,
}

/// Lines of longitudes from -180 to 180 and latitudes, in degrees.
#[derive(Debug, Clone, PartialEq)]
pub struct Coastlines {
    /// Lines of points: longitude, latitude.
    pub lines: Vec<Vec<(f64, f64)>>,
}

/// Why coastlines cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoastlineError {
    /// What is wrong.
    pub message: &'static str,
    /// The byte at which it was found.
    pub offset: usize,
}

impl fmt::Display for CoastlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "coastlines: {} at byte {}", self.message, self.offset)
    }
}

impl Coastlines {
    /// The coastlines that this crate contains.
    ///
    /// # Errors
    /// If the file that was compiled in is damaged.
    pub fn of(detail: Detail) -> Result<Self, CoastlineError> {
        Self::decode(DATA, detail)
    }

    /// Decodes a set of a file.
    ///
    /// # Errors
    /// If the bytes are not such a file.
    pub fn decode(bytes: &[u8], detail: Detail) -> Result<Self, CoastlineError> {
        if !bytes.starts_with(MAGIC) {
            return Err(CoastlineError { message: "the first bytes are wrong", offset: 0 });
        }
        let mut input = Input { bytes, at: MAGIC.len() };
        let coarse = input.set()?;
        match detail {
            Detail::Coarse => Ok(coarse),
            Detail::Fine => input.set(),
        }
    }
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn set(&mut self) -> Result<Coastlines, CoastlineError> {
        let count = self.count()?;
        let mut lines = Vec::new();
        let (mut lon, mut lat) = (0i64, 0i64);
        for _ in 0..count {
            let points = self.count()?;
            let mut line: Vec<(f64, f64)> = Vec::new();
            for _ in 0..points {
                let before = lon;
                lon = lon.saturating_add(self.step()?);
                lat = lat.saturating_add(self.step()?);
                if !(-18_000..=18_000).contains(&lon) || !(-9_000..=9_000).contains(&lat) {
                    return Err(self.fault("a point is not on the globe"));
                }
                // Land on both sides of the antimeridian is one line, which goes around the globe there.
                if lon.abs_diff(before) > 18_000 && !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                line.push((lon as f64 / 100.0, lat as f64 / 100.0));
            }
            lines.push(line);
        }
        lines.retain(|line| line.len() > 1);
        Ok(Coastlines { lines })
    }

    fn fault(&self, message: &'static str) -> CoastlineError {
        CoastlineError { message, offset: self.at }
    }

    /// A number of lines or points. Each needs a byte, so that a wrong one ends with the input.
    fn count(&mut self) -> Result<u64, CoastlineError> {
        let count = self.number()?;
        if count > MAX { Err(self.fault("a number is too large")) } else { Ok(count) }
    }

    fn step(&mut self) -> Result<i64, CoastlineError> {
        let number = self.number()?;
        let half = i64::try_from(number >> 1).map_err(|_| self.fault("a step is too large"))?;
        Ok(if number & 1 == 1 { -half - 1 } else { half })
    }

    fn number(&mut self) -> Result<u64, CoastlineError> {
        let mut number = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = *self.bytes.get(self.at).ok_or_else(|| self.fault("the file ends early"))?;
            self.at += 1;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(number);
            }
        }
        Err(self.fault("a number has more than 35 bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sets_decode_and_the_file_is_small() {
        assert!(DATA.len() <= 250_000, "{}", DATA.len());
        let coarse = Coastlines::of(Detail::Coarse).unwrap();
        let fine = Coastlines::of(Detail::Fine).unwrap();
        let points = |set: &Coastlines| set.lines.iter().map(Vec::len).sum::<usize>();
        assert!(points(&coarse) > 4_000 && points(&fine) > 50_000);
        let steps = |set: &Coastlines| {
            let steps =
                set.lines.iter().flat_map(|line| line.windows(2)).map(|step| (step[1].0 - step[0].0).abs());
            steps.fold(0.0, f64::max)
        };
        assert!(steps(&coarse) < 90.0 && steps(&fine) < 90.0, "no line crosses the map");
        // Land's End: in the fine set a point is within a tenth of a degree.
        let near = |set: &Coastlines| {
            let points = set.lines.iter().flatten();
            points.map(|(lon, lat)| (lon + 5.7).abs() + (lat - 50.07).abs()).fold(f64::MAX, f64::min)
        };
        assert!(near(&fine) < 0.1, "{}", near(&fine));
    }

    #[test]
    fn damaged_files_are_errors() {
        for end in (0..DATA.len()).step_by(997) {
            assert!(Coastlines::decode(&DATA[..end], Detail::Fine).is_err(), "{end}");
        }
        let wrong = |bytes: &[u8]| {
            Coastlines::decode(&[MAGIC.as_slice(), bytes].concat(), Detail::Coarse).unwrap_err().message
        };
        assert_eq!(wrong(&[1, 1, 255, 255, 255, 255, 255]), "a number has more than 35 bits");
        assert_eq!(wrong(&[255, 255, 255, 255, 1]), "a number is too large");
        assert_eq!(wrong(&[1, 1, 255, 255, 127, 0]), "a point is not on the globe");
    }
}
