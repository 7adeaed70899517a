// From the algorithms that one run has chosen to another that repeats them, as a user does it.
#include "core/files/file.hpp"
#include "core/record/run_record.hpp"
#include "core/spec/algorithms.hpp"
#include "tests/cli/driver.hpp"

#include <catch2/catch.hpp>

namespace fs = std::filesystem;
using Catch::Contains;
using dt::test::Dtctl;
using dt::test::Json;

namespace {

std::string recipe(const std::string& name, const std::string& train = "", const std::string& model = "{name: lenet}")
{
  return "version: 1\nname: " + name + "\nmodel: " + model +
         "\n"
         "data: {name: synthetic, train_samples: 256, test_samples: 64}\n"
         "train: {global_batch: 32, steps: 6, warmup_steps: 2" +
         train + "}\n";
}

std::string key_of_last(const Dtctl& dtctl) { return dtctl.json({"status"}).at("runs")[0].at("key"); }

// The key of a run of this recipe, done to its end.
std::string done(const Dtctl& dtctl, const std::string& name, const std::string& train = "")
{
  dtctl.write(name + ".yaml", recipe(name, train));
  const auto end = dtctl.run({"submit", name + ".yaml", "--wait"});
  INFO(end.out << end.err);
  REQUIRE(end.ok());
  return key_of_last(dtctl);
}

dt::AttemptFolder attempt_of(const Dtctl& dtctl, const std::string& key) { return {dtctl.home() / "runs" / key, 1}; }

} // namespace

TEST_CASE("a run times its algorithms and records them, and fixed repeats them by key, folder, file or as a list, which is the "
          "same run")
{
  const Dtctl dtctl;
  const auto timed = done(dtctl, "timed");
  const auto file = attempt_of(dtctl, timed).algorithms();
  const auto algorithms = dt::read_algorithms(file);
  CHECK(algorithms.size() == 2);
  const auto result = dt::read_result(attempt_of(dtctl, timed)).value();
  CHECK(result.choice_s > 0);
  CHECK(result.facts.at("algorithms") == "timed: " + dt::in_words(algorithms));
  CHECK_THAT(dt::read_file(attempt_of(dtctl, timed).out()), Contains("algorithms: timed: " + dt::in_words(algorithms)));
  CHECK_THAT(dtctl.run({"show", timed}).out, Contains(dt::in_words(algorithms)));

  const auto by_last = done(dtctl, "by-last", ", algorithms: fixed, algorithms_from: last");
  CHECK(by_last != timed);
  const auto repeated = dt::read_result(attempt_of(dtctl, by_last)).value();
  CHECK(repeated.weights_hash == result.weights_hash);
  CHECK(repeated.facts.at("algorithms") == "fixed: " + dt::in_words(algorithms));
  CHECK(done(dtctl, "by-key", ", algorithms: fixed, algorithms_from: " + timed.substr(0, 12)) == by_last);
  CHECK(done(dtctl, "by-folder", ", algorithms: fixed, algorithms_from: home/runs/" + timed) == by_last);
  fs::copy_file(file, dtctl.folder() / "list.json");
  CHECK(done(dtctl, "by-file", ", algorithms: fixed, algorithms_from: list.json") == by_last);
  std::string list;
  for (const auto& line : algorithm_lines(algorithms)) list += (list.empty() ? "" : ", ") + ("\"" + line + "\"");
  CHECK(done(dtctl, "by-list", ", algorithms: fixed, algorithm_list: [" + list + "]") == by_last);
}

TEST_CASE("a second run of the same kind takes the choice from the home's cache")
{
  const Dtctl dtctl;
  const auto first = done(dtctl, "first"), second = done(dtctl, "second", ", seed: 2");
  const auto words = dt::in_words(dt::read_algorithms(attempt_of(dtctl, first).algorithms()));
  CHECK(dt::read_result(attempt_of(dtctl, second))->facts.at("algorithms") == "timed by an earlier run: " + words);
}

TEST_CASE("a list that cannot be repeated is refused where the recipe names it, before anything is submitted")
{
  const Dtctl dtctl;
  dtctl.write("lenet.json", dt::to_json(dt::Algorithms{{"conv1", {}}, {"conv2", {dt::Algorithm::winograd}}}));
  dtctl.write("other.json", dt::to_json(dt::Algorithms{{"conv1", {}}, {"stem", {}}}));
  dtctl.write("more.json", dt::to_json(dt::Algorithms{{"conv1", {}}, {"conv2", {}}, {"stem", {}}}));
  dtctl.write("notes.json", "these are notes");
  const auto refused = [&](const std::string& train, const std::string& place, const std::string& why) {
    dtctl.write("r.yaml", recipe("r", ", algorithms: fixed, " + train));
    for (const auto* verb : {"validate", "sweep"}) {
      const auto end = dtctl.run({verb, "r.yaml"});
      INFO(verb);
      CHECK(end.exit_code == 2);
      CHECK_THAT(end.err, Catch::StartsWith("r.yaml:" + place + ": ") && Contains(why));
    }
  };
  const auto path = [&](const std::string& name) { return (dtctl.folder() / name).string(); };
  refused("algorithms_from: none.json", "5:90",
          "train.algorithms_from: " + path("none.json") +
              ": there is no such file. Give a run's key, `last`, or the path of a run's folder or of an algorithms.json");
  refused("algorithms_from: notes.json", "5:90",
          "train.algorithms_from: " + path("notes.json") +
              ": This is not a list of algorithms. Give the algorithms.json of a run's folder.");
  refused("algorithms_from: last", "5:90",
          "train.algorithms_from: `last` means the newest study, but nothing has been submitted yet");
  refused("algorithms_from: other.json", "5:90",
          "the list of algorithms does not fit model lenet: it has none for convolution conv2; take it from a run that trains "
          "the same network");
  refused("algorithms_from: more.json", "5:90",
          "the list of algorithms does not fit model lenet: it names stem, which is no convolution of the model; take it from a "
          "run that trains the same network");
  refused("winograd: false, algorithms_from: lenet.json", "5:107",
          "train.algorithms_from: `train.winograd: false` excludes Winograd's algorithm, which the list of algorithms names for "
          "conv2");
  refused("algorithm_list: [conv1 direct]", "5:89",
          "train.algorithm_list: `conv1 direct` cannot be read; give the name of a convolution and three algorithms: forward, "
          "backward to the data, backward to the weights.");
  CHECK(dtctl.json({"status", "--all"}).at("studies").empty());
}
