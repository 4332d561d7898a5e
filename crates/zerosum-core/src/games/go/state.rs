//! A position with its history: the legal moves, and the effect of a move.

use super::board::{Board, Effect, Placement, point_between};
use super::points::gtp;
use super::superko::SuperkoHistory;
use super::{Go, Superko};
use crate::game::Action;
use crate::games::history::Ring;
use crate::games::squares::SquareSet;
use crate::player::Player;

/// Number of latest moves that a state keeps for the planes.
pub const NUM_LATEST: usize = 5;

/// A random word, like those of the stones.
const WHITE_TO_MOVE: u64 = 0x243F_6A88_85A3_08D3;

/// The moves of a turn without the pass.
#[derive(Clone, Copy, Debug)]
pub struct Moves<const W: usize> {
    /// Points on which the player to move may put a stone.
    pub legal: SquareSet<W>,
    /// Points that only ko or superko forbids, without suicides that repeat the present position.
    pub banned: SquareSet<W>,
}

/// A position with the history that its rules need. Black is the first player.
#[derive(Clone, Debug)]
pub struct State<const W: usize, const P: usize> {
    /// The stones.
    pub board: Board<W, P>,
    /// Stones of both sides after each of the latest plies.
    pub boards: Ring<[SquareSet<W>; 2]>,
    /// The player to move.
    pub player: Player,
    /// Passes in a row, at most two.
    pub passes: u8,
    /// The latest moves, the newest first; `None` before the game began.
    pub latest: [Option<Action>; NUM_LATEST],
    /// Stones that each side has captured.
    pub prisoners: [u16; 2],
    /// The point that simple ko forbids.
    pub(super) ko: Option<u16>,
    /// The same one and two plies ago.
    pub(super) earlier_kos: [Option<u16>; 2],
    history: SuperkoHistory,
}

/// Equality as far as rules and planes distinguish states. The data of chains are left out: they depend on the order of
/// moves.
impl<const W: usize, const P: usize> PartialEq for State<W, P> {
    fn eq(&self, other: &Self) -> bool {
        let kos = |state: &Self| (state.ko, state.earlier_kos);
        let seen =
            |state: &Self| (state.board.stones, state.player, state.passes, state.latest, state.prisoners, kos(state));
        seen(self) == seen(other) && self.boards == other.boards && self.history == other.history
    }
}

/// The key of the side to move.
#[inline]
fn side_to_move_key(superko: Superko, player: Player) -> u64 {
    if superko == Superko::Situational && player == Player::Second { WHITE_TO_MOVE } else { 0 }
}

impl<const W: usize, const P: usize> State<W, P> {
    /// The position with these stones; `banned` are the points that an earlier position forbids to the player to move.
    ///
    /// # Errors
    /// A sentence, if a stone has no liberty or a point cannot be forbidden by ko.
    pub fn set_up(go: &Go<W, P>, stones: &[Option<Player>], player: Player, banned: &[usize]) -> Result<Self, String> {
        let mut board = Board::new(&go.geometry);
        for (point, owner) in stones.iter().enumerate() {
            // Later stones only fill points, so a chain with a liberty at the end is never captured on the way.
            if let Some(owner) = owner {
                board.place(&go.geometry, point, owner.index());
            }
        }
        let gone = |point: &usize| stones[*point].is_some() && board.owner(*point).is_none();
        if let Some(point) = (0..stones.len()).find(gone) {
            return Err(format!("the stone on {} has no liberty", gtp(go.variant.size, point)));
        }
        let boards = Ring::new(|age| if age == 0 { board.stones } else { [SquareSet::EMPTY; 2] });
        let history = SuperkoHistory::new();
        let (latest, earlier_kos) = ([None; NUM_LATEST], [None; 2]);
        let mut state =
            Self { board, boards, player, passes: 0, latest, prisoners: [0; 2], ko: None, earlier_kos, history };
        state.remember(go);
        state.ban(go, banned)?;
        Ok(state)
    }

    /// Adds the positions to the history that moves to these points would repeat.
    fn ban(&mut self, go: &Go<W, P>, banned: &[usize]) -> Result<(), String> {
        let legal = self.moves(go).legal;
        for point in banned.iter().copied().filter(|point| legal.contains(*point)) {
            let placement = self.board.placement(&go.geometry, point, self.player.index());
            self.ko = Some(point as u16);
            self.history.push(self.key_after(go, placement), placement.num_stones);
        }
        let found = self.moves(go).banned;
        banned.iter().find(|point| !found.contains(**point)).map_or(Ok(()), |point| {
            let text = gtp(go.variant.size, *point);
            Err(format!("ko is said to forbid {text}, and here it cannot"))
        })
    }

