// The answer of a tuned study, and the time to the target of larger sizes, on planted run folders whose answer is known.
#include "tests/cli/site_home.hpp"

#include <cmath>

using Catch::Contains;
using Catch::StartsWith;
using dt::test::Json;
using dt::test::Words;
using namespace dt;
using namespace dt::store::test;

namespace {

constexpr double samples0 = 20'000, critical_batch = 100; // of sync-sgd

// Two strategies on one, two and four nodes with a batch of 32 a node, five runs each. sync-sgd follows the law of samples, and
// its throughput is 1000 N^speed_up; local-sgd is as fast on one node, and slower to the target on more.
class TunedStudy : public test::SiteHome {
 public:
  explicit TunedStudy(const std::string& metric = "time-to-target", double speed_up = 0.8, double scatter = 0.01)
      : speed_up_(speed_up), scatter_(scatter)
  {
    std::vector<PlannedRun> runs;
    for (const std::string strategy : {"sync-sgd", "local-sgd"})
      for (const std::int64_t nodes : {1, 2, 4})
        for (int repeat = 0; repeat < 5; ++repeat) runs.push_back(add(strategy, nodes, repeat));
    auto record = site.study(runs, "weak", 1700000000, "tuned");
    record.tune = {.metric = metric, .keys = {{"optimizer.learning_rate", "0.01..1"}}, .runs = 8, .seeds = 2, .results = 5};
    put_file(site.home.study(record.id) / "study.json", to_json(record));
  }

 private:
  double speed_up_, scatter_;

  PlannedRun add(const std::string& strategy, std::int64_t nodes, int repeat) const
  {
    auto spec = sample_spec(1, repeat);
    spec.name = "tuned";
    spec.label = "strategy=" + strategy + " nodes=" + std::to_string(nodes);
    spec.sync.strategy = strategy;
    spec.sync.period = strategy == "local-sgd" ? 8 : 1;
    spec.resources.nodes = nodes;
    spec.train.global_batch = 32 * nodes;
    spec.train.target_accuracy = 0.9;
    spec.train.seed = repeat + 1;
    const auto n = static_cast<double>(nodes);
    const double noise = 1 + scatter_ * ((repeat * (strategy == "local-sgd" ? 4 : 3)) % 5 - 2);
    auto result = sample_result(spec, 1000 * std::pow(n, speed_up_));
    const double samples = samples0 * (1 + 32 * n / critical_batch) * noise * (strategy == "local-sgd" ? 1 + 0.3 * (n - 1) : 1);
    result.samples_to_accuracy = std::llround(samples);
    result.time_to_accuracy_s = samples / result.throughput;
    for (auto& rank : result.ranks) rank.host = "node" + std::to_string(rank.rank);
    const auto run = site.plan(spec);
    const auto attempt = site.begin(run, 1);
    auto begin = read_begin(attempt).value();
    begin.unix_s += 100 * repeat + 10 * n + (strategy == "local-sgd" ? 5 : 0); // in rounds
    put_file(attempt.begin(), to_json(begin));
    put_result(attempt, result);
    return run;
  }
};

} // namespace

