// The machine-readable label of a sweep's point, "learning_rate=0.1 strategy=easgd ranks=2": its one grammar.
//
//   label = [ word ], { " ", word } ;
//   word  = key, "=", value | mark ;          (a mark, such as "simulated", has no key, and stands first)
//   key   = letter, { letter | digit | "_" | "." } ;
//   value = any text; a blank in it is no end if what follows does not begin with a key and "="
#pragma once

#include "core/spec/run_spec.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

struct LabelWord {
  std::string key; // empty: a mark
  std::string value;
};

std::vector<LabelWord> label_words(std::string_view label);

// Removes the size from a label: "sync.strategy=hsgd ranks=2" -> "sync.strategy=hsgd", "ranks_per_node=4 nodes=2" ->
// "ranks_per_node=4", "ranks_per_node=4" -> "".
std::string series_of(std::string_view label);

// The label of the run's point and its size: "learning_rate=0.1 ranks=2".
std::string sized_label(const RunSpec& run);

// A run of a simulated study that varies one assumed figure has one more word in its label: "assumed=platform.bandwidth-20%".
struct VariedFigure {
  std::string key;    // "platform.bandwidth"
  double change = 0;  // -0.2: a fifth lower
  std::string series; // the series of the point whose figure it varies
};
// The word for a key and a change as a share.
std::string varied_word(std::string_view key, double change);
// Empty for a series without such a word.
std::optional<VariedFigure> varied_figure(std::string_view series);

// A run that tries a setting of tuned keys (study.tune) has one more word in its label:
// "tried=optimizer.learning_rate:0.01,sync.period:4".
struct TriedSetting {
  std::map<std::string, std::string> values; // by key
  std::string series;                        // the series of the point that is tuned
};
std::string tried_word(const std::map<std::string, std::string>& values);
// Empty for a series without such a word.
std::optional<TriedSetting> tried_setting(std::string_view series);

} // namespace dt
