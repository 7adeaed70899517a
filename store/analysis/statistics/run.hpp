// A run, as every analysis sees it.
#pragma once

#include "core/record/field.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace dt::store {

// A run of a study with its figures and its conditions. A figure that was not measured is NaN.
struct Run {
  std::string key{};
  std::string series{}; // the label without the size
  std::string value{};  // of the recipe's key that values are compared of; empty if there is none
  std::int64_t nodes = 0, ranks = 0;
  std::int64_t workers = 0; // ranks that train
  // The round of the study in which it ran, and train.seed of the run: candidates of a study share the seeds of a round.
  std::int64_t repeat = 0, seed = 0;
  bool is_control = false;   // no point of its study
  bool succeeded = false;    // the figures of any other run do not count
  bool has_diverged = false; // it has no accuracy and no time to its target, and counts for no target
  std::string copies{};      // why its ranks do not train together, so that it has no throughput; empty: they do, or unknown
  bool knows_target = true;  // false: it has a target, but nobody knows when it was reached or whether it was
  // The round in which it was measured, as Candidate::blocks. Empty: alone.
  std::string block{};
  double begin_unix_s = not_measured;
  std::set<std::string> hosts{}; // on which it ran; empty: not known
  // Among the runs of its study (run_conditions.hpp): it has no part in the figures of the machine.
  bool is_outlying = false;
  bool is_exact = false;                          // simulated without a compute profile: its figures are deterministic
  std::string model{}, data_id{}, engine_build{}; // what a fair comparison has in common
  std::int64_t global_batch = 0;
  double target_accuracy = 0; // 0: no target
  double modelled_rate = 0;   // train.modelled_rate; 0: the computation was not modelled
  std::string platform{};     // machine on which the run was simulated; empty: it was measured
  // For a program of the user: its Python environment, program file, GPUs, driver and git state, in words, by their names
  // (store/query/dependences.hpp). Empty for dtengine.
  std::map<std::string, std::string> depends_on{};
  double throughput = not_measured, step_s = not_measured, accuracy = not_measured;
  double eval_loss = not_measured; // on the held-out set, at the end
  double communication_share = not_measured;
  double time_to_accuracy_s = not_measured, wall_s = not_measured;
  double samples_to_accuracy = not_measured; // of its training set; 0: it missed its target
  double joules_per_sample = not_measured;
  double mfu = not_measured; // model FLOPs utilisation

  // Whether it belongs to the statistics of accuracy and of the time to the target.
  bool has_trained() const { return succeeded && !has_diverged; }
  // Whether it has a target of which it is known when, and whether, it was reached.
  bool has_target() const { return target_accuracy > 0 && knows_target; }
};

} // namespace dt::store
