#include "cli/comparison/formats.hpp"

#include "cli/answers/verdict/judged_text.hpp"
#include "cli/command/destination.hpp"
#include "cli/comparison/junit.hpp"
#include "cli/output/cell.hpp"
#include "cli/report/html/markup.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/lookup.hpp"
#include "core/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::cli {
namespace {

bool is_undecided(const store::Judged& judged)
{
  return !store::is_regression(judged) && judged.comparison.verdict == store::Verdict::cannot_tell;
}

std::string with_title(const store::Judged& judged) { return judged.title + ": " + sentence_of(judged); }

std::string no_partner(const std::string& point) { return point + ": no point of A has this label and size"; }

// In a message; in a property, ":" and "," too.
std::string workflow_text(std::string_view text, bool is_property)
{
  std::string escaped;
  for (const char c : printable(text)) {
    const bool is_special = c == '%' || (is_property && (c == ':' || c == ','));
    escaped += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return escaped;
}

// The annotations of one kind.
std::string workflow_commands(const char* kind, const char* title, const std::string& file,
                              const std::vector<std::string>& messages)
{
  constexpr std::size_t most = 10;
  const auto head = fmt::format("::{} {}title={}::", kind, file.empty() ? "" : "file=" + workflow_text(file, true) + ",",
                                workflow_text(title, true));
  const auto shown = messages.size() > most ? most - 1 : messages.size();
  std::string lines;
  for (std::size_t i = 0; i < shown; ++i) lines += head + workflow_text(messages[i], false) + "\n";
  if (shown < messages.size()) lines += head + fmt::format("and {} more", messages.size() - shown) + "\n";
  return lines;
}

// The fingerprint is that of the point and the metric, so that GitLab knows the same issue in the next pipeline.
Json code_issue(const ReportedComparison& reported, const store::Judged& judged, const char* severity, const char* check)
{
  Hasher hasher;
  hasher.update(std::string(check) + '\0' + judged.name + '\0' + std::string(store::metric_row(judged.metric).name));
  return {{"description", printable(with_title(judged))},
          {"check_name", std::string("dtctl-") + check},
          {"fingerprint", hasher.hex()},
          {"severity", severity},
          {"location", {{"path", reported.file.empty() ? "dtctl" : reported.file}, {"lines", {{"begin", 1}}}}}};
}

struct BadgeText {
  std::string text;
  const char* colour;
};

BadgeText badge_text(const std::vector<store::Judged>& comparisons)
{
  const auto worse = std::ranges::count_if(comparisons, [](const auto&judged) { return store::is_regression(judged); }),
             open = std::ranges::count_if(comparisons, is_undecided);
  const auto all = counted(comparisons.size(), "point");
  if (worse > 0) return {fmt::format("{} of {} worse", worse, all), "#c0392b"};
  if (open > 0) return {fmt::format("{} of {} cannot tell", open, all), "#77777f"};
  return {fmt::format("no regression in {}", all), "#2e7d32"};
}

std::string markdown_of(const ReportedComparison& reported)
{
  return comment_of(reported.titles, reported.comparisons, reported.missing);
}

std::string junit_text(const ReportedComparison& reported) { return junit_of(reported.comparisons, reported.missing); }

const ComparisonFormat& format_named(const std::string& name)
{
  for (const auto& format : comparison_formats())
    if (format.name == name) return format;
  std::vector<std::string> names;
  for (const auto& format : comparison_formats()) names.emplace_back(format.name);
  throw Error(ErrorKind::usage, "--format: " + unknown_name("format", name, names));
}

} // namespace

const std::vector<ComparisonFormat>& comparison_formats()
{
  static const std::vector<ComparisonFormat> formats{{"markdown", markdown_of},
                                                     {"github", github_annotations},
                                                     {"gitlab", gitlab_code_quality},
                                                     {"junit", junit_text},
                                                     {"badge", badge_of}};
  return formats;
}

std::vector<WantedFormat> wanted_formats(const std::vector<std::string>& words)
{
  std::vector<WantedFormat> wanted;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const auto& format = format_named(word.substr(0, equals));
    if (equals != word.npos && equals + 1 == word.size())
      throw Error(ErrorKind::usage, fmt::format("--format {}: the name of the file is missing", word));
    const auto file = equals == word.npos ? "" : word.substr(equals + 1);
    wanted.push_back({&format, is_standard_output(file) ? "" : file});
  }
  if (std::ranges::count_if(wanted, [](const auto& one) { return one.file.empty(); }) > 1)
    throw Error(ErrorKind::usage, "only one format can be printed; give the others files: --format FORMAT=FILE");
  return wanted;
}

std::string github_annotations(const ReportedComparison& reported)
{
  std::vector<std::string> worse, open;
  for (const auto& judged : reported.comparisons)
    if (store::is_regression(judged))
      worse.push_back(with_title(judged));
    else if (is_undecided(judged))
      open.push_back(with_title(judged));
  for (const auto& point : reported.missing) open.push_back(no_partner(point));
  return workflow_commands("error", "Regression", reported.file, worse) +
         workflow_commands("warning", "Cannot tell", reported.file, open) +
         workflow_commands(
             "notice", "dtctl compare", "",
             {fmt::format("{}. A: {}; B: {}", headline_of(reported.comparisons), reported.titles.a, reported.titles.b)});
}

std::string gitlab_code_quality(const ReportedComparison& reported)
{
  Json issues = Json::array();
  for (const auto& judged : reported.comparisons)
    if (store::is_regression(judged))
      issues.push_back(code_issue(reported, judged, "major", "regression"));
    else if (is_undecided(judged))
      issues.push_back(code_issue(reported, judged, "info", "cannot-tell"));
  return issues.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The texts have the width that textLength says, whatever font the viewer has.
std::string badge_of(const ReportedComparison& reported)
{
  constexpr const char* label = "performance";
  constexpr int letter = 7, margin = 6, label_width = 11 * letter + 2 * margin;
  const auto [text, colour] = badge_text(reported.comparisons);
  const int text_length = letter * static_cast<int>(display_width(text)), width = label_width + text_length + 2 * margin;
  const auto word = [](int x, int length, const std::string& shown) {
    return fmt::format("<text x=\"{}\" y=\"14\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>\n", x, length,
                       escaped(shown));
  };
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"20\" role=\"img\" aria-label=\"{1}: {2}\">\n"
             "<title>{1}: {2}</title>\n"
             "<rect width=\"{3}\" height=\"20\" fill=\"#444\"/><rect x=\"{3}\" width=\"{4}\" height=\"20\" fill=\"{5}\"/>\n"
             "<g fill=\"#fff\" font-family=\"sans-serif\" font-size=\"12\">\n",
             width, label, escaped(text), label_width, width - label_width, colour) +
         word(margin, label_width - 2 * margin, label) + word(label_width + margin, text_length, text) + "</g></svg>\n";
}

} // namespace dt::cli
