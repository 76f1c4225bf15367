//! Filters and codecs of shared libraries that the test builds with the machine's C compiler.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
use ncirrus_codec::{
    ChunkInfo, CodecChain, CodecEntry, CodecError, CodecOrigin, CodecRegistry, CodecScratch, DecodedElement,
    PluginOptions,
};
use ncirrus_model::{CodecSpace, CodecSpec};
use ncirrus_testkit::library::shared_library;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const SOURCES: [&str; 10] =
    ["both", "driver", "failing", "future", "growing", "local", "lying", "names", "shrinking", "unrelated"];

/// A directory with all libraries, a text file named like a library, and a second name for one of them.
fn libraries() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).as_deref()
}

fn build() -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins");
    fs::create_dir_all(&directory).unwrap();
    // Other systems do not link it.
    let unlinked = cfg!(target_os = "linux").then_some("unlinked");
    for source in SOURCES.into_iter().chain(unlinked) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/plugins/{source}.c"));
        shared_library(&from, &library(&directory, source))?;
    }
    fs::write(directory.join("libtext.so"), "not a library").unwrap();
    fs::write(directory.join("README"), "not even called one").unwrap();
    let link = directory.join("libsecond.so.1");
    _ = fs::remove_file(&link);
    std::os::unix::fs::symlink("libgrowing.so", link).unwrap();
    Some(directory)
}

fn library(directory: &Path, source: &str) -> PathBuf {
    directory.join(format!("lib{source}.so"))
}

fn options() -> Option<PluginOptions> {
    Some(PluginOptions::default().directories([libraries()?]))
}

fn registry() -> Option<CodecRegistry> {
    options().map(CodecRegistry::with_plugins)
}

fn v2(text: &str) -> CodecSpec {
    CodecSpec::V2(serde_json::from_str(text).unwrap())
}

fn v3(name: &str, configuration: &str) -> CodecSpec {
    CodecSpec::V3 { name: name.to_owned(), configuration: serde_json::from_str(configuration).unwrap() }
}

fn optional(id: u32, parameters: &[u32]) -> CodecSpec {
    CodecSpec::Hdf5 { id, parameters: parameters.to_vec(), optional: true }
}

fn chunk() -> ChunkInfo {
    ChunkInfo { shape: vec![8, 16], element: DecodedElement::sized(Some(4)) }
}

fn sample() -> Vec<u8> {
    (0..512u32).map(|i| (i / 5 % 250).to_le_bytes()[0]).collect()
}

fn bind(registry: &CodecRegistry, specs: &[CodecSpec]) -> CodecChain {
    registry.bind(specs, &chunk()).unwrap()
}

fn encode(chain: &CodecChain) -> Result<(Vec<u8>, u32), CodecError> {
    chain.encode(&sample(), &mut CodecScratch::default())
}

/// Encodes and decodes in all ways; returns the encoded bytes.
fn round_trip(registry: &CodecRegistry, specs: &[CodecSpec]) -> (Vec<u8>, u32) {
    let (chain, mut scratch) = (bind(registry, specs), CodecScratch::default());
    let (encoded, mask) = encode(&chain).unwrap();
    let mut decoded = vec![0; 512];
    assert_eq!(chain.decode_into(&encoded, mask, &mut decoded, &mut scratch), Ok(0));
    assert_eq!(decoded, sample());
    assert_eq!(chain.decode(&encoded, mask, 512, &mut scratch).unwrap(), sample());
    (encoded, mask)
}

fn entry(registry: &CodecRegistry, id: u32) -> CodecEntry {
    let plugins = registry.known().into_iter().filter(|entry| entry.origin != CodecOrigin::BuiltIn);
    plugins.into_iter().find(|entry| entry.hdf5 == Some(id)).unwrap()
}

