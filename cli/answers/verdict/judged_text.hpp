// The words for a comparison of two points (store::Judged).
#pragma once

#include "store/analysis/verdict/judged.hpp"

#include <string>

namespace dt::cli {

// One word or a few: "faster", "slower", "equivalent", "cannot tell", "for this one seed", "different in these runs". Of a metric
// that is no speed: "better" and "worse".
std::string word_of(store::Finding finding, Metric metric);

// Returns "+4.5 %" for the effect 1.045; of accuracies, "+1.20 points" for 0.012. Empty if it is NaN, infinite,
// or a ratio of 0, which a median has to one that is infinite.
std::string effect_text(double effect, Metric metric);
// Returns "[+2.1, +6.9]"; empty if there is no interval.
std::string interval_text(const store::Comparison& comparison, Metric metric);
// Returns "+4.5 % [+2.1, +6.9]".
std::string effect_with_interval(const store::Comparison& comparison, Metric metric);

// Says how small a difference the runs could have shown, where there is no interval. `effect`: the difference that they show; the
// text says so if it is larger than that.
std::string resolvable_text(double effect, Metric metric, double resolvable);

// Returns "0 of 3 runs reached the target", "1 of 1 run reached the target and 2 diverged".
std::string reached_text(const store::Sample& sample);

// Returns what the comparison says about A and B in one sentence, without a full stop. If it cannot tell, says why and what would
// decide: "cannot tell: -1.2 % [-4.0, +1.7] throughput; about 5 more runs of each would decide (0.04 node-hours)". If A or B has
// no value: "no data: no run of A has succeeded".
std::string sentence_of(const store::Judged& judged);

} // namespace dt::cli
