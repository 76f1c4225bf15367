use super::*;
use crate::file::Hdf5File;
use crate::object::header;
use crate::superblock::load;
use crate::testing::{KEY, build, done, view};
use crate::write::header::encode_header;
use ncirrus_testkit::ObjectView;
use proptest::prelude::*;
use std::sync::Arc;

/// Messages as readers see them.
type SeenMessages = Vec<(u16, u8, Option<u16>, Vec<u8>)>;

/// A file with one header, at an address, and the end of the file.
#[derive(Debug, Clone)]
struct MadeHeader {
    bytes: Vec<u8>,
    version: u8,
    addr: u64,
}

impl MadeHeader {
    fn new(version: u8, indexed: bool, drafts: &[MessageDraft], spare: usize) -> Self {
        let mut builder = build::FileBuilder::new();
        let header = match version {
            1 => old_header(drafts, spare.next_multiple_of(8)),
            _ => encode_header(drafts, indexed, spare as u64).to_vec(),
        };
        let addr = builder.put(&header);
        Self { bytes: builder.finish(addr), version, addr }
    }

    fn file(&self) -> Arc<Hdf5File> {
        done(load(&view(self.bytes.clone()), &ObjectView::id(KEY))).unwrap()
    }

    fn object(&self) -> ObjectRef {
        ObjectRef { file: self.file(), addr: FileAddress(self.addr) }
    }

    fn seen(&self) -> SeenMessages {
        let read = done(header(&view(self.bytes.clone()), &self.object())).unwrap();
        // The messages have any type and content.
        let is_odd = |text: &&String| !text.starts_with("a message of ");
        assert_eq!(read.losses.iter().find(is_odd), None);
        let mut seen: SeenMessages = read
            .messages
            .iter()
            .map(|message| (message.kind, message.flags, message.order, message.body.to_vec()))
            .collect();
        seen.sort();
        seen
    }

    fn editable(&self) -> EditableHeader {
        done(EditableHeader::load(&view(self.bytes.clone()), &self.object())).unwrap()
    }

    fn put(&mut self, patch: &FilePatch) {
        let start = usize::try_from(patch.addr.0).unwrap();
        let end = start + patch.body.len();
        self.bytes.resize(self.bytes.len().max(end), 0);
        self.bytes[start..end].copy_from_slice(&patch.body);
    }

    /// The messages of an editable header, as readers will see them.
    fn expected(&self, editable: &EditableHeader) -> SeenMessages {
        let pad = |body: &[u8]| {
            let mut body = body.to_vec();
            body.resize(if self.version == 1 { body.len().next_multiple_of(8) } else { body.len() }, 0);
            body
        };
        let shown = editable.messages.iter().map(|held| &held.draft);
        let shown = shown.filter(|draft| draft.kind != kind::CONTINUATION);
        let mut seen: SeenMessages = shown
            .map(|draft| {
                (draft.kind, draft.flags, editable.is_indexed().then_some(draft.order), pad(&draft.body))
            })
            .collect();
        seen.sort();
        seen
    }
}

fn old_header(drafts: &[MessageDraft], spare: usize) -> Vec<u8> {
    let style = MessageStyle { version: 1, indexed: false };
    let len: usize = drafts.iter().map(|draft| 8 + draft.body.len().next_multiple_of(8)).sum();
    let spare = spare.max(16);
    let drafts: Vec<&MessageDraft> = drafts.iter().collect();
    let (area, count) = style.area(&drafts, len + spare).unwrap().unwrap();
    let mut head = vec![1, 0];
    head.extend(u16::try_from(count).unwrap().to_le_bytes());
    head.extend(1u32.to_le_bytes());
    head.extend(u32::try_from(area.len()).unwrap().to_le_bytes());
    head.extend([0; 4]);
    [head, area.to_vec()].concat()
}

fn draft() -> impl Strategy<Value = MessageDraft> {
    let kinds = prop_oneof![Just(kind::ATTRIBUTE), Just(kind::LINK), Just(kind::GROUP_INFO), Just(0x1e)];
    let len = prop_oneof![8 => 0..60usize, 2 => 60..700usize, 1 => 65_000..65_500usize];
    (kinds, any::<u16>(), len, any::<u8>()).prop_map(|(kind, order, len, byte)| MessageDraft {
        kind,
        flags: 0,
        order,
        body: vec![byte; len].into(),
    })
}

/// One change: of a message, by its number modulo all.
#[derive(Debug, Clone)]
enum EditAct {
    Set(usize, MessageDraft),
    Add(MessageDraft),
    Remove(usize),
    References(u32),
}

fn act() -> impl Strategy<Value = EditAct> {
    prop_oneof![
        (any::<usize>(), draft()).prop_map(|(at, draft)| EditAct::Set(at, draft)),
        draft().prop_map(EditAct::Add),
        any::<usize>().prop_map(EditAct::Remove),
        (1..4u32).prop_map(EditAct::References),
    ]
}

