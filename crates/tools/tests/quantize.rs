//! Quantized values are those of netCDF-C, bit for bit.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{session, temp, values};
use ncirrus::convert::Quantize;
use ncirrus::{Atomic, Dataset, DimensionLen, Selection, Values};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_tools::{CopyOptions, QuantizeRule, copy};
use std::path::Path;
use std::process::Command;

/// Writes `in_f4`, `in_f8` and, per algorithm and number of kept digits or bits, what netCDF-C stores for them.
const PROGRAM: &str = r#"
import sys, numpy as np, netCDF4
folder = sys.argv[1]
random = np.random.default_rng(7)
special = [0.0, -0.0, 1.0, -1.0, 9.99, 10.0, 0.1, 99.95, 1e-30, 1e30, 3.4e38, 1.1754944e-38, 5e-42, np.inf, -np.inf, np.nan, -np.nan, np.inf, 1.0, -np.inf]
values = np.concatenate([special, random.normal(size=2000) * 10.0 ** random.integers(-30, 30, size=2000)])
fill = 9.969209968386869e36
with netCDF4.Dataset(folder + "/q.nc", "w") as data:
    data.createDimension("x", len(values))
    for name, top in (("f4", 6), ("f8", 15)):
        array = values.astype(name)
        array[100:110] = np.array(fill, name)
        array.tofile(f"{folder}/in_{name}")
        for mode, most in (("BitGroom", top), ("GranularBitRound", top), ("BitRound", 23 if name == "f4" else 52)):
            for kept in range(1, most + 1):
                v = data.createVariable(f"{name}_{mode}_{kept}", name, ("x",), significant_digits=kept, quantize_mode=mode)
                v.set_auto_maskandscale(False)
                v[:] = array
with netCDF4.Dataset(folder + "/q.nc") as data:
    data.set_auto_maskandscale(False)
    for name, v in data.variables.items():
        v[:].tofile(f"{folder}/{name}")
"#;

fn peer(folder: &Path) -> bool {
    let Some(python) = peers_python() else { return false };
    let status = Command::new(python).args(["-c", PROGRAM]).arg(folder).status().unwrap();
    assert!(status.success(), "the peer failed");
    true
}

