//! What is at an address where no dataset was found.
use ncirrus_layout::{
    Detail, Error, ErrorKind, Found as Kind, ObjectBytes, ObjectId, Stall, Step, View, Want,
};

/// What was found instead of a dataset.
pub(super) enum FoundInstead {
    Nothing,
    Empty,
    EmptyDirectory,
    Zip,
    Page(WebPage),
    Prefix,
    Object(Vec<u8>),
}

/// A web page.
pub(super) struct WebPage {
    title: Option<String>,
    asks_to_log_in: bool,
}

/// Bytes that are examined.
const SNIFFED: u64 = 8 << 10;

/// Whether a zip file was found: then its contents must be requested.
pub(crate) fn is_zip(error: &Error) -> bool {
    error.detail() == Some(&Detail::Found(Kind::Zip))
}

/// Examines the object, then looks for names below it.
pub(super) fn look(view: &dyn View, root: &ObjectId, lists: bool) -> Step<FoundInstead> {
    match view.read(root, Want::Parse(0..SNIFFED)) {
        Ok(Some(blob)) => return Ok(FoundInstead::of(&blob)),
        Ok(None) => {}
        Err(Stall::Fail(error)) if error.kind() == ErrorKind::Invalid => {}
        Err(stall) => return Err(stall),
    }
    if lists && !view.list(root, None)?.entries.is_empty() {
        return Ok(FoundInstead::Prefix);
    }
    Ok(FoundInstead::Nothing)
}

/// Whether it is known what is at the address itself, or that it cannot be read, and nothing can be below. An empty
/// object may represent a folder if something below it was just as likely.
pub(super) fn is_all(view: &dyn View, root: &ObjectId, root_first: bool) -> bool {
    match view.read(root, Want::Parse(0..SNIFFED)) {
        Ok(Some(blob)) if blob.size == 0 => root_first,
        Ok(Some(blob)) => !FoundInstead::of(&blob).may_be_folder(),
        Ok(None) | Err(Stall::Need(_)) => false,
        // A folder that cannot be read itself may contain objects that can.
        Err(Stall::Fail(error)) => {
            !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Denied | ErrorKind::Invalid)
        }
    }
}

impl FoundInstead {
    fn of(blob: &ObjectBytes) -> Self {
        let first = blob.bytes.as_ref();
        let text = String::from_utf8_lossy(first);
        let start: String = text.trim_start_matches('\u{feff}').trim_start().chars().take(14).collect();
        match first {
            [] => Self::Empty,
            _ if ncirrus_store::looks_like_zip(first) => Self::Zip,
            _ if ["<!doctype html", "<html"].iter().any(|tag| start.to_lowercase().starts_with(tag)) => {
                Self::Page(WebPage::of(&text))
            }
            _ => Self::Object(first.iter().take(8).copied().collect()),
        }
    }

    /// Whether a server may have sent this for a folder: a list of its contents, or nothing.
    fn may_be_folder(&self) -> bool {
        match self {
            Self::Page(page) => page.is_index(),
            Self::Object(first) => matches!(first.first(), Some(b'<' | b'[' | b'{')),
            Self::Zip => false,
            Self::Nothing | Self::Empty | Self::EmptyDirectory | Self::Prefix => true,
        }
    }

    /// The error that it is not a dataset of one of these formats.
    pub(super) fn describe(&self, formats: &str) -> Error {
        match self {
            Self::Nothing => Error::not_found("no such object or directory"),
            Self::Page(page) => found(Kind::Page, page.describe()),
            Self::Zip => found(Kind::Zip, "a zip file without a dataset of a known format"),
            Self::Empty => found(Kind::EmptyObject, "an empty object, not a dataset"),
            Self::EmptyDirectory => found(Kind::EmptyDirectory, "an empty directory, not a dataset"),
            Self::Prefix => found(
                Kind::Directory,
                format!("a directory that is not a dataset of a known format ({formats})"),
            ),
            Self::Object(first) => match other_format(first) {
                Some(reported) => Error::unsupported(reported).with_detail(Detail::Found(Kind::OtherFormat)),
                None => found(
                    Kind::OtherFormat,
                    format!("not a dataset of a known format ({formats}); it starts with {first:02x?}"),
                ),
            },
        }
    }
}

fn found(kind: Kind, message: impl Into<String>) -> Error {
    Error::malformed(message).with_detail(Detail::Found(kind))
}

/// A format that is known not to be supported, recognized by its first bytes.
fn other_format(first: &[u8]) -> Option<&'static str> {
    match first {
        [b'P', b'A', b'R', b'1', ..] => {
            Some("a single Parquet file: references in Parquet are a folder with a file .zmetadata")
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Some("compressed by Zstandard as a whole: decompress it first (zstd -d)")
        }
        [0x1f, 0x8b, ..] => Some("compressed by gzip as a whole: decompress it first (gunzip)"),
        _ => None,
    }
}

impl WebPage {
    fn of(text: &str) -> Self {
        // Has the same length as the text.
        let lower = text.to_ascii_lowercase();
        let title = lower.find("<title>").map(|at| at + "<title>".len()).and_then(|start| {
            let end = start + lower.get(start..)?.find("</title")?;
            let words: Vec<&str> = text.get(start..end)?.split_whitespace().collect();
            Some(words.join(" ").chars().take(LONGEST_TITLE).collect::<String>())
        });
        let title = title.filter(|title| !title.is_empty());
        let asks_to_log_in = PASSWORDS.iter().any(|field| lower.contains(field))
            || title.as_ref().is_some_and(|title| {
                let title = title.to_lowercase();
                LOGINS.iter().any(|word| title.contains(word))
            });
        Self { title, asks_to_log_in }
    }

    /// Whether the page lists the contents of a folder.
    fn is_index(&self) -> bool {
        let title = self.title.as_deref().unwrap_or_default().to_lowercase();
        INDEXES.iter().any(|start| title.starts_with(start))
    }

    fn describe(&self) -> String {
        let what = if self.asks_to_log_in { " to log in" } else { "" };
        let title = self.title.as_ref().map(|title| format!(": {title:?}")).unwrap_or_default();
        format!("an HTML page{what}, not data{title}")
    }
}

const LONGEST_TITLE: usize = 80;
/// Beginnings of titles of pages that list the contents of a folder.
const INDEXES: [&str; 3] = ["index", "directory", "listing"];
/// Words in titles of login pages.
const LOGINS: [&str; 5] = ["login", "log in", "sign in", "sign-in", "single sign"];
/// Password fields.
const PASSWORDS: [&str; 2] = ["type=\"password\"", "type='password'"];

#[cfg(test)]
mod tests;
