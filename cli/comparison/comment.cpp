#include "cli/comparison/comment.hpp"

#include "cli/answers/comparison_tables.hpp"
#include "cli/answers/verdict/judged_text.hpp"
#include "cli/output/document.hpp"
#include "core/counted.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::cli {

std::string headline_of(const std::vector<store::Judged>& comparisons)
{
  const auto count = [&](auto is) { return static_cast<std::size_t>(std::ranges::count_if(comparisons, is)); };
  const auto worse = count([](const auto& judged) { return store::is_regression(judged); });
  const auto open = count([](const auto& judged) { return judged.comparison.verdict == store::Verdict::cannot_tell; });
  const auto all = comparisons.size();
  if (worse > 0) return fmt::format("Regression: {} of {}", worse, counted(all, "point"));
  return open > 0 ? fmt::format("No regression was shown; {} of {} cannot tell", open, counted(all, "point"))
                  : fmt::format("No regression in {}", counted(all, "point"));
}

std::string comment_of(const ComparedTitles& titles, const std::vector<store::Judged>& comparisons,
                       const std::vector<std::string>& missing)
{
  MarkupDocument document(DocumentFormat::markdown);
  document.heading(3, headline_of(comparisons));
  document.paragraph(
      fmt::format("A: {}. B, the reference: {}.{}", titles.a, titles.b, titles.apart.empty() ? "" : " " + titles.apart + "."));
  document.table(without_empty_columns(comparison_table(comparisons)));
  std::vector<std::string> remarks;
  for (const auto& judged : comparisons)
    if (judged.comparison.verdict == store::Verdict::cannot_tell || comparisons.size() == 1)
      remarks.push_back(judged.title + ": " + sentence_of(judged));
  for (const auto& name : missing) remarks.push_back(name + ": no point of A has this label and size");
  document.list(remarks);
  return document.text();
}

} // namespace dt::cli
