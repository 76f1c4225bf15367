use super::*;
use crate::address::FileAddress;
use crate::object::{header_at, kind};
use crate::testing::done;
use crate::write::FilePatch;
use crate::write::tests::file_with;
use proptest::prelude::*;

proptest! {
    #[test]
    fn what_is_written_is_read_and_its_length_known_ahead(
        lens in prop::collection::vec(0usize..300, 0..6),
        tracked: bool,
        room in prop_oneof![0u64..20, Just(65_541), Just(65_542), Just(65_543), Just(65_547), Just(200_000)],
    ) {
        let draft = |(order, len): (u16, &usize)| {
            MessageDraft { kind: kind::ATTRIBUTE, flags: 0, order, body: Bytes::from(vec![7; *len]) }
        };
        let drafts: Vec<MessageDraft> = (0..).zip(&lens).map(draft).collect();
        let body = encode_header(&drafts, tracked, room);
        prop_assert_eq!(body.len() as u64, header_len(&drafts, tracked, room));
        let (view, file) = file_with(&[FilePatch { addr: FileAddress(64), body }]);
        let read = done(header_at(&view, &file, FileAddress(64))).expect("a header");
        prop_assert_eq!(read.tracks_attributes, tracked);
        prop_assert_eq!(read.messages.len(), drafts.len(), "room is no message");
        for (message, draft) in read.messages.iter().zip(&drafts) {
            prop_assert_eq!(&message.body, &draft.body);
            prop_assert_eq!(message.order, tracked.then_some(draft.order));
        }
    }

    #[test]
    fn room_is_a_gap_or_empty_messages_and_never_both(room in 0u64..300_000, tracked: bool) {
        let mut out = ByteSink::new();
        encode_room(&mut out, room, tracked);
        prop_assert_eq!(out.len() as u64, room);
        let (bytes, prefix) = (out.finish(), usize::try_from(prefix_len(tracked)).expect("small"));
        let mut at = 0;
        while bytes.len() - at >= prefix {
            at += prefix + usize::from(u16::from_le_bytes([bytes[at + 1], bytes[at + 2]]));
        }
        prop_assert!(at == bytes.len() || at == 0, "{} of {} bytes", at, bytes.len());
    }
}
