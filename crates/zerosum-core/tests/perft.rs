//! Lines of play of every game, held against the tables that come with the Python package.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use zerosum_core::games;

/// Where the tables are, one a game: `name | position, empty for the initial one | counts by depth`.
const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/zerosum/data/perft");

/// Lines beyond this many are counted by `zerosum bench rules`, not here.
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
    assert_eq!(held, games::NAMES.map(spec_name).into(), "each game of the core has a table");
}

/// A game's name, whatever else leads to it.
fn spec_name(name: &str) -> String {
    games::by_name(name).expect("no options").expect("a name of the core").spec().name().to_owned()
}

/// Holds a game against its table. Answers how many counts there were to hold.
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
                game.perft(&state, depth, &|| ()).expect("its own state"),
                count,
                "{name}, {label}, depth {depth}"
            );
            num_counts += 1;
        }
    }
    num_counts
}
