//! Documents and answers of DAP4.
use super::dap2::number;
use super::ranges::{parts, selection};
use super::{DapBehaviour, Refusal, Reply, ServedDataset, served_variables};
use ncirrus_model::{
    Atomic, Attribute, Attributes, Field, GroupId, Model, Selection, TypeRef, UserKind, Values, VarId,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;

type DocumentOrRefusal = Result<Reply, Refusal>;

fn type_of(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte => "Int8",
        Atomic::UByte => "UInt8",
        Atomic::Char => "Char",
        Atomic::Short => "Int16",
        Atomic::UShort => "UInt16",
        Atomic::Int => "Int32",
        Atomic::UInt => "UInt32",
        Atomic::Int64 => "Int64",
        Atomic::UInt64 => "UInt64",
        Atomic::Float => "Float32",
        Atomic::Double => "Float64",
        Atomic::String => "String",
    }
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What a query asks for: the variables, and their elements where these are not all.
struct Projection {
    wanted: BTreeMap<VarId, Option<Selection>>,
    checksums: bool,
}

impl Projection {
    fn new(dataset: &ServedDataset, query: &str, behaviour: &DapBehaviour) -> Result<Self, Refusal> {
        let model = &dataset.model;
        let all = model.walk().into_iter().flat_map(|group| served_variables(model, group, behaviour));
        let by_path: BTreeMap<String, VarId> = all.map(|id| (model.variable_path(id), id)).collect();
        let field =
            |name: &str| query.split('&').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        let mut wanted = BTreeMap::new();
        let expression = field("dap4.ce").unwrap_or_default();
        if expression.is_empty() {
            wanted.extend(by_path.values().map(|id| (*id, None)));
        }
        for clause in expression.split(';').filter(|clause| !clause.is_empty()) {
            let (name, ranges) = parts(clause);
            let name = format!("/{}", name.trim_start_matches('/').replace('\\', ""));
            let id = by_path.get(&name).ok_or_else(|| ("404 Not Found", format!("no variable {name}")))?;
            let part = (!ranges.is_empty()).then(|| selection(&ranges, &model.shape(*id))).transpose()?;
            wanted.insert(*id, part);
        }
        Ok(Self { wanted, checksums: field("dap4.checksum") != Some("false") })
    }
}

struct DmrWriter<'a> {
    model: &'a Model,
    projection: &'a Projection,
    behaviour: &'a DapBehaviour,
    /// Of each variable, where they are sent.
    checksums: &'a BTreeMap<VarId, u32>,
    text: String,
}

