// Enumerations of RunSpec and their words.
#include "core/spec/choices.hpp"

#include "core/spec/spec_schema.hpp"
#include "tests/core/error_of.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace dt;

TEMPLATE_TEST_CASE("every word of an enumeration stands for one value, and back", "", Engine, BatchNormSamples, ProgramLaunch,
                   ContainerRuntime, Precision, AlgorithmChoice, ElasticForm, ProgressMode, Wire, ServerPlacement, TopologySource,
                   SyncTransport, EvaluatedModel, StudyMode, StudyOrder, StudyLayout, Metric)
{
  std::set<TestType> values;
  for (const auto& [value, name] : choices<TestType>()) {
    CHECK(values.insert(value).second);
    CHECK(name_of(value) == name.name);
    CHECK(find_choice<TestType>(name.name) == value);
    CHECK_FALSE(name.help.empty());
  }
  CHECK(choice_names<TestType>().size() == values.size());
  CHECK_FALSE(find_choice<TestType>(""));
}

TEST_CASE("another word is refused with those that there are, and one that only another dtctl knows changes nothing")
{
  CHECK(choice_of<Wire>("bfloat16") == Wire::bfloat16);
  const auto error = test::error_of([] { choice_of<Wire>("float16"); });
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(error.what() == std::string("`float16` must be one of float32, bfloat16, int8, int4."));
  RunSpec spec;
  const auto later = test::error_of([&] { set_value(spec, *find_key("train.precision"), std::string("fp8")); });
  CHECK(later.kind() == ErrorKind::environment);
  CHECK_THAT(later.what(), Catch::StartsWith("`train.precision` is `fp8`, which this dtctl does not know"));
  CHECK(spec.train.precision == Precision::fp32);
}

TEST_CASE("a study is raced by some of the metrics, and spec.json can name no other")
{
  CHECK(strings_of(race_metric_names()) == std::vector<std::string>{"throughput", "time-to-target"});
  RunSpec spec;
  const Key& metric = *find_key("study.until.metric");
  CHECK(value_of(spec, metric) == FieldValue(std::string("throughput")));
  set_value(spec, metric, std::string("time-to-target"));
  CHECK(spec.study.until.metric == Metric::time_to_target);
  CHECK_THROWS_WITH(set_value(spec, metric, std::string("accuracy")), Catch::EndsWith("it knows throughput, time-to-target"));
  CHECK(spec.study.until.metric == Metric::time_to_target);
}

TEST_CASE(
    "a key of an enumeration is read and written as its word, and a run without a scaling study has the empty word for its mode")
{
  RunSpec spec;
  const Key& progress = *find_key("sync.progress");
  CHECK(value_of(spec, progress) == FieldValue(std::string("none")));
  set_value(spec, progress, std::string("auto"));
  CHECK(spec.sync.progress == ProgressMode::automatic);
  CHECK(value_of(spec, progress) == FieldValue(std::string("auto")));
  const Key& mode = *find_key("study.mode");
  CHECK(value_of(spec, mode) == FieldValue(std::string()));
  set_value(spec, mode, std::string("weak"));
  CHECK(spec.study.mode == StudyMode::weak);
  set_value(spec, mode, std::string());
  CHECK_FALSE(spec.study.mode);
}
