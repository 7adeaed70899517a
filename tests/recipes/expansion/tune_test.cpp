// Studies that tune keys: the runs that a search asks for, and what is refused.
#include "core/spec/point_label.hpp"
#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::recipes;
using namespace dt::recipes::test;
using Catch::Contains;

namespace {

std::string tuned(const std::string& keys = "optimizer.learning_rate: 0.001..1", const std::string& study = "",
                  const std::string& train = "", const std::string& matrix = "sync.strategy: [sync-sgd, local-sgd]")
{
  return "version: 1\nname: t\nmodel: {name: lenet}\ndata: {name: synthetic}\n"
         "train: {global_batch: 32, epochs: 1, seed: 7" +
         train + "}\nstudy: {mode: strong, ranks: [1, 2], repeats: 3, " + study + "tune: {keys: {" + keys +
         "}}}\nsweep: {matrix: {" + matrix + "}}\n";
}

const std::string target = ", target_accuracy: 0.9";

LoadOptions with_set(const std::string& value)
{
  LoadOptions options;
  options.set = {value};
  return options;
}

} // namespace

TEST_CASE("the runs of a search have its values, seeds of their own and a word in their labels, and are no points")
{
  LoadOptions options;
  options.tuned = {{"strategy=local-sgd ranks=2", {{"optimizer.learning_rate", "0.03"}, {"sync.period", "4"}}, true, 1},
                   {"strategy=sync-sgd ranks=1", {{"optimizer.learning_rate", "0.2"}}, false, 2}};
  const auto plan = plan_of(tuned("optimizer.learning_rate: 0.001..1, sync.period: 1..64", "", target), options);
  REQUIRE(plan.runs.size() == 2);
  const auto& searched = plan.runs[0];
  CHECK(searched.control);
  CHECK(searched.optimizer.learning_rate == 0.03);
  CHECK(searched.sync.period == 4);
  CHECK(searched.repeat == 10001); // beyond all results
  CHECK(searched.train.seed == 7 + 10001);
  CHECK(run_name(searched) == "t/strategy=local-sgd tried=optimizer.learning_rate:0.03,sync.period:4 ranks=2/#2");
  const auto setting = tried_setting(series_of(sized_label(searched)));
  REQUIRE(setting);
  CHECK(setting->series == "strategy=local-sgd");
  CHECK(setting->values.at("sync.period") == "4");
  const auto& result = plan.runs[1];
  CHECK_FALSE(result.control);
  CHECK(result.train.seed == 7 + 2);
  CHECK(run_name(result) == "t/strategy=sync-sgd ranks=1/#3");
  CHECK_FALSE(tried_setting(result.label));
}

TEST_CASE("a study that cannot be tuned is refused with its place and what to do")
{
  const auto refuses = [](const std::string& recipe, const std::string& words) {
    CHECK_THAT(errors_of(recipe), Contains(words));
  };
  refuses(tuned(), "r.yaml:6:");
  refuses(tuned(), "set `train.target_accuracy`");
  for (const auto* metric : {"accuracy", "loss"}) // these need no target
    CHECK_NOTHROW(plan_of(tuned(), with_set(std::string("study.tune.metric=") + metric)));
  refuses(tuned("sync.period: 64..1", "", target), "must begin with its smaller end");
  refuses(tuned("optimizer.learning_rate: 0.1..1", "", target, "optimizer.learning_rate: [0.1, 0.2]"), "is tuned and swept");
  refuses(tuned("optimizer.learning_rate: 0.1..1", "vary_seed: false, ", target), "`study.vary_seed: true`");
  refuses(tuned("optimizer.learning_rate: 0.1..1, sync.period: 1..64, optimizer.weight_decay: 1e-5..0.1", "", target),
          "at most two are tuned together");
  CHECK_THAT(errors_of(tuned("optimizer.learning_rate: 0.001..1, sync.period: 1..64", "", target), with_set("study.tune.runs=8")),
             Contains("fewer than 12 runs"));
  CHECK_THAT(errors_of(tuned("optimizer.learning_rate: 0.001..1", "", target), with_set("study.repeats=2")),
             Contains("give at least 3"));
  CHECK(plan_of(tuned("optimizer.learning_rate: 0.001..1", "", target)).runs.size() == 12);
}