impl DmrWriter<'_> {
    fn document(mut self) -> Vec<u8> {
        self.text.push_str(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Dataset name=\"served\" dapVersion=\"4.0\" \
             dmrVersion=\"1.0\" xmlns=\"http://xml.opendap.org/ns/DAP/4.0#\">\n",
        );
        self.group(self.model.root());
        self.text.push_str("</Dataset>");
        self.text.into_bytes()
    }

    fn group(&mut self, id: GroupId) {
        let model = self.model;
        let Some(group) = model.group(id) else { return };
        for dim in group.dims.iter().filter_map(|dim| model.dimension(*dim)) {
            let unlimited = if dim.len.is_unlimited() { " _edu.ucar.isunlimited=\"1\"" } else { "" };
            let (name, len) = (xml(&dim.name), dim.len.current());
            let _ = writeln!(self.text, "<Dimension name=\"{name}\" size=\"{len}\"{unlimited}/>");
        }
        for id in served_variables(model, id, self.behaviour) {
            if let Some(part) = self.projection.wanted.get(&id) {
                self.variable(id, part.as_ref());
            }
        }
        self.attributes(group.attributes.known());
        for inner in &group.groups {
            let name = model.group(*inner).map(|group| xml(&group.name)).unwrap_or_default();
            let _ = writeln!(self.text, "<Group name=\"{name}\">");
            self.group(*inner);
            self.text.push_str("</Group>\n");
        }
    }

    fn variable(&mut self, id: VarId, part: Option<&Selection>) {
        let variable = self.model.variable(id).unwrap();
        let ty = self.begin(&variable.name, variable.ty);
        match part {
            Some(part) => {
                part.shape().iter().for_each(|len| _ = writeln!(self.text, "<Dim size=\"{len}\"/>"));
            }
            None => variable.dims.iter().for_each(|dim| {
                let path = xml(&self.model.dimension_path(*dim));
                let _ = writeln!(self.text, "<Dim name=\"{path}\"/>");
            }),
        }
        self.attributes(variable.attributes.known());
        if let Some(checksum) = self.checksums.get(&id) {
            let _ = writeln!(
                self.text,
                "<Attribute name=\"_DAP4_Checksum_CRC32\" type=\"UInt32\"><Value value=\"{checksum}\"/></Attribute>"
            );
        }
        let _ = writeln!(self.text, "</{ty}>");
    }

    /// Begins a variable or member, and declares its members; the name of its element.
    fn begin(&mut self, name: &str, ty: TypeRef) -> &'static str {
        let (element, fields) = match ty {
            TypeRef::Atomic(atomic) => (type_of(atomic), &[][..]),
            TypeRef::User(id) => match self.model.user_type(id).map(|ty| &ty.kind) {
                Some(UserKind::Compound(fields)) => ("Structure", fields.as_slice()),
                _ => ("Structure", &[][..]),
            },
        };
        let _ = writeln!(self.text, "<{element} name=\"{}\">", xml(name));
        fields.iter().for_each(|field| self.member(field));
        element
    }

    fn member(&mut self, field: &Field) {
        let element = self.begin(&field.name, field.ty);
        field.dims.iter().for_each(|len| _ = writeln!(self.text, "<Dim size=\"{len}\"/>"));
        let _ = writeln!(self.text, "</{element}>");
    }

    fn attributes(&mut self, attributes: Option<&Attributes>) {
        for attribute in attributes.into_iter().flat_map(|list| list.iter()) {
            let Some(atomic) = attribute.values.atomic() else { continue };
            let ty = if atomic == Atomic::Char { "String" } else { type_of(atomic) };
            let _ = writeln!(self.text, "<Attribute name=\"{}\" type=\"{ty}\">", xml(&attribute.name));
            texts(attribute).iter().for_each(|text| {
                let _ = writeln!(self.text, "<Value value=\"{}\"/>", xml(text));
            });
            self.text.push_str("</Attribute>\n");
        }
    }
}

fn texts(attribute: &Attribute) -> Vec<String> {
    match &attribute.values {
        Values::Char(text) => vec![String::from_utf8_lossy(text).into_owned()],
        Values::String(strings) => strings
            .iter()
            .map(|text| String::from_utf8_lossy(text.unwrap_or_default()).into_owned())
            .collect(),
        values => (0..values.len()).filter_map(|at| number(values, at)).collect(),
    }
}

pub(super) fn dmr(dataset: &ServedDataset, query: &str, behaviour: &DapBehaviour) -> DocumentOrRefusal {
    let projection = Projection::new(dataset, query, behaviour)?;
    let (model, checksums) = (&*dataset.model, &BTreeMap::new());
    let writer = DmrWriter { model, projection: &projection, behaviour, checksums, text: String::new() };
    Ok(("200 OK", writer.document()))
}

