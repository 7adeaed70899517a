#include "cli/export/curve.hpp"

#include <cmath>

namespace dt::cli {
namespace {

void add(CurvePoint& point, std::string_view name, const Reported& figure)
{
  if (figure) point.values.emplace_back(name, *figure);
}

CurvePoint point_of(const store::CourseStep& step, double step_samples)
{
  const auto& event = step.event;
  const auto phase = [&](Phase which) { return if_measured(event.phase_s[static_cast<std::size_t>(which)]); };
  CurvePoint point{.step = event.step, .unix_s = step.unix_s, .values = {}};
  add(point, "train/loss", event.loss);
  add(point, "train/learning_rate", event.learning_rate);
  if (event.step_s > 0 && std::isfinite(step_samples)) add(point, "throughput/samples_per_s", step_samples / event.step_s);
  add(point, "phase/step_s", if_measured(event.step_s));
  add(point, "phase/input_s", phase(Phase::input));
  add(point, "phase/forward_s", phase(Phase::forward));
  add(point, "phase/backward_s", phase(Phase::backward));
  add(point, "phase/communication_s", phase(Phase::communication));
  add(point, "phase/optimizer_s", phase(Phase::optimizer));
  return point;
}

CurvePoint point_of(const store::CourseEval& eval)
{
  CurvePoint point{.is_evaluation = true, .step = eval.event.step, .unix_s = eval.unix_s, .values = {}};
  add(point, "eval/loss", eval.event.loss);
  add(point, "eval/accuracy", eval.event.accuracy);
  return point;
}

} // namespace

std::vector<CurvePoint> curve_of(const store::Course& course, double step_samples)
{
  std::vector<CurvePoint> points;
  auto eval = course.evals.begin();
  for (const auto& step : course.steps) {
    for (; eval != course.evals.end() && eval->event.step < step.event.step; ++eval) points.push_back(point_of(*eval));
    points.push_back(point_of(step, step_samples));
  }
  for (; eval != course.evals.end(); ++eval) points.push_back(point_of(*eval));
  return points;
}

} // namespace dt::cli
