//! Endpoints of object stores that have aliases in the configuration.
use super::{ProcessEnvironment, SecretText, ValueOrigin, parse_duration, parse_size};
use ncirrus_store::Url;
use std::time::Duration;

/// An endpoint of an S3-compatible server and its settings: the meaning of `s3://alias/bucket/key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSettings {
    /// Scheme, host and port.
    pub endpoint: String,
    /// Access key.
    pub access_key: Option<SecretText>,
    /// Secret key.
    pub secret_key: Option<SecretText>,
    /// Session token.
    pub session_token: Option<SecretText>,
    /// Profile of Amazon's files, instead of keys.
    pub profile: Option<String>,
    /// Region.
    pub region: Option<String>,
    /// Whether requests are never signed.
    pub anonymous: bool,
    /// Whether you pay for requests to requester-pays buckets.
    pub requester_pays: Option<bool>,
    /// Whether the bucket is part of the host name.
    pub virtual_hosted: bool,
    /// S3netCDF4's name of the protocol backend; its settings come from the table of that name.
    pub backend: Option<String>,
    /// Timeouts and transfer settings.
    pub transfer: TransferSettings,
    /// Where it is defined.
    pub origin: ValueOrigin,
}

/// Timeouts and transfer settings; unset ones default to those of the session. `multipart_download` is kept but has
/// no effect: reads ask for the ranges that they need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransferSettings {
    /// Part size in bytes.
    pub part_size: Option<u64>,
    /// Parts in flight.
    pub parts: Option<u32>,
    /// Connection timeout.
    pub connect_timeout: Option<Duration>,
    /// Timeout for an answer.
    pub timeout: Option<Duration>,
    /// Whether large objects are fetched in parts.
    pub multipart_download: Option<bool>,
    /// Whether large objects are sent in parts.
    pub multipart_upload: Option<bool>,
}

impl HostSettings {
    pub(super) fn new(origin: ValueOrigin) -> Self {
        Self {
            endpoint: String::new(),
            access_key: None,
            secret_key: None,
            session_token: None,
            profile: None,
            region: None,
            anonymous: false,
            requester_pays: None,
            virtual_hosted: false,
            backend: None,
            transfer: TransferSettings::default(),
            origin,
        }
    }

    /// Applies a setting by any of its names; false if there is no such setting.
    pub(super) fn set(&mut self, name: &str, text: &str) -> Result<bool, String> {
        let secret = || Some(SecretText::new(text));
        match name {
            "url" | "endpoint" | "endpoint_url" => self.endpoint = endpoint(text)?,
            "access_key" | "accessKey" | "aws_access_key_id" => self.access_key = secret(),
            "secret_key" | "secretKey" | "aws_secret_access_key" => self.secret_key = secret(),
            "session_token" | "sessionToken" | "aws_session_token" => self.session_token = secret(),
            "profile" => self.profile = Some(text.to_owned()),
            "region" | "aws_region" => self.region = Some(text.to_owned()),
            "anonymous" => self.anonymous = super::key::flag(text)?,
            "requester_pays" => self.requester_pays = Some(super::key::flag(text)?),
            "virtual_hosted" => self.virtual_hosted = super::key::flag(text)?,
            "backend" => self.backend = Some(text.to_owned()),
            // S3netCDF4 writes them and never reads them.
            "alias" | "api" => {}
            _ => return self.transfer.set(name, text),
        }
        Ok(true)
    }

    /// Errors in the definition as a whole.
    pub(super) fn fault(&self) -> Option<&'static str> {
        if self.endpoint.is_empty() {
            return Some("has no url");
        }
        (self.access_key.is_some() != self.secret_key.is_some()).then_some("has only one of the two keys")
    }
}

/// Minimum size of a part except the last (Amazon).
const MIN_PART: u64 = 5 << 20;
/// Maximum size of a part: several of them are held in memory at once.
const MAX_PART: u64 = 512 << 20;
/// Maximum number of parts in flight.
const MAX_AT_ONCE: u32 = 64;

impl TransferSettings {
    /// The effective part size: from 5 to 512 MiB.
    pub fn part_bytes(&self) -> Option<u64> {
        self.part_size.map(|size| size.clamp(MIN_PART, MAX_PART))
    }

    /// The effective number of parts in flight: from 1 to 64.
    pub fn at_once(&self) -> Option<usize> {
        self.parts.and_then(|parts| usize::try_from(parts.clamp(1, MAX_AT_ONCE)).ok())
    }

    /// Whether objects are sent in parts.
    pub fn sends_parts(&self) -> bool {
        self.multipart_upload != Some(false)
    }

    /// Applies a setting by any of its names; false if there is no such setting.
    pub(super) fn set(&mut self, name: &str, text: &str) -> Result<bool, String> {
        match name {
            "part_size" | "maximum_part_size" => self.part_size = Some(parse_size(text)?),
            "parts" | "maximum_parts" => {
                self.parts = Some(text.trim().parse().map_err(|_| format!("{text:?} is not a number"))?);
            }
            "connect_timeout" => self.connect_timeout = Some(parse_duration(text)?),
            "timeout" | "read_timeout" => self.timeout = Some(parse_duration(text)?),
            "multipart_download" | "enable_multipart_download" => {
                self.multipart_download = Some(super::key::flag(text)?);
            }
            "multipart_upload" | "enable_multipart_upload" => {
                self.multipart_upload = Some(super::key::flag(text)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Fills in unset fields from the other.
    pub(super) fn or(&mut self, other: &Self) {
        self.part_size = self.part_size.or(other.part_size);
        self.parts = self.parts.or(other.parts);
        self.connect_timeout = self.connect_timeout.or(other.connect_timeout);
        self.timeout = self.timeout.or(other.timeout);
        self.multipart_download = self.multipart_download.or(other.multipart_download);
        self.multipart_upload = self.multipart_upload.or(other.multipart_upload);
    }
}

/// Scheme, host and port of a URL; `https` if it has no scheme.
pub fn endpoint(text: &str) -> Result<String, String> {
    let text = text.trim().trim_end_matches('/');
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let url = Url::parse(&with_scheme).map_err(|error| error.message().to_owned())?;
    if !url.is_http() {
        return Err(format!("{url} is not an HTTP URL"));
    }
    Ok(url.to_string().trim_end_matches('/').to_owned())
}

/// A web server and the credentials for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebServerSettings {
    /// User.
    pub user: Option<String>,
    /// Password.
    pub password: Option<SecretText>,
    /// Bearer token.
    pub bearer: Option<SecretText>,
    /// Where it is defined.
    pub origin: Option<ValueOrigin>,
}

impl WebServerSettings {
    /// Applies a setting; false if there is no such setting.
    pub(super) fn set(
        &mut self,
        name: &str,
        text: &str,
        environment: &ProcessEnvironment,
    ) -> Result<bool, String> {
        match name {
            "user" => self.user = Some(text.to_owned()),
            "password" => self.password = Some(SecretText::new(text)),
            "bearer" => self.bearer = Some(SecretText::new(text)),
            "bearer_variable" => {
                // The user may have put the token itself here.
                let token = environment.variable(text).ok_or("no such environment variable is set")?;
                self.bearer = Some(SecretText::new(token));
            }
            "bearer_file" => {
                let path = environment.expanded(text);
                let token = environment.text(&path)?.ok_or_else(|| format!("there is no {text}"))?;
                self.bearer = Some(SecretText::new(token.trim()));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