    #[inline]
    fn key(&self, go: &Go<W, P>) -> u64 {
        self.board.hash ^ side_to_move_key(go.variant.superko, self.player)
    }

    /// The key of the position after a move of the player to move.
    #[inline]
    fn key_after(&self, go: &Go<W, P>, placement: Placement) -> u64 {
        placement.hash ^ side_to_move_key(go.variant.superko, self.player.opponent())
    }

    /// Adds the present position to the history.
    fn remember(&mut self, go: &Go<W, P>) {
        self.history.push(self.key(go), self.board.num_stones);
    }

    /// The legal and the banned points.
    #[inline]
    pub fn moves(&self, go: &Go<W, P>) -> Moves<W> {
        let side = self.player.index();
        let empty = self.board.empty(&go.geometry);
        let roomy = empty & go.geometry.adjacent(empty);
        let beside_own = go.geometry.adjacent(self.board.stones[side]);
        let [own_last, their_last] = [side, 1 - side].map(|side| self.board.last_liberties[side]);
        // A stone with an adjacent empty point is not suicide, nor is one beside a chain of its own side with another
        // liberty. It captures only on the last liberty of a chain.
        let safe = empty & (roomy | beside_own & !own_last);
        // Without any chain of its own beside it, a stone among others with further liberties is suicide.
        let may_live = if go.variant.suicide { go.geometry.all } else { beside_own };
        let unclear = empty & (their_last | may_live & !safe);
        let mut quiet = safe & !unclear;
        let (mut others, mut banned) = (SquareSet::EMPTY, SquareSet::EMPTY);
        unclear.for_each(|point| {
            let placement = self.board.placement(&go.geometry, point, side);
            if placement.effect == Effect::Quiet {
                quiet.insert(point);
            } else if placement.effect == Effect::Capture || go.variant.suicide {
                if !self.repeats(go, point, placement) {
                    others.insert(point);
                } else if self.key_after(go, placement) != self.key(go) {
                    banned.insert(point);
                }
            }
        });
        if go.variant.superko.is_of_all_positions() {
            // Each quiet move adds one stone, so a repeated position differs from the present one by the stone of that
            // move.
            let present = self.board.hash ^ side_to_move_key(go.variant.superko, self.player.opponent());
            for key in self.history.keys(self.board.num_stones + 1) {
                if let Some(point) = point_between(key ^ present, side).filter(|point| quiet.contains(*point)) {
                    quiet.remove(point);
                    banned.insert(point);
                }
            }
        }
        Moves { legal: quiet | others, banned }
    }

    /// True if [`Self::moves`] has a point as legal.
    pub fn may_play_on(&self, go: &Go<W, P>, point: usize) -> bool {
        if self.board.owner(point).is_some() {
            return false;
        }
        let placement = self.board.placement(&go.geometry, point, self.player.index());
        (placement.effect != Effect::Suicide || go.variant.suicide) && !self.repeats(go, point, placement)
    }

    #[inline]
    fn repeats(&self, go: &Go<W, P>, point: usize, placement: Placement) -> bool {
        if !go.variant.superko.is_of_all_positions() {
            return go.variant.superko == Superko::Simple && self.ko == Some(point as u16);
        }
        let key = self.key_after(go, placement);
        self.history.keys(placement.num_stones).any(|earlier| earlier == key)
    }

    /// Makes a move on a point for which [`Self::may_play_on`] is true, or the pass, and returns whether it was one.
    pub fn play_if_legal(&mut self, go: &Go<W, P>, action: Action) -> bool {
        let (point, side) = (usize::from(action), self.player.index());
        if point == go.variant.pass() {
            self.play(go, action);
            return true;
        }
        let is_ko = go.variant.superko == Superko::Simple && self.ko == Some(action);
        if point > go.variant.pass() || self.board.owner(point).is_some() || is_ko {
            return false;
        }
        self.make(go, action);
        let is_suicide = !self.board.stones[side].contains(point);
        let repeats = || {
            let key = self.key(go);
            go.variant.superko.is_of_all_positions() && self.history.keys(self.board.num_stones).any(|old| old == key)
        };
        if is_suicide && !go.variant.suicide || repeats() {
            return false;
        }
        self.remember_move(go, false);
        true
    }

