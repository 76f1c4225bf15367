//! The checksum of DAP4: CRC-32 as zlib has it (docs/spec/dap.md 6.3).

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let (mut index, mut first) = (0, 0_u32);
    while index < 256 {
        let mut word = first;
        let mut bit = 0;
        while bit < 8 {
            word = if word & 1 == 1 { 0xedb8_8320 ^ (word >> 1) } else { word >> 1 };
            bit += 1;
        }
        table[index] = word;
        index += 1;
        first += 1;
    }
    table
}

pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)] ^ (crc >> 8);
    !bytes.iter().fold(u32::MAX, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_known_bytes() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let words = |order: fn(u32) -> [u8; 4]| (1..=4).flat_map(order).collect::<Vec<_>>();
        assert_eq!(crc32(&words(u32::to_le_bytes)), 0xaf05_d4ef);
        assert_eq!(crc32(&words(u32::to_be_bytes)), 0x5f16_049f);
        assert_eq!(crc32(b""), 0);
    }
}
