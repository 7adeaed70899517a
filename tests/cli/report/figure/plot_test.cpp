// dtctl plot on a study that has everything a figure can show, with the real gnuplot.
#include "cli/report/chart/charts.hpp"
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "tests/cli/report/figure/figure_study.hpp"
#include "tests/cli/report/pictured_home.hpp"

#include <algorithm>
#include <regex>

#include <catch2/catch.hpp>

using Catch::Contains;
using Catch::StartsWith;
using namespace dt;
using dt::test::FigureStudy;
using dt::test::Json;
using dt::test::with;
using dt::test::Words;

namespace {

constexpr const char* png_magic = "\x89PNG\r\n\x1a\n";

std::vector<std::string> kinds()
{
  std::vector<std::string> names;
  for (const auto& kind : cli::chart_kinds()) names.emplace_back(kind.name);
  return names;
}

// Kinds with a chart for each label need one.
Words only_one(const std::string& kind)
{
  return kind == "waterfall" || kind == "prediction" ? Words{"--kind", kind, "--label", "sync-sgd"} : Words{"--kind", kind};
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at)
{
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// A text of an SVG, as a box in pixels. Letters are taken as 0.5 em wide and 0.7 em high, which is less than they are: boxes that
// overlap do so on paper.
struct Box {
  double left = 0, right = 0, top = 0, bottom = 0;
  std::string text;
};

std::string without_entities(std::string text)
{
  for (const auto& [entity, character] : {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    text = std::regex_replace(text, std::regex(entity), character);
  return text;
}

std::vector<Box> texts_of(const std::string& svg)
{
  const std::regex pattern(
      "<g transform=\"translate\\(([-0-9.]+),([-0-9.]+)\\)( rotate\\([-0-9.]+\\))?\"[^>]*font-size=\"([0-9.]+)\""
      "[^>]*text-anchor=\"(\\w+)\">\\s*<text>([^\n]*)</text>");
  std::vector<Box> boxes;
  for (std::sregex_iterator match(svg.begin(), svg.end(), pattern), end; match != end; ++match) {
    const double x = std::stod((*match)[1]), y = std::stod((*match)[2]), size = std::stod((*match)[4]);
    const auto text = without_entities((*match)[6]);
    const double length = 0.5 * size * static_cast<double>(display_width(std::string(trim(text))));
    const std::string anchor = (*match)[5];
    const double before = anchor == "start" ? 0 : anchor == "end" ? length : length / 2;
    if ((*match)[3].length() > 0) // turned to the left: it runs upwards
      boxes.push_back({x - 0.7 * size, x, y + before - length, y + before, text});
    else
      boxes.push_back({x - before, x - before + length, y - 0.7 * size, y, text});
  }
  return boxes;
}

bool overlap(const Box& a, const Box& b) { return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }

void check_texts(const std::string& svg)
{
  std::smatch size;
  REQUIRE(std::regex_search(svg, size, std::regex("width=\"([0-9]+)\" height=\"([0-9]+)\"")));
  const auto boxes = texts_of(svg);
  CHECK(boxes.size() >= 4);
  for (const auto& box : boxes) {
    INFO(box.text << " from " << box.left << " to " << box.right << " and " << box.top << " to " << box.bottom);
    CHECK(box.left >= 0);
    CHECK(box.right <= std::stod(size[1]));
    CHECK(box.top >= 0);
    CHECK(box.bottom <= std::stod(size[2]));
    for (const auto& other : boxes)
      if (&other != &box && overlap(box, other)) FAIL_CHECK("overlaps: " << other.text);
  }
}

std::string without_colours(const std::string& text) { return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), ""); }

} // namespace

TEST_CASE("with -o - nothing but the file goes to standard output")
{
  const FigureStudy study;
  const auto figure = [&](const Words& more) { return study.run(with({"--kind", "efficiency", "-o", "-"}, more)); };
  CHECK(figure({}).out.starts_with("%PDF-"));
  CHECK(figure({"--format", "svg"}).out.ends_with("</svg>\n\n"));
  CHECK(figure({"--format", "png"}).out.starts_with("\x89PNG"));
  CHECK(figure({"--format", "csv"}).out == study.run({"--kind", "efficiency", "--format", "csv"}).out);
  CHECK(figure({"--format", "gnuplot"}).out == study.run({"--kind", "efficiency", "--format", "gnuplot"}).out);
  CHECK(figure({"--json"}).exit_code == 2); // both write to standard output
  CHECK(study.verb({"report", "-o", "-"}).out.starts_with("<!"));
  CHECK(study.verb({"report", "--format", "markdown", "-o", "-"}).out == study.verb({"report", "--format", "markdown"}).out);
  CHECK(study.verb({"export", "last", "-o", "-"}).out == study.verb({"export", "last"}).out);
  CHECK_THAT(study.verb({"export", "last", "--format", "prometheus", "-o", "-"}).out, Contains("# HELP"));
  CHECK_FALSE(std::filesystem::exists(study.file("-")));
}

TEST_CASE("every kind of figure is written in every format, without a word of gnuplot")
{
  const FigureStudy study;
  for (const auto& kind : kinds())
    for (const auto* columns : {"1", "2"})
      for (const std::string extension : {"pdf", "svg", "png", "tex"}) {
        INFO(kind << " " << columns << " " << extension);
        const auto result = study.run(with(only_one(kind), {"--columns", columns, "-o", "figure." + extension}));
        CHECK(result.err == "");
        REQUIRE(result.exit_code == 0);
        const auto bytes = read_file(study.file("figure." + extension));
        const double width = *columns == '1' ? 3.5 : 7.16;
        if (extension == "pdf") CHECK_THAT(bytes, StartsWith("%PDF"));
        if (extension == "svg")
          CHECK_THAT(bytes, Contains("<svg") && Contains("width=\"" + std::to_string(std::lround(width * 96)) + "\""));
        if (extension == "svg") check_texts(bytes);
        if (extension == "png") {
          CHECK_THAT(bytes, StartsWith(png_magic));
          CHECK(big_endian(bytes, 16) == std::lround(width * 300));
          CHECK(big_endian(bytes, bytes.find("pHYs") + 4) == 11811);
        }
        if (extension == "tex") {
          CHECK_THAT(bytes, Contains("{figure}"));
          CHECK_THAT(bytes, !Contains("dtctl-figure"));
          CHECK_THAT(read_file(study.file("figure.pdf")), StartsWith("%PDF"));
        }
      }
}

TEST_CASE("titles and greys are drawn too, and their texts do not overlap")
{
  const FigureStudy study;
  for (const auto& kind : kinds()) {
    INFO(kind);
    const auto result = study.run(with(only_one(kind), {"--title", "--grey", "-o", "figure.svg"}));
    CHECK(result.err == "");
    check_texts(read_file(study.file("figure.svg")));
  }
  CHECK_THAT(read_file(study.file("figure.svg")), Contains("Drift of the machine")); // the title of the last kind
}

TEST_CASE("many labels with long names fit into a column")
{
  std::vector<std::string> labels;
  for (int i = 1; i <= 10; ++i)
    labels.push_back("strategy=sync-easgd overlap=" + std::to_string(i) + " allreduce=halving-doubling");
  const FigureStudy study(labels);
  for (const std::string kind : {"efficiency", "loss", "target", "pareto", "phases"})
    for (const auto* columns : {"1", "2"}) {
      INFO(kind << " " << columns);
      const auto result = study.run({"--kind", kind, "--columns", columns, "-o", "figure.svg"});
      CHECK(result.err == "");
      check_texts(read_file(study.file("figure.svg")));
    }
}

TEST_CASE("a script draws the same figure when gnuplot runs it")
{
  const FigureStudy study;
  for (const auto& kind : kinds()) {
    INFO(kind);
    REQUIRE(study.run(with(only_one(kind), {"-o", "direct.svg"})).exit_code == 0);
    const auto result = study.run(with(only_one(kind), {"--format", "gnuplot", "-o", "script.svg"}));
    CHECK_THAT(result.out, Contains("script.gp"));
    const auto drawn = run_command({"env", "-C", study.file("").string(), "gnuplot", "script.gp"});
    CHECK(drawn.err == "");
    REQUIRE(drawn.exit_code == 0);
    CHECK(read_file(study.file("script.svg")) == read_file(study.file("direct.svg")));
  }
}

TEST_CASE("a figure in the terminal is no wider than the terminal")
{
  const FigureStudy study;
  for (const auto& kind : kinds())
    for (const int columns : {50, 80, 132}) {
      INFO(kind << " " << columns);
      const auto text = without_colours(study.in_terminal({"--kind", kind}, static_cast<unsigned short>(columns)));
      CHECK_THAT(text, Contains("how to read it") && !Contains("warning") && !Contains("\\x0c") && !Contains("\f"));
      for (const auto& line : split(text, '\n')) {
        INFO(line);
        CHECK(display_width(line) <= static_cast<std::size_t>(columns));
      }
    }
}

TEST_CASE("a figure in the terminal has colours where the terminal takes them")
{
  const FigureStudy study;
  const Words efficiency{"--kind", "efficiency"};
  CHECK_THAT(study.in_terminal(efficiency, 80), Contains("\x1b[38;5;"));
  CHECK_THAT(study.in_terminal(efficiency, 80, {"NO_COLOR=1"}), !Contains("\x1b["));
  CHECK_THAT(study.in_terminal(with(efficiency, {"--grey"}), 80), !Contains("\x1b[38;5;"));
  CHECK_THAT(study.run(efficiency).out, !Contains("\x1b") && Contains("efficiency [%]"));
  for (const auto* locale : {"LC_ALL=C", "LC_ALL=C.UTF-8"}) CHECK(study.run(efficiency, {locale}).exit_code == 0);
}

TEST_CASE("in the terminal all charts of a kind are drawn, but a file holds one")
{
  const FigureStudy study;
  const auto drawn = study.run({"--kind", "waterfall"}).out;
  CHECK_THAT(drawn, Contains("Where the efficiency went: sync-sgd") && Contains("Where the efficiency went: simulated ring"));
  for (const Words& more : {Words{"-o", "figure.pdf"}, Words{"--format", "gnuplot"}}) {
    const auto refused = study.run(with({"--kind", "waterfall"}, more));
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains("--label: ") && Contains("sync-sgd") && Contains("simulated ring"));
  }
  CHECK_FALSE(std::filesystem::exists(study.file("figure.pdf")));
}

