//! What killed writers leave in a bucket.
use super::fault::Fault;
use super::{CloudStore, path_of};
use crate::key;
use crate::net::Failure;
use futures_util::TryStreamExt;
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result};
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody};
use std::time::{Duration, SystemTime};

/// Asks for what the client of the provider does not know.
pub(super) struct Asking {
    /// The address of the bucket.
    bucket: String,
    /// Signs what it sends.
    client: HttpClient,
}

/// An upload in parts that was begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// The object that it was to become.
    pub(crate) object: ObjectId,
    /// What the provider calls it.
    pub(crate) id: String,
    /// When it was begun.
    pub(crate) since: SystemTime,
}

impl Asking {
    pub(super) fn new(bucket: String, client: HttpClient) -> Self {
        Self { bucket, client }
    }

    /// The answer to a question about the whole bucket.
    async fn ask(&self, query: Vec<(String, String)>) -> std::result::Result<String, Fault> {
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        let url = format!("{}?{}", self.bucket, query.join("&"));
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        let failed = |what: &str| Fault::Other(Error::new(ErrorKind::Io { retryable: false }, what));
        *request.uri_mut() = url.parse().map_err(|_| failed("an address that is none"))?;
        let answer = self.client.execute(request).await;
        let answer = answer.map_err(|error| match Failure::below(&error) {
            Some(failure) => Fault::Failed(failure.error.clone()),
            None => failed("the server cannot be reached"),
        })?;
        let status = answer.status();
        let body = answer.into_body().bytes().await.map_err(|_| failed("the answer was cut"))?;
        let text = String::from_utf8_lossy(&body).into_owned();
        match status.as_u16() {
            200..300 => Ok(text),
            401 | 403 => Err(Fault::Denied("the unfinished uploads cannot be listed".to_owned())),
            501 => Err(Fault::Other(Error::unsupported("the server does not list unfinished uploads"))),
            other => Err(Fault::Other(Error::new(
                ErrorKind::Io { retryable: false },
                format!("the unfinished uploads cannot be listed: status {other}"),
            ))),
        }
    }
}

impl CloudStore {
    /// Uploads in parts below (and at) a prefix that were not ended; `None` where they cannot be asked for.
    pub(crate) async fn unfinished(&self, prefix: &ObjectId) -> Result<Option<Vec<Unfinished>>> {
        let Some(asking) = &self.other else { return Ok(None) };
        let key = key::check(prefix)?;
        let (mut found, mut after) = (Vec::new(), Vec::new());
        loop {
            let mut query =
                vec![("uploads".to_owned(), String::new()), ("prefix".to_owned(), key.to_owned())];
            query.append(&mut after);
            let page = asking.ask(query).await.map_err(|fault| fault.at(prefix))?;
            found.extend(uploads(&page).filter_map(|(key, id, since)| {
                Some(Unfinished { object: self.root().child(&key), id, since: since? })
            }));
            let next = |name| element(&page, name).filter(|text| !text.is_empty());
            match (next("IsTruncated"), next("NextKeyMarker"), next("NextUploadIdMarker")) {
                (Some("true"), Some(key), Some(id)) => {
                    after = vec![
                        ("key-marker".to_owned(), unescaped(key)),
                        ("upload-id-marker".to_owned(), id.to_owned()),
                    ];
                }
                _ => break,
            }
        }
        let below = key::folder(key);
        found.retain(|upload| upload.object.key() == key || upload.object.key().starts_with(&below));
        Ok(Some(found))
    }

    /// Ends an upload without an object.
    pub(crate) async fn abandon(&self, upload: &Unfinished) -> Result<()> {
        let Some(parts) = &self.parts else { return Ok(()) };
        let path = path_of(&upload.object)?;
        match parts.abort_multipart(&path, &upload.id).await.map_err(Fault::from) {
            Ok(()) | Err(Fault::Absent) => Ok(()),
            Err(fault) => Err(fault.at(&upload.object)),
        }
    }

    /// Every object below (and at) a prefix, with the time of its last change.
    pub(crate) async fn dated_below(&self, prefix: &ObjectId) -> Result<Vec<(ObjectId, SystemTime)>> {
        let path = path_of(prefix)?;
        let (root, objects) = (self.root(), self.objects.list(Some(&path)));
        let told = objects.map_ok(|meta| {
            let seconds = u64::try_from(meta.last_modified.timestamp()).unwrap_or(0);
            (root.child(meta.location.as_ref()), SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        });
        told.try_collect().await.map_err(|error| Fault::from(error).at(prefix))
    }
}

/// Key, identifier and time of the uploads of an answer.
fn uploads(page: &str) -> impl Iterator<Item = (String, String, Option<SystemTime>)> {
    page.split("<Upload>").skip(1).filter_map(|upload| {
        let (key, id) = (element(upload, "Key")?, element(upload, "UploadId")?);
        Some((unescaped(key), unescaped(id), element(upload, "Initiated").and_then(time)))
    })
}

fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once("</").map(|(text, _)| text)
}

fn unescaped(text: &str) -> String {
    let pairs =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// A time such as `2026-01-31T12:00:00.000Z`.
fn time(text: &str) -> Option<SystemTime> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Years begin in March, so that a leap day is their last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
}

/// Text as it stands in a query.
fn escaped(text: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let one = |byte: u8| if is_plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T12:34:56Z", 951_827_696),
            ("2026-01-31T12:00:00.000Z", 1_769_860_800),
        ] {
            assert_eq!(time(text), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(time("2026"), None);
    }

    #[test]
    fn uploads_are_read_from_the_answer() {
        let page = "<R><Upload><Key>a/b&amp;c</Key><UploadId>x</UploadId><Initiated>1970-01-01T00:00:01Z</Initiated>\
                    </Upload><Upload><Key>d</Key></Upload></R>";
        let found: Vec<_> = uploads(page).collect();
        let since = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        assert_eq!(found, [("a/b&c".to_owned(), "x".to_owned(), Some(since))]);
    }
}
