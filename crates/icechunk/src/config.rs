//! The containers of virtual chunks in the configuration of a repository (docs/spec/icechunk-format.md, "Virtual chunk
//! containers").
use crate::config_value::ConfigValue;
use crate::{config_yaml, flex};
use bytes::Bytes;
use ncirrus_layout::{Limits, OutsideContainer, Result};

/// The containers in a configuration in FlexBuffers, which repositories of spec version 2 have.
///
/// # Errors
/// As [`flex::parse`]; `Limit` for too many containers.
pub(crate) fn containers_in(bytes: &[u8], limits: &Limits) -> Result<Vec<OutsideContainer>> {
    containers(&flex::parse(bytes)?, limits)
}

/// The containers in `config.yaml`, which repositories of spec version 1 have.
///
/// # Errors
/// As [`config_yaml::parse`]; `Limit` for too many containers.
pub(crate) fn containers_in_yaml(bytes: &Bytes, limits: &Limits) -> Result<Vec<OutsideContainer>> {
    containers(&config_yaml::parse(bytes)?, limits)
}

fn containers(config: &ConfigValue, limits: &Limits) -> Result<Vec<OutsideContainer>> {
    let all = config.member("virtual_chunk_containers").map(ConfigValue::entries).unwrap_or_default();
    limits.count(all.len() as u64, "a list of virtual chunk containers")?;
    Ok(all.iter().map(|(prefix, container)| of_container(prefix, container)).collect())
}

/// The kind of the store is the only key of `store`; its settings are below.
fn of_container(prefix: &str, container: &ConfigValue) -> OutsideContainer {
    let text = |key: &str| container.member(key).and_then(ConfigValue::text);
    let store = container.member("store");
    let (kind, settings) = match store {
        Some(ConfigValue::Map(entries)) => {
            entries.first().map_or(("", None), |(kind, settings)| (kind.as_str(), Some(settings)))
        }
        Some(store) => (store.text().unwrap_or_default(), None),
        None => ("", None),
    };
    let settings = settings.map(ConfigValue::entries).unwrap_or_default();
    let setting = |(key, value): &(String, ConfigValue)| Some((key.clone(), value.text()?.to_owned()));
    OutsideContainer {
        name: text("name").map(str::to_owned),
        prefix: text("url_prefix").unwrap_or(prefix).to_owned(),
        kind: kind.to_owned(),
        settings: settings.iter().filter_map(setting).collect(),
    }
}
