#include "cli/comparison/junit.hpp"

#include "cli/answers/verdict/judged_text.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// U+FFFE and U+FFFF are valid UTF-8 but no characters of XML.
std::string without_noncharacters(std::string text)
{
  for (const auto& [bytes, shown] :
       {std::pair<std::string_view, std::string_view>{"\xEF\xBF\xBE", "\\uFFFE"}, {"\xEF\xBF\xBF", "\\uFFFF"}})
    for (auto at = text.find(bytes); at != std::string::npos; at = text.find(bytes, at)) text.replace(at, bytes.size(), shown);
  return text;
}

// The text as the value of an attribute in double quotation marks.
std::string attribute(std::string_view text)
{
  std::string value;
  for (const char c : without_noncharacters(printable(text))) {
    switch (c) {
    case '&':
      value += "&amp;";
      break;
    case '<':
      value += "&lt;";
      break;
    case '>':
      value += "&gt;";
      break;
    case '"':
      value += "&quot;";
      break;
    default:
      value += c;
    }
  }
  return value;
}

std::string test_case(const std::string& name, store::Metric metric, const std::string& outcome)
{
  return fmt::format("    <testcase classname=\"dtctl.compare.{}\" name=\"{}\"{}\n", attribute(store::metric_row(metric).name),
                     attribute(name), outcome.empty() ? "/>" : ">" + outcome + "</testcase>");
}

std::string outcome_of(const store::Judged& judged)
{
  const auto message = attribute(sentence_of(judged));
  if (store::is_regression(judged)) return "<failure type=\"regression\" message=\"" + message + "\"/>";
  const bool is_open = judged.comparison.verdict == store::Verdict::cannot_tell;
  return is_open ? "<skipped message=\"" + message + "\"/>" : "";
}

} // namespace

std::string junit_of(const std::vector<store::Judged>& comparisons, const std::vector<std::string>& missing)
{
  std::string cases;
  std::size_t failures = 0, skipped = missing.size();
  for (const auto& judged : comparisons) {
    const auto outcome = outcome_of(judged);
    failures += outcome.starts_with("<failure") ? 1 : 0;
    skipped += outcome.starts_with("<skipped") ? 1 : 0;
    cases += test_case(judged.name, judged.metric, outcome);
  }
  const auto metric = comparisons.empty() ? store::Metric::throughput : comparisons.front().metric;
  for (const auto& name : missing)
    cases += test_case(name, metric, "<skipped message=\"no point of the study has this label and size\"/>");
  const auto counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", comparisons.size() + missing.size(),
                                  failures, skipped);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"dtctl compare\" {0}>\n{1}  "
      "</testsuite>\n</testsuites>\n",
      counts, cases);
}

} // namespace dt::cli
