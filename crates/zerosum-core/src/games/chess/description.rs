//! The documentation of chess and Chess960.

use super::Variant;
use crate::game::Description;

/// The documentation of one of the two games.
pub fn of(variant: Variant) -> Description {
    let (start, castling, castling_planes, castling_action) = match variant {
        Variant::Chess => (
            "The usual start.",
            "",
            "The four castling planes are constant: 1 while king and rook have not moved.",
            "A castling king moves by two squares: `e1g1`. `rules=chess960` is Chess960, with these planes and \
             actions, so that networks of chess play it: a king castles by two squares towards the rook, or onto \
             the rook where the board ends before that.",
        ),
        Variant::Chess960 => (
            "960 starts with Scharnagl's numbers; 518 is the usual start, and the default.",
            " A king castles to the c or the g file, the rook to its other side, from wherever they stand.",
            "Each castling plane marks the square of a rook that may still castle.",
            "A castling king takes its rook, `e1h1`: two squares would not tell castling from a move of the king \
             everywhere, and sometimes the king does not move at all. `e1g1` is read, too, where it means nothing else.",
        ),
    };
    Description {
        board: format!("8 columns and 8 rows, White (the first player) below. {start}"),
        rules: format!(
            "The FIDE Laws of Chess.{castling} Checkmate wins and stalemate draws. The game is drawn without a \
             claim, softly, by a position that occurs for the third time (the same pieces, side to move, castling \
             rights and, where it is legal, en passant capture), by fifty moves of each side without a capture or a \
             pawn's move (a checkmate on the last of them wins), and by insufficient material: kings with at most \
             one knight, or with bishops that all stand on squares of one shade. The halfmove clock of a FEN may \
             exceed 100. The ply cap, 512 unless `max_plies` is given, is a draw."
        ),
        planes: format!(
            "The AlphaZero paper's 119: 14 for each of the `history` positions, and 7. The board is flipped top to \
             bottom for Black, so the player to move goes up; files keep their side. The newest position comes \
             first. Positions before the game began are zero; positions before one that was set up repeat it \
             (without the pawn's double step, if its FEN has one), or are zero with `history_fill=zero`. A \
             repetition plane is 1 if its position had occurred that often before when it was reached, and 0 for \
             positions that were set up. {castling_planes} Counts are divided by fixed numbers (the paper names \
             none): plies since the game began (from FEN's move number) by 512, its ply cap, and plies since a \
             capture or a pawn's move by 100, as in the fifty-move rule. `planes=lc0` are Lc0's classical 112, for its \
             networks: 13 for each position (one of repetition) and 8, own and opponent castling on the queen's and the \
             king's side, 1 if Black is to move, the plies of the fifty-move rule undivided, 0 and 1. \
             `planes=lc0-castling` are its format 2, with the squares of the rooks that may castle; `lc0-canonical`, \
             `lc0-hectoplies` and `lc0-canonical-v2` its formats 3 to 5, in which symmetric positions have one form, \
             earlier ones are shown back to the last move that cannot be taken back (in 5 only repetitions), and a pawn \
             that may be taken en passant has a plane."
        ),
        actions: format!(
            "The paper's 8×8×73: action = 64 · plane + square that the piece leaves, squares row by row from the top of \
             the oriented board. Planes 0 to 55 are queen moves, 7 · direction + distance − 1, directions clockwise from \
             straight ahead; 56 to 63 knight moves, clockwise from two ahead and one to the right; 64 to 72 \
             underpromotions, 64 + 3 · direction (to the left, straight, to the right) + piece (knight, bishop, rook). A \
             promotion to a queen is the queen move. {castling_action} With `policy=flat` there are 1858 actions: those \
             of the 4672 that stay on the board (1456 queen moves, 336 knight moves, 66 underpromotions), in the same order. Written in UCI; the notation `san` is standard \
             algebraic."
        ),
        material: "A pawn 1, a knight and a bishop 3, a rook 5, a queen 9.".into(),
    }
}
