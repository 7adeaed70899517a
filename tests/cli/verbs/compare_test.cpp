// dtctl compare, and the verdicts of dtctl results, on run folders with planted figures.
#include "cli/comparison/formats.hpp"
#include "cli/comparison/junit.hpp"
#include "core/files/file.hpp"
#include "tests/cli/site_home.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using Catch::Contains;
using Catch::StartsWith;
using dt::CommandResult;
using dt::test::Dtctl;
using dt::test::Json;
using dt::test::with;
using dt::test::Words;
using namespace dt;
using namespace dt::store::test;

namespace {

constexpr double miss = std::numeric_limits<double>::quiet_NaN();

// What the runs of a study measured, by label; `times`: to a target, NaN for a miss.
struct Plan {
  std::string label;
  std::int64_t ranks = 2;
  std::vector<double> throughputs;
  std::vector<double> times = {};
  std::string build = "build-1";
  double target = 0.9;
  bool has_one_seed = false; // for all repeats
  std::vector<double> accuracies = {};
  bool are_copies = false; // its ranks do not train together
};

// When the runs of a study were measured: in turn with those of the other studies, or one after the other from this hour on.
struct When {
  bool in_turn = true;
  double hour = 0;
};

// A home with studies whose runs measured what a test wants.
class Studies : public dt::test::SiteHome {
 public:
  void add(const std::string& name, const std::vector<Plan>& plans, const When& when = {})
  {
    std::vector<PlannedRun> runs;
    ++seed_;
    for (const auto& plan : plans)
      for (std::size_t i = 0; i < plan.throughputs.size(); ++i) {
        runs.push_back(planned(name, plan, i));
        const auto at = static_cast<double>(i), in_turn = 1000 * at + static_cast<double>(seed_);
        measure(runs.back(), name, when.in_turn ? in_turn : 3600 * when.hour + 100 * at);
      }
    site.study(runs, "sweep", 1700000000 + static_cast<double>(seed_), name);
    forget_database();
  }
  // The runs of this label have failed instead.
  void fail(const std::string& study, const std::string& label)
  {
    for (const auto& key : keys_[study + "/" + label]) {
      const AttemptFolder attempt(site.home.run(key), 1);
      std::filesystem::remove(attempt.result());
      put_file(attempt.end(), "exit 1 1700000101\n");
    }
  }
  Json comparison(const Words& words) const
  {
    const auto comparisons = json(with({"compare"}, words)).at("comparisons");
    REQUIRE(comparisons.size() == 1);
    return comparisons[0];
  }

 private:
  PlannedRun planned(const std::string& name, const Plan& plan, std::size_t i)
  {
    auto spec = sample_spec(plan.ranks, static_cast<std::int64_t>(i));
    spec.name = name;
    spec.label = plan.label;
    spec.train.seed = 100 * seed_ + (plan.has_one_seed ? 0 : static_cast<std::int64_t>(i));
    spec.optimizer.learning_rate = 0.001 * static_cast<double>(1 + std::hash<std::string>{}(plan.label) % 1000);
    if (!plan.times.empty()) spec.train.target_accuracy = plan.target;
    const auto run = plan_run(spec, plan.build, "data-1");
    make_folders(site.home.run(run.key));
    put_file(spec_path(site.home.run(run.key)), to_json(run));
    const auto attempt = site.begin(run, 1);
    auto result = sample_result(spec, plan.throughputs[i]);
    if (!plan.times.empty()) result.time_to_accuracy_s = plan.times[i];
    if (!plan.accuracies.empty()) result.accuracy = plan.accuracies[i];
    if (plan.are_copies) result.caveats["copies"] = "the ranks exchange nothing";
    put_file(attempt.result(), to_json(result));
    put_file(attempt.end(), "exit 0 1700000101\n");
    keys_[name + "/" + plan.label].push_back(run.key);
    return run;
  }

