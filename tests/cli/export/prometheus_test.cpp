// dtctl export --format prometheus, read by a parser of the exposition format that shares no code with dtctl.
#include "tests/cli/export/exporting_home.hpp"
#include "tests/support/tiny_disk.hpp"

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

#include <sys/stat.h>

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
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
      read_line(text.substr(begin, end - begin));
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
    INFO(line);
    if (line.starts_with("# HELP ")) return read_help(line.substr(7));
    if (line.starts_with("# TYPE ")) return read_type(line.substr(7));
    const auto brace = line.find('{');
    const auto name = line.substr(0, brace);
    REQUIRE(types_.contains(name)); // TYPE comes before the samples
    REQUIRE(name == last_);         // the samples of a gauge stand together
    std::size_t at = brace + 1;
    Labels labels;
    while (line.at(at) != '}') read_label(line, at, labels);
    REQUIRE(line.at(at + 1) == ' ');
    std::size_t used = 0;
    const auto number = line.substr(at + 2);
    const double value = std::stod(number, &used);
    CHECK(used == number.size());
    CHECK(samples_[name].emplace(labels, value).second); // two samples with equal labels are an error
  }
  void read_help(const std::string& rest)
  {
    last_ = rest.substr(0, rest.find(' '));
    CHECK(help_.emplace(last_, rest.substr(last_.size() + 1)).second);
  }
  void read_type(const std::string& rest)
  {
    CHECK(rest == last_ + " gauge");
    CHECK(types_.insert(last_).second);
  }
  static void read_label(const std::string& line, std::size_t& at, Labels& labels)
  {
    const auto equals = line.find('=', at);
    const auto name = line.substr(at, equals - at);
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos);
    REQUIRE(line.at(equals + 1) == '"');
    std::string value;
    for (at = equals + 2; line.at(at) != '"'; ++at) {
      if (line[at] != '\\') {
        value += line[at];
        continue;
      }
      const char escaped = line.at(++at);
      REQUIRE((escaped == 'n' || escaped == '"' || escaped == '\\'));
      value += escaped == 'n' ? '\n' : escaped;
    }
    CHECK(labels.emplace(name, value).second);
    if (line.at(++at) == ',') ++at;
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

TEST_CASE("the gauges of a study's points are the figures of the view scaling")
{
  const ExportingHome home;
  const auto found = exposition_of(home);
  const auto rows = home.ask("SELECT * FROM scaling");
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) {
    const auto labels = point(home, std::to_string(row.at("ranks").get<int>()));
    CHECK(value_of(found, "dtctl_point_throughput_samples_per_second", labels) == row.at("throughput"));
    CHECK(value_of(found, "dtctl_point_efficiency_ratio", labels) == row.at("efficiency"));
    CHECK(value_of(found, "dtctl_point_communication_share_ratio", labels) == row.at("communication_share"));
    CHECK(value_of(found, "dtctl_point_accuracy_ratio", labels) == row.at("accuracy"));
    CHECK(value_of(found, "dtctl_point_succeeded_runs", labels) == 1);
  }
  CHECK_FALSE(found.all().contains("dtctl_point_time_to_accuracy_seconds")); // there was no target
  const Labels study{{"study", "sample"}, {"study_id", home.record.id}};
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

TEST_CASE("hostile labels are read back as they were")
{
  const ExportingHome home(hostile_name);
  const auto found = exposition_of(home);
  CHECK(value_of(found, "dtctl_point_throughput_samples_per_second", point(home, "2", hostile_name)) ==
        Catch::Detail::Approx(2000));
}

TEST_CASE("a selected run stands for its whole study")
{
  const ExportingHome home;
  REQUIRE(home.run({"export", home.runs[0].key, "--format", "prometheus", "-o", "one.prom"}).ok());
  REQUIRE(export_to(home, "all.prom").ok());
  CHECK(read_file(home.file("one.prom")) == read_file(home.file("all.prom")));
}

TEST_CASE("the file must be one that the textfile collector reads, and all may read it")
{
  const ExportingHome home;
  const auto refused = export_to(home, "dtctl.txt");
  CHECK(refused.exit_code == 2);
  CHECK(refused.err == "dtctl: error: the name of the file must end in .prom, because the textfile collector of node_exporter "
                       "reads no other files; see: dtctl export --help\n");
  REQUIRE(export_to(home, "dtctl.prom").ok());
  CHECK((fs::status(home.file("dtctl.prom")).permissions() & fs::perms(0444)) == fs::perms(0444));
}

TEST_CASE("a reader never sees half a file, and nothing is left beside it")
{
  const ExportingHome home;
  fs::create_directory(home.file("collector"));
  const auto path = home.file("collector") / "dtctl.prom";
  REQUIRE(export_to(home, path.string()).ok());
  const auto whole = read_file(path);
  std::atomic<bool> is_done{false};
  std::atomic<int> torn{0}, reads{0};
  std::thread reader([&] {
    while (!is_done) {
      torn += read_file(path) != whole ? 1 : 0;
      ++reads;
    }
  });
  for (int i = 0; i < 5; ++i) CHECK(export_to(home, path.string()).ok());
  is_done = true;
  reader.join();
  CHECK(reads > 0);
  CHECK(torn == 0);
  CHECK(listed(home.file("collector")) == std::vector<std::string>{"dtctl.prom"});
}

TEST_CASE("on a full disk the export ends with exit code 74, and the old file stays as it was")
{
  const ExportingHome home;
  fs::create_directory(home.file("collector"));
  const TinyDisk disk(home.file("collector"), 16 * 1024);
  if (!disk.is_mounted()) {
    WARN("SKIPPED: only root may mount a file system");
    return;
  }
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
