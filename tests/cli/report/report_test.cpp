// dtctl report: one self-contained file whose charts are the rows of the database.
#include "cli/report/chart/chart_source.hpp"
#include "cli/report/chart/charts.hpp"
#include "core/files/file.hpp"
#include "core/record/energy_record.hpp"
#include "core/text.hpp"
#include "tests/cli/report/pictured_home.hpp"
#include "tests/support/browser/browser.hpp"

#include <regex>
#include <set>

#include <catch2/catch.hpp>

using Catch::Contains;
using namespace dt;
using namespace dt::test;

namespace {

// A report of the home's study, as text.
std::string report_of(const PicturedHome& home, const std::string& name = "report.html")
{
  const auto result = home.run({"report", "last", "-o", name});
  INFO(result.err);
  REQUIRE(result.ok());
  return read_file(home.file(name));
}

Json charts_in(const std::string& html)
{
  const std::string mark = "<script type=\"application/json\" id=\"charts\">";
  const auto begin = html.find(mark) + mark.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

Json chart_in(const Json& charts, const std::string& id)
{
  for (const auto& chart : charts)
    if (chart.at("id") == id) return chart;
  FAIL("the report has no chart " << id);
  return {};
}

Json series_in(const Json& chart, const std::string& name)
{
  for (const auto& series : chart.at("series"))
    if (series.at("name") == name) return series;
  FAIL(chart.at("id") << " has no series " << name);
  return {};
}

// Whether two figures are the same to the seven digits of a report; null is null.
bool is_same(const Json& drawn, const Json& stored)
{
  if (drawn.is_null() || stored.is_null()) return drawn.is_null() && stored.is_null();
  return drawn.get<double>() == Approx(stored.get<double>()).epsilon(1e-6);
}

std::string url_of(const std::filesystem::path& file) { return "file://" + file.string(); }

// What nobody who opens the page should see.
void check_clean(const nlohmann::json& seen)
{
  INFO(seen.at("overlaps").dump());
  CHECK(seen.at("console").empty());
  CHECK(seen.at("requests").empty());
  CHECK(seen.at("overlaps").empty());
  CHECK(seen.at("wide") == false);
}

} // namespace

TEST_CASE("a report needs no other file and no network, and shows no value of a variable that looks like a secret")
{
  const PicturedHome home;
  const auto html = report_of(home);
  CHECK_THAT(html, !Contains(" src=") && !Contains("href=\"http") && !Contains("@import") && !Contains("url("));
  CHECK_THAT(html, Contains("Content-Security-Policy\" content=\"default-src 'none';"));
  const std::regex leading_out("href=\"(?!#|data:)");
  CHECK_FALSE(std::regex_search(html, leading_out));
  CHECK_THAT(html, !Contains("planted-secret") && Contains("API_TOKEN")); // nor does it show a secret
}

TEST_CASE("the sections of a report come in the order of its questions")
{
  const PicturedHome home;
  const auto html = report_of(home);
  std::size_t last = 0;
  for (const char* id : {"verdict", "scaling", "why", "training", "cost", "prediction", "phases", "timeline", "drift",
                         "environment", "runs", "recipe"}) {
    const auto at = html.find(std::string("<h2 id=\"") + id + "\"");
    INFO(id);
    REQUIRE(at != std::string::npos);
    CHECK(at > last);
    last = at;
  }
}

TEST_CASE("the efficiencies and speed-ups that a report draws are the rows of the view scaling, with their intervals")
{
  const PicturedHome home;
  const auto charts = charts_in(report_of(home));
  const auto rows = home.ask("SELECT label, size, efficiency, efficiency_low, efficiency_high, speedup FROM scaling "
                             "WHERE efficiency IS NOT NULL ORDER BY label, size");
  REQUIRE(rows.size() == 10);
  const auto efficiency = chart_in(charts, "efficiency"), speedup = chart_in(charts, "speedup");
  std::map<std::string, std::size_t> next;
  for (const auto& row : rows) {
    const auto label = row.at("label").get<std::string>();
    const auto at = next[label]++;
    const auto name = label.substr(label.find('=') + 1); // legends show values
    const auto point = series_in(efficiency, name).at("points").at(at), faster = series_in(speedup, name).at("points").at(at);
    CHECK(is_same(point.at(0), row.at("size")));
    CHECK(is_same(point.at(1), row.at("efficiency")));
    CHECK(is_same(point.at(2), row.at("efficiency_low")));
    CHECK(is_same(point.at(3), row.at("efficiency_high")));
    CHECK(is_same(faster.at(1), row.at("speedup")));
  }
  for (const auto& [label, count] : next)
    CHECK(series_in(efficiency, label.substr(label.find('=') + 1)).at("points").size() == count);
}

TEST_CASE("no table of a report has two columns of one name, neither in its head nor in the file that is saved from it")
{
  const PicturedHome home;
  const auto html = report_of(home);
  const std::regex head("<thead>.*?</thead>"), column("data-name=\"([^\"]*)\".*?data-sort>([^<]*)<");
  std::size_t tables = 0;
  for (std::sregex_iterator table(html.begin(), html.end(), head), end; table != end; ++table) {
    const auto columns = table->str();
    INFO(columns);
    std::set<std::string> saved, heads;
    for (std::sregex_iterator one(columns.begin(), columns.end(), column); one != end; ++one) {
      CHECK(saved.insert(one->str(1)).second);
      CHECK(heads.insert(one->str(2)).second);
    }
    tables += saved.empty() ? 0 : 1; // the heat map of the ranks is not saved
  }
  CHECK(tables > 5);
}

TEST_CASE("the losses, accuracies and noise scales that a report draws are the rows of the steps and evaluations")
{
  const PicturedHome home;
  const auto charts = charts_in(report_of(home));
  const std::string largest = " FROM runs_flat JOIN STEPS AS events ON events.run_id = runs_flat.run_id WHERE series = "
                              "'strategy=sync-sgd' AND ranks = 4 AND repeat = 0 ORDER BY step";
  const auto with_table = [&](std::string sql, const std::string& table) { return sql.replace(sql.find("STEPS"), 5, table); };
  const auto steps = home.ask("SELECT step * 64 AS samples, events.elapsed_s, events.loss" + with_table(largest, "steps"));
  const auto evals = home.ask("SELECT step * 64 AS samples, events.elapsed_s, events.accuracy, events.noise_scale" +
                              with_table(largest, "evals"));
  REQUIRE(steps.size() == 20);
  REQUIRE(evals.size() == 2);
  const auto check = [&](const char* id, const Json& rows, const char* x, const char* y) {
    const auto points = series_in(chart_in(charts, id), "sync-sgd").at("points");
    REQUIRE(points.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(is_same(points[i][0], rows[i].at(x)));
      CHECK(is_same(points[i][1], rows[i].at(y)));
      CHECK(is_same(points[i][2], points[i][3])); // the repeats are equal
    }
  };
  check("loss", steps, "elapsed_s", "loss");
  check("loss-samples", steps, "samples", "loss");
  check("accuracy", evals, "elapsed_s", "accuracy");
  check("accuracy-samples", evals, "samples", "accuracy");
  check("noise-scale", evals, "samples", "noise_scale");
  for (const char* id : {"accuracy", "accuracy-samples"}) CHECK(chart_in(charts, id).at("y").at("zero") == true); // alike
}

TEST_CASE("the waterfall's bars go from 100 % to the efficiency without a gap")
{
  const PicturedHome home;
  const auto charts = charts_in(report_of(home));
  const auto chart = *std::find_if(charts.begin(), charts.end(), [](const Json& one) {
    return one.at("id").get<std::string>().starts_with("waterfall") &&
           one.at("title").get<std::string>().find("sync-sgd") != std::string::npos;
  });
  const auto efficiency =
      home.ask("SELECT efficiency FROM scaling WHERE label = 'strategy=sync-sgd' AND size = 4")[0].at("efficiency");
  const auto whole = series_in(chart, "efficiency").at("points");
  REQUIRE(whole.size() == 2);
  CHECK(whole[0][3] == 1.0);
  CHECK(is_same(whole[1][3], efficiency));
  double lost = 0;
  for (const auto& series : chart.at("series"))
    if (series.at("name") != "efficiency")
      for (const auto& point : series.at("points")) lost += point[1].get<double>();
  CHECK(1 + lost == Approx(efficiency.get<double>()).margin(0.0005 * 7)); // causes below 0.05 points are left out
}

TEST_CASE("the phases, the drift and the timeline that a report draws are those of the ranks, the runs and the trace")
{
  const PicturedHome home;
  const auto charts = charts_in(report_of(home));
  const auto phases = chart_in(charts, "phases");
  const auto rows =
      home.ask("SELECT ranks.rank, 1e3 * avg(mean_s) AS ms FROM runs_flat JOIN ranks ON ranks.run_id = runs_flat.run_id "
               "JOIN rank_phases ON rank_phases.run_id = ranks.run_id AND rank_phases.rank = ranks.rank WHERE series = "
               "'strategy=sync-sgd' AND ranks = 4 AND phase = 'backward'");
  const auto categories = phases.at("x").at("categories");
  const auto place = std::find(categories.begin(), categories.end(), "sync-sgd, 4 ranks") - categories.begin();
  CHECK(is_same(series_in(phases, "backward").at("points").at(static_cast<std::size_t>(place)).at(1), rows[0].at("ms")));

  const auto drift = chart_in(charts, "drift");
  CHECK(series_in(drift, "runs").at("points").size() == 18);
  const auto controls = series_in(drift, "A/A controls").at("points");
  REQUIRE(controls.size() == 2);
  CHECK(controls[0][1].get<double>() / controls[1][1].get<double>() == Approx(1000.0 / 980));
  CHECK(controls[1][0].get<double>() == Approx(1500.0 / 60)); // minutes after the first run

  const auto timeline = chart_in(charts, "timeline");
  CHECK_THAT(timeline.at("title").get<std::string>(), Contains("step 2"));
  const auto backward = series_in(timeline, "backward").at("points");
  REQUIRE(backward.size() == 4); // a rank each
  CHECK(backward[0][2].get<double>() == Approx(3));
  CHECK(backward[0][3].get<double>() == Approx(7));
}

TEST_CASE("the line of the best points joins measured points only, each better in one of time and node-hours than the next")
{
  // Without a target all runs take the same time on one node, so the first point is the best: a simulated one, if it counted.
  const PicturedHome home("pictured", "", 0);
  const auto chart = chart_in(charts_in(report_of(home)), "pareto");
  CHECK(series_in(chart, "simulated").at("points").size() == 4);
  const auto line = series_in(chart, "best: no point beats it in both").at("points");
  REQUIRE(line.size() == 1);
  CHECK_THAT(line[0][4].get<std::string>(), !Contains("simulated"));

  const PicturedHome with_target;
  const auto best =
      series_in(chart_in(charts_in(report_of(with_target)), "pareto"), "best: no point beats it in both").at("points");
  for (std::size_t i = 1; i < best.size(); ++i) {
    CHECK(best[i - 1][0] < best[i][0]);
    CHECK(best[i - 1][1] > best[i][1]);
  }
}

TEST_CASE("a report draws time against energy, of the runs whose energy was measured")
{
  const PicturedHome home;
  const auto chart = chart_in(charts_in(report_of(home)), "energy");
  CHECK(chart.at("x").at("title") == "energy of a run in that time [J]");
  const auto points = series_in(chart, "sync-sgd").at("points");
  REQUIRE(points.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) // 640 samples to the target, on 1, 2 and 4 ranks
    CHECK(points[i][0].get<double>() == Approx(640 * (0.4 + 0.1 * std::pow(2, i))));
  for (const auto& series : chart.at("series")) CHECK(series.at("name") != "simulated");
  CHECK(series_in(chart, "best: no point beats it in both").at("points").size() == 3); // more ranks need more and are faster
  const auto best = home.json({"results", "last", "--best-by", "energy"}).at("best");
  CHECK(best[0].at("joules_per_sample").get<double>() == Approx(0.5));
  CHECK(best[0].at("pareto") == true);
  home.forget_database();
  for (const auto& run : home.runs) std::filesystem::remove(energy_path(AttemptFolder(home.site.home.run(run.key), 1)));
  CHECK_THAT(report_of(home, "without.html"), !Contains("Time against energy"));
}

TEST_CASE("bars and points of which some runs missed the target say how many reached it, and all others say nothing")
{
  const PicturedHome home;
  const AttemptFolder attempt(home.site.home.run(home.runs[6].key), 1); // sync-sgd on 4 ranks
  auto missed = read_result(attempt).value();
  missed.time_to_accuracy_s = not_measured;
  missed.samples_to_accuracy = 0;
  store::test::put_file(attempt.result(), to_json(missed));
  const auto charts = charts_in(report_of(home));
  for (const char* id : {"target", "pareto"}) {
    const auto chart = chart_in(charts, id);
    int marked = 0, others = 0;
    for (const auto& series : chart.at("series"))
      for (const auto& point : series.at("points")) {
        if (point.size() > 5) CHECK(point[5] == "2 of 3 runs");
        ++(point.size() > 5 ? marked : others);
      }
    CHECK(marked == 1);
    CHECK(others > 3);
  }
}

TEST_CASE("an earlier prediction stands in a report with how it scored")
{
  const PicturedHome home;
  const auto html = report_of(home);
  CHECK_THAT(html, Contains("How earlier predictions scored") && Contains("table-predictions"));
  const auto chart = chart_in(charts_in(html), "prediction-2");
  const auto earlier = series_in(chart, "predicted earlier").at("points");
  REQUIRE(earlier.size() == 1);
  CHECK(earlier[0][1] == 2500.0);
  const auto band = series_in(chart, "predicted, 80 % interval");
  CHECK(band.at("origin") == "predicted");
  CHECK(band.at("points").size() == 3); // the largest measured size, twice and four times it
}

TEST_CASE(
    "headless Chromium shows a report without a message, a request or texts that cover each other, at every width and theme")
{
  const PicturedHome home;
  report_of(home);
  const auto url = url_of(home.file("report.html"));
  const std::string width = GENERATE("400", "1280");
  const Words medium = GENERATE(Words{}, Words{"--dark"}, Words{"--print"});
  INFO(width << " " << (medium.empty() ? "light" : medium[0]));
  const auto seen = look_at(url, with(with({"--width", width}, medium), {"--run", "dtctl_charts.drawn.size"}));
  check_clean(seen);
  CHECK(seen.at("values")[0] == charts_in(read_file(home.file("report.html"))).size());
}

TEST_CASE("simulated points look different from measured ones: hollow marks and dashed lines")
{
  const PicturedHome home;
  const auto charts = charts_in(report_of(home));
  CHECK(series_in(chart_in(charts, "efficiency"), "simulated").at("origin") == "simulated");
  CHECK(series_in(chart_in(charts, "efficiency"), "hsgd").at("origin") == "measured");
  const std::string look =
      "(() => { const all = dtctl_charts.drawn.get('efficiency').data.datasets; const of = (name) => all.find((one) => "
      "one.label === name); return [of('simulated').borderDash.length, of('simulated').backgroundColor, "
      "of('hsgd').borderDash.length, of('hsgd').backgroundColor, of('hsgd').borderColor]; })()";
  const auto seen = look_at(url_of(home.file("report.html")), {"--run", look}).at("values")[0];
  CHECK(seen[0].get<int>() > 0);
  CHECK(seen[1] == "#ffffff");
  CHECK(seen[2] == 0);
  CHECK(seen[3] == seen[4]);
}

TEST_CASE("a reader can sort the tables, hide a series with its band, see a point's figures and save the data")
{
  const PicturedHome home;
  report_of(home);
  const std::string at =
      "Array.from(document.querySelectorAll('#table-points th')).findIndex((head) => head.dataset.name === 'throughput')";
  const std::string head = "document.querySelectorAll('#table-points th')[" + at + "]";
  const std::string cells = "Array.from(document.querySelectorAll('#table-points tbody tr')).map((row) => row.cells[" + at +
                            "]).map((cell) => cell.dataset.v ?? cell.textContent)";
  const std::string hide_first = R"js((() => {
    const chart = dtctl_charts.drawn.get('loss');
    chart.options.plugins.legend.onClick({}, chart.legend.legendItems[0], chart.legend);
    return chart.data.datasets.map((one, i) => [one.series, chart.isDatasetVisible(i)]);
  })())js";
  const std::string tooltip_of_hsgd = R"js((() => {
    const chart = dtctl_charts.drawn.get('efficiency');
    const datasetIndex = chart.data.datasets.findIndex((one) => one.label === 'hsgd');
    chart.tooltip.setActiveElements([{ datasetIndex, index: 2 }], { x: 0, y: 0 });
    chart.update();
    return chart.tooltip.title.concat(chart.tooltip.body.flatMap((one) => one.lines));
  })())js";
  const auto seen =
      look_at(url_of(home.file("report.html")),
              {"--run", head + ".querySelector('button').click()", "--run", cells, "--run", head + ".getAttribute('aria-sort')",
               "--run", hide_first, "--run", tooltip_of_hsgd, "--run", "dtctl_charts.csv_of('efficiency')"})
          .at("values");
  std::vector<double> sorted;
  for (const auto& value : seen[1]) sorted.push_back(std::stod(value.get<std::string>()));
  CHECK(sorted.size() == 10);
  CHECK(std::is_sorted(sorted.begin(), sorted.end()));
  CHECK(seen[2] == "ascending");
  for (const auto& dataset : seen[3]) CHECK(dataset[1] == (dataset[0] != 0)); // line and band of the first series are hidden
  const auto row = home.ask("SELECT efficiency FROM scaling WHERE label = 'strategy=hsgd' AND size = 4")[0];
  const auto tooltip = seen[4].dump();
  CHECK_THAT(tooltip, Contains("workers: 4") && Contains("3 runs") && Contains("hsgd"));
  CHECK_THAT(tooltip, Contains(std::to_string(row.at("efficiency").get<double>() * 100).substr(0, 4)));
  CHECK_THAT(seen[5].get<std::string>(), Contains("series,origin,x,y,low,high,note") && Contains("\nhsgd,measured,4,"));
}

