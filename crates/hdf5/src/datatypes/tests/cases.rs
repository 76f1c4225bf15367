//! What single files of the corpus are known for.
use super::{attribute_values, described, objects, stored_bytes};
use crate::datatypes::{
    Dataspace, Datatype, DatatypeClass, FillMessage, RawAttribute, StringPadding, attributes, fill, stored,
    values,
};
use crate::object::{ObjectRef, header};
use crate::testing::{done, root, view};
use bytes::Bytes;
use ncirrus_layout::{ByteOrder, StoredType};
use ncirrus_model::{Strings, Values};
use ncirrus_testkit::MemoryView;
use ncirrus_testkit::corpus::{corpus, peers_python};
use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;

struct OpenedCase {
    view: MemoryView,
    objects: HashMap<String, ObjectRef>,
}

fn open(name: &str) -> Option<OpenedCase> {
    let view = view(std::fs::read(corpus("hdf5")?.join(name)).unwrap());
    let root = root(&view).unwrap();
    let objects = objects(&view, &root).into_iter().collect();
    Some(OpenedCase { view, objects })
}

impl OpenedCase {
    fn datatype(&self, path: &str) -> (Arc<Datatype>, Vec<u64>) {
        let object = &self.objects[path];
        let header = done(header(&self.view, object)).unwrap();
        done(described(&self.view, object, &header)).unwrap()
    }

    fn values(&self, path: &str) -> Values {
        let object = &self.objects[path];
        let (datatype, dims) = self.datatype(path);
        let count: u64 = dims.iter().product();
        let header = done(header(&self.view, object)).unwrap();
        let raw =
            done(stored_bytes(&self.view, object, &header, count * datatype.byte_len)).unwrap().unwrap();
        let count = usize::try_from(count).unwrap();
        done(values(&self.view, &object.file, &datatype, &raw, count, &HashMap::new())).unwrap()
    }

    fn attribute(&self, path: &str, name: &str) -> RawAttribute {
        let list = done(attributes(&self.view, &self.objects[path])).unwrap();
        list.iter().flatten().find(|raw| raw.name == name).unwrap().clone()
    }

    fn names(&self, path: &str) -> Vec<String> {
        let list = done(attributes(&self.view, &self.objects[path])).unwrap();
        list.iter().map(|raw| raw.as_ref().unwrap().name.clone()).collect()
    }

    fn attribute_values(&self, path: &str, name: &str) -> Values {
        let raw = self.attribute(path, name);
        done(attribute_values(&self.view, &self.objects[path].file, &raw)).unwrap()
    }

    fn fill(&self, path: &str) -> FillMessage {
        done(fill(&self.view, &self.objects[path])).unwrap()
    }
}

fn strings(list: &[&str]) -> Values {
    Values::String(list.iter().map(|text| Some(*text)).collect::<Strings>())
}

fn vlen(ends: &[usize], elements: Values) -> Values {
    Values::Vlen { ends: ends.to_vec(), elements: Box::new(elements) }
}

#[test]
fn attributes_are_in_creation_order_where_it_is_tracked() {
    let Some(file) = open("gennc/nc4_attrs.nc") else { return };
    let names = file.names("/");
    assert_eq!(names[..4], ["_NCProperties", "s29", "s28", "s27"]);
    let Some(file) = open("gen/attr_dense_v108.h5") else { return };
    let wanted: Vec<_> = (0..60).map(|index| format!("attr{index:03}")).collect();
    assert_eq!(file.names("/d"), wanted);
}

#[test]
fn attributes_are_as_the_file_lists_them_elsewhere() {
    let Some(file) = open("gen/basic_earliest.h5") else { return };
    assert_eq!(file.names("/"), ["title", "n", "arr", "fixed"]);
    let Some(file) = open("ext/pyfive/attr_datatypes.hdf5") else { return };
    assert_eq!(file.names("/")[..3], ["int08_little", "int16_little", "int32_little"]);
}

#[test]
fn text_of_netcdf_fills_its_type_and_none_is_a_null_space() {
    let Some(file) = open("gennc/nc4_attrs.nc") else { return };
    let raw = file.attribute("/", "s27");
    assert_eq!(
        (&raw.datatype.class, &raw.space),
        (&DatatypeClass::Text(StringPadding::NulTerminated), &Dataspace::Scalar)
    );
    assert!(raw.data.len() as u64 == raw.datatype.byte_len && !raw.data.contains(&0));
    let text = String::from_utf8(raw.data.to_vec()).unwrap();
    assert_eq!(file.attribute_values("/", "s27"), strings(&[&text]));
    let Some(file) = open("gen/strings_vlen.h5") else { return };
    let raw = file.attribute("/", "empty");
    assert_eq!((raw.space, raw.data), (Dataspace::Null, Bytes::new()));
    assert_eq!(file.attribute_values("/", "vs"), strings(&["scalar"]));
    assert_eq!(file.attribute_values("/", "vl"), strings(&["p", "qq", ""]));
    assert_eq!(file.values("/ascii"), strings(&["a", "bb", ""]));
}

#[test]
fn spaces_may_be_null_or_have_no_elements() {
    let Some(file) = open("gen/null_empty.h5") else { return };
    let (raw, none) = (file.attribute("/", "n"), file.attribute("/", "z"));
    assert_eq!(raw.space, Dataspace::Null);
    assert_eq!(file.attribute_values("/", "n"), Values::Int(Vec::new()));
    assert_eq!((none.space.count(), none.data.len()), (0, 0));
    assert_eq!(file.datatype("/zc").1, [0, 3]);
}

