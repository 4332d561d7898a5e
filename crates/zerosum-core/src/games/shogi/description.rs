//! The documentation of shogi.

use super::encoding::NUM_FLAT_ACTIONS;
use crate::game::Description;

/// The documentation.
pub fn paragraphs() -> Description {
    Description {
        board: "9 columns and 9 rows, Black (the first player) below. Each side begins with a king, two golds, two silvers, \
                two knights, two lances, a bishop, a rook and nine pawns; the bishop stands in front of the left knight, \
                the rook in front of the right one."
            .into(),
        rules: "Captured pieces change sides and are dropped on empty squares: no second unpromoted pawn of one's \
                own on a file (nifu), no piece where it could never move again, no pawn that mates (uchifuzume). \
                Pieces but gold and king may promote on moving into, within or out of the last three rows, and must \
                where they could never move again; pawns, bishops and rooks may stay as they are. A player without \
                a legal move loses, in check (\"checkmate\") or not (\"no legal move\"). The fourth occurrence of a \
                position (the same board, hands and side to move) ends the game, softly: a player that gave check \
                with each move since the first occurrence loses (\"perpetual check\"); otherwise it is a draw \
                (\"fourfold repetition\"). The entering-king declaration is made for the player to move at the \
                start of its turn, softly: its king and at least ten other pieces of its own are in the opponent's \
                last three rows and it is not in check. With `entering_king=csa27`, the default of engines and of \
                this program, it wins with 28 points (Black) or 27 (White); with `csa24` it wins with 31 and draws \
                with 24 to 30, with `csa24-wins` it wins with 31, and fewer points do not end the game (as in USI \
                programs, because a draw with 24 is the player's choice); with `none` there is no declaration. A \
                rook or bishop counts 5 points, any other piece but the king 1, in the hand and in those rows, in \
                handicap games, too. A repetition comes before a declaration, and both before the ply cap, a draw \
                after 512 plies unless `max_plies` is given (as in the AlphaZero paper). Source of the declaration: \
                the rules of the Computer Shogi Association."
            .into(),
        planes: "Those of the AlphaZero paper: 8 positions of 45 planes, and 2, which is 362; `history` changes the \
                 number of positions. The board is turned by 180 degrees for White, in all positions: the player to \
                 move goes up. The newest position comes first. Positions before the game began are zero, also \
                 before a handicap position (White without some pieces, White to move, move number 1); positions \
                 before another one that was set up repeat it, or are zero with `history_fill=zero`. A repetition \
                 plane is 1 if its position had occurred that often before when it was reached, and 0 for positions \
                 that were set up. Counts are divided by fixed numbers (the paper names none): pieces in hand by \
                 the number of their kind, and plies since the game began (from SFEN's move number) by 512."
            .into(),
        actions: format!(
            "9×9×139: action = 81 · plane + square, squares row by row from the top of the oriented board. Planes 0 \
             to 63 are moves like a queen's, 8 · direction + distance − 1, directions clockwise from straight \
             ahead; 64 and 65 a knight's to the right and to the left; 66 to 131 the same 66 with promotion, all by \
             the square that the piece leaves; 132 to 138 drops of a pawn, lance, knight, silver, gold, bishop, \
             rook, by the square that it comes to. With `policy=flat` there are {NUM_FLAT_ACTIONS} actions, in the \
             same order: those that a piece could make on an empty board. They end on the board, promote only from \
             or to the last three rows, and leave or drop no piece where it could never move again. Written in USI: \
             `7g7f`, `8h2b+`, `P*5e`; as `kif`, the Japanese of KIF files: `７六歩(77)`, `同　角成(88)`, `５五歩打`; as `csa`: \
             `+7776FU`. Read in all three, KIF with numerals of any kind, with or without 不成, and without the \
             square that the piece left if only one move fits. Positions are SFEN, or `startpos`."
        ),
        material: "A pawn 1, a lance 3, a knight 4, a silver 5, a gold 6, a bishop 8, a rook 10, in hand as on the board; promoted, \
                   a pawn 7, a lance, a knight and a silver 6, a bishop 10, a rook 12."
            .into(),
    }
}
