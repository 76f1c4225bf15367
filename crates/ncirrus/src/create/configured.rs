//! What addresses and configurations say about new datasets.
use super::{CreateOptions, Dialect, Kind};
use crate::{Error, Result, Session};
use ncirrus_config::{ConfigKey, ConfigSettings};
use ncirrus_layout::yes_or_no;
use ncirrus_store::Url;

impl CreateOptions {
    /// Adds what an address and a session's configuration say about new datasets there, for options that are not set: the
    /// dialect of NCZarr (`dialect=` of the address, `NCZARR.DIALECT` of netCDF's files), and whether text attributes may
    /// become JSON (`json_attributes=`, `NCZARR.JSON_ATTRIBUTES`). Creation does so itself.
    ///
    /// # Errors
    /// `Invalid` for an invalid address or value.
    pub fn for_address(self, url: &str, session: &Session) -> Result<Self> {
        self.with_forms(&Url::parse(url)?, session.settings())
    }

    /// As [`for_address`](Self::for_address), and whether metadata are consolidated (`NCZARR_CONSOLIDATED`), and the
    /// separator between the numbers in chunk keys (`ZARR.DIMENSION_SEPARATOR`).
    pub(super) fn configured(mut self, url: &Url, settings: &ConfigSettings) -> Result<Self> {
        let is_requested = url.fragment().modes().contains("consolidated");
        self.consolidated &= is_requested || settings.flag(ConfigKey::Consolidated) != Some(false);
        if let Some(found) = settings.rc(SEPARATOR, url).filter(|_| self.separator.is_none()) {
            self.separator = Some(match found.value {
                "." => '.',
                "/" => '/',
                other => {
                    let message = format!("{SEPARATOR}={other}: only . and / stand between numbers");
                    return Err(Error::invalid(message).at_object(&found.origin));
                }
            });
        }
        self.with_forms(url, settings)
    }

    fn with_forms(self, url: &Url, settings: &ConfigSettings) -> Result<Self> {
        let mut options = self.with_fragment(url)?;
        let kind = options.kind_for(url).ok();
        // A configuration chooses among the dialects of NCZarr, and never makes NCZarr of plain Zarr.
        if options.dialect.is_none() && kind == Some(Kind::NcZarr) {
            options.dialect = configured_value(settings, DIALECT[0], url, Dialect::parse)?;
        }
        if options.json_attributes.is_none() && kind.is_some_and(Kind::is_zarr) {
            options.json_attributes = configured_value(settings, JSON_ATTRIBUTES[0], url, flag)?;
        }
        Ok(options)
    }

    /// Adds what an address says.
    pub(super) fn with_fragment(mut self, url: &Url) -> Result<Self> {
        let fragment = url.fragment();
        if let Some(text) = fragment.value(DIALECT[1]).filter(|_| self.dialect.is_none()) {
            self.dialect = Some(Dialect::parse(text).map_err(|error| error.at_object(url))?);
        }
        if let Some(text) = fragment.value(JSON_ATTRIBUTES[1]).filter(|_| self.json_attributes.is_none()) {
            self.json_attributes = Some(flag(text).map_err(|error| error.at_object(url))?);
        }
        Ok(self)
    }
}

/// A value of netCDF's configuration files.
fn configured_value<T>(
    settings: &ConfigSettings,
    key: &str,
    url: &Url,
    parse: impl Fn(&str) -> Result<T>,
) -> Result<Option<T>> {
    let Some(found) = settings.rc(key, url) else { return Ok(None) };
    parse(found.value).map(Some).map_err(|error| error.at_object(&found.origin))
}

/// Yes or no.
fn flag(text: &str) -> Result<bool> {
    // A key without a value is one that is set.
    let found = if text.is_empty() { Some(true) } else { yes_or_no(text) };
    found.ok_or_else(|| Error::invalid(format!("{text:?} is neither yes nor no")))
}

/// The key in netCDF's configuration files for the separator between the numbers in chunk keys (docs/spec/nczarr.md
/// 4.1).
const SEPARATOR: &str = "ZARR.DIMENSION_SEPARATOR";

/// The key in these files, and the one in addresses, for the dialect of NCZarr.
const DIALECT: [&str; 2] = ["NCZARR.DIALECT", "dialect"];

/// The same for text attributes that are JSON dictionaries.
const JSON_ATTRIBUTES: [&str; 2] = ["NCZARR.JSON_ATTRIBUTES", "json_attributes"];
