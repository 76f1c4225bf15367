//! Values of a selection as binary numbers, and what reading them costs.
use super::failure::{Failure, json_response};
use super::parameters::Call;
use super::visible;
use super::work::work;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use ncirrus::{Atomic, Dataset, ReadPlan, Selection, Variable};
use serde_json::json;

/// Values of one response at most. A tile has 65,536.
pub(super) const VALUES: u64 = 1 << 18;
/// A read of more bytes, or of more requests, is begun only if the user accepts its cost.
const FREE_BYTES: u64 = 256 << 20;
const FREE_REQUESTS: u64 = 4096;
/// A read of more requests is refused by a server for others.
const MAX_REQUESTS: u64 = 1 << 16;

const SHAPE: HeaderName = HeaderName::from_static("ncirrus-shape");
const TYPE: HeaderName = HeaderName::from_static("ncirrus-type");

/// Values decoded by their attributes, row-major, little-endian, NaN for missing ones. They are float32 if that holds every
/// value of the decoded type, otherwise float64.
pub(super) async fn values(call: Call) -> Response {
    work(call, |call| {
        let served = call.dataset()?;
        let variable = call.variable(served.dataset())?;
        let selection = call.selection(&variable)?;
        let count = selection.element_count();
        if count.is_none_or(|count| count > VALUES) {
            let shape = selection.shape();
            return Err(Failure::too_large(format!(
                "a selection of {shape:?} has more than {VALUES} values"
            )));
        }
        let is_narrow = is_narrow(variable.decoding()?.decoded_type());
        check_cost(call, served.dataset(), &variable, &selection)?;
        let numbers = variable.read_decoded(&selection)?.numbers();
        let shape: Vec<String> = selection.shape().iter().map(u64::to_string).collect();
        let headers = [
            (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
            (header::CACHE_CONTROL, "no-store".to_owned()),
            (SHAPE, shape.join(",")),
            (TYPE, if is_narrow { "float32" } else { "float64" }.to_owned()),
        ];
        Ok((headers, as_bytes(&numbers, is_narrow)).into_response())
    })
    .await
}

/// Whether float32 holds every value of the type.
fn is_narrow(ty: Atomic) -> bool {
    matches!(ty, Atomic::Float | Atomic::Byte | Atomic::UByte | Atomic::Short | Atomic::UShort)
}

#[expect(clippy::cast_possible_truncation, reason = "the numbers are of a type that float32 holds")]
fn as_bytes(numbers: &[f64], is_narrow: bool) -> Vec<u8> {
    if is_narrow {
        numbers.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect()
    } else {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

/// The plan of a read, as `ncirrus explain` has it. No value is read.
pub(super) async fn cost(call: Call) -> Response {
    work(call, |call| {
        let served = call.dataset()?;
        let variable = call.variable(served.dataset())?;
        let selection = call.selection(&variable)?;
        let plan = visible::plan(call, served.dataset().plan(&variable, &selection)?);
        let mut shown = ncirrus_tools::plan_json(&variable.path(), &plan);
        shown["result_bytes"] = json!(plan.result_bytes);
        Ok(json_response(&json!({"plan": shown, "text": plan.to_string()})))
    })
    .await
}

/// Refuses an expensive read, unless the user has accepted the cost. Users of a server cannot accept every cost.
pub(super) fn check_cost(
    call: &Call,
    dataset: &Dataset,
    variable: &Variable,
    selection: &Selection,
) -> Result<(), Failure> {
    let is_accepted = call.accepts_cost();
    if (is_accepted && call.options.is_local) || selection.element_count() == Some(0) {
        return Ok(());
    }
    let plan = dataset.plan(variable, selection)?;
    let (requests, bytes) = whole_cost(&plan);
    let max_bytes = call.state.limits().response_bytes;
    if !call.options.is_local && (bytes > max_bytes || requests > MAX_REQUESTS) {
        let limit = format!("the server reads at most {} MiB in {MAX_REQUESTS} requests", max_bytes >> 20);
        return Err(Failure::too_large(format!(
            "this reads {} MiB in {requests} requests: {limit}",
            bytes >> 20
        )));
    }
    if is_accepted || (bytes <= FREE_BYTES && requests <= FREE_REQUESTS) {
        return Ok(());
    }
    Err(Failure::Cost { requests, bytes })
}

/// Requests and bytes of a plan that counts only the first chunks.
fn whole_cost(plan: &ReadPlan) -> (u64, u64) {
    let (chunks, counted) = (plan.chunks.unwrap_or(u64::MAX), plan.counted.max(1));
    let all = |part: u64| {
        let whole = u128::from(part) * u128::from(chunks.max(counted)) / u128::from(counted);
        u64::try_from(whole).unwrap_or(u64::MAX)
    };
    // The lengths of whole objects are not known before they are read.
    let bytes = if plan.whole_objects > 0 { plan.bytes.max(plan.decoded_bytes / 4) } else { plan.bytes };
    (all(plan.requests), all(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float32_is_used_where_it_loses_nothing() {
        for (ty, is) in
            [(Atomic::Float, true), (Atomic::Short, true), (Atomic::Int, false), (Atomic::Double, false)]
        {
            assert_eq!(is_narrow(ty), is, "{ty:?}");
        }
        assert_eq!(as_bytes(&[1.5, -2.0], true), [1.5f32.to_le_bytes(), (-2.0f32).to_le_bytes()].concat());
        assert_eq!(as_bytes(&[1.5], false), 1.5f64.to_le_bytes());
    }

    #[test]
    fn a_plan_of_the_first_chunks_is_scaled_to_all() {
        let plan =
            ReadPlan { chunks: Some(1000), counted: 10, requests: 10, bytes: 500, ..ReadPlan::default() };
        assert_eq!(whole_cost(&plan), (1000, 50_000));
        let plan = ReadPlan { chunks: None, counted: 1, requests: 4, bytes: 500, ..ReadPlan::default() };
        assert_eq!(whole_cost(&plan), (u64::MAX, u64::MAX));
    }
}