  // The run was asked for by the study and ran for a minute from this second on.
  void measure(const PlannedRun& run, const std::string& study, double second) const
  {
    const AttemptFolder attempt(site.home.run(run.key), 1);
    put_file(attempt.submission(), to_json(Submission{1, "token-1", "local", "study-" + study, 1700000000, "17"}));
    auto begin = read_begin(attempt).value();
    begin.unix_s = 1700000000 + second;
    put_file(attempt.begin(), to_json(begin));
    put_file(attempt.end(), "exit 0 " + std::to_string(static_cast<std::int64_t>(begin.unix_s) + 60) + "\n");
  }

  std::int64_t seed_ = 0;
  std::map<std::string, std::vector<std::string>> keys_; // by study and label
};

// Two studies of equals, and a third that is 10 % slower.
struct ThreeStudies : Studies {
  ThreeStudies()
  {
    add("one", {{"", 2, {100, 103, 97}}});
    add("same", {{"", 2, {101, 98, 103}}});
    add("slow", {{"", 2, {90, 90.5, 89.5}}});
  }
};

} // namespace

TEST_CASE("two studies of equals have no verdict but what would decide, and a planted difference of 10 % is found")
{
  const ThreeStudies studies;
  const auto equal = studies.comparison({"one", "same"});
  CHECK(equal.at("verdict") == "cannot tell");
  CHECK(equal.at("more_runs_of_each").get<int>() > 0);
  CHECK(equal.at("more_node_hours").get<double>() > 0);
  CHECK(equal.at("low").get<double>() < 1);
  CHECK(equal.at("high").get<double>() > 1);
  CHECK(studies.comparison({"one", "slow"}).at("verdict") == "faster");
  const auto found = studies.comparison({"slow", "one"});
  CHECK(found.at("verdict") == "slower");
  CHECK(found.at("effect").get<double>() == Approx(0.9).epsilon(0.01));
  CHECK(studies.run({"compare", "slow", "one"}).exit_code == 0);
}

TEST_CASE("the exit code is 5 only if the whole interval lies beyond the margin")
{
  const ThreeStudies studies;
  CHECK(studies.run({"compare", "slow", "--reference", "one", "--margin", "2%"}).exit_code == 5);
  CHECK(studies.run({"compare", "slow", "--reference", "one", "--margin", "8%"}).exit_code == 0); // slower, perhaps by less
  CHECK(studies.run({"compare", "one", "--reference", "slow"}).exit_code == 0);
  CHECK(studies.run({"compare", "same", "--reference", "one"}).exit_code == 0);
}

TEST_CASE("a file of dtctl export is a reference, too, unless it is damaged, missing or of a later dtctl")
{
  const ThreeStudies studies;
  REQUIRE(studies.run({"export", "one", "--format", "json", "-o", "one.json"}).ok());
  CHECK(studies.run({"compare", "slow", "--reference", "one.json"}).exit_code == 5);
  CHECK(studies.run({"compare", "same", "--reference", "one.json"}).exit_code == 0);
  // All that is said of the study is said of its file.
  auto by_study = studies.json({"compare", "slow", "--reference", "one"});
  auto by_file = studies.json({"compare", "slow", "--reference", "one.json"});
  for (auto* answer : {&by_study, &by_file}) answer->erase("b");
  CHECK(by_study == by_file);
  CHECK(studies.run({"compare", "slow", "--reference", "one.json", "--where-b", "ranks=2"}).exit_code == 5);
  CHECK(studies.run({"compare", "slow", "--reference", "one.json", "--where-b", "ranks=9"}).exit_code == 2);
  write_file_atomic(studies.file("broken.json"), "{\"runs\": [{\"key\": 1}]}", Readers::everybody);
  auto text = read_file(studies.file("one.json"));
  text.replace(text.find("\"schema\": 1"), 11, "\"schema\": 99");
  write_file_atomic(studies.file("later.json"), text, Readers::everybody);
  for (const auto& [file, message] : std::map<std::string, std::string>{{"missing.json", "there is no such file"},
                                                                        {"broken.json", "row 1 of \"runs\" has no"},
                                                                        {"later.json", "schema 99; this one reads 1"}}) {
    const auto refused = studies.run({"compare", "slow", "--reference", file});
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Contains(message));
  }
}

