//! Files are, byte for byte, those of the netCDF C library for the same description, and it reads what was written.
use crate::support::file::{Writing3, big_endian};
use ncirrus_classic::{ClassicWriter, FormatVersion};
use ncirrus_model::{Atomic, Attribute, DimensionLen, Model, NodeId, TypeRef, Values, VarId};
use ncirrus_testkit::corpus::program;
use std::fs;
use std::path::Path;
use std::process::Command;

const CDL: &str = r#"netcdf sample {
dimensions:
    time = UNLIMITED ; // (3 currently)
    y = 3 ;
    x = 5 ;
variables:
    byte flag(y, x) ;
        flag:meanings = "good bad" ;
    double crs ;
    short packed(time, x) ;
        packed:_FillValue = -1s ;
        packed:scale_factor = 0.5 ;
        packed:valid_range = 0s, 9s, 1s ;
    int time(time) ;
        time:units = "days since 2000-01-01" ;
    char text(time, y) ;
    float never(y) ;
// global attributes:
    :title = "a sample" ;
    :levels = 1, 2, 3 ;
data:
    flag = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 ;
    crs = 2.5 ;
    packed = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ;
    time = 10, 11, 12 ;
    text = "abcdefghi" ;
}
"#;

fn sample(version: FormatVersion) -> Writing3 {
    let writer = ClassicWriter { header_pad: 0, ..ClassicWriter::new(version) };
    let mut file = Writing3::create(&writer);
    file.define(define_sample).expect("the definitions fit");
    let write = |file: &mut Writing3, name: &str, value: &dyn Fn(u64) -> Values| {
        let var = file.model.variable_at(name).expect("a variable");
        let shape = file.model.shape(var);
        file.write(var, &mut |index| {
            let flat = index.iter().zip(&shape).fold(0, |flat, (index, len)| flat * len + index);
            big_endian(&value(flat))
        });
    };
    let number = |value: u64| i16::try_from(value).expect("small");
    write(&mut file, "flag", &|i| Values::Byte(vec![i8::try_from(i + 1).expect("small")]));
    write(&mut file, "crs", &|_| Values::Double(vec![2.5]));
    write(&mut file, "packed", &|i| Values::Short(vec![if i < 10 { number(i + 1) } else { -1 }]));
    write(&mut file, "time", &|i| Values::Int(vec![i32::from(number(i + 10))]));
    write(&mut file, "text", &|i| Values::Char(vec![b'a' + u8::try_from(i).expect("small")]));
    file.commit();
    file
}

fn define_sample(model: &mut Model) {
    let root = model.root();
    let time = model.add_dimension(root, "time", DimensionLen::Unlimited(3)).expect("a dimension");
    let y = model.add_dimension(root, "y", DimensionLen::Fixed(3)).expect("a dimension");
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(5)).expect("a dimension");
    let var = |model: &mut Model, name: &str, ty: Atomic, dims: &[_]| {
        model.add_variable(root, name, TypeRef::Atomic(ty), dims).expect("a variable")
    };
    let flag = var(model, "flag", Atomic::Byte, &[y, x]);
    put(model, flag, Attribute::text("meanings", "good bad"));
    var(model, "crs", Atomic::Double, &[]);
    let packed = var(model, "packed", Atomic::Short, &[time, x]);
    model.set_fill(packed, Values::Short(vec![-1])).expect("a fill value");
    put(model, packed, Attribute::atomic("scale_factor", Values::Double(vec![0.5])));
    put(model, packed, Attribute::atomic("valid_range", Values::Short(vec![0, 9, 1])));
    let coordinate = var(model, "time", Atomic::Int, &[time]);
    put(model, coordinate, Attribute::text("units", "days since 2000-01-01"));
    var(model, "text", Atomic::Char, &[time, y]);
    var(model, "never", Atomic::Float, &[y]);
    let global = model.attributes_mut(NodeId::Group(root)).expect("a root").known_mut();
    global.put(Attribute::text("title", "a sample"));
    global.put(Attribute::atomic("levels", Values::Int(vec![1, 2, 3])));
}

fn put(model: &mut Model, var: VarId, attribute: Attribute) {
    model.variable_mut(var).expect("a variable").attributes.known_mut().put(attribute);
}

fn run(program: &Path, arguments: &[&str], folder: &Path) -> Vec<u8> {
    let output =
        Command::new(program).args(arguments).current_dir(folder).output().expect("a program that runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn files_equal_those_of_the_c_library_byte_for_byte() {
    let Some(ncgen) = program("ncgen") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("sample.cdl"), CDL).expect("a CDL file");
    for (version, kind) in
        [(FormatVersion::Classic, "nc3"), (FormatVersion::Offset64, "nc6"), (FormatVersion::Data64, "nc5")]
    {
        run(&ncgen, &["-k", kind, "-o", "sample.nc", "sample.cdl"], folder.path());
        let expected = fs::read(folder.path().join("sample.nc")).expect("a netCDF file");
        let made = sample(version).bytes;
        let differs = made.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!((differs, made.len()), (None, expected.len()), "{kind}");
    }
}

#[test]
fn the_c_library_dumps_what_was_written() {
    let Some(ncdump) = program("ncdump") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for version in FormatVersion::ALL {
        fs::write(folder.path().join("sample.nc"), sample(version).bytes).expect("a file");
        let text = String::from_utf8(run(&ncdump, &["sample.nc"], folder.path())).expect("text");
        for line in [
            "time = UNLIMITED ; // (3 currently)",
            "packed:_FillValue = -1s ;",
            ":levels = 1, 2, 3 ;",
            "  1, 2, 3, 4, 5,\n  6, 7, 8, 9, 10,\n  _, _, _, _, _ ;",
            " time = 10, 11, 12 ;",
            "\"abc\",\n  \"def\",\n  \"ghi\" ;",
            " never = _, _, _ ;",
        ] {
            assert!(text.contains(line), "{version:?}: {line:?} is not in\n{text}");
        }
        let kind = String::from_utf8(run(&ncdump, &["-k", "sample.nc"], folder.path())).expect("text");
        assert_eq!(kind.trim(), version.format().as_str());
    }
}
