//! Code that opens a dataset, and addresses of it, for users to copy.
use crate::catalog::encoded;
use ncirrus::Dataset;
use serde_json::{Value, json};

/// Stands for the address of the server with a slash at its end, which the page replaces: only the browser sees what a proxy
/// makes of it.
const SERVER: &str = "{server}";

/// Samples in several languages: name, text, and what is needed.
pub(super) fn samples(address: &str, dataset: &Dataset) -> Vec<Value> {
    let (path, name, in_group) = example(dataset);
    let (url, simple) = (quoted(address), quoted(path.trim_start_matches('/')));
    vec![
        sample(
            "Command",
            format!("ncirrus info {0}\nncirrus dump -h {0}\nncirrus copy {0} copy.zarr", shell(address)),
            "",
        ),
        python_sample(&url, &simple),
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

/// Samples that open the dataset of that name on this server.
pub(super) fn samples_of_server(name: &str, dataset: &Dataset) -> Vec<Value> {
    let (path, simple_name, in_group) = example(dataset);
    let name = encoded(name);
    let (dap4, zarr) = (format!("{SERVER}dap/{name}#dap4"), format!("{SERVER}zarr/{name}"));
    let (url, simple) = (quoted(&dap4), quoted(path.trim_start_matches('/')));
    // The name may be that of several variables: the path is not.
    let subset: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    vec![
        sample("Command", format!("ncirrus info {0}\nncirrus copy {0} copy.nc", shell(&dap4)), ""),
        python_sample(&url, &simple),
        sample(
            "xarray",
            format!(
                "import xarray as xr\n\ndataset = xr.open_zarr({}{in_group})\ndataset[{}]",
                quoted(&zarr),
                quoted(&simple_name)
            ),
            "pip install xarray zarr aiohttp",
        ),
        sample(
            "netCDF4",
            format!("import netCDF4\n\ndataset = netCDF4.Dataset({url})\nvalues = dataset[{simple}][...]"),
            "pip install netCDF4",
        ),
        sample(
            "curl",
            format!("curl -o subset.nc {}", shell(&format!("{SERVER}nc/{name}?var={subset}"))),
            "The variable with its coordinates as a netCDF file; further parameters select parts.",
        ),
    ]
}

/// The addresses of the dataset of that name in all protocols, relative to that of the server: protocol, address, what can be
/// opened in the browser, and its name.
pub(super) fn addresses(name: &str) -> Vec<Value> {
    let (folder, name) = (name.rsplit_once('/').map(|(folder, _)| encoded(folder)), encoded(name));
    let catalog =
        folder.map_or_else(|| "catalog.xml".to_owned(), |folder| format!("catalog/{folder}/catalog.xml"));
    let address = |protocol: &str, path: String, open: String, label: &str| json!({"protocol": protocol, "path": path, "open": open, "label": label});
    vec![
        address("DAP2", format!("dap/{name}"), format!("dap/{name}.dds"), "definitions"),
        address("DAP4", format!("dap/{name}#dap4"), format!("dap/{name}.dmr.xml"), "definitions"),
        address("Zarr v3", format!("zarr/{name}"), format!("zarr/{name}/zarr.json"), "definitions"),
        address("Zarr v2", format!("zarr2/{name}"), format!("zarr2/{name}/.zmetadata"), "definitions"),
        address("netCDF", format!("nc/{name}"), format!("nc/{name}"), "file"),
        address("THREDDS", catalog.clone(), catalog, "catalogue"),
    ]
}

/// Opens a dataset and reads a variable with the package ncirrus; both names are literals of Python.
fn python_sample(url: &str, variable: &str) -> Value {
    let text = format!(
        "import ncirrus\n\ndataset = ncirrus.open({url})\nvariable = dataset[{variable}]\nvalues = variable[...]"
    );
    sample("Python", text, "pip install ncirrus")
}

fn sample(language: &str, text: String, note: &str) -> Value {
    json!({"language": language, "text": Value::from(text), "note": note})
}

/// The path and the name of a variable, and the argument of xarray that names its group.
fn example(dataset: &Dataset) -> (String, String, String) {
    let (path, name) = largest(dataset).unwrap_or_else(|| ("/".to_owned(), "name".to_owned()));
    let group = path.rsplit_once('/').map_or("", |(group, _)| group);
    let in_group = if group.is_empty() { String::new() } else { format!(", group={}", quoted(group)) };
    (path, name, in_group)
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
