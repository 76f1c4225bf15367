//! Declarations and calls that define a dataset.
use super::c::{CText, call};
use super::c_data::{numbers, write_arrays};
use super::c_value::{CInitializers, atomic_name, string};
use super::identifier::identifier;
use super::{OwnedAttribute, attributes};
use crate::CdlError;
use ncirrus_model::{
    Atomic, CodecSpec, Endianness, Field, GroupId, Storage, TypeId, TypeRef, UserKind, Values, VarId,
    Variable,
};
use std::io::Write;

/// HDF5's numbers of filters that have functions of their own.
const DEFLATE: u32 = 1;
const SHUFFLE: u32 = 2;
const FLETCHER32: u32 = 3;

/// Writes definitions.
pub(super) struct Definer<'t> {
    pub(super) text: &'t CText<'t>,
}

impl Definer<'_> {
    /// User-defined types as types of C.
    pub(super) fn types_in_c(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        for id in &self.text.types {
            let name = self.type_name(TypeRef::User(*id));
            match self.text.model.user_type(*id).map(|ty| &ty.kind) {
                Some(UserKind::Enum { base, members }) => {
                    let base = atomic_name(*base);
                    for member in members {
                        let constant = identifier(&member.name);
                        writeln!(out, "#define {name}_PERIOD_{constant} (({base}){})", member.value)?;
                    }
                    writeln!(out, "typedef {base} {name};")?;
                }
                Some(UserKind::Opaque(len)) => writeln!(out, "typedef unsigned char {name}[{len}];")?,
                Some(UserKind::Vlen(_)) => writeln!(out, "typedef nc_vlen_t {name};")?,
                Some(UserKind::Compound(fields)) => {
                    writeln!(out, "typedef struct {name} {{")?;
                    for field in fields {
                        let sizes: String = field.dims.iter().map(|len| format!("[{len}]")).collect();
                        let (ty, of) = (self.type_name(field.ty), field_name(&name, field));
                        writeln!(out, "    {ty} {of}{sizes};")?;
                    }
                    writeln!(out, "}} {name};")?;
                }
                None => {}
            }
        }
        if !self.text.types.is_empty() {
            writeln!(out)?;
        }
        Ok(())
    }

    /// Shapes of chunks, and parameters of filters.
    pub(super) fn storage_arrays(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        for id in self.stored_variables() {
            let Some(variable) = self.text.model.variable(id) else { continue };
            let name = self.variable_name(id);
            if let Storage::Chunked(shape) = &variable.storage {
                writeln!(out, "static size_t {name}_chunksizes[{}] = {{{}}} ;", shape.len(), numbers(shape))?;
            }
            for (at, (_, parameters)) in other_filters(variable).iter().enumerate() {
                let list: Vec<String> = parameters.iter().map(|value| format!("{value}U")).collect();
                let list = list.join(", ");
                let len = parameters.len();
                writeln!(out, "static unsigned int {name}_{at}_filterparams[{len}] = {{{list}}} ;")?;
            }
        }
        Ok(())
    }

    /// Declarations of all ids, lengths and ranks.
    pub(super) fn identifiers(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        let (model, names) = (self.text.model, self.text.names);
        let ids = |out: &mut dyn Write, title: &str, all: Vec<String>| -> Result<(), CdlError> {
            if all.is_empty() {
                return Ok(());
            }
            writeln!(out, "    /* {title} */")?;
            all.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
            Ok(writeln!(out)?)
        };
        let int = |name: &str, ending: &str| format!("int {name}_{ending};");
        let groups = model.walk();
        let list = groups.iter().filter_map(|id| names.groups.get(id)).map(|name| int(name, "grp"));
        ids(out, "group ids", if self.text.is_enhanced { list.collect() } else { Vec::new() })?;
        let types = self.text.types.iter().map(|id| int(&self.type_name(TypeRef::User(*id)), "typ"));
        ids(out, "type ids", types.collect())?;
        let dims = self.dims();
        ids(out, "dimension ids", dims.iter().map(|(name, _)| int(name, "dim")).collect())?;
        let lengths = dims.iter().map(|(name, len)| format!("size_t {name}_len = {len};"));
        ids(out, "dimension lengths", lengths.collect())?;
        let vars: Vec<(String, usize)> =
            model.variables().into_iter().map(|id| (self.variable_name(id), self.rank(id))).collect();
        ids(out, "variable ids", vars.iter().map(|(name, _)| int(name, "id")).collect())?;
        if vars.is_empty() {
            return Ok(());
        }
        writeln!(out, "    /* rank (number of dimensions) for each variable */")?;
        vars.iter().try_for_each(|(name, rank)| writeln!(out, "#   define RANK_{name} {rank}"))?;
        writeln!(out)?;
        let shapes = vars.iter().filter(|(_, rank)| *rank > 0);
        ids(
            out,
            "variable shapes",
            shapes.map(|(name, _)| format!("int {name}_dims[RANK_{name}];")).collect(),
        )
    }

    /// Groups.
    pub(super) fn groups(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        let model = self.text.model;
        for id in model.walk() {
            let Some(group) = model.group(id) else { continue };
            let own = self.text.group(id);
            match group.parent {
                None => writeln!(out, "    {own} = ncid;")?,
                Some(parent) => {
                    let (parent, name) = (self.text.group(parent), string(group.name.as_bytes()));
                    call(out, &format!("nc_def_grp({parent}, {name}, &{own})"))?;
                }
            }
        }
        Ok(())
    }

    /// User-defined types.
    pub(super) fn types(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        for id in &self.text.types {
            let Some(ty) = self.text.model.user_type(*id) else { continue };
            let group = self.text.group(self.text.model.type_group(*id).unwrap_or(self.text.model.root()));
            let (c, name) = (self.type_name(TypeRef::User(*id)), string(ty.name.as_bytes()));
            match &ty.kind {
                UserKind::Enum { base, members } => {
                    writeln!(out, "    {{\n    {} econst;", atomic_name(*base))?;
                    call(out, &format!("nc_def_enum({group}, {}, {name}, &{c}_typ)", nc_type(*base)))?;
                    for member in members {
                        let (of, value) = (string(member.name.as_bytes()), member.value);
                        writeln!(out, "    econst = {value};")?;
                        writeln!(out, "    stat = nc_insert_enum({group}, {c}_typ, {of}, &econst);")?;
                    }
                    writeln!(out, "    }}")?;
                }
                UserKind::Opaque(len) => {
                    call(out, &format!("nc_def_opaque({group}, {len}, {name}, &{c}_typ)"))?;
                }
                UserKind::Vlen(base) => {
                    call(out, &format!("nc_def_vlen({group}, {name}, {}, &{c}_typ)", self.type_id(*base)))?;
                }
                UserKind::Compound(fields) => self.compound(out, &group, &name, &c, fields)?,
            }
            writeln!(out)?;
        }
        if !self.text.types.is_empty() {
            writeln!(out)?;
        }
        Ok(())
    }

    fn compound(
        &self,
        out: &mut dyn Write,
        group: &str,
        name: &str,
        c: &str,
        fields: &[Field],
    ) -> Result<(), CdlError> {
        let create = format!("nc_def_compound({group}, sizeof({c}), {name}, &{c}_typ)");
        writeln!(out, "    stat = {create};    CHECK_ERR(stat);")?;
        writeln!(out, "    {{")?;
        for field in fields.iter().filter(|field| !field.dims.is_empty()) {
            let (of, rank) = (field_name(c, field), field.dims.len());
            writeln!(out, "    static int {of}_dims[{rank}] = {{{}}};", numbers(&field.dims))?;
        }
        for field in fields {
            let (of, ty) = (field_name(c, field), self.type_id(field.ty));
            let simple = string(field.name.as_bytes());
            let place = format!("{group}, {c}_typ, {simple}, NC_COMPOUND_OFFSET({c},{of}), {ty}");
            match field.dims.len() {
                0 => writeln!(out, "    stat = nc_insert_compound({place});    CHECK_ERR(stat);")?,
                rank => call(out, &format!("nc_insert_array_compound({place}, {rank}, {of}_dims)"))?,
            }
        }
        Ok(writeln!(out, "    }}")?)
    }

    /// Dimensions.
    pub(super) fn dimensions(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        let model = self.text.model;
        let all: Vec<_> = model
            .walk()
            .into_iter()
            .filter_map(|group| model.group(group).map(|found| (group, found)))
            .flat_map(|(group, found)| found.dims.iter().map(move |id| (group, *id)))
            .collect();
        if all.is_empty() {
            return Ok(());
        }
        writeln!(out, "    /* define dimensions */")?;
        for (group, id) in all {
            let (Some(dim), Some(c)) = (model.dimension(id), self.text.names.dims.get(&id)) else { continue };
            let (group, name) = (self.text.group(group), string(dim.name.as_bytes()));
            call(out, &format!("nc_def_dim({group}, {name}, {c}_len, &{c}_dim)"))?;
        }
        Ok(writeln!(out)?)
    }

    /// Variables, and how they are stored.
    pub(super) fn variables(&self, out: &mut dyn Write) -> Result<(), CdlError> {
        let model = self.text.model;
        let all = model.variables();
        if !all.is_empty() {
            writeln!(out, "    /* define variables */\n")?;
        }
        for id in all {
            let Some(variable) = model.variable(id) else { continue };
            let (group, c) = (self.group_of(id), self.variable_name(id));
            for (at, dim) in variable.dims.iter().enumerate() {
                let dim = self.text.names.dims.get(dim).map_or("", String::as_str);
                writeln!(out, "    {c}_dims[{at}] = {dim}_dim;")?;
            }
            let dims = if variable.dims.is_empty() { "0".to_owned() } else { format!("{c}_dims") };
            let (name, ty) = (string(variable.name.as_bytes()), self.type_id(variable.ty));
            call(out, &format!("nc_def_var({group}, {name}, {ty}, RANK_{c}, {dims}, &{c}_id)"))?;
            if self.text.is_enhanced {
                self.storage(out, &group, &c, variable)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn storage(
        &self,
        out: &mut dyn Write,
        group: &str,
        c: &str,
        variable: &Variable,
    ) -> Result<(), CdlError> {
        let at = format!("{group}, {c}_id");
        match &variable.storage {
            Storage::Chunked(_) => {
                call(out, &format!("nc_def_var_chunking({at}, NC_CHUNKED, {c}_chunksizes)"))?;
            }
            Storage::Contiguous => call(out, &format!("nc_def_var_chunking({at}, NC_CONTIGUOUS, NULL)"))?,
            Storage::Compact => call(out, &format!("nc_def_var_chunking({at}, NC_COMPACT, NULL)"))?,
            Storage::Default | Storage::Virtual => {}
        }
        let level = |wanted: u32| {
            variable.filters.iter().find_map(|filter| match filter {
                CodecSpec::Hdf5 { id, parameters, .. } if *id == wanted => Some(parameters.first().copied()),
                _ => None,
            })
        };
        if level(FLETCHER32).is_some() {
            call(out, &format!("nc_def_var_fletcher32({at}, 1)"))?;
        }
        let (shuffles, deflate) = (level(SHUFFLE).is_some(), level(DEFLATE).map(Option::unwrap_or_default));
        if shuffles || deflate.is_some() {
            let shuffle = if shuffles { "NC_SHUFFLE" } else { "NC_NOSHUFFLE" };
            let (deflates, level) = (u8::from(deflate.is_some()), deflate.unwrap_or(0));
            call(out, &format!("nc_def_var_deflate({at}, {shuffle}, {deflates}, {level})"))?;
        }
        match variable.endianness {
            Endianness::Big => call(out, &format!("nc_def_var_endian({at}, NC_ENDIAN_BIG)"))?,
            Endianness::Little => call(out, &format!("nc_def_var_endian({at}, NC_ENDIAN_LITTLE)"))?,
            Endianness::Native => {}
        }
        if !variable.is_filled() {
            call(out, &format!("nc_def_var_fill({at}, NC_NOFILL, NULL)"))?;
        }
        for (index, (id, parameters)) in other_filters(variable).iter().enumerate() {
            let list = format!("{}, {c}_{index}_filterparams", parameters.len());
            call(out, &format!("nc_def_var_filter({at}, {id}, {list})"))?;
        }
        Ok(())
    }

    /// Attributes of groups, then those of variables.
    pub(super) fn attributes(
        &self,
        out: &mut dyn Write,
        initializers: &mut CInitializers<'_>,
    ) -> Result<(), CdlError> {
        let (global, own) = attributes(self.text.model);
        for (title, all) in [("global", global), ("per-variable", own)] {
            if all.is_empty() {
                continue;
            }
            writeln!(out, "    /* assign {title} attributes */\n")?;
            all.iter().try_for_each(|owned| self.attribute(out, owned, initializers))?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn attribute(
        &self,
        out: &mut dyn Write,
        owned: &OwnedAttribute<'_>,
        initializers: &mut CInitializers<'_>,
    ) -> Result<(), CdlError> {
        let attribute = owned.attribute;
        let group = self.text.group(owned.group);
        let variable = owned
            .variable
            .map_or_else(|| "NC_GLOBAL".to_owned(), |id| format!("{}_id", self.variable_name(id)));
        let name = string(attribute.name.as_bytes());
        writeln!(out, "    {{")?;
        if let (Values::Char(chars), TypeRef::Atomic(_)) = (&attribute.values, attribute.ty) {
            // An empty text has its ending, as the reference has it.
            let len = chars.len().max(1);
            call(out, &format!("nc_put_att_text({group}, {variable}, {name}, {len}, {})", string(chars)))?;
            return Ok(writeln!(out, "    }}\n")?);
        }
        let list = initializers.all(attribute.ty, &attribute.values);
        write_arrays(out, initializers)?;
        let prefix = match self.text.names.groups.get(&owned.group) {
            Some(name) if !self.text.is_enhanced || owned.group != self.text.model.root() => {
                format!("{name}_")
            }
            _ => String::new(),
        };
        let (c, len) =
            (format!("{}_att", identifier(&format!("{prefix}{}", attribute.name))), attribute.values.len());
        let ty = initializers.type_name(attribute.ty);
        writeln!(out, "    static const {ty} {c}[{len}] = {list} ;")?;
        let base = self.text.model.base_atomic(attribute.ty);
        let id = self.type_id(attribute.ty);
        match base.map(|base| (base, put_name(base))) {
            Some((Atomic::String, _)) => {
                let place = format!("{group}, {variable}, {name}, {len}, {c}");
                call(out, &format!("nc_put_att_string({place})"))?;
            }
            Some((_, put)) => {
                call(out, &format!("nc_put_att_{put}({group}, {variable}, {name}, {id}, {len}, {c})"))?;
            }
            None => call(out, &format!("nc_put_att({group}, {variable}, {name}, {id}, {len}, {c})"))?,
        }
        Ok(writeln!(out, "    }}\n")?)
    }

    fn stored_variables(&self) -> Vec<VarId> {
        if self.text.is_enhanced { self.text.model.variables() } else { Vec::new() }
    }

    fn dims(&self) -> Vec<(String, String)> {
        let model = self.text.model;
        let groups = model.walk();
        let ids = groups.iter().filter_map(|group| model.group(*group)).flat_map(|group| &group.dims);
        ids.filter_map(|id| {
            let len = model.dimension(*id)?.len;
            // The library takes 0 for it as well.
            let len = if len.is_unlimited() || len.current() == 0 {
                "NC_UNLIMITED".to_owned()
            } else {
                len.current().to_string()
            };
            Some((self.text.names.dims.get(id)?.clone(), len))
        })
        .collect()
    }

    fn rank(&self, id: VarId) -> usize {
        self.text.model.variable(id).map_or(0, Variable::rank)
    }

    fn group_of(&self, id: VarId) -> String {
        let root: GroupId = self.text.model.root();
        self.text.group(self.text.model.variable_group(id).unwrap_or(root))
    }

    fn variable_name(&self, id: VarId) -> String {
        self.text.names.vars.get(&id).cloned().unwrap_or_default()
    }

    fn type_name(&self, ty: TypeRef) -> String {
        match ty {
            TypeRef::Atomic(atomic) => atomic_name(atomic).to_owned(),
            TypeRef::User(id) => self.text.names.types.get(&id).cloned().unwrap_or_default(),
        }
    }

    /// What stands for a type in calls.
    fn type_id(&self, ty: TypeRef) -> String {
        let of = |id: &TypeId| self.text.names.types.get(id).map(|name| format!("{name}_typ"));
        match ty {
            TypeRef::Atomic(atomic) => nc_type(atomic),
            TypeRef::User(id) => of(&id).unwrap_or_default(),
        }
    }
}

fn field_name(of: &str, field: &Field) -> String {
    format!("{of}_PERIOD_{}", identifier(&field.name))
}

fn nc_type(atomic: Atomic) -> String {
    format!("NC_{}", atomic.name().to_ascii_uppercase())
}

/// The ending of the function that sets an attribute of a type.
fn put_name(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte => "schar",
        Atomic::Char => "text",
        Atomic::Short => "short",
        Atomic::Int => "int",
        Atomic::Float => "float",
        Atomic::Double => "double",
        Atomic::UByte => "ubyte",
        Atomic::UShort => "ushort",
        Atomic::UInt => "uint",
        Atomic::Int64 => "longlong",
        Atomic::UInt64 => "ulonglong",
        Atomic::String => "string",
    }
}

/// Filters without a function of their own: number and parameters.
fn other_filters(variable: &Variable) -> Vec<(u32, &[u32])> {
    let of = |filter| match filter {
        &CodecSpec::Hdf5 { id: DEFLATE | SHUFFLE | FLETCHER32, .. } => None,
        CodecSpec::Hdf5 { id, parameters, .. } => Some((*id, parameters.as_slice())),
        CodecSpec::V2(_) | CodecSpec::V3 { .. } => None,
    };
    variable.filters.iter().filter_map(of).collect()
}
