//! `ply_entries`.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

const ENTRY_SIZE: usize = 8;

/// The journal's entries of plies, (game_id, index, row of `PLY`, rows of `TARGET`) each, one after the other.
///
/// `zerosum.replay.journal` describes the format; its `ply_entry` is the same for one `PlyRecord`.
#[pyfunction]
pub fn ply_entries<'py>(
    py: Python<'py>,
    magic: &[u8],
    kind: u8,
    plies: Vec<(u64, u32, Bound<'py, PyBytes>, Bound<'py, PyBytes>)>,
) -> Bound<'py, PyBytes> {
    // Bytes are immutable, and the list above keeps them.
    let parts: Vec<(u64, u32, &[u8], &[u8])> = plies
        .iter()
        .map(|(game_id, index, row, target)| (*game_id, *index, row.as_bytes(), target.as_bytes()))
        .collect();
    let entries = py.detach(|| {
        let mut entries = Vec::new();
        for (game_id, index, row, target) in parts {
            write_entry(&mut entries, magic, kind, |payload| {
                payload.extend(game_id.to_le_bytes());
                payload.extend(index.to_le_bytes());
                payload.extend(row);
                payload.extend(((target.len() / ENTRY_SIZE) as u16).to_le_bytes());
                for column in [0..2, 2..4, 4..8] {
                    target.chunks_exact(ENTRY_SIZE).for_each(|entry| payload.extend(&entry[column.clone()]));
                }
            });
        }
        entries
    });
    PyBytes::new(py, &entries)
}

fn write_entry(entries: &mut Vec<u8>, magic: &[u8], kind: u8, write_payload: impl FnOnce(&mut Vec<u8>)) {
    entries.extend(magic);
    let head = entries.len();
    entries.extend([0; 9]); // length, kind, checksum
    write_payload(entries);
    let payload = head + 9;
    let length = (entries.len() - payload) as u32;
    entries[head..head + 4].copy_from_slice(&length.to_le_bytes());
    entries[head + 4] = kind;
    let checksum = crc32(crc32(0, &entries[head..head + 5]), &entries[payload..]);
    entries[head + 5..payload].copy_from_slice(&checksum.to_le_bytes());
}

const CRC_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// CRC-32 of zlib, continued from an earlier part.
fn crc32(earlier: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!earlier, |crc, byte| crc >> 8 ^ CRC_TABLE[usize::from(crc as u8 ^ byte)])
}