TEST_CASE("studies that were measured apart are no faster and no slower, and the first lines say what separates them")
{
  Studies studies;
  studies.add("old", {{"", 2, {100, 101, 99}}}, {.in_turn = false, .hour = 0});
  studies.add("new", {{"", 2, {80, 81, 79}}}, {.in_turn = false, .hour = 50});
  const auto found = studies.json({"compare", "new", "--reference", "old", "--format", "junit=junit.xml"});
  CHECK(found.at("exit_code") == 0);
  CHECK(found.at("separation").at("interleaved") == false);
  CHECK(found.at("separation").at("later") == "a");
  CHECK(found.at("separation").at("apart_s").get<double>() == Approx(50 * 3600 - 260));
  CHECK(found.at("comparisons")[0].at("verdict") == "different in these runs");
  CHECK(found.at("comparisons")[0].at("limit") == "apart");
  CHECK(found.at("comparisons")[0].at("regression") == false);
  CHECK(found.at("regressions").empty());
  CHECK_THAT(read_file(studies.file("junit.xml")), Contains("skipped=\"1\""));
  const auto text = studies.run({"compare", "new", "old"}).out;
  CHECK(text.find("apart") < text.find("point"));
}

TEST_CASE("a regression across days is found where studies of the same work tell how far days differ")
{
  Studies studies;
  for (const int day : {0, 1, 2, 3})
    studies.add("good-" + std::to_string(day), {{"", 2, {100.0 + day, 101.0 + day, 99.0 + day}}},
                {.in_turn = false, .hour = 24.0 * day});
  studies.add("bad", {{"", 2, {80, 81, 79}, {}, "build-2"}}, {.in_turn = false, .hour = 80});
  studies.add("near", {{"", 2, {98.5, 98, 98.2}, {}, "build-3"}}, {.in_turn = false, .hour = 82});
  studies.add("late", {{"", 2, {80, 81, 79}, {}, "build-4"}}, {.in_turn = false, .hour = 480});
  const auto found = studies.json({"compare", "bad", "--reference", "good-3"});
  CHECK(found.at("exit_code") == 5);
  CHECK(found.at("comparisons")[0].at("verdict") == "slower");
  CHECK(found.at("comparisons")[0].at("between_studies") == 4);
  CHECK(found.at("comparisons")[0].at("between_deviation").get<double>() == Approx(0.0127).epsilon(0.02));
  CHECK(studies.comparison({"near", "good-3"}).at("verdict") == "cannot tell");
  const auto late = studies.json({"compare", "late", "--reference", "good-3"});
  CHECK(late.at("exit_code") == 0);
  CHECK(late.at("comparisons")[0].at("verdict") == "different in these runs");
  CHECK_THAT(late.at("comparisons")[0].at("sentence").get<std::string>(),
             Contains("the 4 studies of the same work lie within 3d"));
}

TEST_CASE("candidates from studies that were measured apart are not ranked")
{
  Studies studies;
  studies.add("a", {{"rate=1", 2, {100, 101, 99}}}, {.in_turn = false, .hour = 0});
  studies.add("b", {{"rate=2", 2, {120, 121, 119}}}, {.in_turn = false, .hour = 30});
  const auto ranking = studies.json({"compare", "all"}).at("rankings").at(0);
  CHECK(ranking.at("may_be_best").size() == 2);
}

