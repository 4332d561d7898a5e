//! The board of shogi. Moves come from the crate `shunsai`; no other file uses its types.
//!
//! ```text
//!   squares are counted as Black sees the board
//!      0  1 ...  8      9a 8a ... 1a
//!      9 10 ... 17      9b 8b ... 1b
//!     ...               ...
//!     72 73 ... 80      9i 8i ... 1i
//! ```

use std::ops::ControlFlow;

use shunsai::shogi_core::{self, Color, Hand, PartialPosition, PieceKind, Square};
use shunsai::{Bitboard, MoveSet, Position, Undo};

pub use crate::games::sfen::Piece;
use crate::games::sfen::{MAX_KINDS, Setup};
use crate::player::Player;

pub const SIDE: usize = 9;
pub const NUM_SQUARES: usize = SIDE * SIDE;

// Kinds of pieces, in the order of the planes; the first seven can be in hand.
pub const PAWN: usize = 0;
pub const LANCE: usize = 1;
pub const KNIGHT: usize = 2;
pub const BISHOP: usize = 5;
pub const ROOK: usize = 6;
pub const NUM_HAND_KINDS: usize = 7;
pub const KING: usize = 7;
pub const NUM_KINDS: usize = 14;

/// Material by kind; 0 for the king.
pub const PIECE_VALUES: [f32; NUM_KINDS] = [1.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 0.0, 7.0, 6.0, 6.0, 6.0, 10.0, 12.0];

/// Number of pieces of a kind, promoted ones included.
pub const NUM_OF_KIND: [u8; KING + 1] = [18, 4, 4, 4, 4, 2, 2, 2];

/// The kind that a kind promotes to.
pub const fn promoted(kind: usize) -> Option<usize> {
    match kind {
        0..=3 => Some(kind + 8),
        BISHOP | ROOK => Some(kind + 7),
        _ => None,
    }
}

/// The kind before promotion; an unpromoted kind itself.
pub const fn unpromoted(kind: usize) -> usize {
    match kind {
        8..=11 => kind - 8,
        12 | 13 => kind - 7,
        _ => kind,
    }
}

/// Number of rows at a side's far end in which a kind could never move again.
pub const fn rows_without_a_move(kind: usize) -> usize {
    match kind {
        PAWN | LANCE => 1,
        KNIGHT => 2,
        _ => 0,
    }
}

/// Number of rows at a side's far end in which its pieces promote and its king has entered.
pub const FAR_ROWS: usize = 3;

/// A square of Black's view in a player's view, or the reverse.
#[inline]
pub const fn oriented(square: usize, player: Player) -> usize {
    match player {
        Player::First => square,
        Player::Second => NUM_SQUARES - 1 - square,
    }
}

/// Rows between a square and a player's far end.
#[inline]
pub const fn rows_ahead(square: usize, player: Player) -> usize {
    oriented(square, player) / SIDE
}

/// A move of the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A move of a piece on the board.
    Normal {
        /// The origin.
        from: usize,
        /// The target.
        to: usize,
        /// True if the piece promotes.
        promotes: bool,
    },
    /// A drop of a piece in hand.
    Drop {
        /// The kind of piece.
        kind: usize,
        /// The target.
        to: usize,
    },
}

impl Move {
    /// The target.
    pub fn to(self) -> usize {
        match self {
            Self::Normal { to, .. } | Self::Drop { to, .. } => to,
        }
    }
}

/// Squares in an unspecified order.
#[derive(Clone, Debug)]
pub struct SquareIterator(Bitboard);

impl Iterator for SquareIterator {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.0.pop().map(index)
    }
}

/// Legal moves of one piece, or drops of one kind.
#[derive(Clone, Debug)]
pub enum Moves {
    /// Moves of the piece on a square.
    Normal {
        /// The origin.
        from: usize,
        /// Targets with promotion.
        promoting: SquareIterator,
        /// Targets without promotion.
        others: SquareIterator,
    },
    /// A drop of a piece in hand.
    Drop {
        /// The kind of piece.
        kind: usize,
        /// The targets.
        to: SquareIterator,
    },
}

/// A move that was made, with the information that takes it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayedMove {
    chosen: shogi_core::Move,
    undo: Undo,
}

impl PlayedMove {
    /// The origin; `None` for a drop.
    pub fn from(&self) -> Option<usize> {
        self.chosen.from().map(index)
    }

    /// The target.
    pub fn to(&self) -> usize {
        index(self.chosen.to())
    }
}

/// A position that can be played on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board(Position);

/// Our index of each of the crate's squares.
static INDEX: [u8; NUM_SQUARES] = {
    let mut table = [0; NUM_SQUARES];
    let mut theirs = 0;
    while theirs < NUM_SQUARES {
        // The crate numbers squares file by file, from Black's right.
        table[theirs] = (theirs % SIDE * SIDE + SIDE - 1 - theirs / SIDE) as u8;
        theirs += 1;
    }
    table
};

/// The crate's square of each of our indices.
static SQUARE: [Square; NUM_SQUARES] = {
    let mut table = [Square::SQ_1A; NUM_SQUARES];
    let mut ours = 0;
    while ours < NUM_SQUARES {
        table[ours] = match Square::new((SIDE - ours % SIDE) as u8, (ours / SIDE + 1) as u8) {
            Some(square) => square,
            None => unreachable!(),
        };
        ours += 1;
    }
    table
};

#[inline]
fn index(square: Square) -> usize {
    usize::from(INDEX[square.array_index()])
}

#[inline]
fn player_of(color: Color) -> Player {
    match color {
        Color::Black => Player::First,
        Color::White => Player::Second,
    }
}

#[inline]
fn color_of(player: Player) -> Color {
    match player {
        Player::First => Color::Black,
        Player::Second => Color::White,
    }
}

