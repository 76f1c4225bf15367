//! Speed of printing data: `cargo bench -p ncirrus-cdl`. Prints millions of values per second and MB of text per
//! second.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark talks to whoever started it")]

use ncirrus_cdl::{DataSource, PrintOptions, ReadError, print};
use ncirrus_model::{DimensionLen, Model, Selection, Values, VarId};
use std::io::{self, Write};
use std::time::Instant;

const COUNT: usize = 10_000_000;

/// Values in memory.
struct Memory(Values);

impl DataSource for Memory {
    fn read(&mut self, _: VarId, selection: &Selection) -> Result<Values, ReadError> {
        let region = selection.as_region().ok_or("not a box")?;
        let (start, count) = match (&region.start[..], &region.count[..]) {
            ([start], [count]) => (*start, *count),
            ([row, _], [rows, len]) => (row * len, rows * len),
            _ => return Err("rank".into()),
        };
        let start = usize::try_from(start)?;
        Ok(self.0.slice(start..start + usize::try_from(count)?))
    }
}

/// Counts the bytes written.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0 += text.len() as u64;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn measure(name: &str, shape: &[u64], values: Values) {
    let mut model = Model::new();
    let root = model.root();
    let dims: Vec<_> = shape
        .iter()
        .enumerate()
        .map(|(at, &len)| model.add_dimension(root, &format!("d{at}"), DimensionLen::Fixed(len)).unwrap())
        .collect();
    model.add_variable(root, "v", values.atomic().unwrap().into(), &dims).unwrap();
    let mut source = Memory(values);
    let mut counter = Counter(0);
    let start = Instant::now();
    print(&mut counter, &model, &mut source, &PrintOptions::default()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let (values, bytes) = (COUNT as f64 / 1e6, counter.0 as f64 / 1e6);
    println!("{name:<28} {:>7.1} M values/s {:>7.1} MB/s", values / seconds, bytes / seconds);
}

/// Pseudorandom numbers, the same in every run.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    #[expect(clippy::cast_precision_loss, reason = "any double will do")]
    let unit = (*state >> 11) as f64 / (1u64 << 53) as f64;
    unit
}

#[expect(clippy::cast_possible_truncation, reason = "the values are made for their types")]
fn main() {
    let mut state = 1;
    let mut fill = |low: f64, high: f64| -> Vec<f64> {
        (0..COUNT).map(|_| low + (high - low) * random(&mut state)).collect()
    };
    let floats: Vec<f32> = fill(-40.0, 40.0).into_iter().map(|value| value as f32).collect();
    let rounded: Vec<f32> = floats.iter().map(|value| (value * 100.0).round() / 100.0).collect();
    let doubles = fill(-40.0, 40.0);
    let small: Vec<f64> = doubles.iter().map(|value| value * 1e-9).collect();
    let ints: Vec<i32> = fill(-1e6, 1e6).into_iter().map(|value| value as i32).collect();
    let count = COUNT as u64;
    measure("float, 10^7", &[count], Values::Float(floats.clone()));
    measure("float, 10^4 x 10^3", &[count / 1000, 1000], Values::Float(floats));
    measure("float, two decimals", &[count], Values::Float(rounded));
    measure("double", &[count], Values::Double(doubles));
    measure("double, around 1e-8", &[count], Values::Double(small));
    measure("int", &[count], Values::Int(ints));
    measure("char rows of 100", &[count / 100, 100], Values::Char(vec![b'x'; COUNT]));
}
