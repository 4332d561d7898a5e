//! A position with its history: which moves the rules allow, and what a move does.

use super::bits::Bits;
use super::board::{Board, Effect, Placement, point_between};
use super::history::History;
use super::{Go, Superko};
use crate::game::{Action, Player};

/// Earlier boards that the planes may show.
pub const MAX_PAST: usize = 7;

/// What White to move adds to a position's hash where the side to move matters.
const WHITE_TO_MOVE: u64 = 0x243F_6A88_85A3_08D3;

/// The moves of a turn but for the pass.
#[derive(Clone, Copy, Debug)]
pub struct Moves<const W: usize> {
    /// Points on which the player to move may put a stone.
    pub legal: Bits<W>,
    /// Those that ko or superko alone forbids, but for suicides that leave the board as it is.
    pub banned: Bits<W>,
}

/// A position with the history that its rules need. Black is the first player.
#[derive(Clone, Debug)]
pub struct State<const W: usize, const P: usize> {
    /// The stones.
    pub board: Board<W, P>,
    /// Stones of both sides after each earlier ply, the newest first.
    pub past: [[Bits<W>; 2]; MAX_PAST],
    /// Who is to move.
    pub mover: Player,
    /// Passes in a row; counted to two.
    pub passes: u8,
    /// The last move, if there was one.
    pub last: Option<Action>,
    /// By the simple rule, the point that may not be taken back now.
    ko: Option<u16>,
    history: History,
}

impl<const W: usize, const P: usize> State<W, P> {
    /// The position with these stones; `banned` are points that an earlier position forbids to the player to move.
    ///
    /// # Errors
    /// A sentence, if a stone has no liberty or a point cannot be forbidden by ko.
    pub fn set_up(go: &Go<W, P>, stones: &[Option<Player>], mover: Player, banned: &[usize]) -> Result<Self, String> {
        let mut board = Board::new(&go.geometry);
        for (point, owner) in stones.iter().enumerate() {
            // Stones that come later only fill points, so a chain that has a liberty in the end is never taken on the way.
            if let Some(owner) = owner {
                board.place(&go.geometry, point, owner.index());
            }
        }
        let gone = |point: &usize| stones[*point].is_some_and(|owner| !board.stones[owner.index()].has(*point));
        if let Some(point) = (0..stones.len()).find(gone) {
            return Err(format!("the stone on {} has no liberty", super::notation::gtp(go.variant.size, point)));
        }
        let (past, history) = ([[Bits::NONE; 2]; MAX_PAST], History::new());
        let mut state = Self { board, past, mover, passes: 0, last: None, ko: None, history };
        state.remember(go);
        state.ban(go, banned)?;
        Ok(state)
    }

    /// As if the positions had been there that moves to these points would repeat.
    fn ban(&mut self, go: &Go<W, P>, banned: &[usize]) -> Result<(), String> {
        let legal = self.moves(go).legal;
        for point in banned.iter().copied().filter(|point| legal.has(*point)) {
            let placement = self.board.placement(&go.geometry, point, self.mover.index());
            self.ko = Some(point as u16);
            self.history.push(self.key_after(go, placement), placement.num_stones);
        }
        let found = self.moves(go).banned;
        match banned.iter().find(|point| !found.has(**point)) {
            None => Ok(()),
            Some(point) => {
                let text = super::notation::gtp(go.variant.size, *point);
                Err(format!("{text} is named as forbidden by ko, and it cannot be"))
            }
        }
    }

    /// The key of the position after a move of the player to move.
    #[inline]
    fn key_after(&self, go: &Go<W, P>, placement: Placement) -> u64 {
        placement.hash ^ Self::turn(go, self.mover.opponent())
    }

    #[inline]
    fn turn(go: &Go<W, P>, mover: Player) -> u64 {
        if go.variant.superko == Superko::Situational && mover == Player::Second { WHITE_TO_MOVE } else { 0 }
    }

    /// Adds the present position to the history.
    fn remember(&mut self, go: &Go<W, P>) {
        self.history.push(self.board.hash ^ Self::turn(go, self.mover), self.board.num_stones);
    }

    /// Which points may be played on.
    #[inline]
    pub fn moves(&self, go: &Go<W, P>) -> Moves<W> {
        let side = self.mover.index();
        let empty = self.board.empty(&go.geometry);
        let roomy = empty & go.geometry.beside(empty);
        // A stone with an empty point beside it stands; it takes nothing unless it is on some chain's last liberty.
        let unclear = empty & (!roomy | self.board.last_liberties[1 - side]);
        let mut quiet = roomy & !unclear;
        let (mut others, mut banned) = (Bits::NONE, Bits::NONE);
        for point in unclear.points() {
            let placement = self.board.placement(&go.geometry, point, side);
            if placement.effect == Effect::Quiet {
                quiet.add(point);
            } else if placement.effect == Effect::Capture || go.variant.suicide {
                if !self.repeats(go, point, placement) {
                    others.add(point);
                } else if placement.hash != self.board.hash {
                    banned.add(point);
                }
            }
        }
        if go.variant.superko != Superko::Simple {
            // All quiet moves lead to one stone more: each such position of the past differs from this one by the
            // stone of the move that would repeat it, if there is one.
            let present = self.board.hash ^ Self::turn(go, self.mover.opponent());
            for key in self.history.keys(self.board.num_stones + 1) {
                if let Some(point) = point_between(key ^ present, side).filter(|point| quiet.has(*point)) {
                    quiet.remove(point);
                    banned.add(point);
                }
            }
        }
        Moves { legal: quiet | others, banned }
    }

    #[inline]
    fn repeats(&self, go: &Go<W, P>, point: usize, placement: Placement) -> bool {
        if go.variant.superko == Superko::Simple {
            return self.ko == Some(point as u16);
        }
        let key = self.key_after(go, placement);
        self.history.keys(placement.num_stones).any(|earlier| earlier == key)
    }

    /// Makes a legal move; the action beyond the points is the pass.
    pub fn play(&mut self, go: &Go<W, P>, action: Action) {
        self.past.copy_within(..MAX_PAST - 1, 1);
        self.past[0] = self.board.stones;
        let is_pass = usize::from(action) == go.variant.pass();
        if is_pass {
            self.passes = 2.min(self.passes + 1);
            self.ko = None;
        } else {
            self.passes = 0;
            self.ko = self.board.place(&go.geometry, action.into(), self.mover.index());
        }
        self.last = Some(action);
        self.mover = self.mover.opponent();
        // By position alone, a pass leads to none that is new.
        if go.variant.superko == Superko::Situational || go.variant.superko == Superko::Positional && !is_pass {
            self.remember(go);
        }
    }
}
