#include "core/spec/compute_profile.hpp"

#include "core/files/file.hpp"
#include "core/maths/statistics.hpp"
#include "core/spec/input_shape.hpp"
#include "tests/core/error_of.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace dt;
using dt::test::error_of;
using dt::test::message_of;

namespace {

using Json = nlohmann::ordered_json;

ComputeProfile sample_profile()
{
  ComputeProfile profile{.model = "lenet",
                         .image = "1x28x28",
                         .precision = "fp32",
                         .processor = "AMD EPYC",
                         .host = "node[1-2]",
                         .classes = 10,
                         .batch = 64,
                         .threads = 2,
                         .layers = {{"conv1", 0.1, 1.0 / 3}, {"relu2", 0, 2e-9}, {"fc1", 1e-300, 0}},
                         .update_s = 1.0 / 7,
                         .steps = 50,
                         .step_quantiles = {0.9, 0.95, 1, 1.1, 2},
                         .node_spread = 0.02,
                         .processes = 2};
  return profile;
}

Json sample_json() { return Json::parse(to_json(sample_profile())); }

// The message of parse_compute_profile, without the file and the advice.
std::string refusal_of(const std::string& text)
{
  const auto message = message_of([&] { parse_compute_profile(text, "p.json"); });
  REQUIRE(message.starts_with("p.json: "));
  return message.substr(8, message.find(" Measure") - 8);
}

// For the sample profile after one of its members was replaced.
std::string refusal(const char* pointer, const Json& value)
{
  auto json = sample_json();
  json[Json::json_pointer(pointer)] = value;
  return refusal_of(json.dump());
}

std::vector<double> draws(const ComputeProfile& profile, std::uint64_t seed, int count)
{
  const StepFactors factors(profile, seed);
  std::vector<double> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(factors.factor(3, i % 100, i / 100));
  return drawn;
}

double deviation_of(const std::vector<double>& values)
{
  const double count = static_cast<double>(values.size()), mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

} // namespace

TEST_CASE(
    "a compute profile is read back from its JSON to the same bits, also where it is the member compute_profile of an object")
{
  const auto profile = sample_profile();
  const auto again = parse_compute_profile(to_json(profile), "p.json");
  CHECK(to_json(again) == to_json(profile));
  CHECK(again.forward_s() == 0.1 + 1e-300);
  CHECK(again.backward_s() == 1.0 / 3 + 2e-9);
  const Json file{{"model", "another"}, {"compute_profile", sample_json()}};
  CHECK(to_json(parse_compute_profile(file.dump(), "p.json")) == to_json(sample_profile()));
}

TEST_CASE("the profile of a program has the parameters of its layers, and neither image nor classes")
{
  auto profile = sample_profile();
  profile.model = "train.py";
  profile.image = profile.precision = "";
  profile.classes = 0;
  profile.input_s = 0.25;
  profile.layers = {{"start", 0.1, 0, 0}, {"fc", 0, 0.2, 840}};
  const auto again = parse_compute_profile(to_json(profile), "p.json");
  CHECK(to_json(again) == to_json(profile));
  CHECK(again.is_of_program());
  CHECK_FALSE(sample_profile().is_of_program());
  CHECK(again.input_s == 0.25);
  CHECK(again.layers.at(1).parameters == 840);

  auto json = Json::parse(to_json(profile));
  json["layers"][1]["parameters"] = -1;
  CHECK(refusal_of(json.dump()) == "layer fc: parameters must be a whole number of at least 0, not -1.");
  json["layers"][1]["parameters"] = 0;
  CHECK(refusal_of(json.dump()) == "No layer has parameters.");
  json["layers"][1].erase("parameters");
  CHECK(refusal_of(json.dump()) == "layer fc: parameters is missing.");
}

TEST_CASE("what a compute profile lacks is named, with the file and what to do")
{
  const auto error = error_of([] { parse_compute_profile("{", "p.json"); });
  CHECK(error.kind() == ErrorKind::recipe);
  CHECK_THAT(error.what(), Catch::StartsWith("p.json: The text is not JSON (byte 2). Measure a profile with `dtbench compute"));
  CHECK(refusal_of("") == "The text is not JSON (byte 1).");
  CHECK(refusal_of("[1e999]") == "A number in the text is too large.");
  for (const auto* text : {"[]", R"({"model": "lenet"})", R"({"compute_profile": 1})"})
    CHECK(refusal_of(text) == "The file has no compute profile.");
  for (const auto* name : {"schema", "model", "image", "classes", "batch", "precision", "threads", "processor", "host", "layers",
                           "update_s", "steps", "step_quantiles", "node_spread", "processes"}) {
    auto json = sample_json();
    json.erase(name);
    CHECK(refusal_of(json.dump()) == std::string(name) + " is missing.");
  }
  auto later = sample_json();
  later["schema"] = 2;
  CHECK_THAT(message_of([&] { parse_compute_profile(later.dump(), "p.json"); }),
             Catch::StartsWith("p.json was written by a later"));
}

TEST_CASE("a compute profile with values outside their ranges is refused: in its members, its layers and its quantiles")
{
  struct Row {
    const char* pointer;
    Json value;
    const char* refusal;
  };
  for (const auto& [pointer, value, why] :
       std::vector<Row>{{"/model", "", "model must be a text, not \"\"."},
                        {"/image", "28x28", "image must be channels x height x width as 3x224x224, not \"28x28\"."},
                        {"/precision", "fp8", "precision must be fp32 or bf16, not \"fp8\"."},
                        {"/batch", 0, "batch must be a whole number of at least 1, not 0."},
                        {"/steps", 1.5, "steps must be a whole number of at least 1, not 1.5."},
                        {"/update_s", -1, "update_s must be a number of at least 0, not -1."},
                        {"/node_spread", nullptr, "node_spread must be a number of at least 0, not null."},
                        {"/layers", Json::array(), "layers must be a list of at least 1."},
                        {"/layers/1/name", "conv1", "There are two layers conv1."},
                        {"/layers/1/name", 7, "layer 2: name must be a text, not 7."},
                        {"/layers/2", 7, "layer 3: name is missing."},
                        {"/layers/0/forward_s", -0.5, "layer conv1: forward_s must be a number of at least 0, not -0.5."},
                        {"/layers/0/backward_s", "1 s", "layer conv1: backward_s must be a number of at least 0, not \"1 s\"."},
                        {"/layers/0", Json{{"name", "conv1"}, {"forward_s", 1}}, "layer conv1: backward_s is missing."},
                        {"/layers", Json::array({Json{{"name", "conv1"}, {"forward_s", 0}, {"backward_s", 0}}}),
                         "The times of all layers are 0."},
                        {"/step_quantiles", {1}, "step_quantiles must be a list of at least 2."},
                        {"/step_quantiles", {0, 1, 2}, "step_quantiles must be numbers above 0, not 0."},
                        {"/step_quantiles", {0.5, 1, 0.75}, "step_quantiles must ascend, but 0.75 follows 1."},
                        {"/step_quantiles",
                         {1, 2, 3},
                         "The median of step_quantiles must be 1, not 2: they are factors on the median step time."}})
    CHECK(refusal(pointer, value) == why);
}

TEST_CASE("quantiles of steps are relative to the median and end at the fastest and the slowest step, more of more steps, always "
          "an odd number")
{
  std::vector<double> times(65);
  std::iota(times.rbegin(), times.rend(), 10); // 10, 11, …, 74; the median is 42
  const auto quantiles = step_quantiles(times);
  REQUIRE(quantiles.size() == 65);
  for (std::size_t i = 0; i < quantiles.size(); ++i) CHECK(quantiles[i] == Approx((10 + static_cast<double>(i)) / 42));
  CHECK(quantiles[32] == 1);
  CHECK(step_quantiles({3}) == std::vector<double>(33, 1));
  CHECK(step_quantile_count(1) == 33);
  CHECK(step_quantile_count(63) == 33);
  CHECK(step_quantile_count(64) == 65);
  CHECK(step_quantile_count(1023) == 993);
  CHECK(step_quantile_count(1'000'000) == 1025);
}

TEST_CASE("one slow step in a thousand stays a draw in a thousand")
{
  std::vector<double> times(1000, 1.0);
  times.back() = 3;
  auto profile = sample_profile();
  profile.step_quantiles = step_quantiles(times);
  profile.node_spread = 0;
  const auto drawn = draws(profile, 9, 100'000);
  const auto slow = std::count_if(drawn.begin(), drawn.end(), [](double factor) { return factor > 1; });
  CHECK(slow == Approx(1e5 / 992).margin(4 * std::sqrt(1e5 / 992)));
}

TEST_CASE(
    "a step's factor depends on seed, node, rank and step and on nothing else, and equal steps on equal nodes have exactly 1")
{
  const auto profile = sample_profile();
  const StepFactors factors(profile, 5);
  const double first = factors.factor(1, 2, 3);
  factors.factor(4, 5, 6);
  CHECK(factors.factor(1, 2, 3) == first);
  CHECK(StepFactors(profile, 5).factor(1, 2, 3) == first);
  CHECK(StepFactors(profile, 6).factor(1, 2, 3) != first);
  CHECK(factors.factor(2, 2, 3) != first);
  CHECK(factors.factor(1, 3, 3) != first);
  CHECK(factors.factor(1, 2, 4) != first);
  auto equal = sample_profile();
  equal.step_quantiles.assign(33, 1);
  equal.node_spread = 0;
  for (const double each : draws(equal, 3, 1000)) REQUIRE(each == 1);
}

TEST_CASE("factors have the distribution of the profile's quantiles")
{
  auto profile = sample_profile();
  profile.node_spread = 0;
  constexpr int count = 100'000;
  auto drawn = draws(profile, 7, count);
  std::sort(drawn.begin(), drawn.end());
  CHECK(drawn.front() >= 0.9);
  CHECK(drawn.back() <= 2);
  for (std::size_t i = 1; i < 4; ++i) { // the share below each quantile, within four standard errors
    const double probability = static_cast<double>(i) / 4;
    const auto below = std::lower_bound(drawn.begin(), drawn.end(), profile.step_quantiles[i]) - drawn.begin();
    const double error = std::sqrt(probability * (1 - probability) / count);
    CHECK(static_cast<double>(below) / count == Approx(probability).margin(4 * error));
  }
  const auto half = std::lower_bound(drawn.begin(), drawn.end(), 1.55) - drawn.begin(); // linear between 1.1 and 2
  CHECK(static_cast<double>(half) / count == Approx(0.875).margin(4 * std::sqrt(0.875 * 0.125 / count)));
}

TEST_CASE("steps of one rank, and ranks in one step, are drawn independently")
{
  auto profile = sample_profile();
  profile.node_spread = 0;
  const StepFactors factors(profile, 1);
  int same_side_steps = 0, same_side_ranks = 0;
  constexpr int count = 10'000;
  for (int i = 0; i < count; ++i) {
    const bool is_slow = factors.factor(0, i, i) > 1;
    same_side_steps += is_slow == (factors.factor(0, i, i + 1) > 1) ? 1 : 0;
    same_side_ranks += is_slow == (factors.factor(0, i + 1, i) > 1) ? 1 : 0;
  }
  CHECK(same_side_steps == Approx(count / 2).margin(4 * std::sqrt(count) / 2));
  CHECK(same_side_ranks == Approx(count / 2).margin(4 * std::sqrt(count) / 2));
}

TEST_CASE("the factors of nodes have the profile's spread and the median 1")
{
  auto profile = sample_profile();
  profile.step_quantiles = {1, 1};
  profile.node_spread = 0.05;
  const StepFactors factors(profile, 11);
  std::vector<double> logs;
  constexpr int count = 10'000;
  for (int node = 0; node < count; ++node) logs.push_back(std::log(factors.factor(node, 0, 0)));
  CHECK(deviation_of(logs) == Approx(0.05).epsilon(4 / std::sqrt(2.0 * count)));
  CHECK(median(logs) == Approx(0).margin(4 * 1.2533 * 0.05 / std::sqrt(count)));
  CHECK(factors.factor(9, 1, 2) == factors.factor(9, 3, 4)); // a node's factor is the same for all its ranks and steps
}

TEST_CASE("every shipped compute profile is read, and is of the model and images that its name says")
{
  int profiles = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DTCTL_SOURCE_DIR "/recipes/library/profiles")) {
    const auto& path = entry.path();
    INFO(path);
    REQUIRE(path.extension() == ".json");
    const auto profile = parse_compute_profile(read_file(path), path.filename().string());
    CHECK(profile.model == path.stem().string());
    const auto* facts = find_model_facts(profile.model);
    REQUIRE(facts != nullptr);
    CHECK(profile.image == image_text(facts->natural));
    CHECK(profile.classes == facts->natural.classes);
    CHECK(profile.steps >= 10);
    CHECK(profile.step_quantiles.size() == step_quantile_count(static_cast<std::size_t>(profile.steps)));
    ++profiles;
  }
  CHECK(profiles >= 5);
}

