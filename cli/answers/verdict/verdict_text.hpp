// The verdict of a study in words: of a ranking, of a race, of its sizes.
#pragma once

#include "store/analysis/verdict/condition_facts.hpp"
#include "store/analysis/verdict/point_labels.hpp"
#include "store/analysis/verdict/race_outcome.hpp"
#include "store/analysis/verdict/scaling_answer.hpp"
#include "store/analysis/verdict/standing.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::cli {

// The verdict of a study in parts. No part ends with a full stop.
struct VerdictText {
  std::string headline;               // what decides
  std::vector<std::string> remarks{}; // what else is known and what limits it, each as part of a sentence
  std::vector<std::string> lines{};   // at most one for each other candidate or size
};
// The headline, the lines and the remarks, one after the other: a text of its own for each.
std::vector<std::string> sentences_of(const VerdictText& text);
// The headline and the remarks in one sentence.
std::string sentence_of(const VerdictText& text);

// The name of the candidate at this place, as it is shown.
std::string shown_name(const store::Standing& standing, std::size_t place);

// Which candidate is the best, by how much and how certain, and which others may be the best.
VerdictText verdict_text(const store::Standing& standing);

// The verdict on the candidates of one contest, which are ranked by each metric. The last standing decides the headline (the time
// to target, if there is one). The remarks say what the other standings add, which candidates reached the target, and the
// `facts`, such as a busy machine, each as part of a sentence. If the best is not known, there is a line for each candidate that
// may be it.
VerdictText verdict_text(std::span<const store::Standing> standings, std::span<const std::string> facts);

// The verdict on a race: the headline says which rival of the largest size has won or which ones are still in the race; each
// smaller size that has rivals has a line. `limit`: why no more runs are made although the race is not over, such as a budget;
// empty: it may go on. `facts`: as above. Empty if no size has rivals.
VerdictText race_verdict(std::span<const store::RacePoint> points, const store::Race& race, const store::RaceRule& rule,
                         const std::string& limit, std::span<const std::string> facts);

// "yes", "no", "cannot tell", "not known".
std::string word_of(store::Scales scales);
// The word and the reason, without a full stop: "yes: 1.76x on 2 ranks (local-sgd)".
std::string scale_text(const store::ScaleAnswer& answer, const store::PointLabels& labels = {});

// The verdict on the sizes of one label. The headline has speed-up and efficiency of the largest size, and says whether the
// efficiency differs from 100 % and from that of the next smaller size; each smaller size has a line. If there is one size, or
// fewer than `least_runs` runs, it says what is missing. If the ranks of a size do not train together, the headline says that.
VerdictText scaling_verdict(std::span<const store::ScalingRow> points, std::span<const std::string> facts);

// One part of a sentence for each of the facts: which runs are outliers and do not count; rounded throughputs; a change of the
// machine during the study, and whether rounds keep that out of the comparison; two speeds. `points`: those of the facts.
std::vector<std::string> condition_texts(const store::ConditionFacts& facts, std::span<const store::ComparedPoint> points);

// "a, b and c"
std::string enumerated(std::vector<std::string> names);
// Each text once, without empty ones. Two metrics may have the same remark.
std::vector<std::string> distinct(const std::vector<std::string>& texts);

} // namespace dt::cli
