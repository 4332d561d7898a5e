//! Perft, and the timing of rules and encodings. Functions here call `check_interrupt` now and then; it may unwind.

use crate::encoding::plane_buffers;
use crate::game::{Action, Game, Planes, Position};
use crate::interrupt::InterruptCheck;
use crate::random::RandomStream;

/// Number of lines of play of `depth` plies: the standard test of move generation. A line that ends earlier without a legal
/// move does not count; a soft ending does not end a line.
pub fn perft<G: Game>(game: &G, state: &G::State, depth: u32, check_interrupt: &dyn Fn()) -> u64 {
    count_lines(game, state, depth, &mut InterruptCheck::new(check_interrupt))
}

fn count_lines<G: Game>(game: &G, state: &G::State, depth: u32, interrupt: &mut InterruptCheck<'_>) -> u64 {
    if depth == 0 {
        return 1;
    }
    if game.outcome(state).is_some_and(|outcome| !outcome.is_soft) {
        return 0;
    }
    let mut actions = Vec::new();
    game.legal_actions(state, &mut actions);
    interrupt.count();
    if depth == 1 {
        return actions.len() as u64;
    }
    actions
        .iter()
        .map(|action| {
            let mut next = state.clone();
            game.play(&mut next, *action);
            count_lines(game, &next, depth - 1, interrupt)
        })
        .sum()
}

/// Plays `num_plies` plies of uniformly random games as a search does: each ply copies the state, makes a move on the copy
/// and asks for the outcome and the legal moves. Returns the sum of the numbers of legal moves.
pub fn random_plies<G: Game>(game: &G, num_plies: u64, seed: u64, check_interrupt: &dyn Fn()) -> u64 {
    let mut interrupt = InterruptCheck::new(check_interrupt);
    let mut random = RandomStream::new(seed, 0, 0, "random plies");
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
        interrupt.count();
        let mut next = position.clone();
        next.play(game, actions[random.below(actions.len())]);
        position = next;
    }
    num_legal
}

/// Writes the planes of all positions `times` times.
pub fn encode_again<G: Game>(game: &G, states: &[&G::State], times: u32, check_interrupt: &dyn Fn()) {
    let mut interrupt = InterruptCheck::new(check_interrupt);
    let bytes_per_plane = game.spec().bytes_per_plane();
    let (mut bits, mut constants) = plane_buffers(game.spec());
    for _ in 0..times {
        for state in states {
            bits.fill(0);
            game.encode(state, &mut Planes::new(&mut bits, &mut constants, bytes_per_plane));
            // Without a reader the compiler could leave the writes out.
            std::hint::black_box((&bits, &constants));
            interrupt.count();
        }
    }
}
