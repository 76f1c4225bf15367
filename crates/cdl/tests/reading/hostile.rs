//! Texts that ask for too much: each is a fault with a place, soon.
use super::rebuilt::read;
use ncirrus_cdl::parse::{self, CdlText, ParseFailure, ParseOptions};
use std::io;

fn first_fault(text: &[u8]) -> String {
    match read(text, &ParseOptions::new()) {
        Err(ParseFailure::Faults(faults)) => faults[0].to_string(),
        other => panic!("no fault: {other:?}"),
    }
}

#[test]
fn a_million_braces_are_too_many() {
    let braces = "{".repeat(1_000_000);
    let text = format!("netcdf t {{ variables: int v; data: v = {braces} }}");
    assert!(first_fault(text.as_bytes()).starts_with("1:"), "{}", first_fault(text.as_bytes()));
    assert!(first_fault(text.as_bytes()).contains("more than 64 open braces"));
    let groups = "group: g {".repeat(100_000);
    assert!(first_fault(format!("netcdf t {{ {groups}").as_bytes()).contains("groups more than 64 deep"));
    let mut types = String::from("int(*) t0;");
    for depth in 1..100 {
        types += &format!("t{}(*) t{depth};", depth - 1);
    }
    assert!(
        first_fault(format!("netcdf t {{ types: {types} }}").as_bytes()).contains("types more than 64 deep")
    );
}

/// A text with very many of the same byte in the middle, which is nowhere in memory.
struct LongText<'a> {
    before: &'a [u8],
    byte: u8,
    count: u64,
}

impl CdlText for LongText<'_> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let before = self.before.len() as u64;
        if offset < before {
            return self.before.read_at(offset, buffer);
        }
        let left = (before + self.count).saturating_sub(offset);
        let len = buffer.len().min(usize::try_from(left).unwrap());
        buffer[..len].fill(self.byte);
        Ok(len)
    }
}

#[test]
fn names_and_constants_have_a_longest_length() {
    for (before, byte, part) in [
        ("netcdf t { dimensions: ", b'a', "a name of more than 1024 bytes"),
        ("netcdf ", b'a', "a dataset's name of more than 1024 bytes"),
        ("netcdf t { dimensions: a = ", b'1', "a constant of more than"),
        ("netcdf t { :a = \"", b'x', "a constant of more than"),
        ("netcdf t { :a = 0x", b'f', "a constant of more than"),
        ("netcdf t { variables: /g", b'/', "a path"),
    ] {
        let text = LongText { before: before.as_bytes(), byte, count: 1 << 30 };
        let mut options = ParseOptions::new();
        options.limits.constant_len = 1 << 16;
        options.limits.faults = 1;
        let failure = parse::definitions(&text, &options).unwrap_err().to_string();
        assert!(failure.contains(part), "{before}: {failure}");
    }
}

#[test]
fn numbers_of_things_are_limited() {
    let dimension = first_fault(b"netcdf t { dimensions: d = 1000000000000000000; }");
    assert!(dimension.contains("1:28: a dimension of 1000000000000000000"), "{dimension}");
    let members: Vec<String> = (0..70_000).map(|at| format!("A{at}={at}")).collect();
    let text = format!("netcdf t {{ types: int enum e {{{}}}; }}", members.join(","));
    assert!(first_fault(text.as_bytes()).contains("an enum of more than 65536 constants"));
    let dims = vec!["d"; 2000].join(",");
    let text = format!("netcdf t {{ dimensions: d = 1; variables: int v({dims}); }}");
    assert!(first_fault(text.as_bytes()).contains("more than 1024 dimensions"));
    let text = b"netcdf t { types: compound c { int a(100000, 100000); }; }";
    assert!(first_fault(text).contains("a compound of more than"));
}

#[test]
fn very_many_declarations_take_no_long() {
    use std::fmt::Write;
    let mut text = String::from("netcdf t { dimensions: d = 1; variables: int v;");
    for at in 0..100_000 {
        write!(text, "int v{at}(d); v:a{at} = {at};").unwrap();
    }
    text.push('}');
    let rebuilt = parse::definitions(&text.as_bytes(), &ParseOptions::new()).unwrap();
    assert_eq!(rebuilt.model.variables().len(), 100_001);
}

#[test]
fn a_short_text_for_a_huge_array_takes_neither_long_nor_much_memory() {
    let options = ParseOptions::new();
    let count = |body: &str| {
        struct Count(u64);
        impl parse::BlockSink for Count {
            fn block(
                &mut self,
                block: &parse::DataBlock<'_>,
            ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
                self.0 += block.values.len() as u64;
                Ok(())
            }
        }
        let text =
            format!("netcdf t {{ types: opaque(1) o; dimensions: d = 1000000000000000; x = 2; {body} }}");
        let text = text.as_bytes();
        let definitions = parse::definitions(&text, &options).unwrap();
        let mut seen = Count(0);
        parse::data(&text, &definitions, &options, &mut seen)
            .map(|_| seen.0)
            .map_err(|failure| failure.to_string())
    };
    assert_eq!(count("variables: o v(d); data: v = 0x01;"), Ok(1));
    assert_eq!(count("variables: int v(x, d); data: v = 1, 2;"), Ok(2));
    assert!(count("variables: char v(x, d); data: v = \"a\";").unwrap_err().contains("cannot be padded"));
}
