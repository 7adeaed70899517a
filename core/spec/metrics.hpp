// The metrics that runs are compared, ranked and raced by: their names, and which values are better. How a run's value is
// computed: store/analysis/verdict/metric.hpp.
#pragma once

#include "core/spec/names.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace dt {

enum class Metric { throughput, time_to_target, step_time, accuracy, node_hours, samples, energy, mfu, loss };

struct MetricWord {
  Metric metric;
  Name name;             // on the command line and in recipes
  bool is_larger_better; // else a smaller value is
  bool is_raced = false; // `dtctl sweep --until-decided` can compare the points of a study by it (study.until.metric)
  bool is_tuned = false; // study.tune.metric
};

// Every metric once, in the order of the help.
inline constexpr std::array metric_words{
    MetricWord{Metric::throughput, {"throughput", "samples per second; larger is better"}, true, true},
    MetricWord{Metric::time_to_target,
               {"time-to-target", "time until train.target_accuracy was reached; a run that missed it counts as infinite"},
               false,
               true,
               true},
    MetricWord{Metric::step_time, {"step-time", "median time of a step; smaller is better"}, false},
    MetricWord{Metric::accuracy, {"accuracy", "accuracy of the evaluated model at the end; larger is better"}, true, false, true},
    MetricWord{Metric::node_hours, {"node-hours", "nodes times hours of a run; smaller is better"}, false},
    MetricWord{Metric::samples,
               {"samples", "samples until train.target_accuracy was reached; a run that missed it counts as infinite"},
               false,
               false,
               true},
    MetricWord{Metric::energy, {"energy", "joules of hosts and GPUs for a sample; smaller is better"}, false},
    MetricWord{Metric::mfu, {"mfu", "model FLOPs utilisation, the share of the processors' peak; larger is better"}, true},
    MetricWord{Metric::loss, {"loss", "loss on the held-out set at the end; smaller is better"}, false, false, true},
};

constexpr const MetricWord& metric_word(Metric metric) { return *std::ranges::find(metric_words, metric, &MetricWord::metric); }

// The names of those that a study can be raced by.
std::span<const Name> race_metric_names();
// The names of those that settings are tuned by.
std::span<const Name> tune_metric_names();

} // namespace dt