TEST_CASE("times to the target and accuracies of one seed have no verdict across candidates")
{
  Studies studies;
  const std::vector<double> flat{100, 100.1, 99.9};
  studies.add("one",
              {{"a", 2, flat, {1, 1.01, 0.99}, "build-1", 0.9, true}, {"b", 2, flat, {2, 2.01, 1.99}, "build-1", 0.9, true}});
  studies.add("each", {{"a", 2, flat, {1, 1.01, 0.99}}, {"b", 2, flat, {2, 2.01, 1.99}}});
  const auto ranking = [&](const char* study) {
    return studies.json({"compare", study, "--metric", "time-to-target"}).at("rankings").at(0);
  };
  CHECK(ranking("one").at("limit") == "one-seed");
  CHECK(ranking("one").at("may_be_best").size() == 2);
  CHECK(ranking("each").at("limit").is_null());
  CHECK(ranking("each").at("may_be_best") == Json{"a"});
  const auto pair = studies.comparison({"one/b", "--reference", "one/a", "--metric", "time-to-target"});
  CHECK(pair.at("verdict") == "for this one seed");
  CHECK(pair.at("limit") == "one-seed");
  CHECK(studies.run({"compare", "one/b", "--reference", "one/a", "--metric", "time-to-target"}).exit_code == 0);
  CHECK(studies.run({"compare", "each/b", "--reference", "each/a", "--metric", "time-to-target"}).exit_code == 5);
}

TEST_CASE("what cannot be run again beside A is refused")
{
  const ThreeStudies studies;
  REQUIRE(studies.run({"export", "one", "--format", "json", "-o", "one.json"}).ok());
  CHECK_THAT(studies.run({"compare", "slow", "--reference", "one.json", "--against-now"}).err, Contains("not a file"));
  CHECK_THAT(studies.run({"compare", "slow", "--against-now"}).err, Contains("needs B"));
  CHECK_THAT(studies.run({"compare", "slow", "one", "--against-now"}).err, Contains("another build"));
}

TEST_CASE("points of two studies are compared by label and size, and those without a partner are named")
{
  Studies studies;
  studies.add("a", {{"x", 1, {100, 100.1, 99.9}}, {"x", 2, {200, 201, 199}}, {"y", 2, {50, 51, 49}}});
  studies.add("b", {{"x", 2, {220, 221, 219}}, {"x", 1, {100.1, 100, 99.9}}, {"z", 2, {1, 1, 1}}});
  const auto found = studies.json({"compare", "a", "b"});
  REQUIRE(found.at("comparisons").size() == 2);
  CHECK(found.at("comparisons")[0].at("verdict") == "equivalent");
  CHECK(found.at("comparisons")[1].at("verdict") == "slower");
  CHECK(found.at("only_a")[0] == "y, 2 ranks");
  CHECK(found.at("only_b")[0] == "z, 2 ranks");
  const auto point = studies.comparison({"a/y", "b/z"});
  CHECK(point.at("verdict") == "faster");
  studies.add("c", {{"u", 2, {1, 2, 3}}, {"v", 2, {1, 2, 3}}});
  CHECK(studies.run({"compare", "a", "c"}).exit_code == 2);
}

TEST_CASE("the labels or the values of a key within one study are ranked")
{
  Studies studies;
  studies.add("rates", {{"rate=1", 2, {100, 101, 99}}, {"rate=2", 2, {110, 111, 109}}, {"rate=3", 2, {111, 110, 108}}});
  for (const auto& words : {Words{"compare", "rates"}, Words{"compare", "last", "--by", "optimizer.learning_rate"}}) {
    const auto ranking = studies.json(words).at("rankings").at(0);
    CHECK(ranking.at("may_be_best").size() == 2);
    CHECK(ranking.at("ranking")[2].at("may_be_best") == false);
    CHECK(ranking.at("ranking")[2].at("adjusted_p").get<double>() < 0.05);
  }
  CHECK(studies.run({"compare", "last", "--by", "optimiser"}).exit_code == 2);
  CHECK(studies.run({"compare", "rates/rate=1"}).exit_code == 2); // no two candidates of one size
}

