//! How many simulations a second of one core's time gives: trees of Connect Four with equal priors and values.
//!
//! ```text
//! cargo run --release --example search_speed [trees] [seconds]
//! ```
//!
//! One tree for five seconds unless told otherwise; prints one line of JSON. `zerosum bench search` does the same from
//! Python, with 256 trees.

use std::sync::OnceLock;
use std::time::Instant;

use zerosum_core::games::ConnectFour;
use zerosum_core::search::{Evaluations, Noise};
use zerosum_core::{Position, Search, SearchConfig, SearchError};

const NUM_SIMULATIONS: u32 = 800;

/// The start position and the ten of `zerosum bench search`, after some moves of random games (columns from 1).
const LINES: [&str; 11] = [
    "",
    "7474135447734352523",
    "7356752316176",
    "356254475317511",
    "77326367125227",
    "11354135",
    "27555",
    "1563411672217167",
    "7272657",
    "466",
    "62372347117",
];

/// Nanoseconds that this thread has run on a core; of the clock, where the system does not tell.
fn nanoseconds() -> u128 {
    static START: OnceLock<Instant> = OnceLock::new();
    let of_core = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let first = of_core.as_ref().and_then(|text| text.split_whitespace().next()?.parse().ok());
    first.unwrap_or_else(|| START.get_or_init(Instant::now).elapsed().as_nanos())
}

fn argument(index: usize, default: f64) -> f64 {
    std::env::args().nth(index).and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn main() -> Result<(), SearchError> {
    let (num_trees, seconds) = (argument(1, 1.0) as usize, argument(2, 5.0));
    let game = std::sync::Arc::new(ConnectFour::default());
    let mut search = Search::new(game.clone(), SearchConfig::default(), num_trees)?;
    let zeros = vec![0.0; 7 * num_trees];
    let (mut num_simulations, mut spent) = (0_u64, 0);
    for round in 0.. {
        for tree in 0..num_trees {
            let mut position = Position::initial(&*game);
            let line = LINES[(round + tree) % LINES.len()];
            line.bytes().for_each(|column| position.play(&*game, u16::from(column - b'1')));
            search.reset(tree, position)?;
        }
        let started = nanoseconds();
        for tree in 0..num_trees {
            search.begin(tree, NUM_SIMULATIONS, Noise::None)?;
        }
        loop {
            let leaves = search.gather(num_trees);
            if leaves.is_empty() {
                break;
            }
            let (logits, values) = (&zeros[..leaves.legal_actions().len()], &zeros[..leaves.len()]);
            search.apply(leaves.ticket(), &Evaluations::new(logits, values))?;
        }
        spent += nanoseconds() - started;
        num_simulations += (0..num_trees).map(|tree| u64::from(search.root(tree).num_simulations)).sum::<u64>();
        if spent as f64 > seconds * 1e9 && round % LINES.len() == LINES.len() - 1 {
            break;
        }
    }
    println!(
        "{{\"bench\": \"search\", \"game\": \"connect4\", \"metric\": \"simulations_per_cpu_second\", \"value\": {:.0}, \
         \"unit\": \"1/s\", \"settings\": {{\"trees\": {num_trees}, \"num_simulations\": {NUM_SIMULATIONS}, \"positions\": {}}}}}",
        num_simulations as f64 * 1e9 / spent as f64,
        LINES.len()
    );
    Ok(())
}
