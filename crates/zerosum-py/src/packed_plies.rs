//! Plies packed as the journal has them: written by self-play, framed as entries, taken apart for records.
//!
//! `zerosum.replay.records.PackedPly` describes the form.

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zerosum_core::game::Action;
use zerosum_core::player::Player;
use zerosum_core::selfplay::{PlayedPly, TargetEntry, flag};

const KEY_SIZE: usize = 12;
const ROW_SIZE: usize = 20;
const HEAD_SIZE: usize = KEY_SIZE + ROW_SIZE + 2;
/// The sizes of the columns of `TARGET`.
const COLUMNS: [usize; 3] = [2, 2, 4];
const ENTRY_SIZE: usize = 8;

/// A ply of a search, with its policy target.
pub fn packed_ply(ply: &PlayedPly, target: &[TargetEntry]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(HEAD_SIZE + ENTRY_SIZE * target.len());
    packed.extend(ply.game_id.to_le_bytes());
    packed.extend(ply.index.to_le_bytes());
    packed.extend(ply.action.to_le_bytes());
    packed.push(ply.player.index() as u8);
    packed.extend(ply.network_step.to_le_bytes());
    packed.extend(ply.search_value.to_le_bytes());
    packed.extend(ply.net_value.to_le_bytes());
    packed.extend(ply.num_simulations.to_le_bytes());
    packed.push(ply.flags);
    packed.extend((target.len() as u16).to_le_bytes());
    packed.extend(target.iter().flat_map(|(action, _, _)| action.to_le_bytes()));
    packed.extend(target.iter().flat_map(|(_, share, _)| share.to_le_bytes()));
    packed.extend(target.iter().flat_map(|(_, _, visits)| visits.to_le_bytes()));
    packed
}

/// A move of an opening, without a search and without a target.
pub fn packed_opening(game_id: u64, index: usize, action: Action, player: Player) -> Vec<u8> {
    let ply = PlayedPly {
        tree: 0,
        game_id,
        index: index as u32,
        action,
        player,
        network_step: 0,
        search_value: 0.0,
        net_value: 0.0,
        num_simulations: 0,
        flags: flag::OPENING,
        target_end: 0,
    };
    packed_ply(&ply, &[])
}

/// The journal's entries of packed plies, one after the other, with its `magic` and the `kind` of a ply.
#[pyfunction]
pub fn ply_entries<'py>(
    py: Python<'py>,
    magic: &[u8],
    kind: u8,
    plies: Vec<Bound<'py, PyBytes>>,
) -> Bound<'py, PyBytes> {
    let mut entries = Vec::new();
    for ply in &plies {
        let payload = ply.as_bytes();
        let head = [&(payload.len() as u32).to_le_bytes()[..], &[kind]].concat();
        let checksum = crc32(crc32(0, &head), payload);
        entries.extend(magic);
        entries.extend(head);
        entries.extend(checksum.to_le_bytes());
        entries.extend(payload);
    }
    PyBytes::new(py, &entries)
}

type Column<'py, T> = Bound<'py, PyArray1<T>>;

/// A game's packed plies as columns: rows of `PLY` and of `TARGET` as bytes, the offsets of the plies' targets.
///
/// Raises ValueError if a ply is missing or too short.
#[pyfunction]
pub fn ply_columns<'py>(
    py: Python<'py>,
    plies: Vec<Bound<'py, PyBytes>>,
) -> PyResult<(Column<'py, u8>, Column<'py, u8>, Column<'py, i64>)> {
    let (mut rows, mut targets, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
    for (index, ply) in plies.iter().enumerate() {
        let ply = ply.as_bytes();
        let size =
            ply.get(HEAD_SIZE - 2..HEAD_SIZE).map_or(0, |size| usize::from(u16::from_le_bytes([size[0], size[1]])));
        if ply.len() != HEAD_SIZE + ENTRY_SIZE * size || ply[8..KEY_SIZE] != (index as u32).to_le_bytes() {
            return Err(PyValueError::new_err(format!("ply {index} is missing or has a wrong size")));
        }
        rows.extend(&ply[KEY_SIZE..KEY_SIZE + ROW_SIZE]);
        for entry in 0..size {
            let mut column = HEAD_SIZE;
            for width in COLUMNS {
                targets.extend(&ply[column + width * entry..column + width * (entry + 1)]);
                column += width * size;
            }
        }
        offsets.push((targets.len() / ENTRY_SIZE) as i64);
    }
    Ok((rows.into_pyarray(py), targets.into_pyarray(py), offsets.into_pyarray(py)))
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
