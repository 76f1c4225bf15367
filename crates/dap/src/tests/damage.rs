//! The answers of the corpus cut and changed, through the decoder that takes them while they arrive.
use super::views::{FileDataset, opened};
use super::{Case, cases};
use crate::{ChecksumRule, DapAnswer};
use bytes::Bytes;
use ncirrus_layout::{Layout, Limits, QueryAxis, QueryBox, QuerySource, Result};
use ncirrus_model::Values;
use ncirrus_testkit::sample::all_cases;
use std::sync::Arc;

/// An answer, and a variable in it.
struct Answered {
    name: String,
    body: Bytes,
    source: Arc<dyn QuerySource>,
    wanted: QueryBox,
}

/// What is decoded: elements that were put, or values at the end.
#[derive(Debug, PartialEq)]
enum Decoded {
    Put(Vec<u8>),
    Held(Values),
}

impl Answered {
    fn decode(&self, body: &[u8], piece: usize) -> Result<Decoded> {
        let limits = Limits { count: 1 << 16, ..Limits::default() };
        let mut decoder = self.source.decoder(&self.wanted, &limits);
        let mut bytes = Vec::new();
        for piece in body.chunks(piece.max(1)) {
            decoder.piece(piece, &mut |_, new| {
                bytes.extend_from_slice(new);
                Ok(())
            })?;
        }
        Ok(decoder.finish()?.map_or(Decoded::Put(bytes), Decoded::Held))
    }
}

/// Variables of all sound answers: of each the first whose elements are put as they come, and the first other one.
fn answers() -> Vec<Answered> {
    let sound = |case: &Case| case.text("expected_error").is_none();
    let cases = [cases("DAP2"), cases("DAP4")].concat();
    cases.iter().filter(|case| sound(case)).flat_map(answers_of).collect()
}

fn answers_of(case: &Case) -> Vec<Answered> {
    let suffix = if case.text("protocol") == Some("DAP2") { ".dods" } else { ".dap" };
    let (Some(body), Ok(dataset)) = (case.file(suffix), opened(case, "native")) else { return Vec::new() };
    let all = dataset.model.variables().into_iter().filter_map(|id| variable(case, &body, &dataset, id));
    let mut chosen: Vec<Answered> = Vec::new();
    let is_put = |one: &Answered| match one.decode(&one.body, 4096) {
        Ok(decoded) => Some(matches!(decoded, Decoded::Put(_))),
        Err(_) => None,
    };
    let mut seen = Vec::new();
    for one in all {
        let Some(kind) = is_put(&one).filter(|kind| !seen.contains(kind)) else { continue };
        seen.push(kind);
        chosen.push(one);
    }
    chosen
}

fn variable(case: &Case, body: &Bytes, dataset: &FileDataset, id: ncirrus_model::VarId) -> Option<Answered> {
    let Layout::Query { source, variable } = dataset.layout(id)? else { return None };
    let shape = dataset.model.shape(id);
    let axes = shape.iter().map(|len| QueryAxis { start: 0, count: *len, stride: 1 }).collect();
    let wanted = QueryBox { variable, axes };
    let name = format!("{} {}", case.name(), dataset.model.variable_path(id));
    (wanted.count() > 0).then(|| Answered { name, body: body.clone(), source, wanted })
}

/// Bytes that are decoded of one answer in all: longer answers are cut at fewer places.
fn work() -> usize {
    if all_cases() { 64 << 20 } else { 16 << 20 }
}

#[test]
fn answers_that_are_cut_anywhere_are_errors_or_equal() {
    let answers = answers();
    let (mut cuts, mut whole) = (0, 0);
    for answered in &answers {
        let body = &answered.body;
        let expected = answered.decode(body, 1000).unwrap();
        let step = (body.len() * body.len() / 2 / work()).max(1);
        whole += usize::from(step == 1);
        for end in (0..body.len()).step_by(step) {
            cuts += 1;
            match answered.decode(&body[..end], 1 + end % 1000) {
                Err(_) => {}
                // What follows the last value of an answer may be missing.
                Ok(decoded) => assert_eq!(decoded, expected, "{} to {end} of {}", answered.name, body.len()),
            }
        }
    }
    println!("{cuts} cuts of {} answers, {whole} of them at every byte", answers.len());
    assert!(whole > 60 || answers.is_empty(), "{whole} of {}", answers.len());
}

#[test]
fn ten_thousand_changed_answers_are_values_or_errors() {
    let answers: Vec<Answered> =
        answers().into_iter().filter(|answered| answered.body.len() < 20_000).collect();
    let mut random = 11_u64;
    let mut below = |limit: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % limit
    };
    for turn in 0..10_000_usize.min(answers.len() * 10_000) {
        let answered = &answers[turn % answers.len()];
        let mut body = answered.body.to_vec();
        for _ in 0..=below(4) {
            let at = below(body.len());
            body[at] = u8::try_from(below(256)).unwrap();
        }
        // Any result is right, except a panic, or another number of elements.
        if let Ok(Decoded::Held(values)) = answered.decode(&body, 1 + below(3000)) {
            assert_eq!(values.len() as u64, answered.wanted.count(), "{}", answered.name);
        }
    }
}

#[test]
fn a_changed_byte_under_a_checksum_is_an_error() {
    let limits = Limits::default();
    let (mut checked, mut changes) = (0, 0);
    for answered in answers() {
        let Ok(answer) = DapAnswer::parse(&answered.body, &limits) else { continue };
        let Ok(values) = answer.values(ChecksumRule::Verify, &limits) else { continue };
        if !values.checksums {
            continue;
        }
        checked += 1;
        let first = usize::try_from(u32::from_be_bytes(answered.body[..4].try_into().unwrap()) & 0xff_ffff);
        let data = 4 + first.unwrap() + 4;
        let expected = answered.decode(&answered.body, 1000).unwrap();
        for at in (data..answered.body.len()).step_by(1 + (answered.body.len() - data) / 500) {
            let mut body = answered.body.to_vec();
            body[at] ^= 0x11;
            changes += 1;
            if let Ok(decoded) = answered.decode(&body, 700) {
                assert_eq!(decoded, expected, "{}: byte {at}", answered.name);
            }
        }
    }
    println!("{changes} changed bytes of {checked} variables with checksums");
    assert!(checked > 3 || cases("DAP4").is_empty(), "{checked}");
}
