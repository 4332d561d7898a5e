//! One file of a table: where its parts are, and how a position's number leads to its value.
//!
//! ```text
//! magic, flags | pieces' order, for each file of the leading pawn | codes, for each file and side to move | map of DTZ values
//!              | index | sizes of blocks | blocks (from a multiple of 64) | checksum, 16 bytes
//! ```
//!
//! Values are sequences of pairs of symbols (Larsson and Moffat's recursive pairing) with canonical Huffman codes. An entry of the
//! index points to the middle of its range of positions. The format is Ronald de Man's; this reader follows Fathom and Pyrrhic (MIT),
//! but trusts nothing: each read is checked, so that a damaged file is an error and never a wrong access.

use std::sync::Arc;

use super::index::Numbering;
use super::material::Material;

/// The bytes of one file.
pub trait Source: Send + Sync {
    /// Number of bytes.
    fn len(&self) -> u64;

    /// True if there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `bytes` from this place on; false if the file has no such bytes.
    fn read(&self, at: u64, bytes: &mut [u8]) -> bool;
}

/// What a file's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Win, draw or loss, with and without the fifty-move rule.
    Wdl,
    /// Distance to a capture or pawn's move.
    Dtz,
}

impl Kind {
    /// The ending of the file's name.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Wdl => ".rtbw",
            Self::Dtz => ".rtbz",
        }
    }

    fn magic(self) -> [u8; 4] {
        match self {
            Self::Wdl => [0x71, 0xe8, 0x23, 0x5d],
            Self::Dtz => [0xd7, 0x66, 0x0c, 0xa5],
        }
    }
}

/// Largest block, as a power of two; files have 32 bytes to some KiB.
const MAX_BLOCK_BITS: u8 = 16;
/// Longest code in bits.
const MAX_CODE: u8 = 32;
const NO_PAIR: u16 = 0xfff;

const FLAG_BLACK: u8 = 1;
const FLAG_MAPPED: u8 = 2;
const FLAG_WIN_PLIES: u8 = 4;
const FLAG_LOSS_PLIES: u8 = 8;
const FLAG_WIDE: u8 = 16;
const FLAG_CONSTANT: u8 = 0x80;

/// A way to the values of one side to move and one file of the leading pawn.
#[derive(Debug)]
pub struct Part {
    pub numbering: Numbering,
    flags: u8,
    codes: Codes,
    /// The beginning of the map's four parts, in bytes from the file's beginning.
    map: [u64; 4],
}

/// How the values are coded.
#[derive(Debug)]
enum Codes {
    Constant(u8),
    Blocks(Box<Blocks>),
}

#[derive(Debug)]
struct Blocks {
    /// Sizes of a block and of the index's ranges, as powers of two.
    block_bits: u8,
    index_bits: u8,
    shortest: u8,
    /// First symbol of each length of code, and the first code, aligned to the left.
    first_symbol: Vec<u16>,
    first_code: Vec<u64>,
    /// The two halves of each symbol, or its value and [`NO_PAIR`].
    halves: Vec<[u16; 2]>,
    /// Values of each symbol, less one.
    lengths: Vec<u32>,
    num_listed: u64,
    number: u64,
    index: u64,
    sizes: u64,
    data: u64,
}

/// An opened file.
pub struct Table {
    source: Box<dyn Source>,
    kind: Kind,
    /// Parts by file of the leading pawn and side to move (White in the table first).
    parts: Vec<[Option<Part>; 2]>,
}

/// A place in the file while its beginning is read.
struct Cursor<'a> {
    source: &'a dyn Source,
    at: u64,
}