    /// Makes a legal move; the action after the points is the pass.
    pub fn play(&mut self, go: &Go<W, P>, action: Action) {
        self.make(go, action);
        self.remember_move(go, usize::from(action) == go.variant.pass());
    }

    /// Makes a move without adding the position to the history.
    fn make(&mut self, go: &Go<W, P>, action: Action) {
        let is_pass = usize::from(action) == go.variant.pass();
        self.earlier_kos = [self.ko, self.earlier_kos[0]];
        if is_pass {
            self.passes = 2.min(self.passes + 1);
            self.ko = None;
        } else {
            self.passes = 0;
            let (before, num_before) = (self.board.stones, self.board.num_stones);
            let side = self.player.index();
            self.ko = self.board.place(&go.geometry, action.into(), side);
            if self.board.num_stones <= num_before {
                let lost = |side: usize, placed| (before[side].len() + placed - self.board.stones[side].len()) as u16;
                let (own, taken) = (lost(side, 1), lost(1 - side, 0));
                self.prisoners[side] = self.prisoners[side].saturating_add(taken);
                self.prisoners[1 - side] = self.prisoners[1 - side].saturating_add(own);
            }
        }
        self.boards.push(self.board.stones);
        self.latest.rotate_right(1);
        self.latest[0] = Some(action);
        self.player = self.player.opponent();
    }