fn floats(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

fn doubles(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    bytes.chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect()
}

type Kind = (&'static str, fn(u32) -> Quantize, [u32; 2]);

const KINDS: [Kind; 3] = [
    ("BitGroom", Quantize::BitGroom, [6, 15]),
    ("GranularBitRound", Quantize::GranularBitRound, [6, 15]),
    ("BitRound", Quantize::BitRound, [23, 52]),
];

#[test]
fn every_algorithm_gives_the_bits_of_netcdf_c() {
    let (_keep, folder) = temp();
    if !peer(&folder) {
        return;
    }
    let (f4, f8) = (floats(&folder.join("in_f4")), doubles(&folder.join("in_f8")));
    let mut wrong = Vec::new();
    for (name, kind, [max_f4, max_f8]) in KINDS {
        // netCDF-C makes NaN of infinities at odd positions (BitGroom), and converts their logarithm to int, which is
        // undefined (GranularBitRound); here they are preserved.
        let is_right =
            |input: f64, ours: f64, same: bool| if input.is_infinite() { ours == input } else { same };
        let fill = Values::Float(vec![9.969_21e36]);
        for kept in 1..=max_f4 {
            let mut ours = Values::Float(f4.clone());
            kind(kept).apply(&mut ours, &fill);
            let theirs = floats(&folder.join(format!("f4_{name}_{kept}")));
            let Values::Float(ours) = ours else { continue };
            for ((input, ours), theirs) in f4.iter().zip(ours).zip(theirs) {
                if !is_right((*input).into(), ours.into(), ours.to_bits() == theirs.to_bits()) {
                    wrong.push(format!("{name} {kept} of {input:e}f: {ours:e} instead of {theirs:e}"));
                }
            }
        }
        let fill = Values::Double(vec![9.969_209_968_386_869e36]);
        for kept in 1..=max_f8 {
            let mut ours = Values::Double(f8.clone());
            kind(kept).apply(&mut ours, &fill);
            let theirs = doubles(&folder.join(format!("f8_{name}_{kept}")));
            let Values::Double(ours) = ours else { continue };
            for ((input, ours), theirs) in f8.iter().zip(ours).zip(theirs) {
                if !is_right(*input, ours, ours.to_bits() == theirs.to_bits()) {
                    wrong.push(format!("{name} {kept} of {input:e}: {ours:e} instead of {theirs:e}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ, such as {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}

#[test]
fn infinities_stay_in_copies_and_in_parts_that_are_written() {
    let (_keep, folder) = temp();
    let session = session();
    let source = folder.join("a.zarr");
    let data = Dataset::create(source.to_str().unwrap()).unwrap();
    data.root().add_dimension("x", DimensionLen::Fixed(6)).unwrap();
    let numbers = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, 1.0, 1.0];
    let expected = numbers.map(f64::from);
    for (name, ty) in [("f", Atomic::Float), ("d", Atomic::Double)] {
        data.root().add_variable(name, ty, &["x"]).unwrap().write_all(&numbers).unwrap();
    }
    data.close().unwrap();
    for (kind, mode) in ["nc", "zarr"]
        .into_iter()
        .flat_map(|kind| ["bitgroom=1", "granular=2", "bitround=3"].map(|mode| (kind, mode)))
    {
        let options = CopyOptions::new().quantize(vec![QuantizeRule::parse(mode).unwrap()]);
        let target = folder.join(format!("{mode}.{kind}"));
        let opened = crate::support::open(&source, &session).unwrap();
        copy(&opened, target.to_str().unwrap(), &options, &session).unwrap();
        let update = Dataset::update(target.to_str().unwrap()).unwrap();
        for name in ["f", "d"] {
            let variable = update.variable(name).unwrap();
            assert_eq!(variable.read::<f64>().unwrap()[..4], expected[..4], "{mode} {kind} {name}");
            variable.write(&Selection::slab(&[1], &[2]), &[f32::NEG_INFINITY, f32::INFINITY]).unwrap();
            assert_eq!(
                variable.read::<f64>().unwrap()[1..3],
                [f64::NEG_INFINITY, f64::INFINITY],
                "{mode} {kind} {name}"
            );
        }
        update.close().unwrap();
    }
}

#[test]
fn a_copy_is_quantized_and_says_so_and_writing_to_it_goes_on_so() {
    let (_keep, folder) = temp();
    let session = session();
    let source = folder.join("a.zarr");
    let data = Dataset::create(source.to_str().unwrap()).unwrap();
    data.root().add_dimension("x", DimensionLen::Fixed(4)).unwrap();
    let t = data.root().add_variable("t", Atomic::Float, &["x"]).unwrap();
    t.write_all(&[1.234_567_8f32, 2.345_678_9, 5.432_11, 9.969_21e36]).unwrap();
    data.close().unwrap();
    let options =
        CopyOptions::new().quantize(vec![QuantizeRule::parse("t,bitgroom=3").unwrap()]).cf_quantization(true);
    let target = folder.join("b.zarr");
    let opened = crate::support::open(&source, &session).unwrap();
    copy(&opened, target.to_str().unwrap(), &options, &session).unwrap();
    let copied = crate::support::open(&target, &session).unwrap();
    let t = copied.variable("/t").unwrap();
    assert_eq!(values(&t).unwrap(), Values::Float(vec![1.234_375, 2.345_703, 5.431_640_6, 9.969_21e36]));
    assert_eq!(t.quantization(), Some(Quantize::BitGroom(3)));
    assert_eq!(t.attribute("quantization").unwrap().unwrap().as_text().unwrap(), "quantization_bitgroom");
    assert_eq!(t.attribute("quantization_nsd").unwrap().unwrap().values, Values::Int(vec![3]));
    let container = copied.variable("/quantization_bitgroom").unwrap();
    assert_eq!(container.attribute("algorithm").unwrap().unwrap().as_text().unwrap(), "bitgroom");
    drop(copied);

    let update = Dataset::update(target.to_str().unwrap()).unwrap();
    let t = update.variable("/t").unwrap();
    t.write(&Selection::slab(&[2], &[1]), &[5.432_11f32]).unwrap();
    update.close().unwrap();
    let again = crate::support::open(&target, &session).unwrap();
    let stored = values(&again.variable("/t").unwrap()).unwrap();
    assert_eq!(stored.slice(2..3), Values::Float(vec![5.431_640_6]));
}
