// Points of studies, and how the points of two studies, or the values of a key within one study, are brought together.
#pragma once

#include "store/analysis/verdict/metric.hpp"
#include "store/analysis/verdict/point_labels.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::store {

// The runs of a study that are repeats of each other.
struct ComparedPoint {
  std::string candidate; // the label without the size; with a key, "KEY=VALUE"
  std::string rest;      // with a key: the label without the size and without the key, where points differ in more than the key
  std::int64_t nodes = 0, ranks = 0;
  std::vector<Run> runs;
  std::string title{}, rest_title{}; // candidate and rest as they are shown: PointLabels::shown; with a key, the value
};

// Returns "2 ranks" or "8 ranks on 4 nodes".
std::string size_text(std::int64_t nodes, std::int64_t ranks);
// Returns "strategy=sync-sgd, 2 ranks": candidate, rest and size, for programs.
std::string name_of(const ComparedPoint& point);
// Returns "sync-sgd, 2 ranks": titles and size, for people.
std::string title_of(const ComparedPoint& point);

// The points of the runs, in the natural order of candidates, then by size. Controls of a ladder are left out.
//
// With a key (a column such as "sync_strategy" or "strategy"), a candidate is a value of it. Runs that have the same value and
// size but different labels differ in another parameter: their points are kept apart by the rest of the label. If the label does
// not tell how they differ, throws Error (usage) that lists them.
// `of_recipe`: the recipe's own labels, for the titles of the points (StudyRecord::labels).
std::vector<ComparedPoint> points_of(std::vector<Run> runs, std::string_view key = {},
                                     const std::map<std::string, std::string>& of_recipe = {});
// The same for a caller that gives the titles itself.
std::vector<ComparedPoint> points_without_titles(std::vector<Run> runs, std::string_view key = {});

// The shown labels of these points, which are looked at together.
PointLabels labels_of(std::span<const ComparedPoint> points, const std::map<std::string, std::string>& of_recipe);
void give_titles(std::vector<ComparedPoint>& points, const PointLabels& labels);

// Two points that are compared.
struct PointPair {
  ComparedPoint a, b;
};

struct Matching {
  std::vector<PointPair> pairs;              // in the order of A's points
  std::vector<ComparedPoint> only_a, only_b; // points without a partner
};

// Matches the points of A and B: one point with one point whatever they are; else those with the same label (or value of the key)
// and size; and if both have a single label, those with the same size. Throws Error (usage) that lists the points of both if none
// match.
Matching matched(std::vector<ComparedPoint> a, std::vector<ComparedPoint> b);

// Points that compete with each other, because they have the same size and the same other parameters.
struct Contest {
  std::string name; // "optimizer=adam, 2 ranks": rest and size
  std::vector<ComparedPoint> points;
  std::string title{}; // the same as it is shown: "adam, 2 ranks"
};

// The contests with at least two points, by size. If the key is a size (nodes, ranks), points of different sizes compete.
std::vector<Contest> contests_of(std::vector<ComparedPoint> points, std::string_view key = {});

// The names of the points, a line each, for an error message.
std::string listed(const std::vector<ComparedPoint>& points);

// What A and B should have in common and do not: one sentence each, such as "the builds differ: A has 3f2a, B has 77c0".
std::vector<std::string> differences(const Matching& matching);
// The same for the points of contests.
std::vector<std::string> differences(std::span<const Contest> contests);

} // namespace dt::store
