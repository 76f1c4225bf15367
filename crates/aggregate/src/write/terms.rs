//! The newer conventions: CF-1.13 and CFA-0.6, with terms that name variables (`docs/spec/cfa.md` 4.1, 4.5, 5.1,
//! 5.3).
use super::{Convention, FragmentArray, FragmentCell, FragmentDescriber};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, DimId, GroupId, Strings, Values, VarId, default_fill};

/// The terms of the two conventions for the same things.
struct ConventionWords {
    sizes: (&'static str, &'static str),
    names: (&'static str, &'static str),
    variables: (&'static str, &'static str),
    /// Prefix of the names of dimensions of the array of fragments.
    prefix: &'static str,
}

const CF113: ConventionWords = ConventionWords {
    sizes: ("map", "fragment_map"),
    names: ("uris", "fragment_uris"),
    variables: ("identifiers", "fragment_identifiers"),
    prefix: "a",
};

const CFA06: ConventionWords = ConventionWords {
    sizes: ("location", "cfa_location"),
    names: ("file", "cfa_file"),
    variables: ("address", "cfa_address"),
    prefix: "f",
};

impl FragmentDescriber<'_> {
    pub(super) fn describe_by_terms(
        &mut self,
        var: VarId,
        dims: &[DimId],
        fragments: &FragmentArray,
    ) -> Result<()> {
        let is_cf = self.form.convention == Convention::Cf113;
        let words = if is_cf { CF113 } else { CFA06 };
        let home = self.home(var);
        let names = self.dimension_names(dims);
        let sizes = self.sizes(home, &words, &fragments.sizes)?;
        let grid = self.grid(home, &words, &names, fragments)?;
        let files =
            self.texts(home, words.names.1, &grid, &texts(fragments, |cell| cell.file.to_string()))?;
        let substitutions: Vec<String> =
            self.form.substitutions.iter().map(|(name, url)| format!("${{{name}}}: {url}")).collect();
        if !substitutions.is_empty() {
            self.put(files, "substitutions", &substitutions.join(" "));
        }
        let compat = self.form.compat;
        let variables = common_or_each(fragments, |cell| identifier(&cell.variable, compat));
        let variables = self.common_or_each(home, words.variables.1, &grid, &variables)?;
        let mut terms = vec![(words.sizes.0, sizes), (words.names.0, files), (words.variables.0, variables)];
        if !is_cf {
            let formats = common_or_each(fragments, |_| "nc".to_owned());
            terms.push(("format", self.common_or_each(home, "cfa_format", &grid, &formats)?));
        }
        terms.sort_unstable_by_key(|(word, _)| *word);
        let name = |var: VarId| self.model.variable(var).map(|variable| variable.name.clone());
        let terms: Vec<String> =
            terms.into_iter().filter_map(|(word, var)| Some(format!("{word}: {}", name(var)?))).collect();
        self.put(var, "aggregated_dimensions", &names.join(" "));
        self.put(var, "aggregated_data", &terms.join(" "));
        Ok(())
    }

    /// The variable with a row of lengths for each dimension, padded with missing values. For scalar data it is a
    /// scalar in CF-1.13, and one element in CFA-0.6.
    fn sizes(&mut self, home: GroupId, words: &ConventionWords, sizes: &[Vec<u64>]) -> Result<VarId> {
        let is_cf = self.form.convention == Convention::Cf113;
        let (rows, columns) = (sizes.len(), sizes.iter().map(Vec::len).max().unwrap_or(1));
        let dimension_name = |axis: &str, len: usize| {
            if is_cf { format!("a_map_{axis}{len}") } else { format!("f_{len}_loc") }
        };
        let mut dims = Vec::new();
        if rows > 0 {
            dims.push(self.dimension(home, &dimension_name("j", rows), rows as u64)?);
        }
        if rows > 0 || !is_cf {
            dims.push(self.dimension(home, &dimension_name("i", columns), columns as u64)?);
        }
        let one = [vec![1]];
        let rows = if rows == 0 { &one[..] } else { sizes };
        let values = integers(rows, columns)?;
        if values.atomic() == Some(Atomic::Int64) && self.form.is_classic {
            return Err(Error::unsupported(
                "a fragment has more elements along a dimension than an int can hold",
            ));
        }
        self.variable(home, words.sizes.1, &dims, values)
    }

    /// The dimensions of the array of fragments.
    fn grid(
        &mut self,
        home: GroupId,
        words: &ConventionWords,
        names: &[String],
        fragments: &FragmentArray,
    ) -> Result<Vec<DimId>> {
        let axes = names.iter().zip(fragments.shape());
        axes.map(|(name, len)| self.dimension(home, &format!("{}_{name}", words.prefix), len)).collect()
    }

    /// A scalar if all fragments have the same text, otherwise one text for each fragment.
    fn common_or_each(
        &mut self,
        home: GroupId,
        stem: &'static str,
        grid: &[DimId],
        texts: &Strings,
    ) -> Result<VarId> {
        let grid = if texts.len() == 1 { &[] } else { grid };
        self.texts(home, stem, grid, texts)
    }
}

/// One text for each fragment; missing where there is none.
fn texts(fragments: &FragmentArray, text: impl Fn(&FragmentCell) -> String) -> Strings {
    let texts = fragments.cells.iter().map(|cell| Some(cell.as_ref().map(&text).unwrap_or_default()));
    texts.collect()
}

/// As [`texts`], but a single text if all existing fragments have the same.
fn common_or_each(fragments: &FragmentArray, text: impl Fn(&FragmentCell) -> String) -> Strings {
    let mut all = fragments.cells.iter().flatten().map(&text);
    let first = all.next();
    if all.all(|text| Some(&text) == first.as_ref()) {
        Strings::from_iter([Some(first.unwrap_or_default())])
    } else {
        texts(fragments, text)
    }
}

/// The path of a variable as other programs understand it: without a slash in the root (docs/spec/cfa.md P8), and in
/// groups too if requested.
fn identifier(path: &str, compat: bool) -> String {
    let relative = path.trim_start_matches('/');
    if compat || !relative.contains('/') { relative.to_owned() } else { format!("/{relative}") }
}

/// Rows padded with missing values: ints, or 64-bit integers if necessary.
fn integers(rows: &[Vec<u64>], columns: usize) -> Result<Values> {
    let padded = rows.iter().flat_map(|row| (0..columns).map(|column| row.get(column).copied()));
    let fits = rows.iter().flatten().all(|size| i32::try_from(*size).is_ok());
    let too_long = || Error::unsupported("a fragment is too long to be described");
    match (fits, default_fill(Atomic::Int), default_fill(Atomic::Int64)) {
        (true, Values::Int(fill), _) => {
            let fill = fill.first().copied().unwrap_or_default();
            let number =
                |size: Option<u64>| size.map_or(Ok(fill), |size| i32::try_from(size).map_err(|_| too_long()));
            Ok(Values::Int(padded.map(number).collect::<Result<_>>()?))
        }
        (_, _, Values::Int64(fill)) => {
            let fill = fill.first().copied().unwrap_or_default();
            let number =
                |size: Option<u64>| size.map_or(Ok(fill), |size| i64::try_from(size).map_err(|_| too_long()));
            Ok(Values::Int64(padded.map(number).collect::<Result<_>>()?))
        }
        _ => Err(Error::internal("fill values are of their types")),
    }
}
