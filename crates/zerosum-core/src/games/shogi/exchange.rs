//! What a series of captures on one square of shogi wins.

use super::board::{
    BISHOP, Board, KING, KNIGHT, LANCE, Move, NUM_SQUARES, PAWN, Piece, ROOK, SIDE, promoted, unpromoted,
};
use crate::deepening::DEFAULT_VALUE;
use crate::player::Player;

const SILVER: usize = 3;
const HORSE: usize = 12;
const DRAGON: usize = 13;

/// Rows and columns from a square to its neighbours.
const DIRECTIONS: [(isize, isize); 8] = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)];

/// More than all other pieces together.
const KING_VALUE: i32 = 1_000_000;

/// Pieces of a line that attack its end, one behind the other; a knight is a line of its own.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    pieces: [Option<Piece>; SIDE - 1],
    /// Index of the piece that can take next.
    front: usize,
}

impl Line {
    fn next(&self) -> Option<Piece> {
        self.pieces.get(self.front).copied().flatten()
    }
}

/// What a legal move wins by captures on its target square; see [`crate::game::Tactics::exchange`]. A captured piece counts for
/// the hand that it comes to, too. Pins do not count, later captures do not promote, and a king takes last.
pub fn static_exchange(board: &Board, chosen: Move, values: &[i32]) -> i32 {
    let value = |kind: usize| values.get(kind).copied().unwrap_or(DEFAULT_VALUE);
    // The loss of the one side and the gain of the other.
    let at_stake = |kind: usize| if kind == KING { KING_VALUE } else { value(kind) + value(unpromoted(kind)) };
    let mut side = board.player();
    let (from, mut on_square, promotion) = match chosen {
        Move::Drop { kind, .. } => (None, kind, 0),
        Move::Normal { from, promotes, .. } => {
            let kind = board.piece_on(from).expect("a legal move has a piece").kind;
            let becomes = promoted(kind).filter(|_| promotes).unwrap_or(kind);
            (Some(from), becomes, value(becomes) - value(kind))
        }
    };
    let mut lines = attackers(board, chosen.to(), from);
    // What each capture wins if the side that it is against then stops.
    let mut gains = [0; NUM_SQUARES];
    gains[0] = board.piece_on(chosen.to()).map_or(0, |piece| at_stake(piece.kind)) + promotion;
    let mut last = 0;
    loop {
        side = side.opponent();
        let is_own = |line: &&mut Line| line.next().is_some_and(|piece| piece.owner == side);
        let order = |line: &&mut Line| {
            line.next().map_or(0, |piece| if piece.kind == KING { KING_VALUE } else { value(piece.kind) })
        };
        let Some(line) = lines.iter_mut().filter(is_own).min_by_key(order) else { break };
        let taker = line.next().expect("an own line has a piece");
        line.front += 1;
        last += 1;
        gains[last] = at_stake(on_square) - gains[last - 1];
        on_square = taker.kind;
    }
    for index in (1..=last).rev() {
        gains[index - 1] = -gains[index].max(-gains[index - 1]);
    }
    gains[0]
}

/// The pieces of both sides that attack a square, or will when those before them have left. The piece on `gone` does not.
fn attackers(board: &Board, square: usize, gone: Option<usize>) -> [Line; DIRECTIONS.len() + 4] {
    let mut lines = [Line::default(); DIRECTIONS.len() + 4];
    let present = |at: usize| board.piece_on(at).filter(|_| gone != Some(at));
    for (line, direction) in lines.iter_mut().zip(DIRECTIONS) {
        let (mut at, mut distance, mut count) = (square, 0, 0);
        while let Some(next) = neighbor(at, direction) {
            (at, distance) = (next, distance + 1);
            let Some(piece) = present(at) else { continue };
            if !reaches(piece, direction, distance) {
                break;
            }
            line.pieces[count] = Some(piece);
            count += 1;
        }
    }
    let jumps = [(2, -1), (2, 1), (-2, -1), (-2, 1)];
    for (line, (rows, columns)) in lines[DIRECTIONS.len()..].iter_mut().zip(jumps) {
        let owner = if rows > 0 { Player::First } else { Player::Second };
        let knight = Piece { kind: KNIGHT, owner };
        line.pieces[0] = neighbor(square, (rows, columns)).and_then(present).filter(|piece| *piece == knight);
    }
    lines
}

