#include "cli/export/curve.hpp"

#include <cmath>

namespace dt::cli {
namespace {

CurvePoint point_of(const store::CourseStep& step, double global_batch)
{
  const auto& event = step.event;
  const auto phase = [&](Phase which) { return event.phase_s[static_cast<std::size_t>(which)]; };
  CurvePoint point{.step = event.step, .unix_s = step.unix_s, .values = {}};
  point.values = {{"train/loss", event.loss}, {"train/learning_rate", event.learning_rate}};
  if (event.step_s > 0 && std::isfinite(global_batch))
    point.values.emplace_back("throughput/samples_per_s", global_batch / event.step_s);
  point.values.emplace_back("phase/step_s", event.step_s);
  point.values.emplace_back("phase/input_s", phase(Phase::input));
  point.values.emplace_back("phase/forward_s", phase(Phase::forward));
  point.values.emplace_back("phase/backward_s", phase(Phase::backward));
  point.values.emplace_back("phase/communication_s", phase(Phase::communication));
  point.values.emplace_back("phase/optimizer_s", phase(Phase::optimizer));
  return point;
}

CurvePoint point_of(const store::CourseEval& eval)
{
  return {.is_evaluation = true,
          .step = eval.event.step,
          .unix_s = eval.unix_s,
          .values = {{"eval/loss", eval.event.loss}, {"eval/accuracy", eval.event.accuracy}}};
}

} // namespace

std::vector<CurvePoint> curve_of(const store::Course& course, double global_batch)
{
  std::vector<CurvePoint> points;
  auto eval = course.evals.begin();
  for (const auto& step : course.steps) {
    for (; eval != course.evals.end() && eval->event.step < step.event.step; ++eval) points.push_back(point_of(*eval));
    points.push_back(point_of(step, global_batch));
  }
  for (; eval != course.evals.end(); ++eval) points.push_back(point_of(*eval));
  return points;
}

} // namespace dt::cli
