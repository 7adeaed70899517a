// A comparison with a reference in the formats of CI systems: `dtctl compare --format`.
#pragma once

#include "cli/comparison/comment.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

// A comparison with a reference, which each format shows.
struct ReportedComparison {
  ComparedTitles titles;
  std::vector<store::Judged> comparisons;
  std::vector<std::string> missing; // points of the reference without a partner
  std::string file;                 // the recipe of A, as a path in the repository: where annotations are shown; may be empty
};

struct ComparisonFormat {
  std::string_view name;
  std::string (*text)(const ReportedComparison&);
};
// markdown, github, gitlab, junit, badge.
const std::vector<ComparisonFormat>& comparison_formats();

// "markdown=comment.md": the format, and the file it is written to. Without a file it is printed in place of the table.
struct WantedFormat {
  const ComparisonFormat* format = nullptr;
  std::filesystem::path file;
};
// Throws a usage error for an unknown format, an empty file name, and if two formats are to be printed.
std::vector<WantedFormat> wanted_formats(const std::vector<std::string>& words);

// Annotations, as workflow commands of GitHub Actions: an error for each regression, a warning for each comparison that cannot
// tell, and a notice that counts both. GitHub shows at most ten errors and ten warnings of a step; where there are more, the
// tenth says how many are left out.
std::string github_annotations(const ReportedComparison& reported);

// A Code Quality report of GitLab (JSON), which all of its tiers show in a merge request: an issue for each regression, of
// severity major, and one for each comparison that cannot tell, of severity info.
std::string gitlab_code_quality(const ReportedComparison& reported);

// An image (SVG) for a README, which says "2 of 6 points worse" or "no regression in 6 points".
std::string badge_of(const ReportedComparison& reported);

} // namespace dt::cli