#[test]
fn a_codec_turns_json_into_visible_and_those_into_working_parameters() {
    let Some(registry) = registry() else { return };
    let expected: Vec<u8> = sample().iter().map(|byte| byte.wrapping_add(16)).collect();
    assert_eq!(round_trip(&registry, &[v2(r#"{"id":"mixing","key":5}"#)]), (expected.clone(), 0));
    assert_eq!(round_trip(&registry, &[v3("mixing", r#"{"key":5}"#)]), (expected.clone(), 0));
    // In HDF5 the working parameters are stored.
    assert_eq!(round_trip(&registry, &[CodecSpec::hdf5(40001, &[16])]), (expected, 0));
}

#[test]
fn buffers_that_filters_replace_may_grow_and_shrink() {
    let Some(registry) = registry() else { return };
    let (grown, _) = round_trip(&registry, &[CodecSpec::hdf5(40002, &[7])]);
    assert_eq!(grown.len(), 512 * 7);
    let (shrunk, _) = round_trip(&registry, &[CodecSpec::hdf5(40003, &[])]);
    assert_eq!(shrunk.len(), 103 * 2);
    let between = [CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(40003, &[]), CodecSpec::hdf5(1, &[6])];
    round_trip(&registry, &between);
    round_trip(
        &registry,
        &[CodecSpec::hdf5(40002, &[2]), CodecSpec::hdf5(40003, &[]), CodecSpec::hdf5(3, &[])],
    );
}

#[test]
fn what_filters_decode_is_bounded() {
    let Some(registry) = registry() else { return };
    let chain = bind(&registry, &[CodecSpec::hdf5(40003, &[])]);
    let much: Vec<u8> = [255, 0].repeat(100_000);
    let error = chain.decode(&much, 0, 1 << 20, &mut CodecScratch::default()).unwrap_err();
    assert_eq!(error, CodecError::Limit { codec: "runs (filter 40003)".into(), limit: 1 << 20 });
    let mut out = [1; 10];
    let more = chain.decode_into(&much, 0, &mut out, &mut CodecScratch::default());
    assert_eq!((more, out), (Ok(25_499_990), [0; 10]));
    let few = chain.decode_into(&[3, 9], 0, &mut out, &mut CodecScratch::default());
    assert_eq!(few, Err(CodecError::Short { have: 3, want: 10 }));
    let inner = bind(&registry, &[CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(40003, &[])]);
    let error = inner.decode_into(&much, 0, &mut out, &mut CodecScratch::default()).unwrap_err();
    assert!(matches!(error, CodecError::Limit { .. }), "{error}");
}

#[test]
fn an_optional_filter_that_fails_is_skipped_and_another_is_an_error_with_its_name() {
    let Some(registry) = registry() else { return };
    let shuffle = CodecSpec::hdf5(2, &[4]);
    let refuses = [shuffle.clone(), optional(40004, &[0]), CodecSpec::hdf5(40002, &[2])];
    let (_, mask) = round_trip(&registry, &refuses);
    assert_eq!(mask, 0b010);
    let (_, mask) = round_trip(&registry, &[shuffle.clone(), optional(40004, &[99])]);
    assert_eq!(mask, 0);
    let error = encode(&bind(&registry, &[shuffle, CodecSpec::hdf5(40004, &[0])])).unwrap_err().to_string();
    assert!(
        error.starts_with("codec refuses (filter 40004): the plugin could not encode 512 bytes: "),
        "{error}"
    );
    assert!(error.ends_with("libfailing.so"), "{error}");
    let chain = bind(&registry, &[CodecSpec::hdf5(40004, &[0])]);
    let error = chain.decode_into(&[0; 8], 0, &mut [0; 8], &mut CodecScratch::default()).unwrap_err();
    assert!(error.to_string().contains("could not decode 8 bytes"), "{error}");
}

#[test]
fn a_filter_that_claims_more_than_its_buffer_is_not_believed() {
    let Some(registry) = registry() else { return };
    let error = encode(&bind(&registry, &[CodecSpec::hdf5(40006, &[])])).unwrap_err().to_string();
    assert!(error.contains("returned 1025 bytes in a buffer of 512"), "{error}");
}

#[test]
fn a_filter_that_wants_hdf5s_help_decodes_and_encodes_only_with_complete_parameters() {
    let Some(registry) = registry() else { return };
    for given in [vec![9, 4], vec![9]] {
        let chain = bind(&registry, &[CodecSpec::hdf5(40005, &given)]);
        let error = encode(&chain).unwrap_err();
        assert!(
            matches!(&error, CodecError::Unsupported { reason, .. } if reason.contains("HDF5's help")),
            "{error}"
        );
    }
    let mixed: Vec<u8> = sample().iter().map(|byte| byte ^ 13).collect();
    let chain = bind(&registry, &[CodecSpec::hdf5(40005, &[9, 4])]);
    assert_eq!(chain.decode(&mixed, 0, 512, &mut CodecScratch::default()).unwrap(), sample());

    let trusting = CodecRegistry::with_plugins(options().unwrap().complete_parameters(true));
    assert_eq!(round_trip(&trusting, &[CodecSpec::hdf5(40005, &[9, 4])]).0, mixed);
    // Silently skipping an optional filter is not what was requested.
    assert!(encode(&bind(&registry, &[optional(40005, &[9])])).is_err());
    let check = registry.check_encodes(&optional(40005, &[9]), &chunk());
    assert!(check.unwrap_err().to_string().contains("HDF5's help"));
    assert_eq!(registry.check_encodes(&CodecSpec::hdf5(40002, &[9]), &chunk()), Ok(()));
}

#[test]
fn parameters_that_the_codec_itself_would_make_are_complete() {
    let Some(registry) = registry() else { return };
    // Key 5 is completed to 16; 15 is unknown.
    assert!(encode(&bind(&registry, &[CodecSpec::hdf5(40001, &[16])])).is_ok());
    let error = encode(&bind(&registry, &[CodecSpec::hdf5(40001, &[15])])).unwrap_err();
    assert!(matches!(error, CodecError::Unsupported { .. }), "{error}");
}

#[test]
fn codecs_of_other_libraries_name_filters_and_built_in_ones() {
    let Some(registry) = registry() else { return };
    let (grown, _) = round_trip(&registry, &[v2(r#"{"id":"repeat","times":"3"}"#)]);
    assert_eq!(grown.len(), 512 * 3);
    let (squeezed, _) = round_trip(&registry, &[v2(r#"{"id":"squeeze","effort":9}"#)]);
    let (zstd, _) = round_trip(&CodecRegistry::builtin(), &[v2(r#"{"id":"zstd","level":9}"#)]);
    assert_eq!(squeezed, zstd);
    // A record in the older form.
    round_trip(&registry, &[v2(r#"{"id":"runs","level":2}"#)]);
}

#[test]
fn descriptions_are_translated_between_all_name_spaces() {
    let Some(registry) = registry() else { return };
    let to = |spec: &CodecSpec, space| registry.translate(spec, space, &chunk()).unwrap();
    let mixing = v2(r#"{"id":"mixing","key":5}"#);
    let hdf5 = to(&mixing, CodecSpace::Hdf5);
    assert_eq!(hdf5, optional(40001, &[16]));
    assert_eq!(to(&hdf5, CodecSpace::V2), mixing);
    assert_eq!(to(&hdf5, CodecSpace::V3), v3("mixing", r#"{"key":5}"#));
    assert_eq!(to(&v3("mixing", r#"{"key":5}"#), CodecSpace::V2), mixing);
    assert_eq!(to(&v2(r#"{"id":"squeeze","effort":9}"#), CodecSpace::Hdf5), optional(32015, &[9]));
    assert_eq!(
        to(&v2(r#"{"id":"squeeze","effort":9}"#), CodecSpace::V3),
        v3("zstd", r#"{"level":9,"checksum":false}"#)
    );
    let nameless = registry.translate(&CodecSpec::hdf5(40004, &[]), CodecSpace::V2, &chunk()).unwrap_err();
    assert!(nameless.to_string().contains(".ncfilter.json"), "{nameless}");
}

#[test]
fn what_is_found_and_what_is_ignored_is_listed() {
    let Some(registry) = registry() else { return };
    let directory = libraries().unwrap();
    assert_eq!(registry.plugin_directories(), [directory]);
    let mixing = entry(&registry, 40001);
    let path = || Some(library(directory, "both"));
    assert_eq!(mixing.origin, CodecOrigin::Plugin { filter: path(), codec: path() });
    assert_eq!((mixing.v2, mixing.v3), (vec!["mixing".to_owned()], vec!["mixing".to_owned()]));
    assert!(mixing.decodes && mixing.encodes && !mixing.needs_complete_parameters);
    assert!(entry(&registry, 40005).needs_complete_parameters);
    assert_eq!(entry(&registry, 40004).v2, [""; 0]);
    let repeat = CodecOrigin::Plugin {
        filter: Some(library(directory, "growing")),
        codec: Some(library(directory, "names")),
    };
    assert_eq!(entry(&registry, 40002).origin, repeat);

    let ignored: Vec<(String, &str)> = registry
        .ignored()
        .iter()
        .map(|ignored| (ignored.path.file_name().unwrap().to_string_lossy().into_owned(), &*ignored.reason))
        .collect();
    let reason = |name: &str| {
        let of_name: Vec<&str> =
            ignored.iter().filter(|(file, _)| file == name).map(|(_, reason)| *reason).collect();
        assert_eq!(of_name.len(), 1, "{name}: {ignored:?}");
        of_name[0]
    };
    assert!(reason("libtext.so").starts_with("cannot be loaded: "));
    assert!(reason("libunrelated.so").starts_with("not a plugin"));
    assert!(reason("libdriver.so").contains("a file driver"));
    assert!(reason("libfuture.so").contains("version 9") && reason("libfuture.so").contains("version 2"));
    assert!(reason("libsecond.so.1").starts_with("the same library as "));
    assert!(reason("libnames.so").contains("filter 40099, which is nowhere"));
    if cfg!(target_os = "linux") {
        assert!(reason("libunlinked.so").contains("function_of_nobody"));
    }
    let others = ignored.iter().filter(|(file, _)| file != "libunlinked.so");
    assert_eq!(others.count(), 6, "{ignored:?}");
}

#[test]
fn nothing_is_loaded_for_built_in_codecs() {
    // This directory cannot be listed, which would show when plugins are searched for.
    let options = PluginOptions::default().directories(["/nowhere"]);
    let registry = CodecRegistry::with_plugins(options);
    assert!(format!("{registry:?}").contains("uninit"));
    bind(&registry, &[CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(1, &[4])]);
    registry.translate(&CodecSpec::hdf5(1, &[4]), CodecSpace::V2, &chunk()).unwrap();
    assert!(registry.entry(&CodecSpec::hdf5(1, &[4])).is_some());
    assert!(format!("{registry:?}").contains("uninit"));
    assert!(registry.bind(&[CodecSpec::hdf5(40002, &[])], &chunk()).is_err());
    assert!(!format!("{registry:?}").contains("uninit"));
    assert_eq!(registry.ignored().len(), 1);
}

#[test]
fn many_threads_share_a_plugin() {
    let Some(registry) = registry() else { return };
    let chain = bind(&registry, &[v2(r#"{"id":"mixing","key":5}"#), CodecSpec::hdf5(40003, &[])]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let (encoded, mask) = encode(&chain).unwrap();
                    let decoded = chain.decode(&encoded, mask, 512, &mut CodecScratch::default());
                    assert_eq!(decoded.unwrap(), sample());
                }
            });
        }
    });
}

#[test]
fn damaged_chunks_are_errors_or_other_bytes() {
    let Some(registry) = registry() else { return };
    let specs = [CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(40003, &[]), CodecSpec::hdf5(3, &[])];
    let chain = bind(&registry, &specs);
    let (encoded, _) = encode(&chain).unwrap();
    for len in 0..encoded.len() {
        let mut out = vec![0; 512];
        let outcome = chain.decode_into(&encoded[..len], 0, &mut out, &mut CodecScratch::default());
        assert!(outcome.is_err(), "{len} bytes of {}", encoded.len());
    }
}

mod declared {
    use super::*;

    const LOCAL: &str = r#"{"hdf5":40005,"codec":"xor","v3":"example.xor","complete":true,
        "parameters":[{"name":"key","default":1},{"name":"size","from":"element-size"}]}"#;

    fn with(json: &str) -> Option<CodecRegistry> {
        options().map(|options| CodecRegistry::with_plugins(options.declare(json).unwrap()))
    }

    #[test]
    fn a_declaration_names_a_filter_and_its_parameters() {
        let Some(registry) = with(LOCAL) else { return };
        let expected: Vec<u8> = sample().iter().map(|byte| byte ^ 13).collect();
        for spec in [
            v2(r#"{"id":"xor","key":9}"#),
            v2(r#"{"id":"xor","key":"9"}"#),
            v3("example.xor", r#"{"key":9}"#),
            // Exactly what the declaration produces for key 9.
            CodecSpec::hdf5(40005, &[9, 4]),
        ] {
            assert_eq!(round_trip(&registry, &[spec]), (expected.clone(), 0));
        }
        assert!(encode(&bind(&registry, &[CodecSpec::hdf5(40005, &[9, 8])])).is_err());
        let entry = entry(&registry, 40005);
        assert_eq!((entry.v2, entry.v3), (vec!["xor".to_owned()], vec!["example.xor".to_owned()]));
        assert_eq!(entry.parameters, ["key", "size"]);
        assert!(!entry.needs_complete_parameters);
    }

    #[test]
    fn a_declaration_that_does_not_claim_to_be_complete_is_for_decoding() {
        let Some(registry) = with(&LOCAL.replace("\"complete\":true,", "")) else { return };
        let chain = bind(&registry, &[v2(r#"{"id":"xor","key":9}"#)]);
        assert!(encode(&chain).is_err());
        assert!(chain.decode(&sample(), 0, 512, &mut CodecScratch::default()).is_ok());
    }

    #[test]
    fn files_beside_plugins_declare_too() {
        let Some(libraries) = libraries() else { return };
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("declared");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("xor.ncfilter.json"), LOCAL).unwrap();
        fs::write(directory.join("bad.ncfilter.json"), "{").unwrap();
        let registry =
            CodecRegistry::with_plugins(PluginOptions::default().directories([&*directory, libraries]));
        round_trip(&registry, &[v2(r#"{"id":"xor"}"#)]);
        let origin = entry(&registry, 40005).origin;
        let codec = Some(directory.join("xor.ncfilter.json"));
        assert_eq!(origin, CodecOrigin::Plugin { filter: Some(library(libraries, "local")), codec });
        let bad = registry.ignored().iter().find(|ignored| ignored.path.ends_with("bad.ncfilter.json"));
        assert!(bad.unwrap().reason.starts_with("not JSON"));
    }

    #[test]
    fn a_name_belongs_to_one_filter() {
        let Some(registry) = with(r#"[{"hdf5":40004,"codec":"mixing"},{"hdf5":40002,"codec":"mine"}]"#)
        else {
            return;
        };
        // The configuration takes precedence over the libraries.
        assert_eq!(entry(&registry, 40004).v2, ["mixing"]);
        assert_eq!(entry(&registry, 40002).v2, ["mine"]);
        assert_eq!(entry(&registry, 40001).v2, [""; 0]);
        let reasons: Vec<&str> = registry.ignored().iter().map(|ignored| &*ignored.reason).collect();
        assert!(reasons.contains(&"the name \"mixing\" is that of filter 40004 already"), "{reasons:?}");
        assert!(reasons.contains(&"filter 40002 has a codec already"), "{reasons:?}");
    }

    #[test]
    fn a_declaration_that_makes_no_sense_is_refused() {
        for (json, part) in [
            ("7", "must be an object"),
            (r#"{"codec":"x"}"#, "number of a filter"),
            (r#"{"hdf5":0,"codec":"x"}"#, "number of a filter"),
            (r#"{"hdf5":40002}"#, "name of the codec"),
            (r#"{"hdf5":40002,"codec":"x","colour":1}"#, "\"colour\" is not known"),
            (r#"{"hdf5":40002,"codec":"x","parameters":["a","a"]}"#, "cannot have that name"),
            (r#"{"hdf5":40002,"codec":"x","parameters":["id"]}"#, "cannot have that name"),
            (r#"{"hdf5":40002,"codec":"x","parameters":[{"name":"a","type":"u8"}]}"#, "type \"u8\""),
            (r#"{"hdf5":40002,"codec":"x","parameters":[{"name":"a","default":-1}]}"#, "cannot be -1"),
            (
                r#"{"hdf5":40002,"codec":"x","parameters":[{"name":"a","type":"words"},"b"]}"#,
                "must be the last",
            ),
        ] {
            let error = PluginOptions::default().declare(json).unwrap_err().to_string();
            assert!(error.contains(part), "{json}: {error}");
        }
    }
}

#[test]
fn plugins_replace_built_in_codecs_only_on_request() {
    let Some(options) = options() else { return };
    // As a filter with that number would: the declaration stands in for one.
    let declared = options.declare(r#"{"hdf5":40002,"codec":"zlib","parameters":["level"]}"#).unwrap();
    let zlib = v2(r#"{"id":"zlib","level":3}"#);
    let (built_in, _) =
        round_trip(&CodecRegistry::with_plugins(declared.clone()), std::slice::from_ref(&zlib));
    assert!(built_in.len() < 512);
    let (by_plugin, _) = round_trip(&CodecRegistry::with_plugins(declared.preferred(true)), &[zlib]);
    assert_eq!(by_plugin.len(), 512 * 3);
}