TEST_CASE("a tuned study over sizes ends with an answer of at most five lines, in results, reports and JSON")
{
  const TunedStudy study;
  const auto results = study.json({"results", "tuned"});
  const auto& answer = results.at("answer");
  INFO(answer.dump(1));
  const auto& soonest = answer.at("soonest");
  CHECK(soonest.at("label") == "strategy=sync-sgd");
  CHECK(soonest.at("nodes") == 4);
  CHECK(soonest.at("decided") == true);
  CHECK(soonest.at("value").get<double>() == Approx(20 * 2.28 / std::pow(4, 0.8)).epsilon(0.02));
  CHECK(answer.at("cheapest").at("nodes") == 1);
  CHECK(answer.at("worth_until").is_null()); // each doubling saves more than a tenth
  CHECK(answer.at("gain").at("samples").get<double>() == Approx(2.28 / 1.32).epsilon(0.02));
  CHECK(answer.at("runs") == 30);
  CHECK(answer.at("seeds") == 5);
  const auto& sentences = answer.at("sentences");
  REQUIRE(sentences.size() == 5);
  CHECK_THAT(sentences[0].get<std::string>(), Contains("is the best of 6") && Contains("reaches 90 % after"));
  CHECK_THAT(sentences[3].get<std::string>(), Contains("From 1 node to 4 nodes") && Contains("times the samples"));
  const auto text = study.run({"results", "tuned"}).out;
  CHECK_THAT(text, Contains("answer "));
  for (const auto& sentence : sentences) CHECK_THAT(text, Contains(sentence.get<std::string>()));
  for (const auto* format : {"markdown", "html"}) {
    const auto file = study.file(std::string("page.") + format);
    REQUIRE(study.run({"report", "tuned", "--format", format, "-o", file.string()}).ok());
    CHECK_THAT(read_file(file), Contains("node-hours") && Contains("This rests on 30 runs with at least 5 seeds"));
  }
}

TEST_CASE("where several labels of one size may be the soonest, the answer names the size as decided")
{
  const TunedStudy study("time-to-target", -0.5, 0.05); // more nodes are slower
  const auto answer = study.json({"results", "tuned"}).at("answer");
  INFO(answer.dump(1));
  CHECK(answer.at("soonest").at("decided") == false);
  CHECK(answer.at("worth_until") == 1);
  CHECK_THAT(answer.at("sentences")[0].get<std::string>(),
             StartsWith("1 node is the soonest size; the runs do not decide between 2 of 2 on it: ") && Contains("sync-sgd") &&
                 Contains("local-sgd"));
}

TEST_CASE("a study that was not tuned by the time to target has no answer")
{
  for (const auto* metric : {"", "samples"}) CHECK_FALSE(TunedStudy(metric).json({"results", "tuned"}).contains("answer"));
}

TEST_CASE("predict tells the time to the target: by the law for sync-sgd, at the measured sizes for local-sgd")
{
  const TunedStudy study;
  const auto predicted = study.json({"predict", "tuned", "--metric", "time-to-target", "--nodes", "8", "--backtest"});
  INFO(predicted.dump(1));
  int of_law = 0, unknown = 0;
  for (const auto& row : predicted.at("time_to_target")) {
    const bool is_measured = row.at("nodes").get<int>() <= 4;
    CHECK((row.at("basis") == "measured") == is_measured);
    if (is_measured) continue;
    if (row.at("series") == "strategy=sync-sgd") {
      ++of_law;
      CHECK(row.at("samples").get<double>() == Approx(samples0 * (1 + 256 / critical_batch)).epsilon(0.03));
      CHECK(row.at("time_to_target_low").get<double>() < row.at("time_to_target_high").get<double>());
    } else {
      ++unknown;
      CHECK(row.at("samples").is_null());
      CHECK(row.at("time_to_target_s").is_null());
    }
  }
  CHECK(of_law == 1);
  CHECK(unknown == 1);
  for (const auto& law : predicted.at("samples_laws")) CHECK(law.at("fits") == (law.at("series") == "strategy=sync-sgd"));
  CHECK(predicted.at("samples_laws")[0].at("critical_batch").is_number());
  CHECK_FALSE(predicted.at("samples_backtests").empty());
  const auto text = study.run({"predict", "tuned", "--metric", "time-to-target"}).out;
  CHECK_THAT(text, Contains("strategies of this kind have no law") && Contains("worth it"));

  const auto refused = study.run({"predict", "tuned", "--nodes", "8", "--samples-from", "tuned"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("--metric time-to-target"));
  CHECK(study.run({"predict", "tuned", "--metric", "accuracy", "--nodes", "8"}).exit_code == 2);
}