TEST_CASE("factors without a profile are log-normal with the given spreads of steps and of nodes")
{
  constexpr int count = 4000;
  const auto spread_of = [](const std::vector<double>& factors) {
    double sum = 0, squares = 0;
    for (const double factor : factors) sum += std::log(factor), squares += std::log(factor) * std::log(factor);
    const double mean = sum / static_cast<double>(factors.size());
    CHECK(std::abs(mean) < 0.01);
    return std::sqrt(squares / static_cast<double>(factors.size()) - mean * mean);
  };
  std::vector<double> steps, nodes;
  for (int i = 0; i < count; ++i) steps.push_back(StepFactors(0.1, 0, 7).factor(0, 3, i));
  for (int i = 0; i < count; ++i) nodes.push_back(StepFactors(0, 0.05, 7).factor(i, i, 1));
  CHECK(spread_of(steps) == Approx(0.1).epsilon(0.05));
  CHECK(spread_of(nodes) == Approx(0.05).epsilon(0.05));
  CHECK(StepFactors(0, 0.05, 7).factor(4, 4, 1) == StepFactors(0, 0.05, 7).factor(4, 4, 2)); // a node is slow in all steps
  CHECK(StepFactors(0.1, 0, 7).factor(0, 3, 1) != StepFactors(0.1, 0, 8).factor(0, 3, 1));
}
