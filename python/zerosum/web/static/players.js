// Kinds of players, and what the number after a player's name means: `name@number`.

const numbers = (unit, few) => few.map((number) => [String(number), `${number.toLocaleString("en")} ${unit}`]);

/** Kinds whose search evaluates moves. */
export const SEARCHES = ["network", "small network", "search"];

/** The numbers to choose from by kind; the alpha-beta search of a small network visits positions. */
export const NUMBERS = {
  network: numbers("simulations", [10, 50, 200, 800, 3200]),
  search: numbers("simulations", [10, 50, 200, 800, 3200]),
  "small network": numbers("positions", [100, 1000, 10000, 100000]),
  depth: [1, 2, 3, 4, 5, 6].map((plies) => [String(plies), plies === 1 ? "1 ply" : `${plies} plies`]),
  random: []
};

/** The number to begin with. */
export const USUAL = {
  network: "200",
  search: "200",
  "small network": "10000",
  depth: "3"
};

/** Visits of each position of a review. */
export const REVIEWS = {
  network: numbers("simulations", [50, 400, 2000, 10000]),
  search: numbers("simulations", [50, 400, 2000, 10000]),
  "small network": numbers("positions", [4000, 40000, 100000])
};
