//! Hosts of Amazon S3: forms 1 to 4 of docs/spec/nczarr.md 8.8, dual-stack, China's, and the old ones with a dash.

/// The bucket and region in a host name of Amazon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AmazonHost<'a> {
    /// How many labels at the front are the name of the bucket; if none, it is the first segment of the path.
    pub(super) bucket_labels: usize,
    pub(super) region: Option<&'a str>,
}

/// Parses a host in lower case; `None` if it is not one of S3's.
pub(super) fn server(host: &str) -> Option<AmazonHost<'_>> {
    let host = host.strip_suffix(".amazonaws.com").or_else(|| host.strip_suffix(".amazonaws.com.cn"))?;
    let labels: Vec<&str> = host.split('.').collect();
    let service = |(at, label): (usize, &&'_ str)| Some((at, service(label)?));
    let (bucket_labels, has_region) = labels.iter().enumerate().rev().find_map(service)?;
    let after = labels.iter().skip(bucket_labels + 1).copied().find(|label| *label != "dualstack");
    let within = || labels.get(bucket_labels)?.strip_prefix("s3-").filter(|_| has_region);
    Some(AmazonHost { bucket_labels, region: after.or_else(within) })
}

/// Whether the label of the service also names the region, as `s3-us-west-2` does; `None` for other labels.
fn service(label: &str) -> Option<bool> {
    match label.strip_prefix("s3-") {
        Some("accelerate" | "external-1") => Some(false),
        Some(region) => is_region(region).then_some(true),
        None => (label == "s3").then_some(false),
    }
}

/// Whether a text looks like `us-east-1` or `us-gov-west-1`.
fn is_region(text: &str) -> bool {
    let (place, number) = text.rsplit_once('-').unwrap_or_default();
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let has_country = place.split_once('-').is_some_and(|(country, _)| country.len() == 2);
    has_country && place.split('-').all(is_word) && number.parse::<u8>().is_ok()
}
