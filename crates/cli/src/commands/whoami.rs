//! `ncirrus whoami`: the credentials that would be used with an address, and why.
use super::finish;
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::store::config::{ConfigSettings, LoginKind};
use ncirrus::store::{Scheme, Url};
use ncirrus::{AddressProbe, Result, Session};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Show which credentials would be used for an address, and why.
///
/// Secrets are not shown. No request is sent without --check.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus whoami s3://bucket/data.zarr             endpoint, region, profile, credentials
  ncirrus whoami --check 's3://bucket/data.nc#aws.profile=lab'
  ncirrus whoami https://data.example.org/file.nc")]
pub(crate) struct Args {
    /// Path or URL.
    url: String,
    /// Send one request and report the answer.
    #[arg(long)]
    check: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A line of output: name, value, and the reason.
pub(crate) type ReportRow = (&'static str, String, Option<String>);

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let url = Url::parse(&args.url)?;
    let mut rows = identity(&url, session)?;
    let checked = args.check.then(|| session.probe(&args.url));
    let (answer, failure) = match checked {
        None => (None, None),
        Some(Ok(probe)) => (Some(described(&probe)), None),
        Some(Err(error)) => (Some(error.message().to_owned()), Some(error)),
    };
    rows.extend(answer.map(|answer| ("answer", answer, None)));
    let mut out = anstream::stdout().lock();
    let code = finish(if args.json { show_json(&mut out, &rows) } else { show(&mut out, &rows) })?;
    failure.map_or(Ok(code), Err)
}

/// The credentials that would be used for an address, and why.
pub(crate) fn identity(url: &Url, session: &Session) -> Result<Vec<ReportRow>> {
    let mut rows = vec![("address", crate::message::escaped(&url.to_string()).into_owned(), None)];
    rows.extend(of_bucket(url, session)?.unwrap_or_else(|| of_others(url, session.settings())));
    Ok(rows)
}

#[cfg(feature = "cloud")]
fn of_bucket(url: &Url, session: &Session) -> Result<Option<Vec<ReportRow>>> {
    let Some((bucket, found)) = session.bucket_identity(url)? else { return Ok(None) };
    let proxy =
        Url::parse(&found.endpoint.value).ok().and_then(|server| session.settings().proxy_of(&server));
    let mut rows = vec![
        ("endpoint", found.endpoint.value, Some(found.endpoint.why)),
        ("bucket", bucket.name, None),
        ("key", bucket.key, None),
    ];
    rows.extend(found.region.map(|region| ("region", region.value, Some(region.why))));
    rows.extend(found.profile.map(|profile| ("profile", profile.value, Some(profile.why))));
    rows.push(("credentials", found.credentials.value, Some(found.credentials.why)));
    if found.unsigned_retry {
        let why = "these credentials were not chosen for this bucket".to_owned();
        rows.push(("if denied", "retry anonymously".to_owned(), Some(why)));
    }
    rows.extend(found.requester_pays.map(|pays| {
        let who = if pays.value { "you" } else { "the bucket's owner" };
        ("requests paid by", who.to_owned(), Some(pays.why))
    }));
    rows.extend(proxy.map(|(proxy, origin)| ("proxy", proxy, Some(origin.to_string()))));
    rows.extend(found.warnings.into_iter().map(|warning| ("warning", warning, None)));
    Ok(Some(rows))
}

#[cfg(not(feature = "cloud"))]
fn of_bucket(_: &Url, _: &Session) -> Result<Option<Vec<ReportRow>>> {
    Ok(None)
}

fn of_others(url: &Url, settings: &ConfigSettings) -> Vec<ReportRow> {
    match url.scheme() {
        Scheme::Http | Scheme::Https => of_server(url, settings),
        Scheme::File => vec![("credentials", "this process: the file system decides".to_owned(), None)],
        _ => vec![("credentials", "none are needed".to_owned(), None)],
    }
}

fn of_server(url: &Url, settings: &ConfigSettings) -> Vec<ReportRow> {
    let login = settings.login(url);
    let (who, why) = match &login {
        Some(login) => {
            let who = match &login.kind {
                LoginKind::Basic(user, _) => format!("user {user} with a password"),
                LoginKind::Bearer(_) => "a bearer token".to_owned(),
            };
            (who, Some(login.origin.to_string()))
        }
        None => ("none".to_owned(), None),
    };
    let mut rows = vec![("credentials", who, why)];
    rows.extend(settings.proxy_of(url).map(|(proxy, origin)| ("proxy", proxy, Some(origin.to_string()))));
    rows
}

fn described(probe: &AddressProbe) -> String {
    match probe {
        AddressProbe::Object(bytes) => format!("there is an object of {bytes} bytes"),
        AddressProbe::Prefix(names) => format!("can be listed; {names} names on the first page"),
        AddressProbe::Absent => {
            "there is no object of that name (prefixes were not checked); the server answers".to_owned()
        }
    }
}

fn show(out: &mut impl Write, rows: &[ReportRow]) -> io::Result<()> {
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    for (name, value, why) in rows {
        let why = why.as_ref().map(|why| format!("  ({why})")).unwrap_or_default();
        writeln!(out, "{name:width$}  {value}{why}")?;
    }
    Ok(())
}

fn show_json(out: &mut impl Write, rows: &[ReportRow]) -> io::Result<()> {
    let mut all: Map<String, Value> = Map::new();
    for (name, value, why) in rows {
        let described = match why {
            Some(why) => json!({"value": value, "why": why}),
            None => json!({"value": value}),
        };
        all.insert(name.replace(' ', "_"), described);
    }
    writeln!(out, "{:#}", Value::Object(all))
}
