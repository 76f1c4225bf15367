//! Encoded bodies, as clients decode them.
use super::encoder::ZstdEncoder;
use super::*;
use futures_util::stream;
use std::future::poll_fn;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

type Sender = UnboundedSender<io::Result<Bytes>>;

/// A body of the pieces that are sent, encoded.
fn encoded(coding: ContentCoding) -> (Sender, Body) {
    let (sender, mut receiver) = unbounded_channel();
    let body = Body::from_stream(stream::poll_fn(move |context| receiver.poll_recv(context)));
    (sender, compressed(body, coding))
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// The bytes of the next frame.
async fn next(body: &mut Body) -> Option<Result<Bytes, axum::Error>> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    Some(frame.map(|frame| frame.into_data().unwrap()))
}

/// What a client decodes of the beginning of a body.
fn decoded(coding: ContentCoding, bytes: &[u8]) -> Vec<u8> {
    match coding {
        ContentCoding::Gzip => {
            let mut decoder = flate2::write::GzDecoder::new(Vec::new());
            io::Write::write_all(&mut decoder, bytes).unwrap();
            io::Write::flush(&mut decoder).unwrap();
            decoder.get_ref().clone()
        }
        ContentCoding::Zstd => {
            let mut decoder = DCtx::create();
            // Less than the 8 MiB that RFC 9659 allows.
            decoder.set_parameter(DParameter::WindowLogMax(18)).unwrap();
            let (mut input, mut all) = (InBuffer::around(bytes), Vec::new());
            loop {
                let mut out = vec![0; 64 << 10];
                let mut output = OutBuffer::around(&mut out[..]);
                decoder.decompress_stream(&mut output, &mut input).unwrap();
                let len = output.pos();
                all.extend(&out[..len]);
                if len < out.len() && input.pos() == bytes.len() {
                    return all;
                }
            }
        }
    }
}

/// Text that compresses, but not to nothing.
fn text(len: usize) -> Vec<u8> {
    const WORDS: [&str; 8] = [
        "temperature",
        "\"units\": \"K\", ",
        "12.5, 13.25\n",
        "longitude",
        "<Dim name=",
        "  ",
        "0, 0, 0",
        "float",
    ];
    let (mut seed, mut text) = (7_u64, Vec::new());
    while text.len() < len {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.extend(WORDS[usize::from(seed.to_be_bytes()[0] % 8)].bytes());
    }
    text.truncate(len);
    text
}

#[test]
fn bodies_of_any_length_are_decoded_to_what_they_were() {
    for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
        for len in [0, 1, 1000, STEP - 1, STEP, 3 * STEP + 5] {
            let wanted = text(len);
            let body = compressed(Body::from(wanted.clone()), coding);
            let bytes = run(axum::body::to_bytes(body, usize::MAX)).unwrap();
            assert!(!bytes.is_empty() && decoded(coding, &bytes) == wanted, "{coding:?} {len}");
            assert!(len < 1000 || bytes.len() < len * 2 / 3, "{coding:?} {len}: {}", bytes.len());
        }
    }
}

#[test]
fn a_piece_arrives_before_the_next_one_is_made() {
    for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
        let (sender, mut body) = encoded(coding);
        run(async {
            let mut arrived = Vec::new();
            for piece in ["the first piece\n", "and the second\n"] {
                sender.send(Ok(piece.into())).unwrap();
                arrived.extend(next(&mut body).await.unwrap().unwrap());
                assert!(decoded(coding, &arrived).ends_with(piece.as_bytes()), "{coding:?} {piece}");
            }
            drop(sender);
            arrived.extend(next(&mut body).await.unwrap().unwrap());
            assert!(next(&mut body).await.is_none(), "{coding:?}");
            assert_eq!(decoded(coding, &arrived), b"the first piece\nand the second\n");
        });
    }
}

#[test]
fn bytes_that_compress_to_little_are_sent_now_and_then() {
    for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
        let (sender, mut body) = encoded(coding);
        for _ in 0..8 {
            sender.send(Ok(vec![b' '; STEP].into())).unwrap();
        }
        let first = run(next(&mut body)).unwrap().unwrap();
        assert_eq!(decoded(coding, &first).len(), UNSENT, "{coding:?}");
    }
}

#[test]
fn a_body_that_fails_has_no_end() {
    for coding in [ContentCoding::Gzip, ContentCoding::Zstd] {
        let (sender, mut body) = encoded(coding);
        sender.send(Ok("text".into())).unwrap();
        sender.send(Err(io::Error::other("broken"))).unwrap();
        run(async {
            assert!(next(&mut body).await.unwrap().is_err(), "{coding:?}");
            assert!(next(&mut body).await.is_none(), "{coding:?}");
        });
    }
}

#[test]
fn an_encoder_of_zstd_has_less_than_two_mebibytes() {
    let mut encoder = ZstdEncoder::new().unwrap();
    encoder.write(&text(1 << 20)).unwrap();
    assert!(encoder.memory() < 2 << 20, "{}", encoder.memory());
}

/// Without that, the encoders of clients that break off would fill the memory.
#[cfg(target_os = "linux")]
#[test]
fn a_body_that_is_dropped_frees_its_encoder() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    };
    let piece = Bytes::from(text(STEP));
    let half = || {
        let (sender, mut body) = encoded(ContentCoding::Zstd);
        sender.send(Ok(piece.clone())).unwrap();
        run(next(&mut body)).unwrap().unwrap();
    };
    half();
    let before = resident();
    (0..600).for_each(|_| half());
    let grown = resident().saturating_sub(before);
    // Other tests of this process need some, too.
    assert!(grown < 256 << 20, "{grown}");
}

#[test]
fn text_that_is_whole_depends_on_the_coding() {
    let depends = |content_type: &'static str, status| {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        depends_on_coding(&headers, status)
    };
    for text in ["text/plain; charset=utf-8", "application/json", "application/xml", "image/svg+xml"] {
        assert!(depends(text, StatusCode::OK) && depends(text, StatusCode::NOT_FOUND), "{text}");
        assert!(!depends(text, StatusCode::PARTIAL_CONTENT), "{text}");
        assert!(!depends(text, StatusCode::RANGE_NOT_SATISFIABLE), "{text}");
    }
    assert!(!depends("application/octet-stream", StatusCode::OK));
    assert!(depends_on_coding(&HeaderMap::new(), StatusCode::NOT_MODIFIED));
}

#[test]
fn a_tag_becomes_weak_once() {
    for tag in ["\"a\"", "W/\"a\""] {
        let mut headers = HeaderMap::from_iter([(header::ETAG, HeaderValue::from_static(tag))]);
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("9"));
        put_headers(&mut headers, ContentCoding::Zstd);
        assert_eq!(headers[header::ETAG], "W/\"a\"");
        assert_eq!(headers[header::CONTENT_ENCODING], "zstd");
        assert!(!headers.contains_key(header::CONTENT_LENGTH));
    }
}