TEST_CASE("with a label, every kind shows that label alone")
{
  const FigureStudy study;
  for (const auto& kind : kinds()) {
    INFO(kind);
    const auto text = study.json({"--kind", kind, "--label", "easgd"}).at("charts").dump();
    CHECK_THAT(text, !Contains("sync-sgd") && !Contains("simulated ring"));
  }
}

TEST_CASE("JSON holds the points of the charts, and the names of the files that were written")
{
  const FigureStudy study;
  const auto charts = study.json({"--kind", "efficiency"}).at("charts");
  REQUIRE(charts.size() == 1);
  CHECK(charts[0].at("y").at("is_share") == true);
  const auto& series = charts[0].at("series");
  REQUIRE(series.size() == 4);
  CHECK(series[1].at("name") == "simulated ring");
  CHECK(series[1].at("origin") == "simulated");
  CHECK(series[0].at("points")[0].at("x") == 1);
  CHECK(study.json({"--kind", "waterfall"}).at("charts").size() == 3);
  CHECK(study.json({"--kind", "efficiency", "-o", "x.tex"}).at("files") == Json{"x.tex", "x.pdf"});
}

TEST_CASE("a figure of the tuning has every run of the searches, the chosen values, and runs without a cost above all others")
{
  const FigureStudy study;
  const auto charts = study.json({"--kind", "tuning"}).at("charts");
  REQUIRE(charts.size() == 1);
  CHECK(charts[0].at("x").at("title") == FigureStudy::tuned);
  CHECK(charts[0].at("x").at("scale") == "log10");
  std::map<std::string, Json> points;
  double highest = 0;
  for (const auto& series : charts[0].at("series")) {
    points[series.at("name")] = series.at("points");
    if (series.at("label") != "")
      for (const auto& point : series.at("points")) highest = std::max(highest, point.at("y").get<double>());
  }
  CHECK(points.at("sync-sgd").size() + points.at("easgd").size() + points.at("no cost").size() == 18);
  CHECK(points.at("no cost").size() >= 4);
  for (const auto& point : points.at("no cost")) CHECK(point.at("y").get<double>() > highest);
  REQUIRE(points.at("chosen").size() == 2);
  for (const auto& point : points.at("chosen")) {
    const double optimum = point.at("note").get<std::string>().starts_with("sync-sgd: 0.0") ? -2.0 : -1.2;
    CHECK(std::abs(std::log10(point.at("x").get<double>()) - optimum) < 0.3);
  }
  const auto by_key = [&](const std::string& key) { return study.run({"--kind", "tuning", "--x", key, "--format", "csv"}); };
  CHECK(by_key(FigureStudy::tuned).ok());
  CHECK_THAT(by_key("sync.period").err, Contains("--x: the study tunes optimizer.learning_rate, not sync.period"));
}

