//! Sources of credentials.
use crate::profile::{CredentialProfile, ProfileFiles, ProfileSection};
use ncirrus_config::{ProcessEnvironment, SecretText, shortened};
use ncirrus_layout::{Error, Result};
use std::fmt;

/// A source of credentials.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CredentialSource {
    /// Requests are not signed.
    Anonymous,
    /// Static keys.
    Keys(StaticKeys),
    /// A web identity token in a file, exchanged for a role (`AssumeRoleWithWebIdentity`).
    WebIdentity { file: String, role: String, session: Option<String> },
    /// The credential service of containers.
    Container,
    /// The instance metadata service of Amazon's machines; anonymous if it has no credentials.
    Instance { must_be: bool },
    /// A program that prints them.
    Process(String),
    /// A browser sign-in.
    Sso(SsoLogin),
    /// A role assumed with other credentials.
    Role(Box<AssumedRole>),
    /// Whatever the provider's own client finds.
    Provider(&'static str),
}

/// Static keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StaticKeys {
    pub(super) access: SecretText,
    pub(super) secret: SecretText,
    pub(super) token: Option<SecretText>,
    /// Profile whose section of a file contains them.
    pub(super) profile: Option<String>,
}

/// A browser sign-in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SsoLogin {
    /// Name of the session, or its start URL: its hash is the name of the token file.
    pub(super) name: String,
    pub(super) region: String,
    pub(super) account: String,
    pub(super) role: String,
    pub(super) profile: String,
}

/// A role assumed with other credentials.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AssumedRole {
    pub(super) arn: String,
    pub(super) session: Option<String>,
    pub(super) external_id: Option<String>,
    pub(super) duration: Option<String>,
    pub(super) region: Option<String>,
    /// The device that generates the codes (`mfa_serial`).
    pub(super) device: Option<String>,
    pub(super) base: CredentialSource,
}

impl StaticKeys {
    /// Keys ready to be used.
    pub(super) fn new(access: &str, secret: &str, token: Option<&str>) -> Result<Self> {
        let is_sendable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_sendable(access) || !is_sendable(token.unwrap_or_default()) {
            return Err(Error::invalid("access key or session token contains invalid characters"));
        }
        let (access, secret, token) =
            (SecretText::new(access), SecretText::new(secret), token.map(SecretText::new));
        Ok(Self { access, secret, token, profile: None })
    }

    /// The current keys in the file, if they come from one: other programs may have written new ones.
    pub(super) fn current(&self, environment: &ProcessEnvironment) -> Self {
        let again = |name: &String| {
            let profiles = ProfileFiles::read(environment);
            without_role(&profiles, profiles.find(ProfileSection::Profile, name)?, name).ok()?
        };
        match self.profile.as_ref().and_then(again) {
            Some(CredentialSource::Keys(keys)) => keys,
            _ => self.clone(),
        }
    }
}

/// Maximum length of a chain of roles.
const DEEPEST: u32 = 8;

impl CredentialSource {
    /// The source that a profile defines; `None` if it has no credentials.
    ///
    /// # Errors
    /// The profile is incomplete.
    pub(super) fn of_profile(profiles: &ProfileFiles, name: &str) -> Result<Option<Self>> {
        of_profile(profiles, name, DEEPEST)
    }
}

fn of_profile(profiles: &ProfileFiles, name: &str, depth: u32) -> Result<Option<CredentialSource>> {
    let Some(profile) = profiles.find(ProfileSection::Profile, name) else {
        return Err(missing(profiles, name));
    };
    if depth == 0 {
        return Err(Error::invalid(format!("profile {name:?}: source_profile forms a cycle")));
    }
    let value = |key: &str| profile.value(key).map(str::to_owned);
    if let Some(arn) = value("role_arn") {
        if let Some(file) = value("web_identity_token_file") {
            return Ok(Some(CredentialSource::WebIdentity {
                file,
                role: arn,
                session: value("role_session_name"),
            }));
        }
        // A profile may be its own source: its role is assumed with its keys.
        if let Some(base) = base(profiles, profile, name, depth)? {
            let role = AssumedRole {
                arn,
                session: value("role_session_name"),
                external_id: value("external_id"),
                duration: value("duration_seconds"),
                region: value("region"),
                device: value("mfa_serial"),
                base,
            };
            return Ok(Some(CredentialSource::Role(Box::new(role))));
        }
    }
    without_role(profiles, profile, name)
}

