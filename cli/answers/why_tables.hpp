// Tables, sentences and waterfalls that show which causes reduced the efficiency of a study's points (`dtctl results --why`).
#pragma once

#include "cli/output/cell.hpp"
#include "store/analysis/attribution.hpp"
#include "store/analysis/verdict/point_labels.hpp"

#include <span>
#include <string>
#include <vector>

namespace dt::cli {

// One row for each point: efficiency, the points lost to each factor, and statistical efficiency.
Table attribution_table(const std::vector<store::Attribution>& points, const store::PointLabels& labels);

// The names that the POP methodology and tools of Score-P give to factors: by the name of the factor, "jitter".
Json pop_names();

// One row for each point with several ranks: communication of a step with nothing else running, its hidden and its exposed part,
// bytes, messages and bandwidth.
Table communication_table(const std::vector<store::Attribution>& points, const store::PointLabels& labels);

// "8 nodes: 71.2% [69.1, 73.3] of the throughput per worker of 1 node (5 runs). Exposed communication costs 19.0 points
// [17.2, 20.8], jitter 6.1 [4.0, 8.2] (host3 in 4 of 5 runs), smaller batches 3.2 [1.0, 5.4]." Intervals are left out where they
// are not known. Factors below half a point are not listed. Empty for a baseline.
std::string sentence_of(const store::Attribution& point, const store::PointLabels& labels);
// The same, each sentence for itself.
std::vector<std::string> sentences_of(const store::Attribution& point, const store::PointLabels& labels);

// "exposed communication costs 19.0 points of efficiency": the largest cost of the point, if it is at least half a point; else
// empty.
std::string largest_cost_of(const store::Attribution& point);

// One sentence for each set of phases that programs do not report: which they are, what follows, and what to do. Empty for
// dtengine's runs.
std::vector<std::string> missing_phases_notes(const std::vector<store::Attribution>& points);

// What the time between epochs went to, a sentence for each point that has such time.
std::vector<std::string> between_epochs_notes(const std::vector<store::Attribution>& points, const store::PointLabels& labels);

// Why the costs may be less certain than their intervals from the runs say: the error of the time of one rank alone, and runs
// without a fast worker. One sentence for each reason.
std::vector<std::string> uncertainty_notes(const std::vector<store::Attribution>& points);

// A line for the baseline, one for each factor that costs or gains at least 0.05 points, and one for the point, with bars of up
// to 40 characters for 100 points.
std::string waterfall_of(const store::Attribution& point, const store::PointLabels& labels);

} // namespace dt::cli