TEST_CASE("a timeline shows what is within a step, not the step that would hide it")
{
  const FigureStudy study;
  const auto series = study.json({"--kind", "timeline"}).at("charts")[0].at("series");
  std::vector<std::string> names;
  for (const auto& one : series) names.push_back(one.at("name"));
  CHECK(names == std::vector<std::string>{"forward", "backward", "communication", "allreduce"});
  CHECK(series[1].at("points")[0].at("low").get<double>() == Approx(3));
  CHECK(series[1].at("points")[0].at("high").get<double>() == Approx(7));
}

TEST_CASE("points that missed the target are named under the figure that does not draw them")
{
  const dt::test::PicturedHome home;
  for (const auto& run : home.runs) {
    if (run.spec.sync.strategy != "hsgd" || run.spec.ranks() != 4) continue;
    const AttemptFolder attempt(home.site.home.run(run.key), 1);
    auto result = read_result(attempt).value();
    result.time_to_accuracy_s = not_measured;
    result.samples_to_accuracy = 0;
    store::test::put_file(attempt.result(), to_json(result));
  }
  const std::string kind = GENERATE("target", "pareto");
  const auto to_file = GENERATE(Words{}, Words{"-o", "figure.svg"});
  const auto drawn = home.run(with({"plot", "last", "--kind", kind}, to_file));
  INFO(kind << drawn.err);
  const auto text = std::regex_replace(drawn.out, std::regex("\\s+"), " ");
  CHECK_THAT(text, Contains("Not drawn, because most of their runs missed the target: ") && Contains("hsgd, 4 ranks (0 of 3)."));
}

