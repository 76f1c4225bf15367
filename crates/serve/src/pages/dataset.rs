//! A dataset: its definitions as JSON, and as CDL.
use super::failure::{Failure, json_response};
use super::parameters::Call;
use super::work::work;
use super::{code, visible};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use ncirrus_tools::cdl::{DataChoice, PrintOptions};
use serde_json::{Value, json};

/// CDL of more bytes is refused.
const CDL: usize = 16 << 20;

/// Groups, dimensions, variables and attributes; how variables are stored; code that opens the dataset.
pub(super) async fn dataset(call: Call) -> Response {
    work(call, |call| {
        let served = call.dataset()?;
        let info = visible::info(call, served.dataset())?;
        let mut shown = info.to_json();
        let mut groups = shown["groups"].take();
        add_paths(&mut groups);
        let (name, dataset) = (served.name(), served.dataset());
        let (address, addresses, samples) = if call.options.is_local {
            let address = super::folder::shown(dataset.url());
            let samples = code::samples(&address, dataset);
            (address, Vec::new(), samples)
        } else {
            (String::new(), code::addresses(name), code::samples_of_server(name, dataset))
        };
        let left_out: Vec<String> =
            info.left_out.iter().map(|left_out| format!("{}: {}", left_out.path, left_out.reason)).collect();
        Ok(json_response(&json!({
            "name": served.name().rsplit('/').next(), "kind": info.kind.to_string(), "facts": shown["facts"].take(),
            "address": address, "addresses": addresses, "code": samples,
            "warnings": info.warnings, "left_out": left_out, "groups": groups,
        })))
    })
    .await
}

/// Adds the path of each variable.
fn add_paths(groups: &mut Value) {
    for group in groups.as_array_mut().into_iter().flatten() {
        let parent = group["path"].as_str().unwrap_or_default().trim_end_matches('/').to_owned();
        for variable in group["variables"].as_array_mut().into_iter().flatten() {
            let path = format!("{parent}/{}", variable["name"].as_str().unwrap_or_default());
            variable["path"] = path.into();
        }
    }
}

/// The header as `ncdump -h` prints it.
pub(super) async fn cdl(call: Call) -> Response {
    work(call, |call| {
        let served = call.dataset()?;
        let dataset = served.dataset();
        let name = served.name().rsplit('/').next().unwrap_or_default();
        let mut options = PrintOptions::default();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).clone_into(&mut options.name);
        options.data = DataChoice::HeaderOnly;
        options.special = true;
        options.classic = ncirrus_tools::is_classic_model(dataset);
        let mut text = Bounded(Vec::new());
        let printed = ncirrus_tools::dump(dataset, &mut text, &options);
        if text.0.len() >= CDL {
            return Err(Failure::too_large(format!(
                "the CDL has more than {CDL} bytes; `ncirrus dump -h` prints it"
            )));
        }
        let has_faults = !printed?.faults.is_empty();
        let text = visible::cdl(call, String::from_utf8_lossy(&text.0).into_owned(), has_faults);
        let headers =
            [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
        Ok((headers, text).into_response())
    })
    .await
}

/// Text that does not grow beyond [`CDL`].
struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let kept = bytes.len().min(CDL - self.0.len());
        self.0.extend_from_slice(&bytes[..kept]);
        if kept < bytes.len() { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(kept) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
