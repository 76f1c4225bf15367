//! Region and server of a bucket, and requester-pays.
use super::amazon::{DEFAULT, IdentityQuery};
use super::bucket::SourcedValue;
use crate::profile::ProfileSection;
use ncirrus_config::{ConfigKey, ValueOrigin, endpoint};
use ncirrus_layout::{Error, Result};

/// The default region.
const USUAL: &str = "us-east-1";

impl IdentityQuery<'_> {
    /// Host name, URL, the profile that was named, netCDF's files, the environment, the configuration file, the
    /// profile `default`. The region reported by the bucket takes precedence over all of them, once it is known.
    pub(super) fn region(
        &self,
        profile: Option<&SourcedValue<String>>,
        is_named: bool,
    ) -> SourcedValue<String> {
        let address = self.bucket.address();
        if let Some(known) = self.context.identities.region(&address) {
            return SourcedValue::new(known, "the bucket's own answer");
        }
        if let Some(region) = &self.bucket.region {
            return SourcedValue::new(region.as_str(), "the url");
        }
        if let Some(region) = self.setting("aws_region").or_else(|| self.setting("aws_default_region")) {
            return SourcedValue::new(region, "the program");
        }
        if let Some((alias, host)) = self.host()
            && let Some(region) = &host.region
        {
            return SourcedValue::new(region.as_str(), format!("alias {alias:?} in {}", host.origin));
        }
        let of_profile = |name: &str| {
            let found = self.profiles.find(ProfileSection::Profile, name)?;
            let key = ["region", "aws_region"].into_iter().find(|key| found.value(key).is_some())?;
            Some(SourcedValue::new(found.value(key)?, format!("profile {name:?} in {}", found.origin(key))))
        };
        // A profile that the user named precedes the environment and the configuration, the default profile does not.
        if let Some(reported) = profile.filter(|_| is_named).and_then(|name| of_profile(&name.value)) {
            return reported;
        }
        let settings = self.settings();
        if let Some(entry) =
            settings.rc_of_bucket("AWS.REGION", self.bucket).filter(|entry| !entry.value.is_empty())
        {
            return SourcedValue::new(entry.value, format!("AWS.REGION in {}", entry.origin));
        }
        if let Some(region) = settings.text(ConfigKey::Region) {
            return SourcedValue::new(region, settings.described(ConfigKey::Region));
        }
        of_profile(DEFAULT)
            .unwrap_or_else(|| SourcedValue::new(USUAL, "the default; the bucket may answer with its own"))
    }

    /// URL or alias, program, environment, the profile, the configuration file, else Amazon's own.
    pub(super) fn endpoint(
        &self,
        profile: Option<&SourcedValue<String>>,
        region: &str,
    ) -> Result<SourcedValue<String>> {
        if self.bucket.is_amazon {
            return Ok(SourcedValue::new(amazons(region), "the url"));
        }
        if let Some(server) = &self.bucket.endpoint {
            let why = match (&self.bucket.alias, self.host()) {
                (Some(alias), Some((_, host))) => format!("alias {alias:?} in {}", host.origin),
                _ => "the url".to_owned(),
            };
            return Ok(SourcedValue::new(server.as_str(), why));
        }
        let given = ["aws_endpoint_url_s3", "aws_endpoint_url", "aws_endpoint"];
        if let Some(server) = given.into_iter().find_map(|name| self.setting(name)) {
            return checked(server, "the program".to_owned());
        }
        let settings = self.settings();
        let configured =
            || Some((settings.text(ConfigKey::Endpoint)?, settings.described(ConfigKey::Endpoint)));
        let is_ignored = self
            .environment()
            .variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        // In the order of Amazon's own tools: a variable precedes the profile, a configuration file follows it.
        let is_variable = matches!(settings.origin(ConfigKey::Endpoint), Some(ValueOrigin::Variable(_)));
        if let Some((server, why)) = configured().filter(|_| is_variable && !is_ignored) {
            return checked(server, why);
        }
        if let Some((server, why)) =
            profile.filter(|_| !is_ignored).and_then(|name| self.endpoint_of(&name.value, "s3"))
        {
            return checked(&server, why);
        }
        match configured().filter(|_| !is_variable) {
            Some((server, why)) => checked(server, why),
            None => Ok(SourcedValue::new(amazons(region), "Amazon's own")),
        }
    }

    /// The server of a service in a profile, or in the `services` section that the profile names.
    fn endpoint_of(&self, name: &str, service: &str) -> Option<(String, String)> {
        let profile = self.profiles.find(ProfileSection::Profile, name)?;
        let key = format!("{service}.endpoint_url");
        let services =
            profile.value("services").and_then(|name| self.profiles.find(ProfileSection::Services, name));
        if let Some(server) = services.and_then(|services| services.value(&key)) {
            return Some((server.to_owned(), format!("services of profile {name:?}")));
        }
        let own = ["endpoint_url", &key].into_iter().find(|key| profile.value(key).is_some())?;
        Some((profile.value(own)?.to_owned(), format!("profile {name:?} in {}", profile.origin(own))))
    }

    /// Requester-pays: URL, program, alias, configuration.
    pub(super) fn requester_pays(&self) -> Option<SourcedValue<bool>> {
        if let Some(pays) = self.fragment.requester_pays() {
            return Some(SourcedValue::new(pays, "the url"));
        }
        let is_yes =
            |text: &str| ["requester", "true", "1", "yes"].iter().any(|yes| text.eq_ignore_ascii_case(yes));
        if let Some(text) = self.setting("aws_request_payer").or_else(|| self.setting("aws_requester_pays")) {
            return Some(SourcedValue::new(is_yes(text), "the program"));
        }
        let of_host = self.host().and_then(|(alias, host)| Some((alias, host.requester_pays?, &host.origin)));
        if let Some((alias, pays, origin)) = of_host {
            return Some(SourcedValue::new(pays, format!("alias {alias:?} in {origin}")));
        }
        let pays = self.settings().flag(ConfigKey::RequesterPays)?;
        Some(SourcedValue::new(pays, self.settings().described(ConfigKey::RequesterPays)))
    }
}

/// Amazon's server of a region.
fn amazons(region: &str) -> String {
    let china = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("https://s3.{region}.amazonaws.com{china}")
}

fn checked(server: &str, why: String) -> Result<SourcedValue<String>> {
    match endpoint(server) {
        Ok(server) => Ok(SourcedValue::new(server, why)),
        Err(wrong) => Err(Error::invalid(format!("endpoint of {why}: {wrong}"))),
    }
}