/// The square some rows and columns away.
fn neighbor(square: usize, (rows, columns): (isize, isize)) -> Option<usize> {
    let (row, column) = ((square / SIDE).checked_add_signed(rows)?, (square % SIDE).checked_add_signed(columns)?);
    (row < SIDE && column < SIDE).then_some(row * SIDE + column)
}

/// True if a piece reaches a square from which it stands `distance` squares in a direction, with nothing between.
fn reaches(piece: Piece, (rows, columns): (isize, isize), distance: usize) -> bool {
    // It moves against the direction; First moves ahead to smaller rows.
    let ahead = if piece.owner == Player::First { rows } else { -rows };
    let (is_near, is_diagonal) = (distance == 1, rows != 0 && columns != 0);
    match piece.kind {
        PAWN => is_near && ahead == 1 && !is_diagonal,
        LANCE => ahead == 1 && !is_diagonal,
        KNIGHT => false,
        SILVER => is_near && (ahead == 1 || is_diagonal),
        BISHOP => is_diagonal,
        ROOK => !is_diagonal,
        KING => is_near,
        HORSE => is_near || is_diagonal,
        DRAGON => is_near || !is_diagonal,
        // Gold, and what moves as gold.
        _ => is_near && (ahead == 1 || !is_diagonal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::shogi::board::NUM_KINDS;
    use crate::games::shogi::{notation, sfen};
    use crate::random::mix;

    /// Values that differ from each other, by kind.
    const VALUES: [i32; NUM_KINDS] = [100, 290, 310, 480, 530, 800, 990, 0, 510, 490, 495, 505, 1_000, 1_200];

    fn legal_moves(board: &Board) -> Vec<Move> {
        let mut moves = Vec::new();
        for from in 0..NUM_SQUARES {
            for to in 0..NUM_SQUARES {
                moves.extend([false, true].map(|promotes| Move::Normal { from, to, promotes }));
            }
        }
        for kind in 0..super::super::board::NUM_HAND_KINDS {
            moves.extend((0..NUM_SQUARES).map(|to| Move::Drop { kind, to }));
        }
        moves.retain(|chosen| board.is_legal(*chosen));
        moves
    }

    fn wins(text: &str, usi: &str) -> i32 {
        let (board, _) = sfen::parse(text).expect("a position");
        let chosen =
            legal_moves(&board).into_iter().find(|chosen| notation::usi(*chosen) == usi).expect("a legal move");
        static_exchange(&board, chosen, &VALUES)
    }

    #[test]
    fn exchanges_are_counted_to_their_end() {
        // A free pawn comes to the hand; a pawn that a gold guards costs the rook.
        assert_eq!(wins("4k4/9/9/4p4/9/9/9/4R4/4K4 b - 1", "5h5d"), 200);
        assert_eq!(wins("4k4/9/4g4/4p4/9/9/9/4R4/4K4 b - 1", "5h5d"), 200 - 2 * 990);
        // A lance behind the rook takes back.
        assert_eq!(wins("4k4/9/4g4/4p4/9/9/4R4/4L4/4K4 b - 1", "5g5d"), 200 - 2 * 990 + 2 * 530);
        // A promotion wins the difference, and the promoted piece is at stake.
        assert_eq!(wins("4k4/9/p8/9/9/9/9/R8/4K4 b - 1", "9h9c+"), 200 + 1_200 - 990);
        assert_eq!(wins("l3k4/9/p8/9/9/9/9/R8/4K4 b - 1", "9h9c+"), 200 + 1_200 - 990 - (1_200 + 990));
        // A knight guards as its owner moves; a dropped piece can be lost.
        assert_eq!(wins("4k4/3n5/9/4p4/9/9/9/4R4/4K4 b - 1", "5h5d"), 200 - 2 * 990);
        assert_eq!(wins("4k4/9/9/9/4p4/9/9/9/4K4 b G 1", "G*5f"), -2 * 530);
        // A king takes, but not what is guarded.
        assert_eq!(wins("4k4/4p4/9/9/9/9/9/4R4/4K4 b - 1", "5h5b"), 200 - 2 * 990);
        assert_eq!(wins("4k4/4p4/9/9/9/9/4R4/4L4/4K4 b - 1", "5g5b"), 200);
    }

    /// The same by its definition: the least valuable attacker takes, or the side stops.
    fn slow_exchange(pieces: &mut [Option<Piece>], square: usize, side: Player) -> i32 {
        let value = |kind: usize| if kind == KING { KING_VALUE } else { VALUES[kind] };
        let attacks = |from: usize| {
            let piece = pieces[from].filter(|piece| piece.owner == side)?;
            let (rows, columns) =
                ((from / SIDE) as isize - (square / SIDE) as isize, (from % SIDE) as isize - (square % SIDE) as isize);
            let distance = rows.abs().max(columns.abs());
            let ahead = if side == Player::First { rows } else { -rows };
            if piece.kind == KNIGHT {
                return (ahead == 2 && columns.abs() == 1).then_some((value(KNIGHT), from));
            }
            let is_line = rows == 0 || columns == 0 || rows.abs() == columns.abs();
            if distance == 0 || !is_line {
                return None;
            }
            let step = (rows / distance, columns / distance);
            let is_free = (1..distance).all(|steps| {
                let (row, column) = (square as isize / 9 + step.0 * steps, square as isize % 9 + step.1 * steps);
                pieces[(row * 9 + column) as usize].is_none()
            });
            (is_free && reaches(piece, step, distance as usize)).then_some((value(piece.kind), from))
        };
        let Some((_, from)) = (0..NUM_SQUARES).filter_map(attacks).min() else { return 0 };
        let on = pieces[square].expect("a piece to take");
        let stake = if on.kind == KING { KING_VALUE } else { VALUES[on.kind] + VALUES[unpromoted(on.kind)] };
        pieces[square] = pieces[from].take();
        (stake - slow_exchange(pieces, square, side.opponent())).max(0)
    }

    #[test]
    fn exchanges_of_random_games_are_those_of_the_definition() {
        let (mut board, _) = sfen::parse(sfen::SFEN.start).expect("the start");
        let mut num_losing = 0;
        for ply in 0..400_u64 {
            let moves = legal_moves(&board);
            if moves.is_empty() {
                (board, _) = sfen::parse(sfen::SFEN.start).expect("the start");
                continue;
            }
            for chosen in &moves {
                let mut after = board.clone();
                after.play(*chosen);
                let mut pieces: Vec<_> = (0..NUM_SQUARES).map(|square| after.piece_on(square)).collect();
                let taken = board.piece_on(chosen.to());
                let promotion = match chosen {
                    Move::Normal { from, promotes: true, .. } => {
                        let kind = board.piece_on(*from).expect("a piece").kind;
                        VALUES[promoted(kind).expect("it promotes")] - VALUES[kind]
                    }
                    _ => 0,
                };
                let first = taken.map_or(0, |piece| VALUES[piece.kind] + VALUES[unpromoted(piece.kind)]) + promotion;
                let expected = first - slow_exchange(&mut pieces, chosen.to(), after.player());
                assert_eq!(
                    static_exchange(&board, *chosen, &VALUES),
                    expected,
                    "{} {chosen:?}",
                    sfen::SFEN.write(&board.setup(0))
                );
                num_losing += usize::from(taken.is_some() && expected < 0);
            }
            board.play(moves[(mix(ply) % moves.len() as u64) as usize]);
        }
        assert!(num_losing > 50, "{num_losing}");
    }
}