/// The credentials that assume the role of a profile.
fn base(
    profiles: &ProfileFiles,
    profile: &CredentialProfile,
    name: &str,
    depth: u32,
) -> Result<Option<CredentialSource>> {
    let nothing = |of: &str| Error::invalid(format!("profile {of:?} has no credentials"));
    match (profile.value("source_profile"), profile.value("credential_source")) {
        (Some(source), _) if source == name => {
            Ok(Some(without_role(profiles, profile, name)?.ok_or_else(|| nothing(name))?))
        }
        (Some(source), _) => {
            Ok(Some(of_profile(profiles, source, depth - 1)?.ok_or_else(|| nothing(source))?))
        }
        (None, Some("Ec2InstanceMetadata")) => Ok(Some(CredentialSource::Instance { must_be: true })),
        (None, Some("EcsContainer")) => Ok(Some(CredentialSource::Container)),
        (None, Some("Environment")) => Ok(Some(CredentialSource::Provider(ENVIRONMENT))),
        (None, Some(other)) => {
            Err(Error::invalid(format!("profile {name:?}: credential_source {other:?} is not known")))
        }
        (None, None) => Ok(None),
    }
}

/// Placeholder for the keys in the environment until they are filled in.
pub(super) const ENVIRONMENT: &str = "environment";

fn without_role(
    profiles: &ProfileFiles,
    profile: &CredentialProfile,
    name: &str,
) -> Result<Option<CredentialSource>> {
    let value = |key: &str| profile.value(key);
    match (value("aws_access_key_id"), value("aws_secret_access_key")) {
        (Some(access), Some(secret)) => {
            let token = value("aws_session_token").or(value("aws_security_token"));
            let keys = StaticKeys::new(access, secret, token);
            let keys = keys.map_err(|error| error.at_object(format!("profile {name:?}")))?;
            return Ok(Some(CredentialSource::Keys(StaticKeys { profile: Some(name.to_owned()), ..keys })));
        }
        (None, None) => {}
        _ => return Err(Error::invalid(format!("profile {name:?} has only one of the two keys"))),
    }
    if let Some(sso) = sso(profiles, profile, name)? {
        return Ok(Some(CredentialSource::Sso(sso)));
    }
    Ok(value("credential_process").map(|command| CredentialSource::Process(command.to_owned())))
}

fn sso(profiles: &ProfileFiles, profile: &CredentialProfile, name: &str) -> Result<Option<SsoLogin>> {
    let (session, start) = (profile.value("sso_session"), profile.value("sso_start_url"));
    let section = match session {
        Some(session) => Some(profiles.find(ProfileSection::SsoSession, session).ok_or_else(|| {
            Error::invalid(format!("profile {name:?} names the sso-session {session:?}, which is not there"))
        })?),
        None => None,
    };
    let Some(cached_as) = session.or(start) else { return Ok(None) };
    let region = section.unwrap_or(profile).value("sso_region");
    let values = (region, profile.value("sso_account_id"), profile.value("sso_role_name"));
    let (Some(region), Some(account), Some(role)) = values else {
        return Err(Error::invalid(format!(
            "profile {name:?} needs sso_region, sso_account_id and sso_role_name"
        )));
    };
    Ok(Some(SsoLogin {
        name: cached_as.to_owned(),
        region: region.to_owned(),
        account: account.to_owned(),
        role: role.to_owned(),
        profile: name.to_owned(),
    }))
}

/// The error for a profile that was named and does not exist.
pub(super) fn missing(profiles: &ProfileFiles, name: &str) -> Error {
    Error::invalid(format!("there is no profile {name:?} in {}", profiles.places()))
}

/// For display.
impl fmt::Display for CredentialSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("anonymous: requests are not signed"),
            Self::Keys(keys) => {
                let token = if keys.token.is_some() { " with a session token" } else { "" };
                write!(f, "access key {}{token}", shortened(keys.access.exposed()))
            }
            Self::WebIdentity { role, file, .. } => {
                write!(f, "role {role}, with the web identity token in {file}")
            }
            Self::Container => f.write_str("the container's own credentials"),
            Self::Instance { .. } => f.write_str("the machine's own credentials (instance metadata)"),
            Self::Process(command) => {
                write!(f, "the program {}", command.split_whitespace().next().unwrap_or_default())
            }
            Self::Sso(sso) => write!(f, "role {} of account {}, by single sign-on", sso.role, sso.account),
            Self::Role(role) => {
                write!(f, "role {} assumed by {}", role.arn, role.base)?;
                role.device.as_ref().map_or(Ok(()), |device| write!(f, ", with a code of {device}"))
            }
            Self::Provider(what) => f.write_str(what),
        }
    }
}
