//! The option that allows replacing existing targets, with the same name in all commands.
use clap::{Args, ValueEnum};

/// Whether an existing target is replaced.
#[derive(Args, Clone, Copy)]
pub(crate) struct Overwrite {
    /// Replace a target of the same kind; --overwrite=any: any dataset.
    ///
    /// `copy` and `generate` replace a dataset, `aggregate` and `split` an aggregation, `reference` a reference file. With
    /// --overwrite=any they replace any dataset. Files that are not datasets, and files that are read, are never replaced. The
    /// exception is `copy --overwrite=any`, which may replace its own source.
    #[arg(
        long,
        value_enum,
        value_name = "any",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "fitting"
    )]
    overwrite: Option<OverwriteWhat>,
}

/// What is replaced.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OverwriteWhat {
    /// What is of the kind that is written.
    #[value(hide = true)]
    Fitting,
    /// Any dataset.
    Any,
}

impl Overwrite {
    /// Whether anything is replaced.
    pub(crate) fn is_wanted(self) -> bool {
        self.overwrite.is_some()
    }

    /// Whether any dataset is replaced.
    pub(crate) fn is_any(self) -> bool {
        self.overwrite == Some(OverwriteWhat::Any)
    }
}