    /// Adds the position after a move to the history, if the rules need it.
    fn remember_move(&mut self, go: &Go<W, P>, is_pass: bool) {
        // Without the side to move, a pass leads to no new position.
        if go.variant.superko == Superko::Situational || go.variant.superko == Superko::Positional && !is_pass {
            self.remember(go);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::game::{Game, Notation, Position};
    use crate::games::go::{Go, Variant};
    use crate::games::options::Options;
    use crate::random::RandomStream;

    /// Plays moves in GTP. Returns the board, and true if the last move is legal; an illegal move is not played.
    fn play(options: &str, start: &str, moves: &str) -> (String, bool) {
        let (_, options) = Options::parse(options).expect("well formed");
        let game: Go<2, 82> = Go::new(Variant::from_options(options).expect("known options"));
        let mut position = Position { state: game.parse_position(start).expect("a position"), plies: 0 };
        let num_moves = moves.split_whitespace().count();
        for (number, text) in moves.split_whitespace().enumerate() {
            let legal = position.legal_actions(&game, true);
            if let Some(action) = game.parse_action(&position.state, &legal, text) {
                position.play(&game, action);
            } else {
                assert_eq!(number + 1, num_moves, "{text} is illegal\n{}", game.board_text(&position.state));
                return (game.position_text(&position.state), false);
            }
        }
        (game.position_text(&position.state), true)
    }

    fn is_legal(options: &str, start: &str, moves: &str) -> bool {
        play(options, start, moves).1
    }

    const KO: &str = "5/1XO2/X1XO1/1XO2/5 O";
    const SENDING_TWO: &str = "1O1O1/XXOOO/1XXO1/XXXOO/1XOO1 O";
    const KOS: &str = "XXXOOOO/1X1XO1O/XXXOOOO/1XO1O1O/XXXOOOO/1X1XO1O/XXXOOOO O";

    #[test]
    fn a_ko_may_be_taken_back_after_a_threat() {
        for superko in ["positional", "situational", "simple"] {
            let options = format!("go(size=5, superko={superko})");
            assert_eq!(play(&options, KO, "B3").0, "5/1XO2/XO1O1/1XO2/5 X ko=C3");
            assert!(!is_legal(&options, KO, "B3 C3"));
            assert!(is_legal(&options, KO, "B3 E5 E1 C3") && !is_legal(&options, KO, "B3 E5 E1 C3 B3"));
            assert!(is_legal(&options, KO, "B3 E5 A1 C3"));
            let is_by_board = superko == "positional";
            assert_eq!(is_legal(&options, KO, "B3 pass pass C3"), !is_by_board && superko == "simple", "{superko}");
        }
        assert_eq!(play("go(size=5, superko=none)", KO, "B3 C3 B3").0, "5/1XO2/XO1O1/1XO2/5 X");
    }

    #[test]
    fn two_stones_sent_and_one_returned() {
        let legal = |superko: &str, moves| is_legal(&format!("go(size=5, superko={superko})"), SENDING_TWO, moves);
        assert!(!legal("positional", "A5 C5 B5"), "the board has been so");
        assert!(legal("situational", "A5 C5 B5"), "but White was to move");
        assert!(!legal("situational", "A5 C5 B5 pass A5") && legal("simple", "A5 C5 B5 pass A5"));
        assert!(legal("positional", "A5 C5 pass pass"));
    }

    #[test]
    fn three_kos_do_not_go_round() {
        let cycle = "C6 D4 C2 D6 C4 D2";
        assert_eq!(play("go(size=7, superko=simple)", KOS, cycle).0, format!("{KOS} ko=C2"));
        let kos = |superko: &str, moves: &str| is_legal(&format!("go(size=7, superko={superko})"), KOS, moves);
        for superko in ["positional", "situational"] {
            assert!(!kos(superko, cycle) && kos(superko, &cycle[..cycle.len() - 3]), "{superko}");
        }
    }

    /// Along games by chance under all rules, for each number of an action; the list of legal actions has the same ones.
    #[test]
    fn a_move_made_if_it_is_legal_is_the_same_move() {
        for superko in ["positional", "situational", "simple", "none"] {
            for suicide in [false, true] {
                let text = format!("go(size=5, superko={superko}, suicide={suicide})");
                let (_, options) = Options::parse(&text).expect("well formed");
                let game: Go<2, 82> = Go::new(Variant::from_options(options).expect("known options"));
                let mut random = RandomStream::new(7, 0, 0, &text);
                let (mut state, mut num_illegal) = (game.initial_state(), 0);
                for _ in 0..900 {
                    let mut actions = Vec::new();
                    game.legal_actions(&state, &mut actions);
                    for action in 0..28 {
                        let (mut made, mut played) = (state.clone(), state.clone());
                        let is_legal = made.play_if_legal(&game, action);
                        assert_eq!(is_legal, game.is_legal(&state, action), "{text}, action {action}");
                        assert_eq!(is_legal, actions.contains(&action), "{text}, action {action}");
                        if is_legal {
                            played.play(&game, action);
                            assert!(made == played && made.history == played.history, "{text}, action {action}");
                        } else {
                            num_illegal += usize::from(action < 25 && state.board.owner(action.into()).is_none());
                        }
                    }
                    let moves = actions.len() - usize::from(actions.len() > 1); // passes only if there is nothing else
                    let drawn = (random.uniform() * moves as f64) as usize;
                    state.play(&game, actions[drawn]);
                }
                let has_bans = superko != "none" || !suicide;
                assert_eq!(num_illegal > 0, has_bans, "{text}: {num_illegal} empty points were forbidden");
            }
        }
    }

    #[test]
    fn suicide_is_a_rule() {
        let eye = "2XO1/XXXOO/1XOO1/XXOOO/1XO2 O";
        assert!(!is_legal("go(size=5)", eye, "A3") && !is_legal("go(size=5)", eye, "A5 pass B5"));
        let suicide = "go(size=5, rules=tromp-taylor)";
        assert!(!is_legal(suicide, eye, "A3"), "one stone: the board stays as it is");
        assert!(!is_legal(suicide, eye, "A5 pass B5"), "the board is as it was");
        assert_eq!(play(suicide, eye, "A5 E1 B5").0, "2XO1/XXXOO/1XOO1/XXOOO/1XO1X X ko=D1");
        assert!(is_legal("go(size=5, suicide=true, superko=simple)", eye, "A3"));
        assert!(!is_legal("go(size=5, suicide=true, superko=situational)", eye, "A5 pass B5 pass A3"));
    }

    #[test]
    fn a_ban_that_was_read_stays() {
        let (text, _) = play("go(size=5)", KO, "B3");
        assert!(!is_legal("go(size=5)", &text, "C3") && is_legal("go(size=5)", &text, "E5 E1 C3"));
        assert!(!is_legal("go(size=5)", &text, "pass pass C3"), "the position itself is remembered");
        assert!(is_legal("go(size=5, superko=simple)", &text, "pass pass C3"));
    }
}
