//! A custom codec among those of this crate.
use super::*;
use crate::{CodecRegistry, CodecScratch, DecodedElement, conformance};
use serde_json::json;

/// Adds a number to each byte, after a header with their count.
#[derive(Debug)]
struct AddFactory;

#[derive(Debug)]
struct Add(u8);

impl CodecFactory for AddFactory {
    fn name(&self) -> &str {
        "example.add"
    }

    fn hdf5_id(&self) -> Option<u32> {
        Some(300)
    }

    fn members(&self) -> &[&str] {
        &["number"]
    }

    fn bind(&self, members: &Map<String, Value>, _: &ChunkInfo) -> Result<Arc<dyn CustomCodec>, CodecError> {
        let number = members.get("number").map_or(Some(1), Value::as_u64);
        let number = number.and_then(|number| u8::try_from(number).ok());
        Ok(Arc::new(Add(number.ok_or_else(|| CodecError::malformed(self.name(), "number is no byte"))?)))
    }
}

impl CustomCodec for Add {
    fn encode(&self, input: &[u8]) -> Result<Vec<u8>, CodecError> {
        let len =
            u32::try_from(input.len()).map_err(|_| CodecError::unsupported("add", "more than 4 GiB"))?;
        let bytes = input.iter().map(|byte| byte.wrapping_add(self.0));
        Ok(len.to_le_bytes().into_iter().chain(bytes).collect())
    }

    fn decode(&self, input: &[u8], limit: usize) -> Result<Vec<u8>, CodecError> {
        let Some((len, bytes)) = input.split_first_chunk::<4>() else {
            return Err(CodecError::malformed("add", "it ends within its header"));
        };
        if u32::from_le_bytes(*len) as usize != bytes.len() {
            return Err(CodecError::malformed("add", "its header has another length"));
        }
        if bytes.len() > limit {
            return Err(CodecError::limit("add", limit));
        }
        Ok(bytes.iter().map(|byte| byte.wrapping_sub(self.0)).collect())
    }
}

fn registry() -> CodecRegistry {
    let mut registry = CodecRegistry::builtin();
    registry.register(Arc::new(AddFactory)).unwrap();
    registry
}

fn chunk() -> ChunkInfo {
    ChunkInfo { shape: vec![5, 7], element: DecodedElement::sized(Some(4)) }
}

fn v2(value: &Value) -> CodecSpec {
    CodecSpec::V2(value.as_object().unwrap().clone())
}

#[test]
fn it_takes_its_place_in_chains_by_each_of_its_names() {
    let configuration = json!({"number": 9}).as_object().unwrap().clone();
    let specs = [
        v2(&json!({"id": "example.add", "number": 9})),
        CodecSpec::V3 { name: "example.add".to_owned(), configuration },
        CodecSpec::hdf5(300, &[9]),
    ];
    let mut scratch = CodecScratch::default();
    for spec in &specs {
        let chain =
            registry().bind(&[spec.clone(), v2(&json!({"id": "zlib", "level": 1}))], &chunk()).unwrap();
        let (encoded, skipped) = chain.encode(&[1; 140], &mut scratch).unwrap();
        assert_eq!(skipped, 0);
        assert_eq!(chain.decode(&encoded, 0, 140, &mut scratch).unwrap(), [1; 140]);
        assert_eq!(chain.decode(&encoded, 2, 1000, &mut scratch).ok(), None);
        for to in &specs {
            assert_eq!(&registry().translate(spec, to.space(), &chunk()).unwrap(), to);
        }
    }
}

#[test]
fn it_holds_to_the_contract() {
    conformance::lossless(&registry(), &v2(&json!({"id": "example.add"})), &chunk());
    conformance::lossless(&registry(), &CodecSpec::hdf5(300, &[200]), &chunk());
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let bind = |spec: CodecSpec| registry().bind(&[spec], &chunk()).unwrap_err().to_string();
    assert_eq!(bind(CodecSpec::hdf5(300, &[1, 2])), "codec example.add: 2 parameters, and it has 1");
    assert_eq!(bind(CodecSpec::hdf5(300, &[256])), "codec example.add: number is no byte");
    let translated = |value: Value| registry().translate(&v2(&value), CodecSpace::Hdf5, &chunk());
    assert!(translated(json!({"id": "example.add", "number": -1})).is_err());
    assert!(translated(json!({"id": "example.add", "other": 1})).is_err());
}

#[test]
fn names_and_numbers_stay_apart() {
    /// A factory with that name and number.
    #[derive(Debug)]
    struct Named(&'static str, Option<u32>);
    impl CodecFactory for Named {
        fn name(&self) -> &str {
            self.0
        }
        fn hdf5_id(&self) -> Option<u32> {
            self.1
        }
        fn members(&self) -> &[&str] {
            &[]
        }
        fn bind(&self, _: &Map<String, Value>, _: &ChunkInfo) -> Result<Arc<dyn CustomCodec>, CodecError> {
            Ok(Arc::new(Add(0)))
        }
    }
    let mut registry = registry();
    for (name, id) in [("zlib", None), ("numcodecs.zlib", None), ("example.add", None), ("", None)] {
        assert!(registry.register(Arc::new(Named(name, id))).is_err(), "{name}");
    }
    for id in [1, 300, 32_015] {
        assert!(registry.register(Arc::new(Named("other", Some(id)))).is_err(), "{id}");
    }
    registry.register(Arc::new(Named("other", None))).unwrap();
    let refused = registry.translate(&v2(&json!({"id": "other"})), CodecSpace::Hdf5, &chunk()).unwrap_err();
    assert_eq!(refused.to_string(), "codec other is not supported: it has no number in HDF5");
    let entry = registry.entry(&CodecSpec::hdf5(300, &[])).unwrap();
    assert_eq!((entry.name.as_str(), entry.origin), ("example.add", CodecOrigin::Program));
    assert_eq!(registry.known().iter().filter(|entry| entry.origin == CodecOrigin::Program).count(), 2);
}
