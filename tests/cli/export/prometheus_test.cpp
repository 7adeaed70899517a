// dtctl export --format prometheus, read by a parser of the exposition format that shares no code with dtctl.
#include "core/text.hpp"
#include "tests/cli/export/exporting_home.hpp"
#include "tests/support/tiny_disk.hpp"

#include <map>
#include <regex>
#include <set>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::test;
namespace fs = std::filesystem;

namespace {

using Labels = std::map<std::string, std::string>;
using Samples = std::map<Labels, double>;

// A document of the text-based format. Fails the test where Prometheus would refuse the document.
class Exposition {
 public:
  explicit Exposition(const std::string& text)
  {
    REQUIRE(text.ends_with('\n'));
    auto lines = split(text, '\n');
    lines.pop_back();
    for (const auto& line : lines) read_line(line);
  }
  const Samples& of(const std::string& name) const
  {
    INFO(name);
    REQUIRE(samples_.contains(name));
    return samples_.at(name);
  }
  const std::map<std::string, Samples>& all() const { return samples_; }
  const std::map<std::string, std::string>& help() const { return help_; }

 private:
  void read_line(const std::string& line)
  {
    static const std::regex help("# HELP (\\w+) (.*)"), type("# TYPE (\\w+) gauge"),
        sample(R"re((\w+)\{((?:[a-z_]+="(?:[^"\\]|\\[n"\\])*",?)*)\} (\S+))re"), label(R"re(([a-z_]+)="((?:[^"\\]|\\.)*)")re");
    INFO(line);
    std::smatch found;
    if (std::regex_match(line, found, help)) {
      CHECK(help_.emplace(last_ = found[1], found[2]).second);
    } else if (std::regex_match(line, found, type)) {
      CHECK(found[1] == last_);
      CHECK(types_.insert(last_).second);
    } else {
      REQUIRE(std::regex_match(line, found, sample));
      REQUIRE(found[1] == last_);         // the samples of a gauge stand together
      REQUIRE(types_.contains(found[1])); // TYPE comes before the samples
      Labels labels;
      const std::string all = found[2];
      for (std::sregex_iterator one(all.begin(), all.end(), label), end; one != end; ++one)
        CHECK(labels.emplace((*one)[1], unescaped((*one)[2])).second);
      std::size_t used = 0;
      CHECK(samples_[last_].emplace(labels, std::stod(found[3], &used)).second); // two samples with equal labels are an error
      CHECK(used == found[3].str().size());
    }
  }
  static std::string unescaped(const std::string& text)
  {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) plain += text[i] != '\\' ? text[i] : text[++i] == 'n' ? '\n' : text[i];
    return plain;
  }

  std::map<std::string, Samples> samples_;
  std::map<std::string, std::string> help_;
  std::set<std::string> types_;
  std::string last_;
};

CommandResult export_to(const ExportingHome& home, const std::string& file, const Words& more = {})
{
  return home.run(with({"export", "all", "--format", "prometheus", "-o", file}, more));
}

Exposition exposition_of(const ExportingHome& home)
{
  const auto exported = export_to(home, "dtctl.prom");
  INFO(exported.err);
  REQUIRE(exported.ok());
  return Exposition(read_file(home.file("dtctl.prom")));
}

Labels point(const ExportingHome& home, const std::string& ranks, const std::string& study = "sample")
{
  return {{"study", study}, {"study_id", home.record.id}, {"label", ""},         {"nodes", "1"},
          {"ranks", ranks}, {"workers", ranks},           {"simulated", "false"}};
}

double value_of(const Exposition& found, const std::string& gauge, const Labels& labels)
{
  INFO(gauge);
  REQUIRE(found.of(gauge).contains(labels));
  return found.of(gauge).at(labels);
}

} // namespace

TEST_CASE("the gauges of a study's points are the figures of the view scaling, whatever the study is called")
{
  const std::string name = GENERATE(as<std::string>(), "sample", hostile_name);
  const ExportingHome home(name);
  const auto found = exposition_of(home);
  const auto rows = home.ask("SELECT * FROM scaling");
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) {
    const auto labels = point(home, std::to_string(row.at("ranks").get<int>()), name);
    CHECK(value_of(found, "dtctl_point_throughput_samples_per_second", labels) == row.at("throughput"));
    CHECK(value_of(found, "dtctl_point_efficiency_ratio", labels) == row.at("efficiency"));
    CHECK(value_of(found, "dtctl_point_communication_share_ratio", labels) == row.at("communication_share"));
    CHECK(value_of(found, "dtctl_point_accuracy_ratio", labels) == row.at("accuracy"));
    CHECK(value_of(found, "dtctl_point_succeeded_runs", labels) == 1);
  }
  CHECK_FALSE(found.all().contains("dtctl_point_time_to_accuracy_seconds")); // there was no target
  const Labels study{{"study", name}, {"study_id", home.record.id}};
  CHECK(value_of(found, "dtctl_study_last_result_timestamp_seconds", study) == 1700000100);
  for (const auto& [gauge, help] : found.help()) {
    INFO(gauge << ": " << help);
    CHECK(help.ends_with('.'));
    CHECK(help.find(' ') != std::string::npos);
  }
}

TEST_CASE("a point without a figure has no sample of it, and each state has its number of runs, 0 included")
{
  const ExportingHome home;
  home.let_first_fail();
  const auto found = exposition_of(home);
  CHECK(found.of("dtctl_point_throughput_samples_per_second").size() == 1);
  CHECK(value_of(found, "dtctl_point_succeeded_runs", point(home, "1")) == 0);
  std::map<std::string, double> states;
  for (const auto& [labels, count] : found.of("dtctl_study_runs")) states[labels.at("state")] = count;
  CHECK(states.size() == 12);
  CHECK(states.at("failed") == 1);
  CHECK(states.at("succeeded") == 1);
  CHECK(states.at("queued") == 0);
}

TEST_CASE("simulated points are marked")
{
  ExportingHome home;
  auto spec = store::test::sample_spec(4);
  spec.resources.platform = "tianhe-3";
  home.site.study({home.site.run_well(spec, 5000)}, "sweep", 1700000500, "modelled");
  std::map<std::string, std::string> simulated;
  for (const auto& [labels, count] : exposition_of(home).of("dtctl_point_succeeded_runs"))
    simulated[labels.at("study")] = labels.at("simulated");
  CHECK(simulated == std::map<std::string, std::string>{{"modelled", "true"}, {"sample", "false"}});
}

TEST_CASE("the file must be one that the textfile collector reads, and all may read it")
{
  const ExportingHome home;
  CHECK(export_to(home, "dtctl.txt").exit_code == 2);
  REQUIRE(export_to(home, "dtctl.prom").ok());
  CHECK((fs::status(home.file("dtctl.prom")).permissions() & fs::perms(0444)) == fs::perms(0444));
  REQUIRE(home.run({"export", home.runs[0].key, "--format", "prometheus", "-o", "one.prom"}).ok()); // stands for its study
  CHECK(read_file(home.file("one.prom")) == read_file(home.file("dtctl.prom")));
}

TEST_CASE("on a full disk the export ends with exit code 74, and the old file stays as it was")
{
  const ExportingHome home;
  fs::create_directory(home.file("collector"));
  const TinyDisk disk(home.file("collector"), 16 * 1024);
  if (!disk.is_mounted()) return; // needs root
  const auto path = home.file("collector") / "dtctl.prom";
  store::test::put_file(path, "old 1\n");
  store::test::put_file(home.file("collector") / "ballast", std::string(64 * 1024, 'x'));
  const auto exported = export_to(home, path.string());
  CHECK(exported.exit_code == 74);
  CHECK(exported.err.find("No space left on device") != std::string::npos);
  CHECK(read_file(path) == "old 1\n");
  CHECK(listed(home.file("collector")) == std::vector<std::string>{"ballast", "dtctl.prom"});
}

TEST_CASE("a target that cannot be replaced stays, the export ends with exit code 74, and nothing is left beside it")
{
  const ExportingHome home;
  fs::create_directories(home.file("collector") / "dtctl.prom" / "inside");
  CHECK(export_to(home, (home.file("collector") / "dtctl.prom").string()).exit_code == 74);
  CHECK(listed(home.file("collector")) == std::vector<std::string>{"dtctl.prom"});
  CHECK(export_to(home, (home.file("nowhere") / "dtctl.prom").string()).exit_code == 74);
  CHECK_FALSE(fs::exists(home.file("nowhere")));
}