TEST_CASE("the values that stand beside a ratio are the means that it is made of")
{
  Studies studies;
  studies.add("a", {{"", 2, {100, 101, 150}, {1, 2, 9}}});
  studies.add("b", {{"", 2, {100, 140, 141}, {1, 8, 9}}});
  for (const auto* metric : {"throughput", "time-to-target"}) {
    const auto found = studies.comparison({"a", "b", "--metric", metric});
    INFO(metric);
    CHECK(found.at("effect").get<double>() == Approx(found.at("a").get<double>() / found.at("b").get<double>()).epsilon(1e-6));
  }
  const auto best = studies.json({"results", "a", "--best-by", "time-to-target"}).at("best")[0];
  CHECK(best.at("throughput").get<double>() == Approx(std::cbrt(100.0 * 101 * 150)));
  CHECK(best.at("time_to_target_s").get<double>() == Approx(std::cbrt(18.0)));
}

TEST_CASE("times to the target count misses, print them and find a regression by ranks")
{
  Studies studies;
  const std::vector<double> flat{100, 100, 100, 100};
  studies.add("sure", {{"", 2, flat, {1, 2, 3, 4}}});
  studies.add("rare", {{"", 2, flat, {6, 7, miss, miss}}});
  studies.add("never", {{"", 2, flat, {miss, miss, miss, miss}}});
  const auto found = studies.json({"compare", "rare", "--reference", "sure", "--metric", "time-to-target"});
  CHECK(found.at("exit_code") == 5);
  CHECK(found.at("comparisons")[0].at("method") == "ranks");
  CHECK(found.at("comparisons")[0].at("verdict") == "slower");
  CHECK(found.at("comparisons")[0].at("reached_a") == 2);
  CHECK(found.at("comparisons")[0].at("a").is_null()); // the median is infinite
  CHECK_THAT(studies.run({"compare", "never", "rare", "--metric", "time-to-target"}).out, Contains("- (0/4)"));
  studies.add("harder", {{"", 2, flat, {1, 2, 3, 4}, "build-1", 0.95}});
  CHECK_THAT(studies.run({"compare", "harder", "sure", "--metric", "time-to-target"}).err, Contains("different targets"));
}

TEST_CASE("comparisons without a common metric, with bad margins and unknown metrics are refused, other builds are a warning")
{
  ThreeStudies studies;
  for (const auto* metric : {"time-to-target", "speed"})
    CHECK_THAT(studies.run({"compare", "one", "same", "--metric", metric}).err, Contains("error: "));
  for (const auto* margin : {"2", "-1%", "x", "", "%", "nan"})
    CHECK(studies.run({"compare", "one", "same", "--margin", margin}).exit_code == 2);
  CHECK(studies.run({"compare", "one", "same", "--margin", "0.02"}).exit_code == 0);
  CHECK(studies.run({"compare", "one", "same", "--format", "junit=x.xml"}).exit_code == 2); // without a reference
  studies.add("rebuilt", {{"", 2, {100, 101, 99}, {}, "build-2"}});
  CHECK_THAT(studies.run({"compare", "rebuilt", "one"}).err, Contains("the builds differ"));
}

TEST_CASE("a comment for a merge request says how many points are worse, and has a row for each")
{
  Studies studies;
  studies.add("old", {{"x", 2, {100, 101, 99}}, {"y", 2, {100, 101, 99}}, {"gone", 2, {1, 1, 1}}});
  studies.add("new", {{"x", 2, {80, 81, 79}}, {"y", 2, {101, 102, 100}}});
  studies.add("same", {{"x", 2, {100.1, 101.1, 99.1}}, {"y", 2, {100.1, 101, 99}}});
  CHECK(studies.run({"compare", "new", "--reference", "old", "--format", "markdown=comment.md"}).exit_code == 5);
  const auto text = read_file(studies.file("comment.md"));
  CHECK_THAT(text, StartsWith("### Regression: 1 of 2 points\n") && Contains("| --- |") && Contains("\n| x") &&
                       Contains("\n| y") && Contains("- gone"));
  CHECK(studies.run({"compare", "same", "--reference", "old", "--format", "markdown=same.md"}).exit_code == 0);
  CHECK_THAT(read_file(studies.file("same.md")), StartsWith("### No regression"));
  CHECK(studies.run({"compare", "new", "old", "--format", "markdown=x.md"}).exit_code == 2); // without a reference
}