impl Cursor<'_> {
    fn take(&mut self, number: usize) -> Option<Vec<u8>> {
        if self.source.len().checked_sub(self.at)? < number as u64 {
            return None;
        }
        let mut bytes = vec![0; number];
        self.source.read(self.at, &mut bytes).then_some(())?;
        self.at += number as u64;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn word(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn skip(&mut self, number: u64) -> Option<()> {
        self.at = self.at.checked_add(number)?;
        (self.at <= self.source.len()).then_some(())
    }

    fn align(&mut self, to: u64) {
        self.at = self.at.next_multiple_of(to);
    }
}

impl Table {
    /// Reads the beginning of a file.
    ///
    /// # Errors
    /// What is wrong with it, to follow the file's name.
    pub fn open(source: Box<dyn Source>, kind: Kind, material: &Material) -> Result<Arc<Self>, String> {
        let mut magic = [0; 4];
        if !source.read(0, &mut magic) || magic != kind.magic() {
            return Err(format!("does not begin as a Syzygy file {} does", kind.ending()));
        }
        let size = source.len();
        let (parts, end) = read_parts(&*source, kind, material).ok_or("is damaged: its beginning makes no sense")?;
        if end + 16 != size {
            return Err(format!(
                "has {size} bytes, and by its own description {}: it is incomplete or damaged",
                end + 16
            ));
        }
        Ok(Arc::new(Self { source, kind, parts }))
    }

    /// The part for a file of the leading pawn (0 without pawns) and a side to move; `None` if it has the other side's values alone.
    pub fn part(&self, file: usize, is_second: bool, is_symmetric: bool) -> Option<&Part> {
        let sides = self.parts.get(file)?;
        if self.kind == Kind::Dtz {
            let part = sides[0].as_ref()?;
            let has_second = part.flags & FLAG_BLACK != 0;
            return (is_symmetric || has_second == is_second).then_some(part);
        }
        sides[usize::from(is_second && sides[1].is_some())].as_ref()
    }

    /// The numbering that tells the leading pawn, for a file that is not known yet.
    pub fn any_numbering(&self) -> Option<&Numbering> {
        Some(&self.parts.first()?[0].as_ref()?.numbering)
    }

    /// The value of a position: −2 to 2 from loss to win, or the distance in plies for a result `wdl` of this kind. `None` if the file
    /// is damaged.
    pub fn value(&self, part: &Part, number: u64, wdl: i32) -> Option<i32> {
        let value = match &part.codes {
            Codes::Constant(value) => u16::from(*value),
            Codes::Blocks(blocks) => blocks.value(&*self.source, number)?,
        };
        if self.kind == Kind::Wdl {
            return (value <= 4).then(|| i32::from(value) - 2);
        }
        let mut plies = i32::from(value);
        if part.flags & FLAG_MAPPED != 0 {
            // Losses, blessed losses, draws, cursed wins, wins.
            let map = part.map[[1, 3, 0, 2, 0][(wdl + 2) as usize]];
            let mut bytes = [0; 2];
            if part.flags & FLAG_WIDE == 0 {
                self.source.read(map + u64::from(value), &mut bytes[..1]).then_some(())?;
            } else {
                self.source.read(map + 2 * u64::from(value), &mut bytes).then_some(())?;
            }
            plies = u16::from_le_bytes(bytes).into();
        }
        let counts_plies = match wdl {
            -2 => part.flags & FLAG_LOSS_PLIES != 0,
            2 => part.flags & FLAG_WIN_PLIES != 0,
            _ => false,
        };
        Some(if counts_plies { plies } else { 2 * plies })
    }
}

fn read_parts(source: &dyn Source, kind: Kind, material: &Material) -> Option<(Vec<[Option<Part>; 2]>, u64)> {
    let mut cursor = Cursor { source, at: 4 };
    let has_both = kind == Kind::Wdl && cursor.byte()? & 1 != 0;
    cursor.at = 5;
    let num_files = if material.pawns[0] > 0 { 4 } else { 1 };
    let num_order = material.num_men + 1 + usize::from(material.pawns[1] > 0);
    let mut numberings = Vec::new();
    for file in 0..num_files {
        let bytes = cursor.take(num_order)?;
        let first = Numbering::read(&bytes, 0, material, file)?;
        let second = if has_both { Some(Numbering::read(&bytes, 4, material, file)?) } else { None };
        numberings.push([Some(first), second]);
    }
    cursor.align(2);
    let mut parts: Vec<[Option<Part>; 2]> = Vec::new();
    for sides in numberings {
        let mut pair = [None, None];
        for (place, numbering) in pair.iter_mut().zip(sides) {
            if let Some(numbering) = numbering {
                let (flags, codes) = read_codes(&mut cursor, kind, numbering.num_positions)?;
                *place = Some(Part { numbering, flags, codes, map: [0; 4] });
            }
        }
        parts.push(pair);
    }
    if kind == Kind::Dtz {
        for part in parts.iter_mut().filter_map(|sides| sides[0].as_mut()).filter(|part| part.flags & FLAG_MAPPED != 0)
        {
            let is_wide = part.flags & FLAG_WIDE != 0;
            if is_wide {
                cursor.align(2);
            }
            for map in &mut part.map {
                let number: u64 = if is_wide { cursor.word()?.into() } else { cursor.byte()?.into() };
                *map = cursor.at;
                cursor.skip(if is_wide { 2 * number } else { number })?;
            }
        }
        cursor.align(2);
    }
    place_blocks(&mut cursor, &mut parts)?;
    cursor.align(64);
    Some((parts, cursor.at))
}

fn place_blocks(cursor: &mut Cursor<'_>, parts: &mut [[Option<Part>; 2]]) -> Option<()> {
    let mut all: Vec<(u64, &mut Blocks)> = parts
        .iter_mut()
        .flatten()
        .flatten()
        .filter_map(|part| match &mut part.codes {
            Codes::Blocks(blocks) => Some((part.numbering.num_positions, &mut **blocks)),
            Codes::Constant(_) => None,
        })
        .collect();
    for (num_positions, blocks) in &mut all {
        blocks.index = cursor.at;
        cursor.skip(6 * num_positions.div_ceil(1 << blocks.index_bits))?;
    }
    for (_, blocks) in &mut all {
        blocks.sizes = cursor.at;
        cursor.skip(2 * blocks.num_listed)?;
    }
    for (_, blocks) in &mut all {
        cursor.align(64);
        blocks.data = cursor.at;
        cursor.skip(blocks.number << blocks.block_bits)?;
    }
    Some(())
}

fn read_codes(cursor: &mut Cursor<'_>, kind: Kind, num_positions: u64) -> Option<(u8, Codes)> {
    let flags = cursor.byte()?;
    if flags & FLAG_CONSTANT != 0 {
        let value = cursor.byte()?;
        return Some((flags, Codes::Constant(if kind == Kind::Wdl { value } else { 0 })));
    }
    let bytes = cursor.take(9)?;
    let [block_bits, index_bits, num_padding] = [bytes[0], bytes[1], bytes[2]];
    let num_blocks = u64::from(u32::from_le_bytes(bytes[3..7].try_into().ok()?));
    let [longest, shortest] = [bytes[7], bytes[8]];
    let is_possible = (1..=longest).contains(&shortest)
        && longest <= MAX_CODE
        && block_bits <= MAX_BLOCK_BITS
        && (1..=32).contains(&index_bits)
        && num_positions > 0
        && num_blocks > 0;
    if !is_possible {
        return None;
    }
    let num_lengths = usize::from(longest - shortest) + 1;
    let words = cursor.take(2 * num_lengths)?;
    let first_symbol: Vec<u16> = words.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    let num_symbols = cursor.word()?;
    if num_symbols > NO_PAIR {
        return None;
    }
    let pairs = cursor.take(3 * usize::from(num_symbols))?;
    cursor.skip((num_symbols & 1).into())?;
    let halves: Vec<[u16; 2]> = pairs
        .chunks(3)
        .map(|pair| {
            let [low, middle, high] = [pair[0], pair[1], pair[2]].map(u16::from);
            [(middle & 0xf) << 8 | low, high << 4 | middle >> 4]
        })
        .collect();
    let mut first_code = vec![0_u64; num_lengths];
    for length in (0..num_lengths - 1).rev() {
        let sum = first_code[length + 1].wrapping_add(first_symbol[length].into());
        first_code[length] = sum.wrapping_sub(first_symbol[length + 1].into()) / 2;
    }
    for (length, code) in (u32::from(shortest)..).zip(&mut first_code) {
        *code = code.wrapping_shl(64 - length);
    }
    let blocks = Blocks {
        lengths: lengths_of(&halves)?,
        block_bits,
        index_bits,
        shortest,
        first_symbol,
        first_code,
        halves,
        num_listed: num_blocks + u64::from(num_padding),
        number: num_blocks,
        index: 0,
        sizes: 0,
        data: 0,
    };
    Some((flags, Codes::Blocks(Box::new(blocks))))
}

/// The number of values of each symbol, less one; `None` if symbols contain themselves or others that do not exist.
fn lengths_of(halves: &[[u16; 2]]) -> Option<Vec<u32>> {
    let mut lengths: Vec<Option<u32>> = vec![None; halves.len()];
    let mut stack = Vec::new();
    for first in 0..halves.len() {
        stack.push(first);
        while let Some(symbol) = stack.last().copied() {
            let [left, right] = halves[symbol];
            if right == NO_PAIR {
                lengths[symbol] = Some(0);
            }
            if lengths[symbol].is_some() {
                stack.pop();
                continue;
            }
            let known = |half: u16| lengths.get(usize::from(half)).copied();
            match (known(left)?, known(right)?) {
                (Some(left), Some(right)) => lengths[symbol] = Some((left + right + 1).min(1 << 16)),
                // A path as long as all symbols contains one twice.
                _ if stack.len() > halves.len() => return None,
                (None, _) => stack.push(left.into()),
                (_, None) => stack.push(right.into()),
            }
        }
    }
    lengths.into_iter().collect()
}

impl Blocks {
    /// The value of the position with this number; `None` if the file is damaged.
    fn value(&self, source: &dyn Source, number: u64) -> Option<u16> {
        let mut entry = [0; 6];
        source.read(self.index + 6 * (number >> self.index_bits), &mut entry).then_some(())?;
        let mut block = u64::from(u32::from_le_bytes(entry[..4].try_into().ok()?));
        let in_range = (number & ((1 << self.index_bits) - 1)) as i64 - (1 << (self.index_bits - 1));
        let mut offset = in_range + i64::from(u16::from_le_bytes(entry[4..].try_into().ok()?));
        while offset < 0 {
            block = block.checked_sub(1)?;
            offset += self.size(source, block)? + 1;
        }
        loop {
            let size = self.size(source, block)?;
            if offset <= size {
                break;
            }
            offset -= size + 1;
            block += 1;
        }
        if block >= self.number {
            return None;
        }
        let mut bytes = vec![0; 1 << self.block_bits];
        source.read(self.data + (block << self.block_bits), &mut bytes).then_some(())?;
        self.decode(&bytes, offset as u64)
    }

    /// Values in a block, less one.
    fn size(&self, source: &dyn Source, block: u64) -> Option<i64> {
        let mut bytes = [0; 2];
        let is_read = block < self.num_listed && source.read(self.sizes + 2 * block, &mut bytes);
        is_read.then(|| u16::from_le_bytes(bytes).into())
    }

    /// The value after `offset` others of a block.
    fn decode(&self, block: &[u8], mut offset: u64) -> Option<u16> {
        let mut bits = Bits { bytes: block, at: 0 };
        let mut symbol = loop {
            let code = bits.next_64()?;
            let length = self.first_code.iter().position(|first| code >= *first)?;
            let num_bits = u32::from(self.shortest) + length as u32;
            let rank = (code - self.first_code[length]) >> (64 - num_bits);
            let symbol = usize::from(self.first_symbol[length]).checked_add(usize::try_from(rank).ok()?)?;
            let size = u64::from(*self.lengths.get(symbol)?) + 1;
            if offset < size {
                break symbol;
            }
            offset -= size;
            bits.at += num_bits as usize;
        };
        while self.lengths[symbol] > 0 {
            let [left, right] = self.halves[symbol].map(usize::from);
            let size = u64::from(self.lengths[left]) + 1;
            symbol = if offset < size { left } else { right };
            offset -= if offset < size { 0 } else { size };
        }
        Some(self.halves[symbol][0])
    }
}

/// A block's bits, the highest of each byte first; zeros follow the last.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// The next 64 bits; `None` after the end.
    fn next_64(&self) -> Option<u64> {
        let first = self.at / 8;
        if first >= self.bytes.len() {
            return None;
        }
        let mut window = [0; 9];
        let there = &self.bytes[first..self.bytes.len().min(first + 9)];
        window[..there.len()].copy_from_slice(there);
        let high = u64::from_be_bytes(window[..8].try_into().ok()?);
        let shift = self.at % 8;
        Some(if shift == 0 { high } else { high << shift | u64::from(window[8]) >> (8 - shift) })
    }
}
