// How often the statistics of verdicts (store/analysis/) are right: simulates studies whose truth is known and counts.
//
//   bench_statistics [--quick | --trials 4000] [--seed 1] [--json FILE] [--only comparisons|gains|studies|races|tunings]
//                    [--machine NAME] [--candidates K] [--sizes S] [--repeats N]
//
// Prints tables, and into FILE a JSON object for each row, in which shares are numbers between 0 and 1.
#include "tests/bench/statistics/report.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

int main(int argc, char** argv)
{
  using namespace dt::bench;
  CLI::App app("Shares of right and wrong verdicts in simulated studies");
  BenchOptions options;
  std::string file, only;
  auto* trials =
      app.add_option("--trials", options.trials, "simulated studies per case")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_flag_callback(
         "--quick", [&] { options.trials = 400; }, "400 studies per case: a share of 5 % is then known within 1.1 points")
      ->excludes(trials);
  app.add_option("--seed", options.seed, "of the random numbers")->capture_default_str();
  app.add_option("--json", file, "write a JSON object for each row to this file");
  app.add_option("--only", only, "one part")->check(CLI::IsMember({"comparisons", "gains", "studies", "races", "tunings"}));
  app.add_option("--machine", options.machine, "of the studies, those of this machine: equal, unequal, drift, …");
  app.add_option("--candidates", options.candidates, "of the studies, those of so many candidates");
  app.add_option("--sizes", options.sizes, "of the studies, those of so many sizes");
  app.add_option("--repeats", options.repeats, "of the studies, those of so many repeats");
  CLI11_PARSE(app, argc, argv);

  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> json(file.empty() ? nullptr : std::fopen(file.c_str(), "w"), std::fclose);
  if (!file.empty() && !json) {
    fmt::print(stderr, "cannot write {}: {}\n", file, std::strerror(errno));
    return 1;
  }
  Report report(json.get());
  if (only.empty() || only == "comparisons") report_comparisons(report, options);
  if (only.empty() || only == "gains") report_gains(report, options);
  if (only.empty() || only == "studies") report_studies(report, options);
  if (only.empty() || only == "races") report_races(report, options);
  if (only.empty() || only == "tunings") report_tunings(report, options);
}