TEST_CASE("a label whose repeats have no time in common is named under the curves that lack it")
{
  const dt::test::PicturedHome home;
  for (const auto& run : home.runs) {
    if (run.spec.sync.strategy != "hsgd" || run.spec.ranks() != 4 || run.spec.repeat != 0) continue;
    std::string late;
    for (std::int64_t step = 1; step <= 20; ++step)
      append_line(late,
                  StepEvent{step, 0.1 * static_cast<double>(step), 10 + 0.01 * static_cast<double>(step), 2.5, 0.01, 0.01, {}});
    store::test::put_file(AttemptFolder(home.site.home.run(run.key), 1).events(), late);
  }
  const auto drawn = home.run({"plot", "last", "--kind", "loss"});
  INFO(drawn.err);
  const auto text = std::regex_replace(drawn.out, std::regex("\\s+"), " ");
  CHECK_THAT(text, Contains("had their first value: hsgd. With more"));
}

TEST_CASE("plot says what is wrong or missing, with exit code 2")
{
  const FigureStudy study;
  for (const auto& [words, why] : std::vector<std::pair<Words, const char*>>{
           {{}, "plot needs --kind"},
           {{"--kind", "eficiency"}, "did you mean `efficiency`?"},
           {{"--kind", "loss", "--label", "esgd"}, "did you mean `easgd`?"},
           {{"--kind", "loss", "-o", "figure.bmp"}, "ends in .pdf, .svg, .png or .tex"},
           {{"--kind", "loss", "-o", "a b.tex"}, "LaTeX cannot include"},
           {{"--kind", "speedup", "--x", "samples"}, "kinds loss and accuracy"},
           {{"--kind", "loss", "--columns", "3"}, "1 or 2 columns"},
           {{"--kind", "loss", "--label", "simulated ring"}, "No run has recorded a training loss yet"}}) {
    const auto result = study.run(words);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(why));
  }
}

