//! Code that opens a dataset, for users to copy.
use ncirrus::Dataset;
use serde_json::{Value, json};

/// Samples in several languages: name, text, and what is needed.
pub(super) fn samples(address: &str, dataset: &Dataset) -> Vec<Value> {
    let variable = largest(dataset);
    let (path, name) = variable.unwrap_or_else(|| ("/".to_owned(), "name".to_owned()));
    let group = path.rsplit_once('/').map_or("", |(group, _)| group);
    let (url, simple) = (quoted(address), quoted(path.trim_start_matches('/')));
    let in_group = if group.is_empty() { String::new() } else { format!(", group={}", quoted(group)) };
    let sample =
        |language: &str, text: String, note: &str| json!({"language": language, "text": text, "note": note});
    vec![
        sample(
            "Command",
            format!("ncirrus info {0}\nncirrus dump -h {0}\nncirrus copy {0} copy.zarr", shell(address)),
            "",
        ),
        sample(
            "Python",
            format!(
                "import ncirrus\n\ndataset = ncirrus.open({url})\nvariable = dataset[{simple}]\nvalues = variable[...]"
            ),
            "pip install ncirrus",
        ),
        sample(
            "xarray",
            format!(
                "import xarray as xr\n\ndataset = xr.open_dataset({url}, engine=\"ncirrus\"{in_group})\ndataset[{}]",
                quoted(&name)
            ),
            "pip install ncirrus xarray",
        ),
        sample(
            "netCDF4",
            format!(
                "from ncirrus import netCDF4\n\ndataset = netCDF4.Dataset({url})\nvalues = dataset[{simple}][...]"
            ),
            "The interface of netCDF4-python, in the package ncirrus.",
        ),
        sample(
            "C",
            format!(
                "#include <netcdf.h>\n\nint ncid;\nint status = nc_open({url}, NC_NOWRITE, &ncid);\nif (status != NC_NOERR)\n    fprintf(stderr, \"%s\\n\", nc_strerror(status));"
            ),
            "cc program.c $(pkg-config --cflags --libs netcdf-ncirrus)",
        ),
    ]
}

/// The variable with the most elements: its path and name.
fn largest(dataset: &Dataset) -> Option<(String, String)> {
    let variables = dataset.variables().into_iter().filter(|variable| variable.fault().is_none());
    let size = |variable: &ncirrus::Variable| {
        variable.shape().iter().try_fold(1u64, |product, len| product.checked_mul(*len)).unwrap_or(u64::MAX)
    };
    let found = variables.max_by_key(size)?;
    Some((found.path(), found.name()))
}

/// A string literal of Python and C.
fn quoted(text: &str) -> String {
    let mut literal = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => literal.extend(['\\', letter]),
            '\n' => literal.push_str("\\n"),
            letter if letter.is_control() => literal.push_str(&format!("\\{:03o}", u32::from(letter))),
            letter => literal.push(letter),
        }
    }
    literal.push('"');
    literal
}

/// A word of a POSIX shell.
fn shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@%+,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_quoted_for_their_language() {
        assert_eq!(shell("s3://bucket/a.nc"), "s3://bucket/a.nc");
        assert_eq!(shell("it's; rm -rf ~"), "'it'\\''s; rm -rf ~'");
        assert_eq!(shell("-"), "-");
        assert_eq!(quoted("C:\\a \"b\"\n\u{1}é"), "\"C:\\\\a \\\"b\\\"\\n\\001é\"");
    }
}
