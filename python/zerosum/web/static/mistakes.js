// The mistakes of the games that were reviewed in this browser, which keeps them: {game, start, moves, vs, title, day,
// puzzles}, the newest game first. A puzzle is solved or not.

const KEY = "mistakes";
const MOST_GAMES = 100;

const isSame = (one, other) =>
  one.game === other.game && one.moves === other.moves && (one.start ?? "") === (other.start ?? "");

/** All games with mistakes. */
export function reviewedGames() {
  try {
    const games = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(games) ? games : [];
  } catch { return []; }
}

/** The game of these moves; undefined if none of its mistakes are kept. */
export const reviewedGame = (wanted) => reviewedGames().find((one) => isSame(one, wanted));

function write(games) {
  for (let most = MOST_GAMES; most > 0; most = Math.floor(most / 2)) {
    try {
      localStorage.setItem(KEY, JSON.stringify(games.slice(0, most)));
      return;
    } catch { /* the browser's store is full: the oldest games are forgotten */
    }
  }
}

/** Keep the mistakes of a review instead of those of an earlier one of the same game; what was solved stays solved. */
export function keepReview(game) {
  const known = reviewedGame(game)?.puzzles ?? [];
  const isSolved = ({ply, played}) => known.some((one) => one.ply === ply && one.played === played && one.solved);
  const puzzles = game.puzzles.map((one) => ({...one, solved: isSolved(one)}));
  const others = reviewedGames().filter((one) => !isSame(one, game));
  write(puzzles.length ? [{...game, puzzles}, ...others] : others);
}

export function keepSolved(game, ply) {
  const games = reviewedGames(),
        puzzle = games.find((one) => isSame(one, game))?.puzzles.find((one) => one.ply === ply);
  if (!puzzle) return;
  puzzle.solved = true;
  write(games);
}

export const forget = (game) => write(reviewedGames().filter((one) => !isSame(one, game)));
