// The comparison of `dtctl compare`, which a page of `dtctl serve` shows too.
#pragma once

#include "cli/runs/results_store.hpp"
#include "core/error.hpp"

#include <string>
#include <vector>

namespace dt::cli {

// The options of `dtctl compare`.
struct CompareOptions {
  std::string a = "last", b, where_a, where_b;
  std::string by, metric, margin = "2%"; // metric: empty: that by which both sides were tuned, or throughput
  std::string reference, baseline;  // a study or a file, or a pinned study (dtctl note --baseline), to compare with; empty: none
  std::vector<std::string> formats; // of the comparison with it: "markdown=comment.md" (formats.hpp)
  std::string threshold;            // with a reference: worse by more than this is exit 5, whatever the runs show; empty: none
  bool against_now = false;         // run both sides again, interleaved, and compare those runs
};

// Prints the comparison. Throws usage errors for options that name nothing or do not fit each other.
ExitCode compare(Context& context, ResultsStore& results, const CompareOptions& options);

} // namespace dt::cli
