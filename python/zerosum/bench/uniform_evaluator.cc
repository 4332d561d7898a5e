// Put before pyspiel's own (LD_PRELOAD): no random games, every position is even. Its priors are uniform already.
// From Python there is no other way to give OpenSpiel's C++ search an evaluator that costs nothing.

#include <vector>

namespace open_spiel {
class State;

namespace algorithms {
struct RandomRolloutEvaluator {
  std::vector<double> Evaluate(const State&);
};

std::vector<double> RandomRolloutEvaluator::Evaluate(const State&) { return {0.0, 0.0}; }
}  // namespace algorithms
}  // namespace open_spiel
