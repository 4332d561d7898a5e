//! Positions as text.

use std::fmt::Write;

use super::points::{gtp, parse_point};
use super::state::State;
use super::{Go, Scoring, Variant};
use crate::game::Game;
use crate::games::history::Ring;
use crate::games::rows::{parse_stones, write_stones};

/// Largest number of prisoners of a side in a text; no game has more plies.
const MOST_PRISONERS: u16 = 10_000;

/// The rows of stones and the player to move; then, if there are any, the points that ko forbids, the number of passes
/// and, with territory scoring, the prisoners of Black and White: `5/2X2/1XOX1/5/5 O ko=C3 passes=1 prisoners=0,2`.
pub fn position_text<const W: usize, const P: usize>(go: &Go<W, P>, state: &State<W, P>) -> String {
    let size = go.variant.size;
    let mut text = write_stones(size, size, |point| state.board.owner(point), state.player);
    let banned = state.moves(go).banned;
    for (index, point) in banned.iter().enumerate() {
        let before = if index == 0 { " ko=" } else { "," };
        write!(text, "{before}{}", gtp(size, point)).expect("a string takes any text");
    }
    if state.passes > 0 {
        write!(text, " passes={}", state.passes).expect("a string takes any text");
    }
    if go.variant.scoring == Scoring::Territory && state.prisoners != [0; 2] {
        let [black, white] = state.prisoners;
        write!(text, " prisoners={black},{white}").expect("a string takes any text");
    }
    text
}

/// Reads a position in the notation of [`position_text`].
///
/// # Errors
/// A sentence: which part is wrong, and what was expected.
pub fn parse_position<const W: usize, const P: usize>(go: &Go<W, P>, text: &str) -> Result<State<W, P>, String> {
    let variant = &go.variant;
    let words: Vec<&str> = text.split_whitespace().collect();
    let (board, fields) = words.split_at(words.len().min(2));
    let (stones, player) = parse_stones(&board.join(" "), variant.size, variant.size)?;
    let (mut banned, mut passes, mut prisoners) = (Vec::new(), None, None);
    for field in fields {
        match field.split_once('=') {
            Some(("ko", points)) if banned.is_empty() => banned = parse_ko(variant, points)?,
            Some(("passes", number @ ("1" | "2"))) if passes.is_none() => passes = number.parse().ok(),
            Some(("prisoners", numbers)) if prisoners.is_none() && variant.scoring == Scoring::Territory => {
                prisoners = Some(parse_prisoners(numbers)?);
            }
            _ => {
                let prisoners = if variant.scoring == Scoring::Territory { " or prisoners=0,2" } else { "" };
                let expected = format!("expected ko=C3,D4 or passes=1{prisoners}, each once");
                return Err(format!("{field:?} behind the side to move, {expected}"));
            }
        }
    }
    let mut state = State::set_up(go, &stones, player, &banned)?;
    state.passes = passes.unwrap_or(0);
    state.prisoners = prisoners.unwrap_or_default();
    let start = go.initial_state();
    let is_start = fields.is_empty() && player == start.player && state.board.stones == start.board.stones;
    if variant.repeats_history && !is_start {
        state.boards = Ring::new(|_| state.board.stones);
    }
    Ok(state)
}

fn parse_prisoners(numbers: &str) -> Result<[u16; 2], String> {
    let number = |text: &str| text.parse().ok().filter(|number| *number <= MOST_PRISONERS);
    let found = numbers.split_once(',').and_then(|(black, white)| Some([number(black)?, number(white)?]));
    found.ok_or_else(|| format!("prisoners={numbers}: expected two numbers from 0 to {MOST_PRISONERS}, such as 0,2"))
}

fn parse_ko(variant: &Variant, points: &str) -> Result<Vec<usize>, String> {
    let point = |text: &str| {
        let point = parse_point(variant.size, text).filter(|point| *point < variant.pass());
        point.ok_or_else(|| format!("ko={points}: {text:?} is not a point of the board, expected such as C3"))
    };
    points.split(',').map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::Go;
    use crate::game::{Game, Notation, Position};
    use crate::games::go::Variant;
    use crate::games::options::Options;
    use crate::random::RandomStream;

    fn go(text: &str) -> Go<2, 82> {
        Go::new(Variant::from_options(Options::parse(text).expect("well formed").1).expect("known options"))
    }

    #[test]
    fn malformed_positions_are_named() {
        for (text, sentence) in [
            ("5/5/5/5/5", "\"5/5/5/5/5\" lacks the side to move, X or O"),
            ("5/5/5/5/5 B", "\"B\" is to move, expected X or O"),
            ("5/5/5/5 X", "\"5/5/5/5\" has 4 rows, expected 5, separated by /"),
            ("5/5/5/5/5 X ko", "\"ko\" behind the side to move, expected ko=C3,D4 or passes=1, each once"),
            ("5/5/5/5/5 X passes=3", "\"passes=3\" behind the side to move, expected ko=C3,D4 or passes=1, each once"),
            ("5/5/5/5/5 X ko=C3,J1", "ko=C3,J1: \"J1\" is not a point of the board, expected such as C3"),
            ("5/5/5/5/5 X ko=pass", "ko=pass: \"pass\" is not a point of the board, expected such as C3"),
            ("5/5/5/5/X4 X ko=A1", "ko is said to forbid A1, and here it cannot"),
            (
                "5/5/5/5/5 X prisoners=1,0",
                "\"prisoners=1,0\" behind the side to move, expected ko=C3,D4 or passes=1, each once",
            ),
            ("XO3/O4/5/5/5 X", "the stone on A5 has no liberty"),
            ("XXXXX/XXXXX/XXXXX/XXXXX/XXXXX O", "the stone on A5 has no liberty"),
        ] {
            assert_eq!(go("go(size=5)").parse_position(text).unwrap_err(), sentence, "{text}");
        }
        let error = go("go(size=5, superko=simple)").parse_position("5/5/5/5/5 X ko=C3").unwrap_err();
        assert_eq!(error, "ko is said to forbid C3, and here it cannot");
    }

    /// A mutated text is either read as a position or refused.
    #[test]
    fn mutated_texts_are_read_or_refused() {
        let letters: Vec<char> = "XOxo/ 123456789=,kopasse:AE-+\u{fc}\u{0}\u{1F600}".chars().collect();
        for (number, variant) in
            ["go(size=5)", "go(size=5, rules=japanese)", "go(size=7, suicide=true)"].iter().enumerate()
        {
            let game = go(variant);
            let mut random = RandomStream::new(7, number as u64, 0, "mutations");
            let mut position = Position::initial(&game);
            let mut num_read = 0;
            for _ in 0..4000 {
                let legal = position.legal_actions(&game, true);
                position.play(&game, legal[random.below(legal.len())]);
                let mut text: Vec<char> = game.position_text(&position.state).chars().collect();
                for _ in 0..=random.below(3) {
                    let (place, letter) = (random.below(text.len()), letters[random.below(letters.len())]);
                    match random.below(3) {
                        0 => text[place] = letter,
                        1 => text.insert(place, letter),
                        _ => drop(text.remove(place)),
                    }
                }
                let text: String = text.into_iter().collect();
                if let Ok(state) = game.parse_position(&text) {
                    num_read += 1;
                    let again = game.position_text(&state);
                    assert!(game.parse_position(&again).is_ok(), "{text:?} became {again:?}");
                }
                let start: String = text.chars().take(random.below(4)).collect();
                let _ = game.parse_action(&position.state, &legal, &start);
            }
            assert!((10..4000).contains(&num_read), "{num_read} of 4000 were read");
        }
    }
}