TEST_CASE("where labels count their sizes differently, the axis has the workers of each point")
{
  const store::test::Site site;
  auto database = site.open();
  const auto row = [](const std::string& label, std::int64_t nodes, std::int64_t workers, std::int64_t size, std::int64_t base) {
    store::ScalingRow point;
    point.label = label;
    point.nodes = nodes, point.ranks = 2 * nodes, point.workers = workers, point.size = size, point.baseline_size = base;
    point.speedup = point.efficiency = 1;
    return point;
  };
  cli::ChartSource source{
      database,
      site.home,
      {},
      {},
      {row("async-easgd", 1, 1, 1, 1), row("async-easgd", 2, 3, 3, 1), row("sync-sgd", 1, 2, 1, 1), row("sync-sgd", 2, 4, 2, 1)},
      {}};
  cli::choose_labels(source);
  for (const auto& drawn : {cli::efficiency_chart(source), cli::speedup_chart(source)}) {
    REQUIRE(drawn.charts.size() == 1);
    CHECK(drawn.charts[0].x.title == "workers");
    CHECK(drawn.charts[0].x.ticks == std::vector<double>{1, 2, 3, 4});
    CHECK(drawn.charts[0].series[1].points[1].x == 4);
  }
  CHECK(cli::speedup_chart(source).charts[0].series.back().points.back().y == 2); // ideal from 2 workers
  source.scaling.erase(source.scaling.begin(), source.scaling.begin() + 2);
  CHECK(cli::efficiency_chart(source).charts[0].x.title == "nodes");
  CHECK(cli::efficiency_chart(source).charts[0].x.ticks == std::vector<double>{1, 2});
}

