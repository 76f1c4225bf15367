//! The coding that a client prefers (RFC 9110, 12.5.3).
use axum::http::{HeaderMap, header};

/// A coding of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentCoding {
    Gzip,
    Zstd,
}

impl ContentCoding {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// The coding with the greatest weight; zstd if both have the same. `None` if the client accepts none of them, or prefers
    /// bodies as they are.
    pub(crate) fn preferred(headers: &HeaderMap) -> Option<Self> {
        let weights = CodingWeights::of(headers);
        let plain = weights.identity.unwrap_or(0);
        let weight = |own: Option<u16>| own.or(weights.others).filter(|own| *own > 0 && *own >= plain);
        match (weight(weights.zstd), weight(weights.gzip)) {
            (Some(zstd), gzip) if gzip.is_none_or(|gzip| zstd >= gzip) => Some(Self::Zstd),
            (_, gzip) => gzip.map(|_| Self::Gzip),
        }
    }
}

/// Weights in thousandths, of the codings that are listed.
#[derive(Default)]
struct CodingWeights {
    zstd: Option<u16>,
    gzip: Option<u16>,
    identity: Option<u16>,
    /// `*`: all codings that are not listed.
    others: Option<u16>,
}

impl CodingWeights {
    fn of(headers: &HeaderMap) -> Self {
        let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let mut weights = Self::default();
        for entry in lists.flat_map(|list| list.split(',')) {
            let mut parts = entry.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default();
            // An entry with a weight that is not a number counts as if it was not there.
            let Some(weight) = parts.try_fold(1000, |weight, part| match part.split_once('=') {
                Some((q, text)) if q.trim().eq_ignore_ascii_case("q") => thousandths(text.trim()),
                _ => Some(weight),
            }) else {
                continue;
            };
            if let Some(own) = weights.named(name) {
                *own = Some(own.unwrap_or(0).max(weight));
            }
        }
        weights
    }

    fn named(&mut self, name: &str) -> Option<&mut Option<u16>> {
        match name.to_ascii_lowercase().as_str() {
            "zstd" => Some(&mut self.zstd),
            "gzip" | "x-gzip" => Some(&mut self.gzip),
            "identity" => Some(&mut self.identity),
            "*" => Some(&mut self.others),
            _ => None,
        }
    }
}

/// A weight: 0 to 1, with at most three digits after the point (RFC 9110, 12.4.2).
fn thousandths(text: &str) -> Option<u16> {
    let (whole, digits) = text.split_once('.').unwrap_or((text, ""));
    if !matches!(whole, "0" | "1") || digits.len() > 3 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{whole}{digits:0<3}").parse().ok().filter(|weight| *weight <= 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn preferred(lists: &[&'static str]) -> Option<ContentCoding> {
        let values = lists.iter().map(|list| (header::ACCEPT_ENCODING, HeaderValue::from_static(list)));
        let mut headers = HeaderMap::new();
        values.for_each(|(name, value)| _ = headers.append(name, value));
        ContentCoding::preferred(&headers)
    }

    #[test]
    fn the_coding_with_the_greatest_weight_is_chosen_and_zstd_if_they_are_equal() {
        let (gzip, zstd) = (Some(ContentCoding::Gzip), Some(ContentCoding::Zstd));
        for (list, chosen) in [
            ("", None),
            ("deflate", None),
            ("br, deflate", None),
            ("gzip", gzip),
            ("x-gzip", gzip),
            ("GZIP;q=0.5", gzip),
            ("zstd", zstd),
            ("gzip, deflate, br, zstd", zstd),
            ("gzip;q=1.0, zstd;q=0.999", gzip),
            ("gzip;q=0.5, zstd;q=0.5", zstd),
            ("gzip ; Q = 0.8 , zstd ; q=0.7", gzip),
            ("zstd;q=0, gzip", gzip),
            ("zstd;q=0.000, gzip;q=0", None),
            ("gzip;q=0", None),
            ("*", zstd),
            ("*;q=0", None),
            ("*;q=0, gzip;q=0.1", gzip),
            ("gzip, *;q=0.5", gzip),
            ("gzip;q=0.5, *", zstd),
            ("zstd;q=0, *", gzip),
            ("identity", None),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip;q=0.5", gzip),
            ("identity;q=0, gzip;q=0.1", gzip),
            ("gzip;q=2", None),
            ("gzip;q=1.001", None),
            ("gzip;q=0.1234", None),
            ("gzip;q=-1", None),
            ("gzip;q=", None),
            ("zstd;q=x, gzip", gzip),
            ("gzip;level=9;q=0.1, zstd;q=0.05", gzip),
        ] {
            assert_eq!(preferred(&[list]), chosen, "{list:?}");
        }
        assert_eq!(preferred(&["gzip", "zstd;q=0.3"]), gzip);
        assert_eq!(preferred(&["gzip;q=0.2", "br, zstd;q=0.3"]), zstd);
    }
}