TEST_CASE("without gnuplot the data are still written, and the error names the package")
{
  const FigureStudy study;
  const Words nowhere{"PATH=/nonexistent"};
  for (const Words& more : {Words{}, Words{"-o", "figure.pdf"}}) {
    const auto result = study.run(with({"--kind", "efficiency"}, more), nowhere);
    CHECK(result.exit_code == 74);
    CHECK_THAT(result.err, Contains("gnuplot-nox"));
  }
  CHECK(study.run({"--kind", "efficiency", "--format", "csv"}, nowhere).exit_code == 0);
  CHECK(study.run({"--kind", "efficiency", "--format", "gnuplot", "-o", "x.pdf"}, nowhere).exit_code == 0);
}

TEST_CASE("if gnuplot fails, its message is shown and the old figure stays")
{
  const FigureStudy study;
  std::filesystem::create_directory(study.file("bin"));
  write_file_atomic(study.file("bin/gnuplot"), "#!/bin/sh\necho half\necho 'line 7: it broke' >&2\nexit 3\n");
  std::filesystem::permissions(study.file("bin/gnuplot"), std::filesystem::perms::owner_all);
  write_file_atomic(study.file("figure.pdf"), "old");
  const auto result =
      study.run({"--kind", "efficiency", "-o", "figure.pdf"}, {"PATH=" + study.file("bin").string() + ":/usr/bin:/bin"});
  CHECK(result.exit_code == 74);
  CHECK_THAT(result.err, Contains("gnuplot -d ") && Contains("line 7: it broke"));
  CHECK(read_file(study.file("figure.pdf")) == "old");
}

TEST_CASE("a target that cannot be written is an error of the machine, and nothing is left beside it")
{
  const FigureStudy study;
  const auto missing = study.run({"--kind", "efficiency", "-o", "nowhere/figure.pdf"});
  CHECK(missing.exit_code == 74);
  CHECK_THAT(missing.err, Contains("nowhere/figure.pdf"));
  std::filesystem::create_directory(study.file("taken.svg"));
  CHECK(study.run({"--kind", "efficiency", "-o", "taken.svg"}).exit_code == 74);
  std::vector<std::string> hidden;
  for (const auto& name : names_in(study.file("")))
    if (name.starts_with(".")) hidden.push_back(name);
  CHECK(hidden.empty());
}

