#include "engine/sync/exchange/elastic.hpp"

#include "core/error.hpp"
#include "engine/comm/machine/pass.hpp"
#include "engine/sync/exchange/team.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::sync {
namespace {

void require_equal(std::size_t one, std::size_t other)
{
  if (one != other)
    throw Error(ErrorKind::internal,
                fmt::format("elastic averaging of buffers of {} and {} floats, which must be equal", one, other));
}

} // namespace

float elastic_rate(const SyncSpec& sync, double learning_rate)
{
  return static_cast<float>(sync.rho > 0 ? learning_rate * sync.rho : sync.alpha);
}

bool is_elastic_after(const SyncSpec& sync, bool paper_after)
{
  return sync.elastic == ElasticForm::paper ? paper_after : sync.elastic == ElasticForm::after;
}

bool is_exchange(const SyncSpec& sync, std::int64_t step) { return step % sync.period == 0; }

void pull_worker(std::span<float> w, std::span<const float> c, float alpha)
{
  require_equal(w.size(), c.size());
  if (!comm::begin_pass(w.data(), 3 * w.size_bytes())) return;
  float* __restrict weight = w.data();
  const float* __restrict centre = c.data();
  share_pass(w.size(), [=](Range part) {
    for (auto i = part.begin; i < part.end; ++i) weight[i] -= alpha * (weight[i] - centre[i]);
  });
}

void pull_centre(std::span<float> c, std::span<const float> w, float alpha)
{
  require_equal(c.size(), w.size());
  if (!comm::begin_pass(c.data(), 3 * c.size_bytes())) return;
  float* __restrict centre = c.data();
  const float* __restrict weight = w.data();
  share_pass(c.size(), [=](Range part) {
    for (auto i = part.begin; i < part.end; ++i) centre[i] += alpha * (weight[i] - centre[i]);
  });
}

void pull_centre(std::span<float> c, std::span<const float> sum, float alpha, int workers)
{
  require_equal(c.size(), sum.size());
  if (!comm::begin_pass(c.data(), 3 * c.size_bytes())) return;
  float* __restrict centre = c.data();
  const float* __restrict weights = sum.data();
  const auto p = static_cast<float>(workers);
  share_pass(c.size(), [=](Range part) {
    for (auto i = part.begin; i < part.end; ++i) centre[i] += alpha * (weights[i] - p * centre[i]);
  });
}

void take_difference(std::span<float> d, std::span<const float> w, std::span<const float> c, float alpha)
{
  require_equal(d.size(), w.size());
  require_equal(d.size(), c.size());
  if (!comm::begin_pass(d.data(), 3 * d.size_bytes())) return;
  float* __restrict difference = d.data();
  const float* __restrict weight = w.data();
  const float* __restrict centre = c.data();
  share_pass(d.size(), [=](Range part) {
    for (auto i = part.begin; i < part.end; ++i) difference[i] = alpha * (weight[i] - centre[i]);
  });
}

void split_off_difference(std::span<float> d, std::span<float> w, std::span<const float> c, float alpha)
{
  require_equal(d.size(), w.size());
  require_equal(d.size(), c.size());
  if (!comm::begin_pass(d.data(), 4 * d.size_bytes())) return;
  float* __restrict difference = d.data();
  float* __restrict weight = w.data();
  const float* __restrict centre = c.data();
  share_pass(d.size(), [=](Range part) {
    for (auto i = part.begin; i < part.end; ++i) {
      difference[i] = alpha * (weight[i] - centre[i]);
      weight[i] -= difference[i];
    }
  });
}

void assign(std::span<float> y, std::span<const float> x)
{
  require_equal(y.size(), x.size());
  if (!comm::begin_pass(y.data(), 2 * y.size_bytes())) return;
  share_pass(y.size(), [=](Range part) { std::ranges::copy(values_at(x, part), values_at(y, part).begin()); });
}

void add(std::span<float> y, std::span<const float> x)
{
  require_equal(y.size(), x.size());
  if (!comm::begin_pass(y.data(), 3 * y.size_bytes())) return;
  float* __restrict to = y.data();
  const float* __restrict from = x.data();
  share_pass(y.size(), [=](Range part) {
    for (auto i = part.begin; i < part.end; ++i) to[i] += from[i];
  });
}

void subtract(std::span<float> y, std::span<const float> x)
{
  require_equal(y.size(), x.size());
  if (!comm::begin_pass(y.data(), 3 * y.size_bytes())) return;
  float* __restrict to = y.data();
  const float* __restrict from = x.data();
  share_pass(y.size(), [=](Range part) {
    for (auto i = part.begin; i < part.end; ++i) to[i] -= from[i];
  });
}

void scale(std::span<float> y, float factor)
{
  if (!comm::begin_pass(y.data(), 2 * y.size_bytes())) return;
  share_pass(y.size(), [=](Range part) {
    for (auto& value : values_at(y, part)) value *= factor;
  });
}

void pull_worker(const Vector& w, const Vector& c, float alpha)
{
  if (!w.combine_on_device(1 - alpha, c, alpha)) pull_worker(w.host(), c.read(), alpha);
}

void pull_centre(const Vector& c, const Vector& sum, float alpha, int workers)
{
  if (!c.combine_on_device(1 - alpha * static_cast<float>(workers), sum, alpha))
    pull_centre(c.host(), sum.read(), alpha, workers);
}

void take_difference(const Vector& d, const Vector& w, const Vector& c, float alpha)
{
  if (!d.combine_on_device(0, w, alpha, &c, -alpha)) take_difference(d.host(), w.read(), c.read(), alpha);
}

void split_off_difference(const Vector& d, const Vector& w, const Vector& c, float alpha)
{
  if (d.combine_on_device(0, w, alpha, &c, -alpha))
    subtract(w, d);
  else
    split_off_difference(d.host(), w.host(), c.read(), alpha);
}

void assign(const Vector& y, const Vector& x)
{
  if (!y.combine_on_device(0, x, 1)) assign(y.host(), x.read());
}

void add(const Vector& y, const Vector& x)
{
  if (!y.combine_on_device(1, x, 1)) add(y.host(), x.read());
}

void subtract(const Vector& y, const Vector& x)
{
  if (!y.combine_on_device(1, x, -1)) subtract(y.host(), x.read());
}

void scale(const Vector& y, float factor)
{
  if (!y.combine_on_device(factor, y, 0)) scale(y.host(), factor);
}

} // namespace dt::sync
