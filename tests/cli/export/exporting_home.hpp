// A home with runs whose steps and results are known, and the real dtctl to export them. Nothing is trained.
#pragma once

#include "tests/cli/site_home.hpp"

#include <string>
#include <vector>

namespace dt::test {

// Names that would break a text format, a page or a terminal.
inline const std::string hostile_name = "ev\"il\n\\ <script>alert(1)</script> \x1b[31mred\x1b[0m , = {x}";

class ExportingHome : public SiteHome {
 public:
  // Two runs of the study that have succeeded, at one and at two ranks.
  explicit ExportingHome(const std::string& study = "sample")
  {
    for (const int ranks : {1, 2}) runs.push_back(site.run_well(store::test::sample_spec(ranks), 1000.0 * ranks));
    record = site.study(runs, "strong", 1700000000, study);
  }
  // Replaces the first run's only attempt by one that failed after 7 steps.
  void let_first_fail() const
  {
    const AttemptFolder attempt(site.home.run(runs[0].key), 1);
    std::filesystem::remove(attempt.result());
    site.fail(attempt);
  }
  // The first run goes on from step 5 and succeeds after step 20, an hour later.
  void let_first_go_on() const
  {
    const auto attempt = site.begin(runs[0], 2);
    auto begin = read_begin(attempt).value();
    begin.unix_s += 3600;
    store::test::put_file(attempt.begin(), to_json(begin));
    site.succeed(runs[0], attempt, 900);
    store::test::put_file(attempt.events(), store::test::step_lines(6, 20));
  }

  std::vector<PlannedRun> runs;
  StudyRecord record;
};

// Names in the folder, sorted.
inline std::vector<std::string> listed(const std::filesystem::path& folder)
{
  auto names = names_in(folder);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace dt::test
