// The mistakes of the games that were reviewed in this browser, which keeps them: {game, start, moves, vs, title, day,
// puzzles}, the newest game first. A puzzle is solved or not.

import {keptValue} from "./kept.js";

const KEY = "mistakes";
const MOST_GAMES = 100;
/** Marks of the moves that become puzzles. */
const MARKS = ["?", "??"];

const isSame = (one, other) =>
  one.game === other.game && one.moves === other.moves && (one.start ?? "") === (other.start ?? "");

const isShare = (number) => typeof number === "number" && number >= 0 && number <= 1;
const isText = (one) => typeof one === "string";
const isAction = (number) => Number.isInteger(number) && number >= 0 && number < 1 << 16;

/** Whether all that a puzzle needs is there. */
function isPuzzle(one) {
  return Boolean(one) && Number.isInteger(one.ply) && one.ply >= 0 && [0, 1].includes(one.player) &&
    MARKS.includes(one.mark) && isText(one.text) && isAction(one.played) && isAction(one.best) && isShare(one.rate) &&
    isShare(one.loss) && Array.isArray(one.line) && one.line.length > 0 && one.line.every(isText) &&
    Array.isArray(one.cells) && one.cells.every((cell) => cell === null || Number.isInteger(cell));
}

const isGame = (one) => Boolean(one) && isText(one.game) && isText(one.moves) && Array.isArray(one.puzzles) &&
  ["start", "vs", "title", "day"].every((name) => isText(one[name] ?? ""));

/** All games with mistakes, without what is damaged. */
export function reviewedGames() {
  const games = keptValue(KEY);
  return (Array.isArray(games) ? games : [])
    .filter(isGame)
    .map((game) => ({...game, puzzles: game.puzzles.filter(isPuzzle)}))
    .filter((game) => game.puzzles.length);
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
