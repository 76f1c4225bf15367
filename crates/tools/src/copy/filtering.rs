//! Filters and quantization by rule, in the grammar of nccopy's `-F` and beyond (docs/spec/nczarr.md 11.11).
use ncirrus::{CodecSpec, Error, Result};
use ncirrus_codec::{DecodedElement, names};
use ncirrus_engine::convert::Quantize;
use ncirrus_model::{CodecSpace, Model, TypeRef, VarId};
use ncirrus_netcdf_view::filter_text;
use serde_json::{Map, Value};
use std::path::Path;

/// The filters that some variables get.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterRule {
    variables: VariableNames,
    filters: Vec<CodecSpec>,
}

/// How values of some variables are quantized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantizeRule {
    variables: VariableNames,
    quantize: Quantize,
}

/// Which variables a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum VariableNames {
    All,
    /// Paths or simple names.
    Of(Vec<String>),
}

impl FilterRule {
    /// The variables that the rule names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.given()
    }

    /// Parses `[VARIABLES,]FILTER[|FILTER...]`: variables are `*` or names joined by `|`, a filter is
    /// - `ID,PARAMETER,...`: an HDF5 filter with its unsigned parameters, as nccopy has it (decimal or 0x, with the
    ///   suffixes u, b, s, ll, ull, f, d);
    /// - `NAME,KEY=VALUE,...` or `NAME,PARAMETER,...`: a codec by its name, with keywords or HDF5's parameters;
    /// - `{...}` or `[{...},...]`: the JSON of Zarr v2 codecs; `@FILE`: such JSON from a file;
    /// - `none`: no filter at all.
    ///
    /// Without variables the rule applies to all of them. The first item is parsed as variables, unless it can only
    /// be a filter: a number, `none`, JSON, `@`, or a name that ends the text or is followed by a keyword.
    ///
    /// # Errors
    /// `Invalid` with the part that cannot be parsed, or errors of reading the file.
    pub fn parse(text: &str) -> Result<Self> {
        let (variables, filters) = split(text);
        let filters = match filters.trim() {
            none if none.eq_ignore_ascii_case("none") => Vec::new(),
            json if json.starts_with(['{', '[']) => from_json(json)?,
            file if file.starts_with('@') => from_file(file.trim_start_matches('@'))?,
            list => list.split('|').map(filter).collect::<Result<_>>()?,
        };
        Ok(Self { variables, filters })
    }

    /// The filters, in the order of encoding.
    pub fn filters(&self) -> &[CodecSpec] {
        &self.filters
    }

    /// The filters that the rules set for a variable: the last rule that applies wins, and one that names the
    /// variable takes precedence over one for all.
    pub(crate) fn choose<'a>(rules: &'a [Self], model: &Model, var: VarId) -> Option<&'a [CodecSpec]> {
        let chosen = last(rules, |rule| &rule.variables, model, var)?;
        Some(&chosen.filters)
    }
}

impl VariableNames {
    fn given(&self) -> impl Iterator<Item = &str> {
        let list = match self {
            Self::All => &[][..],
            Self::Of(list) => list,
        };
        list.iter().map(String::as_str)
    }
}

impl QuantizeRule {
    /// The variables that the rule names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.given()
    }

    /// Parses `[VARIABLES,]MODE=N`: N significant digits with the modes `bitgroom` and `granular`, N significant bits
    /// with `bitround`.
    ///
    /// # Errors
    /// `Invalid` with the part that cannot be parsed.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::invalid(format!(
                "quantization {text:?}: expected [VARIABLES,]MODE=N with bitgroom, granular or bitround"
            ))
        };
        let (variables, mode) = split(text);
        let (mode, kept) = mode.split_once('=').ok_or_else(bad)?;
        let kept = kept.trim().parse().map_err(|_| bad())?;
        let quantize = match mode.trim().to_ascii_lowercase().as_str() {
            "bitgroom" => Quantize::BitGroom(kept),
            "granular" | "granularbr" | "granular_bitround" => Quantize::GranularBitRound(kept),
            "bitround" => Quantize::BitRound(kept),
            _ => return Err(bad()),
        };
        Ok(Self { variables, quantize })
    }

    /// How the rules quantize a variable; rules for all apply to floating-point variables only.
    ///
    /// # Errors
    /// `Invalid` if a variable that a rule names cannot be quantized in this way.
    pub(super) fn choose(rules: &[Self], model: &Model, var: VarId) -> Result<Option<Quantize>> {
        let Some(rule) = last(rules, |rule| &rule.variables, model, var) else { return Ok(None) };
        let ty = model.variable(var).map(|variable| variable.ty);
        let floating = matches!(ty, Some(TypeRef::Atomic(ncirrus::Atomic::Float | ncirrus::Atomic::Double)));
        match ty {
            Some(ty) if floating || rule.variables != VariableNames::All => {
                let checked = rule.quantize.check(ty);
                checked.map_err(|error| error.at_path(model.variable_path(var)))?;
                Ok(Some(rule.quantize))
            }
            _ => Ok(None),
        }
    }
}

