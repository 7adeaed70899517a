#include "cli/serve/pages.hpp"

#include "cli/comparison/comparison.hpp"
#include "cli/output/output.hpp"
#include "cli/report/html/markup.hpp"
#include "cli/report/html/study_page.hpp"
#include "cli/runs/run_tables.hpp"
#include "cli/runs/selectors.hpp"
#include "cli/runs/study_table.hpp"
#include "core/files/paths.hpp"
#include "core/machine/process.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <spdlog/sinks/ostream_sink.h>

namespace dt::cli {
namespace {

// The output of a verb as sections of a page, which must outlive this object.
class PageOutput : public Output {
 public:
  explicit PageOutput(Page& page) : page_(page) {}
  void heading(std::string_view title) override { page_.section("part-" + std::to_string(++headings_), title); }
  void field(const std::string&, const std::string& label, const Cell& cell) override
  {
    if (label.empty() || cell.text.empty()) return;
    page_.paragraph(label + ": " + cell.text, cell.style == Style::warning || cell.style == Style::bad ? "doubt" : "");
  }
  void table(const Table& table) override
  {
    page_.table(without_empty_columns(table), table.name + "-" + std::to_string(++tables_));
  }
  void block(const std::string&, std::string_view text) override
  {
    if (!text.empty()) page_.preformatted(text);
  }
  void drawing(std::string_view text) override { block("", text); }
  void data(const std::string&, Json) override {}
  void finish(ExitCode) override {}
  void fail(const Error& error, ExitCode) override { page_.paragraph(error.what(), "doubt"); }

