//! Tickets and receipts as text.
use crate::{Error, Result};
use ncirrus_model::Shards;
use ncirrus_store::JointPlace;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What other processes need to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) url: String,
    pub(super) place: JointPlace,
    pub(super) variables: Vec<TicketVariable>,
    /// Variables of which every chunk must come, where the writing was handed over.
    pub(super) handed: Option<Vec<String>>,
}

/// A variable that others can write chunks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TicketVariable {
    pub(super) path: String,
    /// The key of a chunk or shard, with `{0}`, `{1}` for its coordinates.
    pub(super) form: String,
    /// The text of its encoder.
    pub(super) encoder: String,
    /// The shape of what exists already, in an append; none for a variable that is new in it.
    pub(super) old: Option<Vec<u64>>,
    /// The shards, if its chunks share objects: then whole shards are written, and the key is that of a shard.
    pub(super) shards: Option<Shards>,
}

/// What a process has written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Receipt {
    pub(super) mark: String,
    /// Distinguishes it from others.
    pub(super) id: String,
    pub(super) chunks: BTreeMap<String, Vec<Vec<u64>>>,
}

const TICKET: &str = "ncirrus-ticket-1";
/// Tickets with shards: a version of this library that writes only chunks rejects them.
const SHARDS_TICKET: &str = "ncirrus-ticket-2";
const RECEIPT: &str = "ncirrus-receipt-1";

/// A name, a digest that detects accidental changes, and the body.
fn sealed(name: &str, body: &Value) -> String {
    let body = body.to_string();
    format!("{name} {:016x} {body}", digest(&body))
}

fn opened(name: &str, what: &str, text: &str) -> Result<Value> {
    let bad = |why: &str| Error::malformed(format!("the text is no {what}: {why}"));
    let rest = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
    let (seal, body) =
        rest.and_then(|rest| rest.split_once(' ')).ok_or_else(|| bad("it begins otherwise"))?;
    if seal != format!("{:016x}", digest(body)) {
        return Err(bad("it was changed"));
    }
    serde_json::from_str(body).map_err(|error| bad("it cannot be read").because(error))
}

/// FNV-1a of 64 bits.
fn digest(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

fn numbers(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}

impl Ticket {
    pub(super) fn to_text(&self) -> String {
        let variable = |variable: &TicketVariable| {
            json!({
                "path": variable.path,
                "form": variable.form,
                "encoder": variable.encoder,
                "old": variable.old,
                "shards": variable.shards.as_ref().map(|shards| {
                    json!({ "shape": shards.shape, "index_first": shards.index_first })
                }),
            })
        };
        let place = &self.place;
        let has_shards = self.variables.iter().any(|variable| variable.shards.is_some());
        sealed(
            if has_shards { SHARDS_TICKET } else { TICKET },
            &json!({
                "url": self.url,
                "folder": place.folder.as_ref().map(|folder| folder.to_string_lossy()),
                "below": place.below,
                "sign": place.sign,
                "mark": place.mark,
                "handed": self.handed,
                "variables": self.variables.iter().map(variable).collect::<Vec<_>>(),
            }),
        )
    }

    pub(super) fn of_text(text: &str) -> Result<Self> {
        let name = if text.starts_with(SHARDS_TICKET) { SHARDS_TICKET } else { TICKET };
        let value = opened(name, "ticket", text)?;
        Self::read(&value).ok_or_else(|| Error::malformed("the text is no ticket: a part is missing"))
    }

    fn read(value: &Value) -> Option<Self> {
        let variable = |value: &Value| {
            Some(TicketVariable {
                path: text_of(value, "path")?,
                form: text_of(value, "form")?,
                encoder: text_of(value, "encoder")?,
                old: match value.get("old")? {
                    Value::Null => None,
                    old => Some(numbers(old)?),
                },
                // Older tickets have no such member.
                shards: match value.get("shards") {
                    None | Some(Value::Null) => None,
                    Some(shards) => Some(Shards {
                        shape: numbers(shards.get("shape")?)?,
                        index_first: shards.get("index_first")?.as_bool()?,
                    }),
                },
            })
        };
        Some(Self {
            url: text_of(value, "url")?,
            place: JointPlace {
                folder: text_of(value, "folder").map(PathBuf::from),
                below: text_of(value, "below")?,
                sign: text_of(value, "sign")?,
                mark: text_of(value, "mark")?,
            },
            handed: match value.get("handed")? {
                Value::Null => None,
                paths => {
                    let path = |path: &Value| path.as_str().map(str::to_owned);
                    Some(paths.as_array()?.iter().map(path).collect::<Option<_>>()?)
                }
            },
            variables: value.get("variables")?.as_array()?.iter().map(variable).collect::<Option<_>>()?,
        })
    }
}

impl TicketVariable {
    /// The key of a chunk, relative to the dataset.
    pub(super) fn key(&self, cell: &[u64]) -> String {
        let mut key = self.form.clone();
        for (axis, number) in cell.iter().enumerate() {
            key = key.replace(&format!("{{{axis}}}"), &number.to_string());
        }
        key
    }
}

impl Receipt {
    pub(super) fn to_text(&self) -> String {
        let chunks: Map<String, Value> =
            self.chunks.iter().map(|(path, cells)| (path.clone(), json!(cells))).collect();
        sealed(RECEIPT, &json!({ "mark": self.mark, "id": self.id, "chunks": chunks }))
    }

    pub(super) fn of_text(text: &str) -> Result<Self> {
        let value = opened(RECEIPT, "receipt", text)?;
        let read = || {
            let cells = |(path, cells): (&String, &Value)| {
                Some((path.clone(), cells.as_array()?.iter().map(numbers).collect::<Option<_>>()?))
            };
            Some(Self {
                mark: text_of(&value, "mark")?,
                id: text_of(&value, "id")?,
                chunks: value.get("chunks")?.as_object()?.iter().map(cells).collect::<Option<_>>()?,
            })
        };
        read().ok_or_else(|| Error::malformed("the text is no receipt: a part is missing"))
    }
}