pub(super) fn dap(dataset: &ServedDataset, query: &str, behaviour: &DapBehaviour) -> DocumentOrRefusal {
    let projection = Projection::new(dataset, query, behaviour)?;
    let has_checksums = projection.checksums && !behaviour.no_checksums;
    let model = &*dataset.model;
    if behaviour.refuses_batches && projection.wanted.len() > 1 {
        return Err(("400 Bad Request", "one variable at a time".to_owned()));
    }
    let (mut data, mut checksums) = (Vec::new(), BTreeMap::new());
    // Variables of a group come before those of its groups.
    for id in in_order(model, model.root(), behaviour) {
        let Some(part) = projection.wanted.get(&id) else { continue };
        let selection = part.clone().unwrap_or_else(|| Selection::all(&model.shape(id)));
        let values = (dataset.read)(id, &selection)
            .map_err(|error| ("500 Internal Server Error", error.to_string()))?;
        let start = data.len();
        serialised(&values, behaviour.big_endian, &mut data);
        if behaviour.max_bytes.is_some_and(|max| data.len() as u64 > max) {
            return Err(("403 Forbidden", format!("Request too big, max={:?}", behaviour.max_bytes)));
        }
        if has_checksums {
            let checksum = crc32(&data[start..]);
            checksums.insert(id, checksum);
            data.extend(if behaviour.big_endian { checksum.to_be_bytes() } else { checksum.to_le_bytes() });
        }
    }
    let (projection, checksums) = (&projection, &checksums);
    let writer = DmrWriter { model, projection, behaviour, checksums, text: String::new() };
    let document = [writer.document(), b"\r\n".to_vec()].concat();
    let order = if behaviour.big_endian { 0 } else { 0x0400_0000 };
    let mut body = Vec::new();
    let mut chunk = |flags: u32, payload: &[u8]| {
        body.extend((flags | order | u32::try_from(payload.len()).unwrap()).to_be_bytes());
        body.extend(payload);
    };
    chunk(0, &document);
    let len = if behaviour.chunk_len == 0 { 64 << 10 } else { behaviour.chunk_len };
    let end = behaviour.error_at.unwrap_or(data.len()).min(data.len());
    data[..end].chunks(len).for_each(|payload| chunk(0, payload));
    match behaviour.error_at {
        Some(_) => chunk(0x0300_0000, &refused(("500", "the disk failed".to_owned())).1),
        None => chunk(0x0100_0000, &[]),
    }
    Ok(("200 OK", body))
}

fn in_order(model: &Model, group: GroupId, behaviour: &DapBehaviour) -> Vec<VarId> {
    let mut all = served_variables(model, group, behaviour);
    let inner = model.group(group).map(|group| group.groups.clone()).unwrap_or_default();
    inner.into_iter().for_each(|group| all.extend(in_order(model, group, behaviour)));
    all
}

fn serialised(values: &Values, big_endian: bool, data: &mut Vec<u8>) {
    if let Values::Compound { len, fields } = values {
        for at in 0..*len {
            for field in fields {
                let each = field.len() / len;
                serialised(&field.slice(at * each..(at + 1) * each), big_endian, data);
            }
        }
        return;
    }
    if let Values::String(strings) = values {
        for text in strings.iter().map(Option::unwrap_or_default) {
            let len = text.len() as u64;
            data.extend(if big_endian { len.to_be_bytes() } else { len.to_le_bytes() });
            data.extend(text);
        }
        return;
    }
    let bytes = values.as_bytes().unwrap_or_else(|| panic!("values of no atomic type"));
    let size = values.atomic().and_then(Atomic::byte_len).unwrap_or(1);
    let is_foreign = cfg!(target_endian = "big") != big_endian;
    for element in bytes.chunks(size) {
        let start = data.len();
        data.extend(element);
        if is_foreign {
            data[start..].reverse();
        }
    }
}

/// CRC-32 of ISO 3309.
pub fn crc32(bytes: &[u8]) -> u32 {
    let of_byte = |byte: u32| (0..8).fold(byte, |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)));
    let table: Vec<u32> = (0..256).map(of_byte).collect();
    let step = |crc: u32, byte: &u8| table[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8);
    !bytes.iter().fold(u32::MAX, step)
}

/// An error of DAP4.
pub(super) fn refused((status, why): Refusal) -> Reply {
    let code = status.split(' ').next().unwrap_or_default();
    (status, format!("<Error httpcode=\"{code}\"><Message>{}</Message></Error>", xml(&why)).into_bytes())
}
