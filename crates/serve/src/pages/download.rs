//! Downloads of a selection: as netCDF, as Zarr in a zip file, or as CSV.
use super::csv::CsvLines;
use super::failure::Failure;
use super::parameters::Call;
use super::values::check_cost;
use super::work::{HeldByBody, work};
use crate::response::streamed;
use crate::temporary::TemporaryFile;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use ncirrus::{CreateOptions, Dataset, Kind, Selection, Variable, VariableSelect};
use ncirrus_tools::CopyOptions;

/// A file that a selection is saved as.
#[derive(Clone, Copy)]
enum Form {
    Nc3,
    Nc4,
    Zarr,
    Csv,
}

impl Form {
    fn named(name: &str) -> Result<Self, Failure> {
        Ok(match name {
            "nc3" => Self::Nc3,
            "nc4" => Self::Nc4,
            "zarr" => Self::Zarr,
            "csv" => Self::Csv,
            _ => {
                return Err(Failure::invalid(format!("the form {name:?} is not one of nc3, nc4, zarr, csv")));
            }
        })
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Nc3 | Self::Nc4 => "nc",
            Self::Zarr => "zarr.zip",
            Self::Csv => "csv",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Nc3 | Self::Nc4 => "application/netcdf",
            Self::Zarr => "application/zip",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }
}

/// The selection with its coordinates, as a file. The copy is complete before the first byte is sent, so that an error is an
/// error of the response; CSV is written while it is sent.
pub(super) async fn download(call: Call) -> Response {
    work(call, |call| {
        let form = Form::named(call.text("form"))?;
        let served = call.dataset()?;
        let variable = call.variable(served.dataset())?;
        let selection = call.selection(&variable)?;
        check_size(call, &variable, &selection, form)?;
        check_cost(call, served.dataset(), &variable, &selection)?;
        let response = match form {
            Form::Csv => lines(call, &variable, &selection)?,
            _ => copied(call, served.dataset(), call.select(&variable)?, form)?,
        };
        let name = format!("attachment; filename=\"{}.{}\"", plain(&variable.name()), form.ending());
        let headers: [(HeaderName, String); 3] = [
            (header::CONTENT_TYPE, form.media_type().to_owned()),
            (header::CONTENT_DISPOSITION, name),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ];
        Ok((headers, response).into_response())
    })
    .await
}

/// Refuses what is larger than a response of a server for others may be, before it is read.
fn check_size(call: &Call, variable: &Variable, selection: &Selection, form: Form) -> Result<(), Failure> {
    if call.options.is_local {
        return Ok(());
    }
    let one = match form {
        // A line has at least a letter and a comma for each coordinate, a digit, and its end.
        Form::Csv => 2 * selection.rank() as u64 + 3,
        _ => {
            let model = variable.dataset().model()?;
            variable.ty().and_then(|ty| model.packed_len(ty)).unwrap_or(1)
        }
    };
    let bytes = selection.element_count().and_then(|count| count.checked_mul(one)).unwrap_or(u64::MAX);
    within_limit(call, bytes)
}

fn within_limit(call: &Call, bytes: u64) -> Result<(), Failure> {
    let max = call.state.limits().response_bytes;
    if bytes <= max || call.options.is_local {
        return Ok(());
    }
    Err(Failure::too_large(format!("the file has {bytes} bytes, the limit is {max}: choose a smaller part")))
}

/// A name that needs no quoting in a header and in any file system.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

fn lines(call: &Call, variable: &Variable, selection: &Selection) -> Result<Response, Failure> {
    let mut lines = CsvLines::new(variable, selection, !call.options.is_local)?;
    let held = HeldByBody(lines.held_bytes());
    let body = streamed(&call.state, move || Ok(lines.next_block()?.map(Bytes::from)));
    let mut response = body.into_response();
    response.extensions_mut().insert(held);
    Ok(response)
}

/// The copy of a selection, which is removed when it was sent.
fn copied(call: &Call, dataset: &Dataset, select: VariableSelect, form: Form) -> Result<Response, Failure> {
    let session = call.state.session();
    let file = TemporaryFile::new(&session.cache_folder(), &format!("copy.{}", form.ending()))?;
    let kind = match form {
        Form::Nc3 => Kind::Nc6,
        Form::Nc4 => Kind::Nc4,
        _ => Kind::NcZarr,
    };
    let create = CreateOptions::new().kind(kind).durable(false);
    let options = CopyOptions::new().create(create).select([select]);
    let report = ncirrus_tools::copy(dataset, file.target(), &options, session)?;
    if let Some(left_out) = report.left_out.first() {
        let reason = if call.options.is_local { &left_out.reason } else { super::visible::UNREADABLE };
        return Err(Failure::invalid(format!("the copy lacks {}: {reason}", left_out.path)));
    }
    let file = file.complete()?;
    let len = file.len();
    within_limit(call, len)?;
    let mut response = streamed(&call.state, file.part(0..len)?).into_response();
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(len));
    Ok(response)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_of_files_need_no_quoting() {
        assert_eq!(super::plain("a b/\"c\"\r\né.nc"), "a_b__c____.nc");
    }
}
