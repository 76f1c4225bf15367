//! Options that control how a dataset is read.
use clap::{Args, ValueEnum};
use ncirrus::{Dataset, MissingChunks, OpenOptions, PackedArrays, Result, Session};

/// Options that control how a dataset is read.
#[derive(Args)]
pub(crate) struct ReadingOptions {
    /// Show an aggregation as it is stored: descriptions of fragments instead of their data.
    #[arg(long, help_heading = "Aggregations")]
    raw: bool,
    /// Accept aggregations that violate their convention where the meaning is clear.
    #[arg(long, help_heading = "Aggregations")]
    lenient: bool,
    /// Value for ${NAME} in fragment names, instead of the one in the dataset; repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair, help_heading = "Aggregations")]
    substitute: Vec<(String, String)>,
}

impl ReadingOptions {
    /// Opens the dataset of a command.
    pub(crate) fn open(&self, url: &str, session: &Session) -> Result<Dataset> {
        Dataset::open_with(&super::pipe::source(url)?, &self.options(), session)
    }

    /// Opens the source of a copy, which keeps integers that codecs of Zarr v3 pack.
    pub(crate) fn open_packed(&self, url: &str, packed: PackedArrays, session: &Session) -> Result<Dataset> {
        Dataset::open_with(&super::pipe::source(url)?, &self.options().packed(packed), session)
    }

    /// The library's form of the options.
    pub(crate) fn options(&self) -> OpenOptions {
        OpenOptions::new()
            .raw(self.raw)
            .lenient(self.lenient)
            .substitutions(self.substitute.iter().cloned().collect())
    }
}

/// The treatment of absent fragments.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum AbsentChoice {
    /// Their elements are missing values; the first missing fragments are listed.
    Fill,
    /// Reading them is an error.
    Error,
    /// Their elements are missing values; all missing fragments are listed.
    Report,
}

impl From<AbsentChoice> for MissingChunks {
    fn from(absent: AbsentChoice) -> Self {
        match absent {
            AbsentChoice::Fill => Self::Fill,
            AbsentChoice::Error => Self::Error,
            AbsentChoice::Report => Self::Report,
        }
    }
}

/// Reports on standard error fragments that were filled in.
pub(crate) fn print_absent(dataset: &Dataset) {
    if let Some(reported) = dataset.absence() {
        crate::message::print(reported);
    }
}

fn parse_pair(text: &str) -> std::result::Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or_else(|| format!("{text:?} is not of the form NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Reports on standard error what is unusual about a dataset on a server. For example, it had to be downloaded as a whole, or
/// its attributes could not be read.
pub(crate) fn print_odd(dataset: &Dataset) {
    if ncirrus::store::Url::parse(dataset.url()).is_ok_and(|url| url.is_http()) {
        crate::message::notes(&dataset.warnings());
    }
}