TEST_CASE("a pinned baseline is a reference, and its study cannot be removed")
{
  Studies studies;
  studies.add("old", {{"x", 2, {100, 101, 99}}});
  studies.add("new", {{"x", 2, {80, 81, 79}}});
  CHECK(studies.run({"compare", "new", "--baseline", "main"}).exit_code == 2);
  CHECK(studies.json({"note", "--baseline", "main", "old"}).at("baselines")[0].at("study_name") == "old");
  CHECK_THAT(studies.run({"compare", "new", "--baseline", "mian"}).err, Contains("did you mean `main`"));
  const auto found = studies.json({"compare", "new", "--baseline", "main"});
  CHECK(found.at("exit_code") == 5);
  CHECK(found.at("regressions") == Json{"x, 2 ranks"});
  for (const Words& words :
       {Words{"compare", "new", "old", "--baseline", "main"}, Words{"compare", "new", "--reference", "old", "--baseline", "main"},
        Words{"note", "--baseline", "a b", "old"}, Words{"note", "--baseline", "main", "old/x"},
        Words{"note", "--forget-baseline", "other"}})
    CHECK(studies.run(words).exit_code == 2);
  CHECK_THAT(studies.run({"remove", "old", "--yes"}).err, Contains("is the baseline main"));
  REQUIRE(studies.run({"db", "rebuild"}).ok()); // baselines do not live in the database
  CHECK(studies.json({"note", "--baselines"}).at("baselines").size() == 1);
  CHECK(studies.run({"note", "--forget-baseline", "main"}).ok());
  CHECK(studies.run({"remove", "old", "--yes"}).ok());
}

TEST_CASE("runs that are compared with themselves are the same: nothing has changed, and CI ends with code 0")
{
  Studies studies;
  studies.add("old", {{"x", 2, {100, 80}}});
  REQUIRE(studies.run({"note", "--baseline", "main", "old"}).ok());
  REQUIRE(studies.run({"export", "old", "--format", "json", "-o", "old.json"}).ok());
  for (const Words& against :
       {Words{"old"}, Words{"--reference", "old"}, Words{"--baseline", "main"}, Words{"--reference", "old.json"}}) {
    const auto answer = studies.run(dt::test::with({"compare", "old"}, against));
    INFO(answer.out << answer.err);
    CHECK(answer.exit_code == 0);
    CHECK_THAT(answer.out, Contains("A and B are the same runs"));
  }
  CHECK_THAT(studies.run({"compare", "old", "--baseline", "main"}).out, Contains("none was shown") && !Contains("cannot tell"));
  CHECK(studies.run({"compare", "old", "--baseline", "main", "--format", "github"}).exit_code == 0);
  // The same work measured again elsewhere has the same keys and other figures.
  auto text = read_file(studies.file("old.json"));
  for (auto at = text.find("\"throughput\": "); at != text.npos; at = text.find("\"throughput\": ", at + 1))
    text.insert(at + 14, "2");
  write_file_atomic(studies.file("faster.json"), text, Readers::everybody);
  CHECK_THAT(studies.run({"compare", "old", "--reference", "faster.json"}).out, !Contains("the same runs"));
}

