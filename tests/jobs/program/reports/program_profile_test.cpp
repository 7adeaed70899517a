#include "jobs/program/reports/program_profile.hpp"

#include <array>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

namespace {

StepLine step(std::int64_t number, double forward_s, double backward_s)
{
  StepLine line{
      .step = number, .clock_s = 0, .step_s = forward_s + backward_s + 0.5, .samples = 8, .loss = {}, .learning_rate = {}};
  line.phase_s = {0.1, forward_s, backward_s, 0.05, 0.2, 0}; // 0.15 s of the step belong to no phase
  return line;
}

RankReport report_of(std::vector<GradientLine> gradients)
{
  RankReport report;
  report.start.host = "node1";
  report.begin = BeginLine{0, 0};
  report.steps = {step(1, 9, 9), step(2, 1, 2), step(3, 1.1, 2.2), step(4, 0.9, 1.8)};
  report.gradients = std::move(gradients);
  return report;
}

RunSpec program_spec()
{
  RunSpec spec;
  spec.program.command = {"python3", "train.py", "--fast"};
  spec.train.warmup_steps = 1;
  spec.resources.threads_per_rank = 2;
  return spec;
}

} // namespace

TEST_CASE("the profile of a program has a layer for gradients that are ready together, and one for the forward pass")
{
  const std::vector reports{report_of({{40, 1.5, "fc.bias"}, {400, 1.5, "fc.weight"}, {100, 0.5, "conv.weight"}})};
  const auto profile = profile_of_program(program_spec(), reports, "a processor");
  REQUIRE(profile);
  CHECK(profile->is_of_program());
  CHECK(profile->model == "train.py");
  CHECK(profile->processor == "a processor");
  CHECK(profile->host == "node1");
  CHECK(profile->batch == 8);
  CHECK(profile->threads == 2);
  CHECK(profile->steps == 3); // without the warm-up
  CHECK(profile->input_s == Approx(0.1));
  CHECK(profile->update_s == Approx(0.35));
  CHECK(profile->forward_s() == Approx(1));
  CHECK(profile->backward_s() == Approx(2));
  const auto& layers = profile->layers;
  REQUIRE(layers.size() == 3);
  CHECK(layers[0].parameters == 0);
  CHECK(layers[0].forward_s == Approx(1));
  CHECK(layers[0].backward_s == Approx(0.5)); // after the last gradient
  CHECK(layers[1].name == "conv.weight");
  CHECK(layers[1].parameters == 25);
  CHECK(layers[1].backward_s == Approx(1));
  CHECK(layers[2].name == "fc.bias");
  CHECK(layers[2].parameters == 110);
  CHECK(layers[2].backward_s == Approx(0.5));
  CHECK(to_json(parse_compute_profile(to_json(*profile), "p.json")) == to_json(*profile));
}

TEST_CASE("a step of the profile takes the mean of the measured steps, though a pause hits another phase in each of them")
{
  auto report = report_of({{40, 0, "w"}});
  report.steps.clear();
  for (std::int64_t number = 1; number <= 41; ++number) {
    auto line = step(number, 1, 2);
    const double pause_s = 10;
    line.step_s += pause_s;
    line.phase_s[static_cast<std::size_t>(
        std::array{Phase::input, Phase::forward, Phase::backward, Phase::optimizer}[number % 4])] += pause_s;
    report.steps.push_back(line);
  }
  const auto profile = profile_of_program(program_spec(), std::vector{report}, "");
  REQUIRE(profile);
  const double compute_s = profile->forward_s() + profile->backward_s();
  CHECK(profile->input_s + profile->update_s + compute_s * mean_factor(profile->step_quantiles) ==
        Approx(13.45));                               // 0.05 s are sums
  CHECK(profile->step_quantiles.back() == Approx(1)); // whole steps do not vary
}

TEST_CASE("the profile of an unusual mean batch computes as many samples a second as were measured")
{
  auto report = report_of({{40, 0, "w"}});
  report.steps.back().samples = 1; // the last batch of an epoch
  const auto profile = profile_of_program(program_spec(), std::vector{report}, "");
  REQUIRE(profile);
  CHECK(profile->batch == 6); // of 17 / 3
  const double step_s = profile->input_s + profile->update_s +
                        (profile->forward_s() + profile->backward_s()) * mean_factor(profile->step_quantiles);
  CHECK(6 / step_s == Approx(17 / (3.45 + 3.75 + 3.15)));
}

TEST_CASE("without the readiness of gradients, the times of the passes or samples there is no profile")
{
  CHECK_FALSE(profile_of_program(program_spec(), std::vector{report_of({})}, ""));
  auto without_times = report_of({{40, 0, "w"}});
  for (auto& line : without_times.steps) line.phase_s[static_cast<std::size_t>(Phase::backward)] = not_measured;
  CHECK_FALSE(profile_of_program(program_spec(), std::vector{without_times}, ""));
  auto without_samples = report_of({{40, 0, "w"}});
  for (auto& line : without_samples.steps) line.samples = not_measured;
  CHECK_FALSE(profile_of_program(program_spec(), std::vector{without_samples}, ""));
}

TEST_CASE("ranks whose medians differ have a spread, and gradients of one name are told apart")
{
  auto slow = report_of({});
  for (auto& line : slow.steps) {
    line.step_s *= 1.1;
    for (auto& phase_s : line.phase_s) phase_s *= 1.1;
  }
  const auto profile = profile_of_program(program_spec(), std::vector{report_of({{4, 1, "w"}, {4, 0, "w"}}), slow}, "");
  REQUIRE(profile);
  CHECK(profile->processes == 2);
  CHECK(profile->node_spread == Approx(std::log(1.1) / std::sqrt(2.0)));
  CHECK(profile->layers.back().name == "w");
  CHECK(profile->layers.at(1).name == "w (2)");
}