TEST_CASE("without JavaScript a report still has its verdict and every table")
{
  const PicturedHome home;
  report_of(home);
  const auto seen = look_at(url_of(home.file("report.html")), {"--no-script"});
  const auto text = seen.at("text").get<std::string>();
  CHECK_THAT(text, Contains(" by time to target at 4 ranks"));
  for (const char* cell : {"hsgd", "rank 1 on node0", "EPYC", "#2", "train.target_accuracy"}) CHECK_THAT(text, Contains(cell));
  CHECK_THAT(text, !Contains("Save as CSV")); // buttons that would do nothing are not shown
}

TEST_CASE("names that hold markup or terminal escapes are shown as they are written and do nothing, in HTML as in Markdown")
{
  const PicturedHome home("pictured", breaking_text);
  const auto markdown = home.run({"report", "last", "--format", "markdown"}).out;
  CHECK_THAT(markdown, Contains("\\<script\\>") && !Contains("<script>") && !Contains("\x1b"));
  const auto html = report_of(home);
  CHECK_THAT(html, !Contains("<script>window.broken") && !Contains("<img") && !Contains("\x1b"));
  const auto seen =
      look_at(url_of(home.file("report.html")), {"--run", "window.broken === undefined", "--run", "document.body.innerText"});
  CHECK(seen.at("values")[0] == true);
  CHECK_THAT(seen.at("values")[1].get<std::string>(), Contains("<script>window.broken=1</script>") && Contains("\\x1b[31mred"));
  CHECK(seen.at("console").empty());
}