TEST_CASE("the formats of CI systems name each regression, each point without a verdict and each point without a partner")
{
  Studies studies;
  studies.add("old", {{"x", 2, {100, 101, 99}}, {"y", 2, {100, 110, 90}}, {"gone", 2, {1, 1, 1}}, {"z", 2, {10, 10.1, 9.9}}});
  studies.add("new", {{"x", 2, {80, 81, 79}}, {"y", 2, {101, 111, 92}}, {"z", 2, {12, 12.1, 11.9}}});
  const auto printed = studies.run({"compare", "new", "--reference", "old", "--format", "github", "--format", "junit=junit.xml",
                                    "--format", "gitlab=quality.json", "--format", "badge=badge.svg"});
  CHECK(printed.exit_code == 5);
  CHECK_THAT(printed.out, StartsWith("::error title=Regression::x, 2 ranks: "));
  CHECK_THAT(printed.out, Contains("\n::warning title=Cannot tell::y, ") && Contains("\n::warning title=Cannot tell::gone, ") &&
                              Contains("\n::notice title=dtctl compare::Regression: 1 of 3 points. A: new"));
  const auto xml = read_file(studies.file("junit.xml"));
  CHECK_THAT(xml, Contains("tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"2\""));
  CHECK_THAT(xml, Contains("name=\"x, 2 ranks\"><failure type=\"regression\"") && Contains("name=\"z, 2 ranks\"/>") &&
                      Contains("name=\"gone, 2 ranks\"><skipped"));
  CHECK(printed.out.find("samples") == std::string::npos); // no table
  const auto issues = Json::parse(read_file(studies.file("quality.json")));
  REQUIRE(issues.size() == 2);
  CHECK(issues[0].at("severity") == "major");
  CHECK(issues[0].at("check_name") == "dtctl-regression");
  CHECK(issues[0].at("location").at("lines").at("begin") == 1);
  CHECK(issues[1].at("severity") == "info");
  CHECK(issues[0].at("fingerprint") != issues[1].at("fingerprint"));
  const auto badge = read_file(studies.file("badge.svg"));
  CHECK_THAT(badge, StartsWith("<svg xmlns=") && Contains(">1 of 3 points worse<"));
  CHECK(badge.find("href") == std::string::npos);
  if (const auto lint = run_command({"xmllint", "--noout", studies.file("badge.svg").string()}); lint.exit_code != 127)
    CHECK(lint.err + lint.out == "");
  for (const Words& format : {Words{"--format", "githab"}, {"--format", "github", "--format", "junit"}, {"--format", "junit="}})
    CHECK(studies.run(with({"compare", "new", "--reference", "old"}, format)).exit_code == 2);
}

TEST_CASE("annotations escape what GitHub would read as a command, and the tenth says how many more there are")
{
  cli::ReportedComparison reported;
  store::Judged judged;
  judged.title = "a%b\n::error::c";
  reported.comparisons.assign(12, judged);
  reported.file = "a:b,c.yaml";
  const auto text = cli::github_annotations(reported);
  CHECK_THAT(text, StartsWith("::warning file=a%3Ab%2Cc.yaml,title=Cannot tell::a%25b\\x0a::error::c: "));
  CHECK_THAT(text, Contains("::and 3 more\n"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 11);
}

TEST_CASE("JUnit XML is well-formed whatever the names hold")
{
  store::Judged judged;
  judged.name = "<a & \"b\"'> \x01\x1b[31m\n\xff\xef\xbf\xbf ]]> \u202e";
  const auto xml = cli::junit_of({judged}, {"missing <point>"});
  const dt::test::TemporaryFolder folder;
  write_file_atomic(folder.path() / "junit.xml", xml, Readers::everybody);
  const auto file = (folder.path() / "junit.xml").string();
  if (const auto lint = run_command({"xmllint", "--noout", file}); lint.exit_code != 127) CHECK(lint.err + lint.out == "");
  CHECK_THAT(xml, Contains("name=\"&lt;a &amp; &quot;b&quot;'&gt; \\x01\\x1b[31m\\x0a\\xff\\uFFFF ]]&gt; "));
  CHECK_THAT(xml, Contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"2\""));
}