/// The last rule for a variable: of those that name it, else of those for all.
fn last<'a, R>(
    rules: &'a [R],
    names: impl Fn(&R) -> &VariableNames,
    model: &Model,
    var: VarId,
) -> Option<&'a R> {
    let named = |rule: &&R| match names(rule) {
        VariableNames::All => false,
        VariableNames::Of(list) => list.iter().any(|name| super::chunking::names(model, var, name)),
    };
    let general = |rule: &&R| *names(rule) == VariableNames::All;
    rules.iter().rev().find(named).or_else(|| rules.iter().rev().find(general))
}

/// The variables that a rule begins with, and the rest.
fn split(text: &str) -> (VariableNames, &str) {
    let (first, rest) = text.split_once(',').unwrap_or((text, ""));
    let only_filter = first.starts_with(['{', '[', '@'])
        || first.starts_with(|c: char| c.is_ascii_digit())
        || first.contains('=')
        || rest.is_empty()
        || (!rest.starts_with(['{', '[', '@'])
            && rest.split([',', '|']).next().is_some_and(|next| next.contains('='))
            && !is_rule_with_mode(rest));
    if only_filter {
        return (VariableNames::All, text);
    }
    match first.trim() {
        "*" => (VariableNames::All, rest),
        names => (VariableNames::Of(names.split('|').map(|name| name.trim().to_owned()).collect()), rest),
    }
}

/// The filters of a list `ID,PARAMETER,...|ID,...`, as nccopy takes it.
///
/// # Errors
/// `Invalid` with the part that cannot be parsed.
pub(crate) fn filters_by_number(text: &str) -> Result<Vec<CodecSpec>> {
    text.split('|').map(filter).collect()
}

/// Whether the text is a quantization alone: its variables precede it.
fn is_rule_with_mode(text: &str) -> bool {
    ["bitgroom=", "granular", "bitround="].iter().any(|mode| text.trim_start().starts_with(mode))
}

fn from_file(path: &str) -> Result<Vec<CodecSpec>> {
    let text = std::fs::read_to_string(Path::new(path));
    from_json(&text.map_err(|error| Error::invalid(error.to_string()).at_object(path))?)
}

fn from_json(text: &str) -> Result<Vec<CodecSpec>> {
    let bad = || Error::invalid(format!("{text:?} is not the JSON of codecs; each needs an \"id\""));
    let codec = |value: Value| match value {
        Value::Object(map) if map.contains_key("id") => Ok(CodecSpec::V2(map)),
        Value::Object(map) => {
            let name = map.get("name").and_then(Value::as_str).ok_or_else(bad)?.to_owned();
            let configuration = match map.get("configuration") {
                None => Map::new(),
                Some(Value::Object(configuration)) => configuration.clone(),
                Some(_) => return Err(bad()),
            };
            Ok(CodecSpec::V3 { name, configuration })
        }
        _ => Err(bad()),
    };
    match serde_json::from_str(text).map_err(|_| bad())? {
        Value::Array(list) => list.into_iter().map(codec).collect(),
        one => Ok(vec![codec(one)?]),
    }
}

fn filter(text: &str) -> Result<CodecSpec> {
    let mut parts = text.split(',').map(str::trim);
    let first = parts.next().unwrap_or_default();
    if first.is_empty() {
        return Err(Error::invalid(format!("filter {text:?} has no id or name")));
    }
    let parts: Vec<&str> = parts.collect();
    if first.starts_with(|c: char| c.is_ascii_digit()) {
        let id = first.parse().map_err(|_| Error::invalid(format!("{first:?} is not a filter's id")))?;
        return Ok(CodecSpec::hdf5(id, &parameters(&parts)?));
    }
    let mut map = Map::new();
    map.insert("id".to_owned(), Value::from(numcodecs_name(first)));
    if parts.iter().any(|part| part.contains('=')) {
        for part in parts {
            let keyword = part.split_once('=');
            let (key, value) = keyword
                .ok_or_else(|| Error::invalid(format!("filter {text:?}: {part:?} is not KEY=VALUE")))?;
            map.insert(key.trim().to_owned(), keyword_value(value.trim()));
        }
        return Ok(CodecSpec::V2(map));
    }
    if parts.is_empty() {
        return Ok(CodecSpec::V2(map));
    }
    // Bare numbers are parameters of the HDF5 filter of that name.
    let named = names::translate(&CodecSpec::V2(map), CodecSpace::Hdf5, &DecodedElement::sized(None));
    match named {
        Ok(CodecSpec::Hdf5 { id, .. }) => Ok(CodecSpec::hdf5(id, &parameters(&parts)?)),
        _ => {
            Err(Error::invalid(format!("filter {first:?} has no HDF5 id: give its parameters as KEY=VALUE")))
        }
    }
}

