//! The array that is written and read.
use ncirrus::CodecSpec;

/// Steps, rows and columns.
pub(crate) const SHAPE: [u64; 3] = [128, 1024, 1024];
/// Values of one step.
pub(crate) const STEP: usize = 1024 * 1024;
/// Stride of a strided read.
pub(crate) const STRIDE: u64 = 4;
/// Row and column of the point series.
pub(crate) const POINT: [u64; 2] = [517, 301];

/// A field like a model's output: smooth in space and time, with noise in the low bits (SplitMix64).
pub(crate) fn field() -> Vec<f32> {
    let mut values = Vec::with_capacity(STEP * 128);
    let mut state = 1u64;
    for step in 0..128u16 {
        for row in 0..1024u16 {
            let base = 280.0 + 20.0 * (f32::from(row) / 163.0).sin() + (f32::from(step) / 20.0).cos();
            for column in 0..1024u16 {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let noise = u8::try_from((state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56)
                    .unwrap_or(0);
                let smooth = base + 5.0 * (f32::from(column) / 97.0).cos();
                // Quantised to 1/64, as packed or bit-rounded output is.
                values.push(((smooth + f32::from(noise) / 512.0) * 64.0).round() / 64.0);
            }
        }
    }
    values
}

/// The codecs of a case, in the order of encoding.
pub(crate) fn codecs(name: &str) -> Option<Vec<CodecSpec>> {
    let json = match name {
        "raw" => vec![],
        "zstd" => vec![serde_json::json!({"id": "zstd", "level": 3})],
        "blosc" => vec![
            serde_json::json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
        ],
        "zlib" => vec![serde_json::json!({"id": "zlib", "level": 4})],
        "shuffle-zlib" => {
            vec![
                serde_json::json!({"id": "shuffle", "elementsize": 4}),
                serde_json::json!({"id": "zlib", "level": 4}),
            ]
        }
        _ => return None,
    };
    let spec = |value| match value {
        serde_json::Value::Object(map) => Some(CodecSpec::V2(map)),
        _ => None,
    };
    json.into_iter().map(spec).collect()
}

/// Peak resident memory of this process so far, in KiB; 0 if the platform does not report it.
pub(crate) fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
