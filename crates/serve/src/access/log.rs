//! The access log: a line for each response, in the combined format of web servers, with its milliseconds
//! and the cause of an error at the end.
use axum::extract::Request;
use axum::http::{Method, StatusCode, Uri, header};
use ncirrus::layout::LockExt;
use std::fmt::Write as _;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

/// Where lines go.
pub struct AccessLog(Option<Mutex<Box<dyn Write + Send>>>);

impl AccessLog {
    /// No log.
    pub fn none() -> Self {
        Self(None)
    }

    /// A line for each response to `out`.
    pub fn to(out: impl Write + Send + 'static) -> Self {
        Self(Some(Mutex::new(Box::new(out))))
    }

    pub(crate) fn write(&self, record: &AccessRecord, sent: u64, is_complete: bool) {
        let Some(out) = &self.0 else { return };
        let line = record.line(sent, is_complete);
        let mut out = out.guard();
        // Responses do not depend on the log.
        _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}

/// What is logged of a response.
pub(crate) struct AccessRecord {
    client: Option<IpAddr>,
    method: Method,
    uri: Uri,
    agent: String,
    begun: Instant,
    status: StatusCode,
    cause: Option<String>,
}

impl AccessRecord {
    pub(crate) fn new(request: &Request, client: Option<IpAddr>, begun: Instant) -> Self {
        let agent = request.headers().get(header::USER_AGENT);
        let agent =
            agent.map(|agent| String::from_utf8_lossy(agent.as_bytes()).into_owned()).unwrap_or_default();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        Self { client, method, uri, agent, begun, status: StatusCode::OK, cause: None }
    }

    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Why the response is an error, or ended early.
    pub(crate) fn cause(mut self, cause: Option<String>) -> Self {
        self.cause = cause.or(self.cause);
        self
    }

    pub(crate) fn status_code(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == Method::HEAD
    }

    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn line(&self, sent: u64, is_complete: bool) -> String {
        let client = self.client.map_or_else(|| "-".to_owned(), |client| client.to_string());
        let time = httpdate::fmt_http_date(SystemTime::now());
        let mut target = String::new();
        escape(&self.uri.to_string(), &mut target);
        let mut agent = String::new();
        escape(&self.agent, &mut agent);
        let cut = if is_complete { "" } else { " cut" };
        let mut cause = String::new();
        if let Some(text) = &self.cause {
            cause.push_str(" \"");
            escape(text, &mut cause);
            cause.push('"');
        }
        format!(
            "{client} - - [{time}] \"{} {target} HTTP/1.1\" {} {sent} \"-\" \"{agent}\" {}ms{cut}{cause}\n",
            self.method,
            self.status.as_u16(),
            self.begun.elapsed().as_millis()
        )
    }
}

/// A text of a client in a line: no control characters, no quotes, not endless.
fn escape(text: &str, out: &mut String) {
    for letter in text.chars().take(2048) {
        match letter {
            '"' | '\\' => _ = write!(out, "\\{letter}"),
            letter if letter.is_control() => _ = write!(out, "{}", letter.escape_default()),
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_line() {
        let mut out = String::new();
        escape("a\"b\n\u{1b}[31m", &mut out);
        assert_eq!(out, "a\\\"b\\n\\u{1b}[31m");
    }
}
