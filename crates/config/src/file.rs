//! The configuration file of ncirrus, in TOML.
use super::host::{HostSettings, WebServerSettings};
use super::{ConfigKey, ConfigSettings, ConfigValue, ValueOrigin, invalid};
use ncirrus_layout::{Error, Result};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The path of the file: `NCIRRUS_CONFIG`, else below `XDG_CONFIG_HOME`, else below `~/.config`.
pub(super) fn place(settings: &ConfigSettings) -> Option<PathBuf> {
    let environment = settings.environment();
    if let Some(path) = environment.variable("NCIRRUS_CONFIG") {
        return Some(environment.expanded(path));
    }
    let folder = environment.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(environment.home()?.join(".config")))?;
    Some(folder.join("ncirrus/config.toml"))
}

/// Reads the given file, else the one at its usual place.
pub(super) fn read(settings: &mut ConfigSettings, named: Option<&Path>) -> Result<()> {
    let must_be = named.is_some() || settings.environment().variable("NCIRRUS_CONFIG").is_some();
    let Some(path) = named.map(Path::to_owned).or_else(|| place(settings)) else { return Ok(()) };
    settings.files.push(path.clone());
    let outcome = match settings.environment().text(&path) {
        Ok(Some(text)) => take(settings, &text, &path),
        Ok(None) if must_be => return Err(Error::not_found("no such file").at_object(path.display())),
        Ok(None) => Ok(()),
        Err(why) => Err(invalid(&ValueOrigin::File(path, None), why)),
    };
    match outcome {
        Err(error) if !must_be => {
            settings.warn(error.to_string());
            Ok(())
        }
        outcome => outcome,
    }
}

/// Applies the text of a file.
pub(super) fn take(settings: &mut ConfigSettings, text: &str, path: &Path) -> Result<()> {
    let place = |at: usize| {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        ValueOrigin::File(path.to_owned(), Some(before.iter().filter(|byte| **byte == b'\n').count() + 1))
    };
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        invalid(&place(at), error.message())
    })?;
    walk(settings, table.get_ref(), "", &place);
    Ok(())
}

/// Reads the keys of a table and of the tables in it.
fn walk(
    settings: &mut ConfigSettings,
    table: &DeTable<'_>,
    prefix: &str,
    place: &dyn Fn(usize) -> ValueOrigin,
) {
    for (name, value) in table {
        let origin = place(name.span().start);
        let name = format!("{prefix}{}", name.get_ref());
        match (value.get_ref(), ConfigKey::named(&name)) {
            (DeValue::Table(table), _) if name == "substitutions" => substitutions(settings, table, place),
            (DeValue::Table(table), _) if name == "hosts" => hosts(settings, table, place),
            (DeValue::Table(table), _) if name == "http.hosts" => servers(settings, table, place),
            (DeValue::Table(table), None) if prefix.is_empty() => {
                walk(settings, table, &format!("{name}."), place);
            }
            (_, Some(key)) => match of_key(key, value) {
                Some(text) => settings.offer(key, &text, origin),
                None => settings.warn(format!("{origin}: {name} is not a single value")),
            },
            (_, None) => settings.warn(format!("{origin}: unknown key {name}")),
        }
    }
}

fn substitutions(settings: &mut ConfigSettings, table: &DeTable<'_>, place: &dyn Fn(usize) -> ValueOrigin) {
    for (name, value) in table {
        let origin = place(name.span().start);
        match scalar(value) {
            Some(value) => {
                let value = ConfigValue { value, origin };
                settings.substitutions.entry(name.get_ref().to_string()).or_insert(value);
            }
            None => settings.warn(format!("{origin}: substitution {} is not a text", name.get_ref())),
        }
    }
}

/// `[hosts.alias]`: endpoints of object stores.
fn hosts(settings: &mut ConfigSettings, table: &DeTable<'_>, place: &dyn Fn(usize) -> ValueOrigin) {
    for (alias, value) in table {
        let mut host = HostSettings::new(place(alias.span().start));
        each(settings, alias, value, place, &mut |_, key, text| host.set(key, text));
        match host.fault() {
            Some(why) => settings.warn(format!("{}: host {} {why}", host.origin, alias.get_ref())),
            None => {
                settings.hosts.entry(alias.get_ref().to_string()).or_insert(host);
            }
        }
    }
}

/// `[http.hosts."host"]`: credentials for web servers.
fn servers(settings: &mut ConfigSettings, table: &DeTable<'_>, place: &dyn Fn(usize) -> ValueOrigin) {
    for (name, value) in table {
        let mut server =
            WebServerSettings { origin: Some(place(name.span().start)), ..WebServerSettings::default() };
        each(settings, name, value, place, &mut |settings, key, text| {
            server.set(key, text, settings.environment())
        });
        settings.servers.entry(name.get_ref().to_ascii_lowercase()).or_insert(server);
    }
}

/// Passes on each setting of a table.
fn each(
    settings: &mut ConfigSettings,
    name: &Spanned<Cow<'_, str>>,
    value: &Spanned<DeValue<'_>>,
    place: &dyn Fn(usize) -> ValueOrigin,
    set: &mut dyn FnMut(&ConfigSettings, &str, &str) -> std::result::Result<bool, String>,
) {
    let origin = place(name.span().start);
    let DeValue::Table(table) = value.get_ref() else {
        return settings.warn(format!("{origin}: {} is not a table", name.get_ref()));
    };
    for (key, value) in table {
        let (origin, name) = (place(key.span().start), format!("{}.{}", name.get_ref(), key.get_ref()));
        let outcome = match scalar(value) {
            Some(text) => set(settings, key.get_ref(), &text),
            None => Err("is not a single value".to_owned()),
        };
        match outcome {
            Ok(true) => {}
            Ok(false) => settings.warn(format!("{origin}: unknown key {name}")),
            Err(why) => settings.warn(format!("{origin}: {name}: {why}")),
        }
    }
}

/// The value of a key; a list is joined with the separator that other sources use.
fn of_key(key: ConfigKey, value: &Spanned<DeValue<'_>>) -> Option<String> {
    let separator = match (key, value.get_ref()) {
        (ConfigKey::PluginPath, DeValue::Array(_)) => ":",
        (ConfigKey::HttpNoProxy, DeValue::Array(_)) => ",",
        _ => return scalar(value),
    };
    let items: Option<Vec<String>> = value.get_ref().as_array()?.iter().map(scalar).collect();
    Some(items?.join(separator))
}

/// A value that is neither table nor list.
fn scalar(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}
