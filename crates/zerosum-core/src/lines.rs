//! Lines of play: counted from a position (perft), and random ones, by which rules are timed. So are encodings.

use crate::game::{Action, Game, PlaneKind, Planes, Position};
use crate::random::Draws;

/// Positions between two calls of a `pulse`.
const PULSE: u64 = 1 << 15;

/// A count of positions. Its `pulse` is called now and then, so that whoever waits may lose patience: it may unwind.
pub(crate) struct Pulse<'a> {
    num_positions: u64,
    pulse: &'a dyn Fn(),
}

impl<'a> Pulse<'a> {
    pub(crate) fn new(pulse: &'a dyn Fn()) -> Self {
        Self { num_positions: 0, pulse }
    }

    #[inline]
    pub(crate) fn count(&mut self) {
        self.num_positions += 1;
        if self.num_positions.is_multiple_of(PULSE) {
            (self.pulse)();
        }
    }
}

/// How many lines of play of `depth` plies there are: the field's test of move generation. A line that ends earlier for want
/// of a legal move does not count; soft endings do not stop one. `pulse` is called now and then, and may unwind.
pub fn perft<G: Game>(game: &G, state: &G::State, depth: u32, pulse: &dyn Fn()) -> u64 {
    count_lines(game, state, depth, &mut Pulse::new(pulse))
}

fn count_lines<G: Game>(game: &G, state: &G::State, depth: u32, pulse: &mut Pulse<'_>) -> u64 {
    if depth == 0 {
        return 1;
    }
    if game.outcome(state).is_some_and(|outcome| !outcome.is_soft) {
        return 0;
    }
    let mut actions = Vec::new();
    game.legal_actions(state, &mut actions);
    pulse.count();
    if depth == 1 {
        return actions.len() as u64;
    }
    actions
        .iter()
        .map(|action| {
            let mut next = state.clone();
            game.play(&mut next, *action);
            count_lines(game, &next, depth - 1, pulse)
        })
        .sum()
}

/// Plays uniformly random games until `num_plies` are played, as a search would: each ply copies the state, makes a move on
/// the copy, and asks for the outcome and the legal moves. Answers the sum of the legal moves' numbers, so that none of
/// it can be left out. `pulse` is called now and then, and may unwind.
pub fn random_plies<G: Game>(game: &G, num_plies: u64, seed: u64, pulse: &dyn Fn()) -> u64 {
    let mut pulse = Pulse::new(pulse);
    let mut draws = Draws::new(seed, 0, 0, "random plies");
    let mut actions: Vec<Action> = Vec::new();
    let mut num_legal = 0;
    let mut position = Position::initial(game);
    for _ in 0..num_plies {
        if position.outcome(game).is_some() {
            position = Position::initial(game);
        }
        actions.clear();
        game.legal_actions(&position.state, &mut actions);
        num_legal += actions.len() as u64;
        pulse.count();
        let mut next = position.clone();
        next.play(game, actions[draws.below(actions.len())]);
        position = next;
    }
    num_legal
}

/// Writes the planes of positions, all of them so many times over. `pulse` is called now and then, and may unwind.
pub fn encode_again<G: Game>(game: &G, states: &[&G::State], times: u32, pulse: &dyn Fn()) {
    let mut pulse = Pulse::new(pulse);
    let spec = game.spec();
    let bytes_per_plane = spec.bytes_per_plane();
    let mut bits = vec![0; spec.num_planes(PlaneKind::Bits) * bytes_per_plane];
    let mut constants = vec![0.0; spec.num_planes(PlaneKind::Constant)];
    for _ in 0..times {
        for state in states {
            bits.fill(0);
            game.encode(state, &mut Planes::new(&mut bits, &mut constants, bytes_per_plane));
            // As if somebody read them, or else nothing need be written.
            std::hint::black_box((&bits, &constants));
            pulse.count();
        }
    }
}