 private:
  Page& page_;
  int tables_ = 0, headings_ = 0;
};

constexpr std::int64_t usual_studies = 50, most_studies = 10'000;

bool is_key(const std::string& text)
{
  return !text.empty() && text.size() <= 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool has_open_runs(const store::StudyRow& study) { return study.succeeded + study.failed < study.runs; }

std::string run_address(const std::string& key) { return "run?key=" + key; }

constexpr const char* from_studies = " list=\"studies\""; // study_choices()

// A labelled field of a form. `attributes`: more of them for the input, after a blank.
std::string text_field(const char* name, const char* label, const std::string& value, const char* attributes = "")
{
  return fmt::format("<label for=\"{0}\">{1}<input id=\"{0}\" name=\"{0}\" value=\"{2}\"{3}></label>\n", name, label,
                     escaped(value), attributes);
}

std::string choice_field(const char* name, const char* label, const std::vector<std::string>& choices, const std::string& chosen)
{
  auto html = fmt::format("<label for=\"{0}\">{1}<select id=\"{0}\" name=\"{0}\">", name, label);
  for (const auto& choice : choices)
    html += fmt::format("<option{}>{}</option>", choice == chosen ? " selected" : "", escaped(choice));
  return html + "</select></label>\n";
}

// The list of studies from which a reader chooses in a text field: their names, or the id of a study whose name a newer study
// has, too.
std::string study_choices(ResultsStore& results)
{
  std::string html = "<datalist id=\"studies\">";
  std::set<std::string> names;
  for (const auto& study : store::list_studies(results.database(), usual_studies)) {
    const bool is_newest = names.insert(study.name).second;
    html += fmt::format("<option value=\"{}\">{}, submitted {}</option>", escaped(is_newest ? study.name : short_key(study.id)),
                        escaped(study.name), format_time_local(study.submitted_unix_s));
  }
  return html + "</datalist>\n";
}

std::string compare_form(const HttpRequest& request)
{
  const auto metric = request.parameter("metric");
  return "<form action=\"compare\" method=\"get\">\n" +
         text_field("a", "A: a study, or STUDY/LABEL", request.parameters.contains("a") ? request.parameter("a") : "last",
                    from_studies) +
         text_field("b", "B (empty: candidates within A)", request.parameter("b"), from_studies) +
         text_field("by", "By key, such as sync.strategy (may be empty)", request.parameter("by")) +
         choice_field("metric", "Metric", store::metric_names(), metric.empty() ? "throughput" : metric) +
         "<button type=\"submit\">Compare</button></form>\n";
}

std::string query_form(const std::string& sql)
{
  return "<form action=\"query\" method=\"get\">\n<label class=\"whole\" for=\"sql\">One SELECT statement. Views: scaling (a row "
         "per point), runs_flat (a row per run), phases_flat (a row per run, rank and phase)<textarea id=\"sql\" name=\"sql\" "
         "spellcheck=\"false\">" +
         escaped(sql) + "</textarea></label>\n<button type=\"submit\">Ask</button></form>\n";
}

ServedPage new_page(const std::string& title, const std::string& subtitle)
{
  ServedPage served{.page = Page(title, subtitle)};
  served.page.set_links(links_html());
  return served;
}

Cell cell_of(const Json& value)
{
  if (value.is_number_float()) return real_cell(value.get<double>(), 6);
  if (value.is_null()) return {value, "", Style::plain};
  return {value, value.is_string() ? value.get<std::string>() : value.dump(), Style::plain};
}

// The rows of `dtctl query --json` as a table.
Table table_of_answer(const Json& answer)
{
  Table table{"rows", {}, {}, "no rows"};
  for (const auto& column : answer.at("columns")) table.columns.push_back({column.get<std::string>(), column.get<std::string>()});
  for (const auto& row : answer.at("rows")) {
    auto& cells = table.rows.emplace_back();
    for (auto& column : table.columns) {
      cells.push_back(cell_of(row.value(column.name, Json())));
      if (cells.back().value.is_number()) column.align = Align::right;
    }
  }
  return table;
}

void add_answer(Page& page, const CommandResult& result)
{
  const auto answer = Json::parse(result.out, nullptr, false);
  if (answer.is_discarded())
    return page.paragraph("The query gave no answer" + (result.err.empty() ? "." : ": " + result.err), "doubt");
  if (answer.contains("error")) return page.paragraph(answer["error"].value("message", "the query failed"), "doubt");
  page.table(table_of_answer(answer), "rows", {}, 1000);
  if (answer.value("truncated", false)) page.paragraph("Only the first 1,000 rows are shown. All rows: dtctl query", "doubt");
}

} // namespace

std::string links_html(const std::string& root)
{
  return fmt::format("<nav aria-label=\"Pages\"><a href=\"{0}./\">Studies</a><a href=\"{0}compare\">Compare</a>"
                     "<a href=\"{0}query\">Query</a></nav>\n",
                     root);
}

ServedPage no_such_page(const std::string& name)
{
  auto served = error_page(404, "There is no such page.");
  std::string root;
  for (const char character : name)
    if (character == '/') root += "../";
  served.page.set_root(root);
  served.page.set_links(links_html(root));
  return served;
}

ServedPage error_page(int status, const std::string& text)
{
  auto served = new_page(status == 404 ? "Not found" : "Error", "");
  served.status = status;
  served.page.paragraph(text);
  if (status < 500)
    served.page.set_still();
  else
    served.fresh_s = 1; // what is wrong now may be right in a moment
  return served;
}

ServedPage studies_page(ResultsStore& results, bool all, const std::string& where)
{
  const auto limit = all || !where.empty() ? most_studies : usual_studies;
  auto studies = listed_studies(results.database(), where, limit);
  // The runs of studies that have not ended, asked for at once: a scheduler is asked once.
  const auto open = results.up_to_date([&] {
    std::vector<store::RunRow> rows;
    for (const auto& study : studies)
      if (has_open_runs(study))
        for (auto& row : store::runs_of_study(results.database(), study.id)) rows.push_back(std::move(row));
    return rows;
  });
  if (!open.empty()) studies = listed_studies(results.database(), where, limit);
  auto served = new_page("Studies", "Of " + results.home().root().string() + ", the newest first.");
  served.page.markup("<form action=\"./\" method=\"get\">\n" +
                     text_field("where", "With a run that meets a condition, such as tag=paper", where) +
                     "<button type=\"submit\">Filter</button></form>\n");
  std::vector<std::string> links;
  for (const auto& study : studies) links.push_back("study?id=" + study.id);
  auto table = study_table(studies);
  if (!where.empty()) table.when_empty = "No study has a run that meets the condition.";
  served.page.table(table, "studies", links, studies.size());
  if (static_cast<std::int64_t>(studies.size()) == limit && !all)
    served.page.markup(fmt::format("<p><a href=\"./?all=yes\">All studies</a>; these are the newest {}.</p>\n", limit));
  served.fresh_s = fresh_s_of(open);
  return served;
}

ServedPage served_study_page(ResultsStore& results, const std::string& id)
{
  if (!is_key(id)) return error_page(404, "A study's address ends in id= and its id.");
  Selector selector;
  selector.what = id;
  auto selection = select(results, selector);
  if (!selection.study) return error_page(404, "There is no study with this id.");
  const double fresh_s = fresh_s_of(selection.runs);
  auto source = chart_source(results.database(), results.home(), *selection.study, rows_of(selection.runs));
  ServedPage served{.page = study_page({std::move(source), std::move(selection.runs), record_of(results.home(), *selection.study),
                                        StudyPageOptions{.most_run_rows = 1000, .runs_file = "", .run_address = run_address}})};
  served.page.set_links(links_html());
  served.fresh_s = fresh_s;
  return served;
}

ServedPage compare_page(Context& context, ResultsStore& results, const HttpRequest& request)
{
  auto served = new_page("Compare", "Which is better, how sure that is, and what would decide.");
  served.page.markup(compare_form(request) + study_choices(results));
  served.page.set_still();
  if (!request.parameters.contains("a")) return served;
  served.fresh_s = 10; // its runs may go on
  std::ostringstream said;
  spdlog::logger messages("page", std::make_shared<spdlog::sinks::ostream_sink_mt>(said));
  messages.set_pattern("%v");
  PageOutput out(served.page);
  Context own{out, messages, {}, {}};
  CompareOptions options;
  options.a = request.parameter("a");
  options.b = request.parameter("b");
  options.by = request.parameter("by");
  if (const auto metric = request.parameter("metric"); !metric.empty()) options.metric = metric;
  try {
    compare(own, results, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    served.page.paragraph(error.what(), "doubt");
  }
  context.note(own.troubles);
  for (const auto& line : split(said.str(), '\n')) served.page.paragraph(line, "doubt");
  return served;
}

ServedPage query_page(const HttpRequest& request)
{
  const auto sql = request.parameter("sql");
  auto served = new_page("Query", "Read-only SQL on the results, for at most 10 seconds and 1,000 rows.");
  served.page.markup(query_form(sql));
  served.page.set_still();
  if (sql.empty()) return served;
  constexpr double patience_s = 20;
  add_answer(
      served.page,
      run_command({own_program().string(), "query", "--json", "--limit", "1000", "--timeout", "10", "--", sql}, patience_s));
  return served;
}

} // namespace dt::cli
