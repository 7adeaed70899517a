// The measurements of one series of a study, as predictions need them. Times are in seconds; a figure that was not measured is
// NaN.
#pragma once

#include "core/record/field.hpp"
#include "store/analysis/prediction/step_replay.hpp"
#include "store/analysis/statistics/batch_rule.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dt::store {

// How the strategy of the series exchanges, and how its sizes follow from a number of nodes or ranks.
struct SeriesTraits {
  std::string strategy{}, allreduce{}, model{};
  bool is_own_program = false;      // the user's, without our strategies: strategy is empty, and its exchange is taken to be that
                                    // of one sum of all gradients in each step
  bool is_served = false;           // with parameter servers, on ranks of their own or in shared memory
  bool is_in_turn = false;          // the servers answer the workers in a fixed order
  bool answers_first = false;       // the servers update the centre after they have answered the worker
  std::int64_t service_threads = 1; // exchanges that the servers work on at the same time
  bool is_beside = false;           // the exchange runs while the gradients are computed
  std::int64_t period = 1;          // steps from one exchange to the next
  std::int64_t node_period = 1;     // of hsgd: steps from one exchange between nodes to the next
  double exchange_bytes = 0;        // that one exchange sums
  bool by_nodes = false;            // sizes are numbers of nodes; otherwise of ranks
  std::int64_t ranks_per_node = 1, nodes_per_supernode = 0, servers = 0;
  // Bandwidth of the trunk of a supernode, as a share of the links of its nodes together. NaN: unknown.
  double trunk_share = not_measured;
  BatchRule batches{}; // samples of a step, by workers
};

// ranks_per_node of a series whose runs all had one node: more ranks are more ranks of that node.
inline constexpr std::int64_t any_number_of_ranks = 1 << 20;

// One size of a series.
struct StudySize {
  std::int64_t size = 1; // nodes or ranks, as the study counts
  std::int64_t nodes = 1, ranks = 1, workers = 1;
  double batch = 0; // samples of a worker and a step
};

// The size with that many nodes or ranks. It has at least one worker if n is positive and n ranks are more than the servers.
StudySize size_of(const SeriesTraits& traits, std::int64_t n);

// Phases of one worker: means of a step, and quantiles of its compute time (forward and backward pass).
struct WorkerTimes {
  double input_s = 0, compute_s = 0, update_s = 0;
  double communication_s = 0; // exposed; NaN: a program of the user does not tell it
  double p50_s = 0, p95_s = 0, p99_s = 0, max_s = 0;
};

struct MeasuredTimes {
  double throughput = not_measured; // samples/s
  double isolated_s = not_measured; // communication of a step, alone
  double probe_s = not_measured;    // of an allreduce of plain MPI
  double probe_bytes = 0;
  double server_update_s = not_measured; // in which a server updates the centre after or before one exchange
  double steps = 0, measured_steps = 0;
  std::vector<WorkerTimes> workers{};
  std::vector<Bucket> buckets{}; // empty: not recorded
};

// The succeeded runs of one size; at least one, each with a throughput above 0.
struct MeasuredSize {
  StudySize at;
  std::vector<MeasuredTimes> runs;
};

struct SeriesMeasurements {
  std::string series; // label without the size
  SeriesTraits traits;
  std::vector<MeasuredSize> sizes; // ascending
};

// What the sums of one step took if nothing ran beside them, in seconds: as long as makes them end `exposed_s` after a
// computation of `compute_s`, where they run one after another and each takes as long as its bytes tell. NaN if there is nothing
// to sum.
double isolated_from_exposed(const std::vector<Bucket>& buckets, double compute_s, double exposed_s);

// Geometric mean of the throughputs of a size's runs, in samples/s.
double throughput_of(const MeasuredSize& size);
// Mean time of a step, in seconds: samples of all workers in a step, divided by the throughput.
double step_s_of(const MeasuredSize& size);

} // namespace dt::store
