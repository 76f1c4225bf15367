//! Downloads of a selection: as netCDF, as Zarr in a zip file, or as CSV.
use super::csv::CsvLines;
use super::failure::Failure;
use super::parameters::Call;
use super::values::check_cost;
use super::work::work;
use crate::HttpError;
use crate::response::streamed;
use axum::body::Body;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use ncirrus::{CreateOptions, Dataset, Kind, VariableSelect};
use ncirrus_tools::CopyOptions;
use std::fs::File;
use std::io::Read;
use tempfile::TempDir;

/// Bytes of a file that are sent at a time.
const PIECE: usize = 1 << 18;

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
        check_cost(call, served.dataset(), &variable, &selection)?;
        let body = match form {
            Form::Csv => {
                let mut lines = CsvLines::new(&variable, &selection)?;
                streamed(&call.state, move || Ok(lines.next_block()?.map(Bytes::from)))
            }
            _ => copied(call, served.dataset(), call.select(&variable)?, form)?,
        };
        let name = format!("attachment; filename=\"{}.{}\"", plain(&variable.name()), form.ending());
        let headers: [(HeaderName, String); 3] = [
            (header::CONTENT_TYPE, form.media_type().to_owned()),
            (header::CONTENT_DISPOSITION, name),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ];
        Ok((headers, body).into_response())
    })
    .await
}

/// A name that needs no quoting in a header and in any file system.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// The copy of a selection, which is removed when it was sent.
fn copied(call: &Call, dataset: &Dataset, select: VariableSelect, form: Form) -> Result<Body, Failure> {
    let io = |error: std::io::Error| HttpError::internal(format!("a temporary file: {error}"));
    let parent = call.state.session().cache_folder();
    std::fs::create_dir_all(&parent).map_err(io)?;
    let folder = TempDir::new_in(parent).map_err(io)?;
    let path = folder.path().join(format!("copy.{}", form.ending()));
    let kind = match form {
        Form::Nc3 => Kind::Nc6,
        Form::Nc4 => Kind::Nc4,
        _ => Kind::NcZarr,
    };
    let options = CopyOptions::new().create(CreateOptions::new().kind(kind)).select([select]);
    let report = ncirrus_tools::copy(dataset, &path.to_string_lossy(), &options, call.state.session())?;
    if let Some(left_out) = report.left_out.first() {
        return Err(Failure::invalid(format!("the copy lacks {}: {}", left_out.path, left_out.reason)));
    }
    let mut file = File::open(&path).map_err(io)?;
    Ok(streamed(&call.state, move || {
        let _folder = &folder;
        let mut piece = vec![0; PIECE];
        let len = file.read(&mut piece).map_err(io)?;
        piece.truncate(len);
        Ok((len > 0).then(|| Bytes::from(piece)))
    }))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_of_files_need_no_quoting() {
        assert_eq!(super::plain("a b/\"c\"\r\né.nc"), "a_b__c____.nc");
    }
}
