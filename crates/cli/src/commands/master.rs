//! Options common to the commands that write masters.
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use ncirrus::{Error, Kind, Result};
use ncirrus_tools::aggregate::{Convention, MasterOptions, Naming};
use std::time::Duration;

/// How a master is written.
#[derive(Args)]
pub(crate) struct MasterArgs {
    /// Convention: cf-1.13, cfa-0.6, cfa-0.5 or cfa-0.4 [default: cf-1.13].
    #[arg(long, value_enum, value_name = "NAME")]
    convention: Option<ConventionName>,
    /// Kind of the master: nc3, nc5, nc4 or nczarr.
    ///
    /// Without this option its name determines the kind; the default is netCDF-4.
    #[arg(long, value_enum, value_name = "KIND")]
    format: Option<MasterFormat>,
    /// Name fragments relative to the master (the default).
    #[arg(long, group = "naming", hide_short_help = true)]
    relative: bool,
    /// Name fragments by absolute URLs.
    #[arg(long, group = "naming", hide_short_help = true)]
    absolute: bool,
    /// Write ${BASE} in place of the prefix URL in names (CFA-0.6).
    ///
    /// The value of ${BASE} is recorded in the master.
    #[arg(long, group = "naming", value_name = "BASE=URL", hide_short_help = true)]
    substitute: Option<String>,
    /// Write an aggregation that most other programs can read.
    ///
    /// It has absolute URLs, no gaps, and what S3netCDF4, cf-python, cfdm and CFAPyX each require.
    #[arg(long, hide_short_help = true)]
    compat: bool,
    #[command(flatten)]
    overwrite: super::overwrite::Overwrite,
}

/// Conventions by their names.
#[derive(Clone, Copy, ValueEnum)]
enum ConventionName {
    /// CF-1.13, section 2.8.
    #[value(name = "cf-1.13")]
    Cf113,
    /// CFA-0.6.2, as cf-python writes it.
    #[value(name = "cfa-0.6")]
    Cfa06,
    /// CFA-0.5, as S3netCDF4 writes it.
    #[value(name = "cfa-0.5")]
    Cfa05,
    /// CFA-0.4, as S3netCDF4 writes it.
    #[value(name = "cfa-0.4")]
    Cfa04,
}

/// Kinds of masters.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum MasterFormat {
    /// netCDF-3 classic (CDF-1).
    Nc3,
    /// netCDF-3 with 64-bit data (CDF-5).
    Nc5,
    /// netCDF-4 (HDF5).
    Nc4,
    /// NCZarr.
    Nczarr,
}

impl MasterArgs {
    pub(crate) fn options(&self) -> Result<MasterOptions> {
        self.changing(MasterOptions::default())
    }

    /// The requested convention and kind, else the given ones.
    pub(crate) fn changing(&self, like: MasterOptions) -> Result<MasterOptions> {
        Ok(MasterOptions::new()
            .convention(self.convention.map_or(like.convention, Convention::from))
            .kind(self.format.map(Kind::from).or(like.kind))
            .naming(self.naming()?.unwrap_or(like.naming))
            .compat(self.compat || like.compat)
            .overwrite(self.overwrite.is_wanted() || like.overwrite)
            .overwrite_any(self.overwrite.is_any()))
    }

    fn naming(&self) -> Result<Option<Naming>> {
        let Some(substitute) = &self.substitute else {
            let relative = self.relative.then_some(Naming::Relative);
            return Ok(if self.absolute { Some(Naming::Absolute) } else { relative });
        };
        let is_name =
            |base: &str| base.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !base.is_empty();
        let (base, url) =
            substitute.split_once('=').filter(|(base, url)| is_name(base) && !url.is_empty()).ok_or_else(
                || Error::invalid(format!("--substitute {substitute:?} is not of the form BASE=URL")),
            )?;
        Ok(Some(Naming::Substitute { base: base.to_owned(), url: url.to_owned() }))
    }
}

impl From<ConventionName> for Convention {
    fn from(name: ConventionName) -> Self {
        match name {
            ConventionName::Cf113 => Self::Cf113,
            ConventionName::Cfa06 => Self::Cfa06,
            ConventionName::Cfa05 => Self::Cfa05,
            ConventionName::Cfa04 => Self::Cfa04,
        }
    }
}

impl From<MasterFormat> for Kind {
    fn from(format: MasterFormat) -> Self {
        match format {
            MasterFormat::Nc3 => Self::Nc3,
            MasterFormat::Nc5 => Self::Nc5,
            MasterFormat::Nc4 => Self::Nc4,
            MasterFormat::Nczarr => Self::NcZarr,
        }
    }
}

/// A bar that counts files; hidden if there is no terminal.
pub(crate) fn progress_bar() -> ProgressBar {
    let bar = crate::trace::BARS.add(ProgressBar::new(0));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} files {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
