use super::*;
use DimensionLen::{Fixed, Unlimited};

#[test]
fn small_variables_are_one_chunk() {
    assert_eq!(balanced(&[Fixed(180), Fixed(360)], 4), [180, 360]);
    assert_eq!(balanced(&[Unlimited(12), Fixed(180), Fixed(360)], 4), [12, 180, 360]);
}

#[test]
fn a_map_and_a_series_touch_about_as_many_chunks() {
    for axes in [
        [Fixed(8760), Fixed(721), Fixed(1440)],
        [Unlimited(1000), Fixed(2000), Fixed(3000)],
        [Unlimited(100_000), Fixed(96), Fixed(144)],
    ] {
        let shape = balanced(&axes, 4);
        let bytes = product(&shape) * 4;
        assert!((1 << 20..=4 << 20).contains(&bytes), "{shape:?}");
        let counts: Vec<u64> =
            axes.iter().zip(&shape).map(|(axis, chunk)| axis.current().div_ceil(*chunk)).collect();
        let (series, map) = (counts[0], counts[1] * counts[2]);
        assert!(series <= map * 4 && map <= series * 4, "{shape:?}: {series} and {map}");
    }
}

#[test]
fn appending_rewrites_little() {
    assert_eq!(balanced(&[Unlimited(0), Fixed(1000), Fixed(1000)], 4), [1, 1000, 1000]);
    assert_eq!(balanced(&[Unlimited(0), Fixed(256)], 4), [1024, 256]);
    assert_eq!(balanced(&[Unlimited(0)], 8), [1024]);
}

#[test]
fn several_axes_may_grow() {
    assert_eq!(balanced(&[Unlimited(0), Unlimited(0)], 8), [1024, 1]);
}

#[test]
fn the_rule_of_netcdf_c_keeps_single_records() {
    assert_eq!(as_netcdf_c(&[Unlimited(5)], 4), [1024]);
    assert_eq!(as_netcdf_c(&[Unlimited(5), Fixed(100), Fixed(200)], 4), [1, 100, 200]);
    assert_eq!(as_netcdf_c(&[Unlimited(0), Unlimited(0)], 4), [2048, 2048]);
    assert_eq!(as_netcdf_c(&[Unlimited(0), Unlimited(0), Unlimited(0)], 1), [255, 255, 255]);
}

#[test]
fn the_rule_of_netcdf_c_shortens_all_axes_alike() {
    // What netCDF-C 4.9.0 chooses.
    assert_eq!(as_netcdf_c(&[Unlimited(5), Fixed(4000), Fixed(8000)], 4), [1, 1334, 2667]);
    assert_eq!(as_netcdf_c(&[Fixed(2048), Fixed(2049)], 4), [1024, 1025]);
    // Half an element is taken off before the fraction is cut off: what just fits is divided.
    assert_eq!(as_netcdf_c(&[Fixed(2048), Fixed(2048)], 4), [1024, 1024]);
    assert_eq!(
        as_netcdf_c(&[Fixed(1_804_289_383), Fixed(846_930_886), Fixed(1_681_692_777)], 4),
        [211, 99, 197]
    );
    // With an axis that is short already, all are halved until HDF5 takes the chunk.
    assert_eq!(as_netcdf_c(&[Fixed(1_804_289_383), Fixed(846_930_886), Fixed(1)], 4), [31_577, 14_822, 1]);
}

#[test]
fn small_variables_of_zarr_are_one_chunk() {
    assert_eq!(of_few_records(&[Fixed(180), Fixed(360)], 4, 4 << 20), [180, 360]);
    assert_eq!(of_few_records(&[], 4, 4 << 20), [] as [u64; 0]);
    assert_eq!(of_few_records(&[Fixed(0)], 4, 4 << 20), [1]);
}

#[test]
fn large_variables_are_cut_evenly_below_the_limit() {
    for axes in
        [vec![Fixed(4000), Fixed(5000)], vec![Fixed(100), Fixed(4000), Fixed(5000)], vec![Fixed(1 << 40)]]
    {
        let shape = of_few_records(&axes, 8, 4 << 20);
        let bytes = product(&shape) * 8;
        assert!((1 << 20..=4 << 20).contains(&bytes), "{shape:?}");
    }
}

#[test]
fn growing_axes_hold_few_records_but_small_records_are_gathered() {
    assert_eq!(of_few_records(&[Unlimited(0), Fixed(1000), Fixed(1000)], 4, 4 << 20), [1, 1000, 1000]);
    assert_eq!(of_few_records(&[Unlimited(100_000), Fixed(256)], 4, 4 << 20), [1024, 256]);
    assert_eq!(of_few_records(&[Unlimited(0)], 8, 4 << 20), [1024]);
    assert_eq!(of_few_records(&[Unlimited(5), Unlimited(7)], 8, 4 << 20), [5, 1]);
}

#[test]
fn elements_of_odd_lengths_are_not_rounded() {
    // Compounds of 12 bytes: 16 MiB hold 1,398,101.3 of them.
    assert_eq!(as_netcdf_c(&[Unlimited(0), Fixed(3000), Fixed(3000)], 12), [1, 1000, 1000]);
    assert_eq!(as_netcdf_c(&[Fixed(3)], 1 << 40), [1]);
}

#[test]
fn ties_are_halved_from_different_ends() {
    assert_eq!(balanced(&[Fixed(1400), Fixed(1400)], 4), [1400, 700]);
    assert_eq!(of_few_records(&[Fixed(1400), Fixed(1400)], 4, 4 << 20), [700, 1400]);
}
