//! Perft of every game, compared with the tables of the Python package.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use zerosum_core::games;

/// The folder of the tables, one for each game: `name | position, empty for the initial one | counts by depth`.
const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/zerosum/data/perft");

/// Largest number of lines that is counted here; `zerosum bench rules --perft` counts all.
fn most_lines(game: &str) -> u64 {
    if ["connect4", "othello"].contains(&game) { 6_000_000 } else { 1_500_000 }
}

#[test]
fn every_game_counts_its_lines_of_play() {
    let mut held = BTreeSet::new();
    for file in fs::read_dir(TABLES).expect("the tables are part of the project") {
        let path = file.expect("it can be listed").path();
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a game's name").to_owned();
        assert!(counts_lines(&name, &path) >= 2, "{name}");
        held.insert(spec_name(&name));
    }
    assert_eq!(held, games::names().map(spec_name).collect(), "each game of the core has a table");
}

/// A game's name without abbreviations.
fn spec_name(name: &str) -> String {
    games::by_name(name).expect("no options").expect("a name of the core").spec().name().to_owned()
}

/// Compares a game with its table. Returns the number of counts.
fn counts_lines(name: &str, path: &Path) -> usize {
    let game = games::by_name(name).expect("no options").expect("a name of the core");
    let mut num_counts = 0;
    for line in fs::read_to_string(path).expect("a text").lines().filter(|line| !line.starts_with('#')) {
        let [label, position, counts] = line.split('|').map(str::trim).collect::<Vec<_>>().try_into().expect(line);
        let state =
            if position.is_empty() { game.initial_state() } else { game.parse_position(position).expect(label) };
        let counts = counts.split(' ').map(|count| count.parse::<u64>().expect(line));
        for (depth, count) in (1..).zip(counts).filter(|(_, count)| *count <= most_lines(name)) {
            assert_eq!(
                game.position(&state).expect("its own state").perft(depth, &|| ()),
                count,
                "{name}, {label}, depth {depth}"
            );
            num_counts += 1;
        }
    }
    num_counts
}
