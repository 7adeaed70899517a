// Doubts in words.
#include "cli/answers/doubt_output.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::cli;

namespace {

using Lines = std::vector<std::string>;

// "LABEL: TEXT" of each line.
Lines lines_of(store::Doubts doubts)
{
  doubts.measured_runs = 5;
  Lines lines;
  for (const auto& line : doubt_lines(doubts)) lines.push_back(line.label + ": " + line.text);
  return lines;
}

} // namespace

TEST_CASE("each reason of busy machines has a line, with the number of its runs and the worst of them")
{
  store::Doubts doubts;
  doubts.busy = {{.run = "a", .others_share = 0.3, .step_spread_ratio = 3.1},
                 {.run = "b", .others_share = 0.48, .steal_share = 0.08},
                 {.run = "c", .load = 9.8, .cores = 2, .probe_slower_by = 0.41}};
  CHECK(lines_of(doubts) ==
        Lines{"machine busy: 2 of 5 runs: other processes took up to 48 % of the cores that the ranks needed",
              "machine busy: 1 of 5 runs: the hypervisor took up to 8 % of the cores for other virtual machines",
              "machine busy: 1 of 5 runs: the load average was up to 9.8 on 2 cores",
              "machine busy: 1 of 5 runs: matrix products before the first step were up to 41 % slower than the median on the "
              "same node",
              "machine busy: 1 of 5 runs: step times scattered up to 3.1 times as much as the median of the repeats"});
}

TEST_CASE("a CPU quota is told with what it took, slow hosts and networks with how slow they were")
{
  store::Doubts doubts;
  doubts.throttled = {{"a", 0.06, not_measured}, {"b", 0.75, 0.5}};
  CHECK(lines_of(doubts) == Lines{"cpu quota: 2 of 5 runs: a CPU quota of 0.5 cores held the ranks back for up to 75 % of the "
                                  "time; give the job more processor time, or run fewer ranks or threads"});
  doubts = {};
  doubts.outliers = {{store::Outlier::Kind::matrix_product, "bad", {"a", "b"}, 3, 0.25},
                     {store::Outlier::Kind::allreduce, "", {"0123456789abcdef"}, 0, 1.5}};
  CHECK(lines_of(doubts) == Lines{"slow node: bad: matrix products 25 % slower than the others (3 ranks in 2 runs)",
                                  "slow network: run 0123456789: allreduce 150 % slower than in the others of its shape"});
  doubts.outliers.pop_back();
  doubts.outliers.front().is_on_one_machine = true;
  CHECK(lines_of(doubts) == Lines{"emulated hosts: bad: matrix products 25 % slower than the others (3 ranks in 2 runs); all "
                                  "hosts are on one machine, whose cores were busy or slower then"});
  doubts.outliers.clear();
  for (const double slower_by : {0.5, 0.71, 0.6, 0.55})
    doubts.outliers.push_back({store::Outlier::Kind::allreduce, "", {"0123456789abcdef"}, 0, slower_by});
  CHECK(lines_of(doubts) == Lines{"slow network: 4 of 5 runs: allreduce up to 71 % slower than in the others of their shape"});
}