TEST_CASE("results end with a verdict about the labels of a study")
{
  Studies studies;
  studies.add("study", {{"slow", 2, {100, 101, 99}, {5, 6, 7}}, {"fast", 2, {110, 111, 109}, {1, 2, miss}}});
  const auto verdict = studies.json({"results", "study"}).at("verdict");
  CHECK(verdict.at("kind") == "candidates");
  REQUIRE(verdict.at("standings").size() == 2);
  CHECK(verdict.at("standings")[0].at("may_be_best") == Json{"fast"});
  for (const auto& sentence : verdict.at("sentences")) CHECK_THAT(sentence.get<std::string>(), !Contains("; "));
  CHECK_THAT(studies.run({"results", "study"}).out, Contains("fast is the best of 2 by throughput: +10.0 %"));
  studies.add("scaling", {{"ranks=1", 1, {100, 101, 99}}, {"ranks=2", 2, {190, 191, 189}}});
  CHECK_THAT(studies.run({"results", "scaling"}).out, Contains("2 ranks: 1.90x, efficiency 95.0 % ["));
}

TEST_CASE("programs that report no throughput are judged by their accuracy, or by the time to the target, but copies are not")
{
  Studies studies;
  const std::vector<double> none{miss, miss, miss}, better{0.9, 0.91, 0.92}, worse{0.7, 0.71, 0.72};
  const auto verdict_of = [&](const std::string& name, const std::vector<Plan>& plans) {
    studies.add(name, plans);
    return studies.json({"results", name}).at("verdict");
  };
  const Plan a{.label = "a", .throughputs = none, .accuracies = better},
      b{.label = "b", .throughputs = none, .accuracies = worse};
  const auto by_accuracy = verdict_of("accuracy", {a, b});
  CHECK_THAT(by_accuracy.at("sentences")[0].get<std::string>(), Contains("a is the best of 2 by accuracy"));
  REQUIRE(by_accuracy.at("standings").size() == 1);
  auto fast = a, slow = b;
  fast.times = {1, 1.1, 1.2}, slow.times = {5, 5.1, 5.2};
  const auto by_time = verdict_of("times", {fast, slow});
  CHECK_THAT(by_time.at("sentences")[0].get<std::string>(), Contains("a is the best of 2 by time to target"));
  auto copies = a;
  copies.are_copies = true;
  CHECK_THAT(verdict_of("copies", {copies, b}).at("sentences")[0].get<std::string>(), Contains("by throughput"));
}

TEST_CASE("a point of A without a succeeded run is no success against a reference")
{
  Studies studies;
  studies.add("old", {{"x", 2, {100, 101, 99}}, {"y", 2, {100, 101, 99}}});
  studies.add("new", {{"x", 2, {100, 101, 99}}, {"y", 2, {100, 101, 99}}});
  studies.fail("new", "y");
  const auto found = studies.run({"compare", "new", "--reference", "old"});
  CHECK(found.exit_code == 1);
  CHECK_THAT(found.err, Contains("3 of 6 runs of A have not succeeded"));
}

TEST_CASE("results print the Pareto set, the best first")
{
  Studies studies;
  studies.add("study", {{"slow", 2, {100, 101, 99}, {5, 6, 7}}, {"fast", 2, {110, 111, 109}, {2, 2.1, 2.2}}});
  for (const auto* metric : {"time-to-target", "throughput", "node-hours"}) {
    const auto best = studies.json({"results", "study", "--best-by", metric}).at("best");
    CHECK(best[0].at("point") == "fast, 2 ranks");
    CHECK(best[0].at("pareto") == true);
    CHECK(best[1].at("pareto") == false); // the node-hours are equal
  }
  CHECK(studies.run({"results", "study", "--best-by", "luck"}).exit_code == 2);
  CHECK_THAT(studies.run({"results", "study", "--best-by", "throughput"}).out, Contains("best  mark  size"));
  studies.add("without", {{"", 2, {100}}});
  CHECK_THAT(studies.run({"results", "without", "--best-by", "throughput"}).out, Contains("best  size"));
  CHECK(studies.run({"results", "without", "--best-by", "time-to-target"}).exit_code == 2);
}