#[inline]
fn core_piece(kind: usize, owner: Player) -> shogi_core::Piece {
    let kind = PieceKind::from_u8(kind as u8 + 1).expect("kinds are below NUM_KINDS");
    shogi_core::Piece::new(kind, color_of(owner))
}

impl Board {
    /// The position of a setup.
    pub fn new(setup: &Setup) -> Self {
        let mut partial = PartialPosition::empty();
        for (square, piece) in setup.pieces.iter().enumerate() {
            partial.piece_set(SQUARE[square], piece.map(|piece| core_piece(piece.kind, piece.owner)));
        }
        for player in [Player::First, Player::Second] {
            let hand = partial.hand_of_a_player_mut(color_of(player));
            for (kind, count) in setup.hands[player.index()].into_iter().enumerate() {
                for _ in 0..count {
                    *hand = hand.added(core_piece(kind, player).piece_kind()).expect("a kind that can be in hand");
                }
            }
        }
        partial.side_to_move_set(color_of(setup.player));
        Self(Position::new(partial))
    }

    /// The position as SFEN has it.
    pub fn setup(&self, plies: u32) -> Setup {
        let held = |player| {
            let hand = self.hand(player);
            std::array::from_fn(|kind| hand.get(kind).copied().unwrap_or(0))
        };
        let hands: [[u8; MAX_KINDS]; 2] = [held(Player::First), held(Player::Second)];
        let pieces = (0..NUM_SQUARES).map(|square| self.piece_on(square)).collect();
        Setup { pieces, hands, player: self.player(), plies }
    }

    /// The player to move.
    #[inline]
    pub fn player(&self) -> Player {
        player_of(self.0.side_to_move())
    }

    /// The piece on a square.
    #[inline]
    pub fn piece_on(&self, square: usize) -> Option<Piece> {
        self.0.piece_at(SQUARE[square]).map(piece_of)
    }

    /// Calls `each` for each piece on the board.
    #[inline]
    pub fn for_each_piece(&self, mut each: impl FnMut(usize, Piece)) {
        for square in self.0.occupied() {
            each(index(square), self.0.piece_at(square).map(piece_of).expect("the square is occupied"));
        }
    }

    /// The pieces in hand of a side, by kind.
    #[inline]
    pub fn hand(&self, player: Player) -> [u8; NUM_HAND_KINDS] {
        let (hand, mut kinds) = (self.0.hand(color_of(player)), Hand::all_hand_pieces());
        std::array::from_fn(|_| kinds.next().and_then(|kind| hand.count(kind)).expect("seven kinds can be in hand"))
    }

    /// The square of a side's king.
    #[inline]
    pub fn king(&self, player: Player) -> Option<usize> {
        self.0.king_square(color_of(player)).map(index)
    }

    /// The key for repetition: a hash of board, hands and side to move.
    #[inline]
    pub fn key(&self) -> u64 {
        self.0.key()
    }

    /// True if the side to move is in check.
    #[inline]
    pub fn is_in_check(&self) -> bool {
        self.0.in_check()
    }

    /// True if the side to move has a legal move.
    #[inline]
    pub fn has_move(&self) -> bool {
        self.0.has_legal_moves()
    }

    /// Calls `each` for the legal moves of each piece, then for the legal drops of each kind in hand, ascending.
    #[inline]
    pub fn for_each_moves(&self, mut each: impl FnMut(Moves)) {
        let _ = self.0.generate_moves(|set| {
            each(match set {
                MoveSet::Normal { from, promotions, non_promotions, .. } => Moves::Normal {
                    from: index(from),
                    promoting: SquareIterator(promotions),
                    others: SquareIterator(non_promotions),
                },
                MoveSet::Drop { piece, to } => Moves::Drop { kind: piece_of(piece).kind, to: SquareIterator(to) },
            });
            ControlFlow::Continue(())
        });
    }

    /// True if a move is legal.
    pub fn is_legal(&self, chosen: Move) -> bool {
        let flow = self.0.generate_moves(|set| {
            let is_among = match (set, chosen) {
                (
                    MoveSet::Normal { from, promotions, non_promotions, .. },
                    Move::Normal { from: square, to, promotes },
                ) => from == SQUARE[square] && if promotes { promotions } else { non_promotions }.contains(SQUARE[to]),
                (MoveSet::Drop { piece, to }, Move::Drop { kind, to: square }) => {
                    piece_of(piece).kind == kind && to.contains(SQUARE[square])
                }
                _ => false,
            };
            if is_among { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        flow.is_break()
    }

    /// Makes a legal move.
    #[inline]
    pub fn play(&mut self, chosen: Move) -> PlayedMove {
        let chosen = match chosen {
            Move::Normal { from, to, promotes } => {
                shogi_core::Move::Normal { from: SQUARE[from], to: SQUARE[to], promote: promotes }
            }
            Move::Drop { kind, to } => {
                shogi_core::Move::Drop { piece: core_piece(kind, self.player()), to: SQUARE[to] }
            }
        };
        PlayedMove { chosen, undo: self.0.do_move(chosen) }
    }

    /// The position with the other side to move; `None` in check.
    pub fn passed(&self) -> Option<Self> {
        if self.is_in_check() {
            return None;
        }
        let mut setup = self.setup(0);
        setup.player = self.player().opponent();
        Some(Self::new(&setup))
    }

    /// Takes the latest move back.
    #[inline]
    pub fn take_back(&mut self, played: PlayedMove) {
        self.0.undo_move(played.chosen, played.undo);
    }
}

#[inline]
fn piece_of(piece: shogi_core::Piece) -> Piece {
    let (kind, color) = piece.to_parts();
    Piece { kind: kind.array_index(), owner: player_of(color) }
}
