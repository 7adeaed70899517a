// Sentences about several labels, each said once: what holds for all labels, and what differs between them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace dt::cli {

struct LabelledText {
  std::string label, text;
};

// Texts that are equal become one line. Texts that differ in one number only become one line, too, in which each number names
// its labels: "a step takes 1.02 (sync-sgd), 0.97 (hsgd, local-sgd) times as long". A line that is not about all of `labels`
// begins with those that it is about: "hsgd, local-sgd: …", and comes after those that are, in the order of the labels.
std::vector<std::string> grouped_texts(std::span<const LabelledText> texts, const std::vector<std::string>& labels);

} // namespace dt::cli