/// HDF5's names of codecs that have a different name in numcodecs.
fn numcodecs_name(name: &str) -> &str {
    match name {
        "deflate" => "zlib",
        "bzip2" => "bz2",
        other => other,
    }
}

fn keyword_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn parameters(parts: &[&str]) -> Result<Vec<u32>> {
    let words = |part: &&str| {
        filter_text::whole_parameter(part)
            .ok_or_else(|| Error::invalid(format!("{part:?} is not a parameter of a filter")))
    };
    Ok(parts.iter().map(words).collect::<Result<Vec<_>>>()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rule(text: &str) -> FilterRule {
        FilterRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn v2(value: &Value) -> CodecSpec {
        CodecSpec::V2(value.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn a_rule_names_variables_and_filters() {
        let names = |list: &[&str]| VariableNames::Of(list.iter().map(|name| (*name).to_owned()).collect());
        let zstd = v2(&json!({"id": "zstd", "level": 5}));
        assert_eq!(
            rule("v,zstd,level=5"),
            FilterRule { variables: names(&["v"]), filters: vec![zstd.clone()] }
        );
        assert_eq!(
            rule("zstd,level=5"),
            FilterRule { variables: VariableNames::All, filters: vec![zstd.clone()] }
        );
        assert_eq!(rule("a|/g/b,307,9").variables, names(&["a", "/g/b"]));
        assert_eq!(rule("*,2|307,9").filters, [CodecSpec::hdf5(2, &[]), CodecSpec::hdf5(307, &[9])]);
        assert_eq!(
            rule("307,9"),
            FilterRule { variables: VariableNames::All, filters: vec![CodecSpec::hdf5(307, &[9])] }
        );
        assert_eq!(rule("v,zstd,5").filters, [CodecSpec::hdf5(32015, &[5])]);
        assert_eq!(rule("shuffle|zstd,level=5").filters, [v2(&json!({"id": "shuffle"})), zstd.clone()]);
        assert_eq!(rule(r#"v,{"id": "zstd", "level": 5}"#).filters, [zstd]);
        assert_eq!(rule("v,none").filters, []);
        assert_eq!(rule("none").variables, VariableNames::All);
    }

    #[test]
    fn parameters_have_suffixes_and_long_ones_take_two_words() {
        let words = |text: &str| match rule(text).filters.as_slice() {
            [CodecSpec::Hdf5 { parameters, .. }] => parameters.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(words("307,0x10,-2,7u"), [16, u32::MAX - 1, 7]);
        assert_eq!(words("307,-1ll,1.5f,1.5d"), [u32::MAX, u32::MAX, 0x3fc0_0000, 0, 0x3ff8_0000]);
        assert_eq!(words("307,4294967296"), [0, 1]);
        assert!(FilterRule::parse("307,x").is_err());
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for text in ["v,", ",", "v,zstd,level=3,x", "v,{\"level\": 1}", "v,@/no/such/file", "v,5x,1"] {
            assert!(FilterRule::parse(text).is_err(), "{text}");
        }
        assert!(QuantizeRule::parse("v,bitround").is_err());
        assert!(QuantizeRule::parse("v,digits=3").is_err());
    }

    #[test]
    fn quantization_is_parsed_with_and_without_variables() {
        let rule = QuantizeRule::parse("*,bitround=9").map(|rule| (rule.variables, rule.quantize));
        assert_eq!(rule.ok(), Some((VariableNames::All, Quantize::BitRound(9))));
        let rule = QuantizeRule::parse("granular=3").map(|rule| (rule.variables, rule.quantize));
        assert_eq!(rule.ok(), Some((VariableNames::All, Quantize::GranularBitRound(3))));
        let rule = QuantizeRule::parse("t,bitgroom=3").map(|rule| rule.variables);
        assert_eq!(rule.ok(), Some(VariableNames::Of(vec!["t".to_owned()])));
    }
}
