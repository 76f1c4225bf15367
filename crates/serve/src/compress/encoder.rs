//! The encoders of both codings, with a buffer for what they give.
use super::coding::ContentCoding;
use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, SafeResult, get_error_name};

/// Distance of matches: 256 KiB. Clients need as much memory; they accept at most 8 MiB (RFC 9659).
const WINDOW_LOG: u32 = 18;
/// Entries of the tables: together with the window an encoder has about 1.5 MiB.
const TABLE_LOG: u32 = 16;
const LEVEL: i32 = 3;
/// Room for one step of the encoder.
const ROOM: usize = 16 << 10;

pub(super) enum BodyEncoder {
    Gzip(GzEncoder<Vec<u8>>),
    Zstd(ZstdEncoder),
}

impl BodyEncoder {
    pub(super) fn new(coding: ContentCoding) -> io::Result<Self> {
        Ok(match coding {
            ContentCoding::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), Compression::fast())),
            ContentCoding::Zstd => Self::Zstd(ZstdEncoder::new()?),
        })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) => encoder.write_all(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
        }
    }

    /// Gives everything that was written in a form that can be decoded.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) => encoder.flush(),
            Self::Zstd(encoder) => encoder.drain(CCtx::flush_stream),
        }
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) => encoder.try_finish(),
            Self::Zstd(encoder) => encoder.drain(CCtx::end_stream),
        }
    }

    /// Bytes that can be taken.
    pub(super) fn ready_len(&self) -> usize {
        match self {
            Self::Gzip(encoder) => encoder.get_ref().len(),
            Self::Zstd(encoder) => encoder.out.len(),
        }
    }

    pub(super) fn take(&mut self) -> Bytes {
        let out = match self {
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Zstd(encoder) => &mut encoder.out,
        };
        std::mem::take(out).into()
    }
}

/// One frame.
pub(super) struct ZstdEncoder {
    context: CCtx<'static>,
    room: Box<[u8]>,
    out: Vec<u8>,
}

impl ZstdEncoder {
    pub(super) fn new() -> io::Result<Self> {
        let mut context = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        for parameter in [
            CParameter::CompressionLevel(LEVEL),
            CParameter::WindowLog(WINDOW_LOG),
            CParameter::HashLog(TABLE_LOG),
            CParameter::ChainLog(TABLE_LOG),
        ] {
            context.set_parameter(parameter).map_err(fault)?;
        }
        Ok(Self { context, room: vec![0; ROOM].into(), out: Vec::new() })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut input = InBuffer::around(bytes);
        while input.pos() < bytes.len() {
            self.step(|context, output| context.compress_stream(output, &mut input))?;
        }
        Ok(())
    }

    /// Repeats a call until nothing is left inside.
    fn drain(
        &mut self,
        call: impl Fn(&mut CCtx<'static>, &mut OutBuffer<'_, [u8]>) -> SafeResult,
    ) -> io::Result<()> {
        while self.step(&call)? > 0 {}
        Ok(())
    }

    fn step(
        &mut self,
        call: impl FnOnce(&mut CCtx<'static>, &mut OutBuffer<'_, [u8]>) -> SafeResult,
    ) -> io::Result<usize> {
        let mut output = OutBuffer::around(&mut *self.room);
        let left = call(&mut self.context, &mut output).map_err(fault)?;
        let len = output.pos();
        self.out.extend_from_slice(self.room.get(..len).unwrap_or_default());
        Ok(left)
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.context.sizeof()
    }
}

fn fault(code: usize) -> io::Error {
    io::Error::other(get_error_name(code))
}