fn apply(editable: &mut EditableHeader, act: &EditAct) {
    let count = editable.messages.len();
    match act {
        EditAct::Set(at, draft)
            if count > 0 && editable.messages[at % count].draft.kind != kind::CONTINUATION =>
        {
            editable.set(at % count, draft.body.clone()).unwrap();
        }
        EditAct::Set(..) => {}
        EditAct::Add(draft) => _ = editable.push(draft.clone()),
        EditAct::Remove(at) => {
            let (mut number, at) = (0, at % count.max(1));
            let keep = |draft: &MessageDraft| {
                number += 1;
                number - 1 != at || draft.kind == kind::CONTINUATION
            };
            editable.retain(keep).unwrap();
        }
        EditAct::References(count) => editable.set_references(*count).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn after_every_write_the_header_is_the_old_or_the_new_one(
        version in 1..=2u8,
        indexed in any::<bool>(),
        drafts in prop::collection::vec(draft(), 0..6),
        spare in prop_oneof![22..40usize, 40..400usize],
        rounds in prop::collection::vec(prop::collection::vec(act(), 1..4), 1..6),
    ) {
        let mut made = MadeHeader::new(version, indexed, &drafts, spare);
        let start = made.bytes.len() as u64;
        let mut space = SpaceAllocator::new(start);
        for acts in &rounds {
            let old = made.seen();
            let mut editable = made.editable();
            acts.iter().for_each(|act| apply(&mut editable, act));
            let new = made.expected(&editable);
            let change = editable.change(&mut space).unwrap();
            for patch in &change.fresh {
                made.put(patch);
                prop_assert_eq!(made.seen(), old.clone());
            }
            prop_assert!(change.then.len() <= 1);
            change.then.iter().for_each(|patch| made.put(patch));
            prop_assert_eq!(made.seen(), new);
            prop_assert_eq!(made.editable().references(), editable.references());
            for (addr, len) in change.released {
                if addr.0 >= start {
                    space.leave(addr, len);
                }
            }
            space.committed();
        }
    }
}

fn attribute(order: u16, len: usize) -> MessageDraft {
    MessageDraft { kind: kind::ATTRIBUTE, flags: 0, order, body: vec![7; len].into() }
}

#[test]
fn a_message_of_the_same_length_is_changed_where_it_lies() {
    let made = MadeHeader::new(2, true, &[attribute(0, 20), attribute(1, 20)], 0);
    let mut editable = made.editable();
    editable.set(1, vec![9; 20].into()).unwrap();
    let change = editable.change(&mut SpaceAllocator::new(4096)).unwrap();
    assert!(change.fresh.is_empty());
    assert_eq!(change.then.len(), 1);
    assert_eq!(change.then[0].addr, FileAddress(made.addr));
}

#[test]
fn a_header_that_changes_again_and_again_alternates_between_two_places() {
    let mut made = MadeHeader::new(2, true, &[attribute(0, 20), attribute(1, 20)], 22);
    let start = made.bytes.len() as u64;
    let mut space = SpaceAllocator::new(start);
    let mut ends = Vec::new();
    for round in 0..20usize {
        let mut editable = made.editable();
        editable.set(0, vec![1; 20].into()).unwrap();
        let last = editable.all(kind::ATTRIBUTE).last().unwrap().0;
        editable.set(last, vec![2; 100 + round].into()).unwrap();
        let change = editable.change(&mut space).unwrap();
        change.fresh.iter().chain(&change.then).for_each(|patch| made.put(patch));
        change
            .released
            .iter()
            .filter(|(addr, _)| addr.0 >= start)
            .for_each(|(addr, len)| space.leave(*addr, *len));
        space.committed();
        ends.push(space.end());
    }
    assert!(ends.last().unwrap() - start <= 3 * 512, "{ends:?}");
}

#[test]
fn a_header_with_a_message_that_must_be_known_for_writing_is_refused() {
    let unknown = |flags| MessageDraft { kind: 0x1f, flags, order: 0, body: vec![1; 8].into() };
    let made = MadeHeader::new(2, false, &[unknown(0x08)], 30);
    let error = done(EditableHeader::load(&view(made.bytes.clone()), &made.object())).unwrap_err();
    assert!(error.to_string().contains("0x1f"), "{error}");
    let mut made = MadeHeader::new(2, false, &[unknown(0x10)], 30);
    let mut editable = made.editable();
    editable.push(attribute(0, 4));
    let change = editable.change(&mut SpaceAllocator::new(4096)).unwrap();
    change.then.iter().for_each(|patch| made.put(patch));
    assert_eq!(made.seen().last().unwrap().1, 0x30);
}

#[test]
fn a_header_too_small_to_be_continued_is_refused_before_anything_is_written() {
    let made = MadeHeader::new(2, false, &[], 8);
    let mut editable = made.editable();
    editable.push(attribute(0, 30));
    assert!(editable.change(&mut SpaceAllocator::new(4096)).is_err());
}
