//! Profile and credentials for S3, with one order of precedence.
use super::bucket::{BucketIdentity, SourcedValue};
use super::context::CloudContext;
use super::source::{CredentialSource, ENVIRONMENT, StaticKeys, missing};
use crate::profile::{ProfileFiles, ProfileSection};
use ncirrus_config::{ConfigKey, ConfigSettings, ProcessEnvironment};
use ncirrus_layout::{Error, Result};
use ncirrus_store::{BucketUrl, Credentials, UrlFragment};

/// The bucket, and the sources of its settings.
pub(super) struct IdentityQuery<'a> {
    pub(super) bucket: &'a BucketUrl,
    pub(super) fragment: &'a UrlFragment,
    pub(super) context: &'a CloudContext,
    pub(super) profiles: &'a ProfileFiles,
}

/// Names of profiles that mean anonymous.
const ANONYMOUS: [&str; 3] = ["no", "none", "anonymous"];
/// The default profile.
pub(super) const DEFAULT: &str = "default";

impl IdentityQuery<'_> {
    pub(super) fn resolve(&self) -> Result<BucketIdentity> {
        let named = self.named_profile();
        let anonymous = named.as_ref().filter(|named| ANONYMOUS.contains(&named.value.as_str()));
        let profile = match &named {
            Some(named) if anonymous.is_none() => Some(self.existing(named)?),
            _ => None,
        }
        .flatten();
        let (source, credentials, is_chosen) = self.source(profile.as_ref(), anonymous)?;
        let fallback = || {
            let is_there =
                self.profiles.find(ProfileSection::Profile, DEFAULT).is_some() && anonymous.is_none();
            is_there.then(|| SourcedValue::new(DEFAULT, format!("it is in {}", self.profiles.places())))
        };
        let is_named = profile.is_some();
        let profile = profile.or_else(fallback);
        let region = self.region(profile.as_ref(), is_named);
        let endpoint = self.endpoint(profile.as_ref(), &region.value)?;
        Ok(BucketIdentity {
            endpoint,
            region: Some(region),
            anonymous: source == CredentialSource::Anonymous,
            unsigned_retry: !is_chosen && source != CredentialSource::Anonymous,
            requester_pays: self.requester_pays(),
            profile,
            credentials,
            warnings: self.profiles.warnings.clone(),
            source,
        })
    }

    /// The profile that was named: by the URL, netCDF's files, the environment, or the configuration file.
    fn named_profile(&self) -> Option<SourcedValue<String>> {
        if let Some((key, profile)) = self.fragment.profile() {
            return Some(SourcedValue::new(profile, format!("{key} of the URL")));
        }
        let settings = self.settings();
        if let Some(entry) =
            settings.rc_of_bucket("AWS.PROFILE", self.bucket).filter(|entry| !entry.value.is_empty())
        {
            return Some(SourcedValue::new(entry.value, format!("AWS.PROFILE in {}", entry.origin)));
        }
        let profile = settings.text(ConfigKey::Profile).filter(|name| !name.is_empty())?;
        Some(SourcedValue::new(profile, settings.described(ConfigKey::Profile)))
    }

    /// A profile that was named must exist, unless the program or the alias gives the credentials and the URL does
    /// not name the profile; `default` counts as not named.
    fn existing(&self, named: &SourcedValue<String>) -> Result<Option<SourcedValue<String>>> {
        match self.profiles.find(ProfileSection::Profile, &named.value) {
            Some(_) => Ok(Some(named.clone())),
            None if named.value == DEFAULT => Ok(None),
            None if self.fragment.profile().is_none() && self.given()?.is_some() => Ok(None),
            None => {
                let error = missing(self.profiles, &named.value);
                Err(Error::invalid(format!("{} (named by {})", error.message(), named.why)))
            }
        }
    }

    /// The source of the credentials, the reason, and whether they were chosen for this bucket.
    fn source(
        &self,
        profile: Option<&SourcedValue<String>>,
        anonymous: Option<&SourcedValue<String>>,
    ) -> Result<(CredentialSource, SourcedValue<String>, bool)> {
        let reported = |source: CredentialSource, why: String, is_chosen: bool| {
            let credentials = SourcedValue::new(source.to_string(), why);
            Ok((source, credentials, is_chosen))
        };
        // A profile named by the URL takes precedence over the alias.
        let given = match self.fragment.profile() {
            Some(_) => self.of_program()?,
            None => self.given()?,
        };
        if let Some((source, why)) = given {
            return reported(source, why, true);
        }
        if let Some(anonymous) = anonymous {
            return reported(
                CredentialSource::Anonymous,
                format!("profile {:?}: {}", anonymous.value, anonymous.why),
                true,
            );
        }
        if profile.is_none() && self.settings().flag(ConfigKey::Anonymous) == Some(true) {
            return reported(
                CredentialSource::Anonymous,
                self.settings().described(ConfigKey::Anonymous),
                true,
            );
        }
        if let Some(profile) = profile
            && let Some(source) = self.of_profile(&profile.value)?
        {
            return reported(source, format!("profile {:?}: {}", profile.value, profile.why), true);
        }
        if let Some((source, why)) = self.of_alias()? {
            return reported(source, why, true);
        }
        match self.chain()? {
            Some((source, why)) => reported(source, why, profile.is_some()),
            None => match profile {
                Some(profile) => Err(Error::invalid(format!(
                    "profile {:?} has no credentials (named by {})",
                    profile.value, profile.why
                ))),
                None => reported(CredentialSource::Anonymous, "no credentials were found".to_owned(), false),
            },
        }
    }

    /// Credentials given by the program or the alias.
    fn given(&self) -> Result<Option<(CredentialSource, String)>> {
        self.of_program().and_then(|given| given.map_or_else(|| self.of_alias(), |given| Ok(Some(given))))
    }

    fn of_program(&self) -> Result<Option<(CredentialSource, String)>> {
        if self.context.network.options.credentials == Credentials::Anonymous {
            return Ok(Some((CredentialSource::Anonymous, "the program".to_owned())));
        }
        let setting = |name: &str| self.setting(name);
        if let (Some(access), Some(secret)) = (setting("aws_access_key_id"), setting("aws_secret_access_key"))
        {
            let keys = StaticKeys::new(
                access,
                secret,
                setting("aws_session_token").or_else(|| setting("aws_token")),
            )?;
            return Ok(Some((CredentialSource::Keys(keys), "the program".to_owned())));
        }
        if setting("aws_skip_signature").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(Some((CredentialSource::Anonymous, "the program".to_owned())));
        }
        Ok(None)
    }

    fn of_alias(&self) -> Result<Option<(CredentialSource, String)>> {
        let Some((alias, host)) = self.host() else { return Ok(None) };
        let why = format!("alias {alias:?} in {}", host.origin);
        if host.anonymous {
            return Ok(Some((CredentialSource::Anonymous, why)));
        }
        if let (Some(access), Some(secret)) = (&host.access_key, &host.secret_key) {
            let token = host.session_token.as_ref().map(ncirrus_config::SecretText::exposed);
            return Ok(Some((
                CredentialSource::Keys(StaticKeys::new(access.exposed(), secret.exposed(), token)?),
                why,
            )));
        }
        match &host.profile {
            Some(name) if ANONYMOUS.contains(&name.as_str()) => Ok(Some((CredentialSource::Anonymous, why))),
            Some(name) => {
                let none = || Error::invalid(format!("profile {name:?} has no credentials (named by {why})"));
                Ok(Some((self.of_profile(name)?.ok_or_else(none)?, why)))
            }
            None => Ok(None),
        }
    }

    /// Defaults: the environment, the profile `default`, the container, the machine.
    fn chain(&self) -> Result<Option<(CredentialSource, String)>> {
        if let Some(found) = self.environment_keys()? {
            return Ok(Some((found, "AWS_ACCESS_KEY_ID".to_owned())));
        }
        let variable = |name: &str| self.environment().variable(name);
        if let (Some(file), Some(role)) = (variable("AWS_WEB_IDENTITY_TOKEN_FILE"), variable("AWS_ROLE_ARN"))
        {
            let session = variable("AWS_ROLE_SESSION_NAME").map(str::to_owned);
            let source =
                CredentialSource::WebIdentity { file: file.to_owned(), role: role.to_owned(), session };
            return Ok(Some((source, "AWS_WEB_IDENTITY_TOKEN_FILE".to_owned())));
        }
        if self.profiles.find(ProfileSection::Profile, DEFAULT).is_some()
            && let Some(source) = self.of_profile(DEFAULT)?
        {
            return Ok(Some((source, format!("profile \"default\" in {}", self.profiles.places()))));
        }
        let mut container =
            ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"].into_iter();
        if let Some(name) = container.find(|name| variable(name).is_some()) {
            return Ok(Some((CredentialSource::Container, name.to_owned())));
        }
        if self.context.network.options.credentials == Credentials::Chain {
            return Ok(Some((CredentialSource::Instance { must_be: true }, "the program".to_owned())));
        }
        let is_at_amazon = self.environment().is_at_amazon();
        Ok(is_at_amazon.then(|| {
            (CredentialSource::Instance { must_be: false }, "this machine runs at Amazon".to_owned())
        }))
    }

    fn of_profile(&self, name: &str) -> Result<Option<CredentialSource>> {
        let source = CredentialSource::of_profile(self.profiles, name)?;
        source.map(|source| self.filled_in(source)).transpose()
    }

    /// The keys in the environment, if a profile refers to them.
    fn filled_in(&self, source: CredentialSource) -> Result<CredentialSource> {
        match source {
            CredentialSource::Role(mut role) => {
                role.base = self.filled_in(role.base)?;
                Ok(CredentialSource::Role(role))
            }
            CredentialSource::Provider(ENVIRONMENT) => {
                let none =
                    || Error::invalid("credential_source is Environment, but AWS_ACCESS_KEY_ID is not set");
                self.environment_keys()?.ok_or_else(none)
            }
            other => Ok(other),
        }
    }

    fn environment_keys(&self) -> Result<Option<CredentialSource>> {
        let variable = |name: &str| self.environment().variable(name);
        let token = variable("AWS_SESSION_TOKEN").or_else(|| variable("AWS_SECURITY_TOKEN"));
        match (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")) {
            (Some(access), Some(secret)) => {
                let keys = StaticKeys::new(access, secret, token);
                keys.map(CredentialSource::Keys)
                    .map(Some)
                    .map_err(|error| error.at_object("AWS_ACCESS_KEY_ID"))
            }
            (Some(_), None) => Err(Error::invalid("AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY")),
            (None, Some(_)) => Err(Error::invalid("AWS_SECRET_ACCESS_KEY is set without AWS_ACCESS_KEY_ID")),
            (None, None) => Ok(None),
        }
    }

    /// A setting given by the program.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        let mut settings = self.context.network.options.settings.iter();
        let found = settings.find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// The alias in the URL, or the one for the server of the URL.
    pub(super) fn host(&self) -> Option<(&str, &ncirrus_config::HostSettings)> {
        let settings = self.settings();
        match &self.bucket.alias {
            Some(alias) => Some((alias, settings.host(alias)?)),
            None => settings.host_at(self.bucket.endpoint.as_deref()?),
        }
    }

    pub(super) fn settings(&self) -> &ConfigSettings {
        &self.context.network.config
    }

    pub(super) fn environment(&self) -> &ProcessEnvironment {
        self.context.network.config.environment()
    }
}
