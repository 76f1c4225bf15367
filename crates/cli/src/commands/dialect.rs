//! Dialects of NCZarr as values of an option.
use clap::ValueEnum;
use clap::builder::PossibleValue;
use ncirrus::Dialect;

/// A dialect, by its name in [`Dialect::NAMES`].
#[derive(Clone, Copy)]
pub(crate) struct DialectName {
    name: &'static str,
    dialect: Dialect,
}

/// All of them.
static ALL: [DialectName; Dialect::NAMES.len()] = {
    let (name, dialect) = Dialect::NAMES[0];
    let mut all = [DialectName { name, dialect }; Dialect::NAMES.len()];
    let mut at = 0;
    while at < all.len() {
        let (name, dialect) = Dialect::NAMES[at];
        all[at] = DialectName { name, dialect };
        at += 1;
    }
    all
};

impl ValueEnum for DialectName {
    fn value_variants<'a>() -> &'a [Self] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.dialect {
            Dialect::Att => "netcdf-c 4.9.3 and newer (the default)",
            Dialect::Lc => "netcdf-c 4.9.1 and 4.9.2",
            Dialect::Uc => "netcdf-c 4.8.1 and 4.9.0",
            Dialect::D18 => "The draft of December 2018",
            Dialect::Plain => "Without any NCZarr information",
        };
        Some(PossibleValue::new(self.name).help(help))
    }
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        name.dialect
    }
}