#[test]
fn numbers_of_odd_formats_have_their_values() {
    let Some(file) = open("gen/float_custom.h5") else { return };
    assert_eq!(file.values("/f27"), Values::Double(vec![1.0, -2.5, 0.0, 7.0]));
    assert_eq!(file.values("/i17"), Values::Int(vec![1, -2, 5, 7]));
    assert_eq!(file.values("/u12be"), Values::UShort(vec![1, 2, 5, 7]));
    let Some(file) = open("gen/c_types.h5") else { return };
    assert_eq!(file.values("/f80"), Values::Double(vec![0.0, 1.0, 2.0]));
}

#[test]
fn sequences_nest_in_sequences_arrays_and_compounds() {
    let Some(file) = open("gen/c_types.h5") else { return };
    let pairs = Values::Short(vec![1, 1, 2, 1, 1, 2]);
    assert_eq!(file.values("/arrvlen"), vlen(&[0, 1, 3, 3, 4, 6], pairs));
    let inner = vlen(&[2, 2, 5, 7], Values::Short(vec![1, 2, 3, 4, 5, 1, 2]));
    assert_eq!(file.values("/vlenvlen"), vlen(&[3, 4, 4], inner));
    let Some(file) = open("gen/vlen_of_compound.h5") else { return };
    let DatatypeClass::Compound(members) = &file.datatype("/cv").0.class else { panic!() };
    assert_eq!(members.iter().map(|member| member.offset).collect::<Vec<_>>(), [0, 4, 20]);
    let fields = vec![
        Values::Int(vec![1, 2]),
        strings(&["one", "zwei"]),
        vlen(&[2, 2], Values::Float(vec![1.0, 2.0])),
    ];
    assert_eq!(file.values("/cv"), Values::Compound { len: 2, fields });
}

#[test]
fn complex_numbers_are_two_floats_in_order() {
    let Some(file) = open("gen/complex_native_v200.h5") else { return };
    let (datatype, dims) = file.datatype("/c8n");
    assert!(matches!(datatype.class, DatatypeClass::Complex(_)) && dims == [3]);
    assert!(matches!(stored(&datatype), Some(StoredType::Compound { byte_len: 8, .. })));
}

#[test]
fn an_enumeration_may_be_big_endian() {
    let Some(file) = open("ext/h5py/vlen_string_s390x.h5") else { return };
    let raw = file.attribute("/", "created_on_s390x");
    let DatatypeClass::Enum { base, members } = &raw.datatype.class else { panic!() };
    assert!(matches!(base.class, DatatypeClass::Integer(bits) if bits.order == ByteOrder::Big));
    let members: Vec<_> = members.iter().map(|member| (member.name.as_str(), member.value)).collect();
    assert_eq!(members, [("FALSE", 0), ("TRUE", 1)]);
    assert_eq!(file.attribute_values("/", "created_on_s390x"), Values::Byte(vec![1]));
}

#[test]
fn fill_values_of_every_kind_are_found() {
    let Some(file) = open("gen/fill_earliest.h5") else { return };
    let value = |path: &str| file.fill(path).value.map(|value| value.to_vec());
    assert_eq!(value("/a"), Some((-9_i32).to_le_bytes().to_vec()));
    assert_eq!(value("/be"), Some((-9_i32).to_be_bytes().to_vec()));
    assert_eq!(value("/cmpf"), Some(vec![3, 0, 0, 0, 0, 0, 0xc0, 0x3f]));
    assert!(file.fill("/ft_never").never && !file.fill("/a").never);
    for name in ["earliest", "latest"] {
        let Some(file) = open(&format!("ext/pyfive/fillvalue_{name}.hdf5")) else { return };
        assert_eq!(file.fill("/dset1").value.as_deref(), Some([42].as_slice()));
    }
    let Some(file) = open("ext/netcdf-c/ref_groups.h5") else { return };
    assert_eq!(file.fill("/MyGroup/dset1").value, None);
}

/// Prints path and fill value of every dataset of numbers whose type is one of NumPy's.
const FILLS: &str = r"
import h5py, numpy, sys
for name in sys.argv[1:]:
    def show(path, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in 'iuf':
            if h5py.h5t.py_create(item.dtype).equal(item.id.get_type()):
                value = numpy.zeros((), item.dtype)
                item.id.get_create_plist().get_fill_value(value)
                print(name, '/' + path, value.tobytes().hex(), sep='\t')
    with h5py.File(name, 'r') as file:
        file.visititems(show)
";

#[test]
fn fill_values_are_those_that_the_library_finds() {
    let (Some(python), Some(folder)) = (peers_python(), corpus("hdf5")) else { return };
    let names = [
        "gen/fill_earliest.h5",
        "gen/c_sohm_earliest.h5",
        "gen/basic_v114.h5",
        "ext/netcdf-c/ref_hdf5_compat1.nc",
        "ext/netcdf-c/ref_groups.h5",
        "ext/pyfive/fillvalue_latest.hdf5",
        "gennc/nc4_multi_unlim.nc",
    ];
    let output = Command::new(python).current_dir(folder).arg("-c").arg(FILLS).args(names).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut opened: HashMap<String, OpenedCase> = HashMap::new();
    for line in lines.lines() {
        let [name, path, wanted]: [&str; 3] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let file = opened.entry(name.to_owned()).or_insert_with(|| open(name).unwrap());
        let value = file.fill(path).value.map_or_else(|| vec![0; wanted.len() / 2], |value| value.to_vec());
        let value: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(value, wanted, "{name} {path}");
    }
    assert_eq!(opened.len(), names.len());
}