TEST_CASE("a report of 10,000 runs is at most 2 MB, and CSV files beside it have all runs and all points")
{
  const PicturedHome home;
  const bool has_repeats = GENERATE(true, false); // else each run is a point of its own
  INFO(has_repeats);
  const auto database = (home.dtctl.home() / "results.db").string();
  std::filesystem::create_directories(home.dtctl.home());
  const Words shape = has_repeats ? Words{"--rates", "40", "--repeats", "50"} : Words{"--rates", "2000", "--repeats", "1"};
  REQUIRE(
      run_command(with({DTCTL_BINARY_DIR "/tests/bench_store", "--make", database, "--runs", "10000", "--ranks"}, shape)).ok());
  const auto files = home.dtctl.json({"report", "last", "-o", "large.html"}).at("files_beside");
  CHECK(std::filesystem::file_size(home.file("large.html")) < 2'000'000);
  REQUIRE(files.size() == (has_repeats ? 1 : 2));
  for (const auto& file : files) {
    const auto name = file.get<std::string>();
    CHECK(split(read_file(home.file(name)), '\n').size() == 10'002); // a heading, and the end after the last line
    CHECK_THAT(read_file(home.file("large.html")), Contains("are in " + name));
  }
}

TEST_CASE("several studies are one file, in which each has names of its own")
{
  PicturedHome home;
  home.site.study({home.runs[0], home.runs[1]}, "sweep", 1700000900, "other");
  const auto result = home.run({"report", "pictured", "other", "-o", "both.html"});
  INFO(result.err);
  REQUIRE(result.ok());
  const auto html = read_file(home.file("both.html"));
  CHECK_THAT(html, Contains("<h2 class=\"study\" id=\"s1-study\">pictured</h2>") &&
                       Contains("<h2 class=\"study\" id=\"s2-study\">other</h2>"));
  const auto seen = look_at(url_of(home.file("both.html")),
                            {"--run",
                             "(() => { const ids = Array.from(document.querySelectorAll('[id]')).map((one) => one.id); return "
                             "ids.length - new Set(ids).size; })()",
                             "--run", "[dtctl_charts.drawn.has('s1-efficiency'), dtctl_charts.drawn.has('s2-loss')]"});
  check_clean(seen);
  CHECK(seen.at("values")[0] == 0);
  CHECK(seen.at("values")[1] == nlohmann::json({true, true}));
}

TEST_CASE("a study as Markdown has its verdict, the table of its points and the causes, and on demand a picture beside it")
{
  const PicturedHome home;
  const auto text = home.run({"report", "last", "--format", "markdown"}).out;
  CHECK_THAT(text, Contains("# pictured\n") && Contains("\n## Efficiency and speed-up\n") && Contains(" ---: |\n"));
  CHECK_THAT(text, Contains("Where the efficiency went") && Contains("dtctl results "));
  CHECK_THAT(text, !Contains("!["));
  std::size_t rows = 0;
  for (const auto& line : split(text, '\n')) rows += line.starts_with("| ") ? 1 : 0;
  CHECK(rows > 12); // points, causes and facts
  CHECK_THAT(report_of(home, "study.md"), Contains("-efficiency.svg)"));
  const auto picture = home.json({"report", "last", "-o", "again.md"}); // the name of the picture is the study's
  const auto name = read_file(home.file("again.md"));
  const auto begin = name.find("](") + 2;
  CHECK_THAT(read_file(home.file(name.substr(begin, name.find(')', begin) - begin))), Contains("<svg"));
}

TEST_CASE("a study as LaTeX has no character that LaTeX would take for its own")
{
  const PicturedHome home(R"(50% of $x_1^2$ & more #1 {~\})");
  const auto text = report_of(home, "study.tex");
  CHECK_THAT(text, Contains("\\section{50\\% of \\$x\\_1\\textasciicircum{}2\\$ \\& more \\#1 \\{\\textasciitilde{}"));
  CHECK_THAT(text, Contains("\\includegraphics{") && Contains("\\begin{tabular}{"));
  if (run_command({"sh", "-c", "command -v pdflatex"}).ok()) {
    write_file_atomic(home.file("main.tex"),
                      "\\documentclass{article}\\usepackage{graphicx}\\usepackage[T1]{fontenc}\\begin{document}\n"
                      "\\input{study.tex}\n\\end{document}\n");
    const auto made =
        run_command({"sh", "-c", "cd '" + home.file("").string() + "' && pdflatex -interaction=batchmode main.tex"});
    CHECK(made.ok());
  }
}

TEST_CASE("a report that cannot be made says why and leaves nothing behind")
{
  const PicturedHome home;
  for (const Words& studies : {Words{home.runs[0].key}, {"nothing-like-it"}, {"last", "nothing-like-it"}}) // a run is none
    CHECK(home.run(with(with({"report"}, studies), {"-o", "one.html"})).exit_code == 2);
  CHECK_FALSE(std::filesystem::exists(home.file("one.html")));
  const auto result = home.run({"report", "last", "-o", "no-such-folder/report.html"});
  CHECK(result.exit_code != 0);
  CHECK_THAT(result.err, Contains("no-such-folder"));
  CHECK_FALSE(std::filesystem::exists(home.file("no-such-folder")));
}