TEST_CASE("a name in a figure is shown as it is written, and nothing in it is run or interpreted")
{
  const dt::test::TemporaryFolder proof;
  const auto touch = [&](const std::string& name) { return "touch " + (proof.path() / name).string(); };
  const std::vector<std::string> hostile{
      "`" + touch("backtick") + "`",
      "'.system('" + touch("system") + "').'",
      "\"; system('" + touch("double") + "'); \"",
      "$(" + touch("shell") + ") @x ${y} {/Symbol a}_b^c",
      "100%d%s %% ends in \\",
      "<script>alert(1)</script>&amp;",
      "esc\x1b]0;title\x07 \x1b[31mred",
      "line\nEOD\nset output 'x'",
  };
  const FigureStudy study(hostile, {});
  for (const auto& kind : kinds()) {
    if (kind == "waterfall" || kind == "prediction") continue;
    for (const std::string file : {"figure.svg", "figure.pdf", "figure.png", "figure.tex"}) {
      INFO(kind << " " << file);
      const auto result = study.run({"--kind", kind, "--columns", "2", "-o", file});
      CHECK(result.err == "");
      CHECK(result.exit_code == 0);
    }
    CHECK_THAT(study.in_terminal({"--kind", kind}, 200), !Contains("\x1b]") && !Contains("\x1b[31m"));
  }
  CHECK(names_in(proof.path()).empty());

  REQUIRE(study.run({"--kind", "efficiency", "--columns", "2", "-o", "figure.svg"}).exit_code == 0);
  std::vector<std::string> shown;
  for (const auto& box : texts_of(read_file(study.file("figure.svg")))) shown.push_back(box.text);
  for (const auto& label : hostile) {
    INFO(printable(label));
    if (display_width(printable(label)) < 100) CHECK(std::find(shown.begin(), shown.end(), printable(label)) != shown.end());
  }
  CHECK_THAT(read_file(study.file("figure.svg")), !Contains("<script>"));

  for (const auto& label : hostile) {
    INFO(printable(label));
    const auto result = study.run({"--kind", "waterfall", "--label", label, "--title", "-o", "figure.svg"});
    CHECK(result.err == "");
    CHECK(result.exit_code == 0);
  }
  CHECK(names_in(proof.path()).empty());
}

TEST_CASE("LaTeX sets a figure, whatever is in its names")
{
  if (run_command({"sh", "-c", "command -v pdflatex"}).exit_code != 0) return; // it is not installed
  const FigureStudy study({"50% of #1 & $2 {a_b}^~ \\input{x}", "[c] <d> \"e\" 'f' `g` | end\\"}, {});
  write_file_atomic(study.file("paper.tex"),
                    "\\documentclass{article}\\usepackage{graphicx,color}\\begin{document}\\input{figure}\\end{document}");
  for (const std::string kind : {"efficiency", "target"}) {
    REQUIRE(study.run({"--kind", kind, "-o", "figure.tex"}).exit_code == 0);
    const auto set =
        run_command({"env", "-C", study.file("").string(), "pdflatex", "-interaction=nonstopmode", "paper.tex"}, 100);
    INFO(set.out);
    CHECK(set.exit_code == 0);
  }
}

TEST_CASE("the name of a file is never a part of the script's language")
{
  const FigureStudy study;
  const std::string name = "a'; system(\"touch hacked\"); `touch hacked` $x.svg";
  REQUIRE(study.run({"--kind", "efficiency", "-o", name}).exit_code == 0);
  CHECK_THAT(read_file(study.file(name)), Contains("<svg"));
  REQUIRE(study.run({"--kind", "efficiency", "--format", "gnuplot", "-o", name}).exit_code == 0);
  std::filesystem::remove(study.file(name));
  const auto script = std::filesystem::path(study.file(name)).replace_extension(".gp");
  CHECK(run_command({"env", "-C", study.file("").string(), "gnuplot", script.string()}).err == "");
  CHECK(std::filesystem::exists(study.file(name)));
  CHECK_FALSE(std::filesystem::exists(study.file("hacked")));
}
