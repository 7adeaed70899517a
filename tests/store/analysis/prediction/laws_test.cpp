// Predictions of programs that follow other laws than the model: the intervals contain the truth about as often as they promise.
#include "store/analysis/prediction/forecast.hpp"
#include "synthetic_study.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <string>

using namespace dt;
using namespace dt::store;
using namespace dt::store::test;

namespace {

// How a law changes computation and communication of a step at w workers, as factors of the model's, with a strength from 0 to 1.
struct Law {
  std::string name;
  std::function<double(double workers, double strength)> computation, communication;
};

const std::vector<Law>& laws()
{
  const auto one = [](double, double) { return 1.0; };
  static const std::vector<Law> all{
      {"as the model", one, one},
      {"growing computation", [](double w, double s) { return std::pow(w, 0.25 * s); }, one},
      {"computation grows by a share a doubling", [](double w, double s) { return 1 + 0.2 * s * std::log2(w); }, one},
      {"contention that ends at four", [](double w, double s) { return 1 + 0.5 * s * std::min(1.0, (w - 1) / 3); }, one},
      {"quadratic communication", one, [](double w, double s) { return 1 + s * w / 4; }},
      {"communication by log p", one, [](double w, double s) { return (1 + s * std::log2(w)) / (1 + s); }},
      {"a knee at 8", one, [](double w, double s) { return w >= 8 ? 1 + s : 1; }},
      {"a knee at 16", one, [](double w, double s) { return w >= 16 ? 1 + s : 1; }},
      {"a part that is not divided (Amdahl)", [](double w, double s) { return 1 + 0.1 * s * (w - 1); }, one},
  };
  return all;
}

// A run whose computation and sums take these factors of the model's.
MeasuredTimes run_by(const Truth& truth, const StudySize& size, const Law& law, double strength, Random& random)
{
  const auto w = static_cast<double>(size.workers);
  auto changed = truth;
  changed.fixed_s *= law.computation(w, strength);
  changed.sample_s *= law.computation(w, strength);
  const double slower = law.communication(w, strength);
  changed.link.alpha_s *= slower;
  changed.link.beta_s *= slower;
  return run_of(changed, size, random);
}

double true_throughput_by(const Truth& truth, std::int64_t n, const Law& law, double strength)
{
  auto exact = truth;
  exact.run_deviation = 0;
  Random random(1);
  return run_by(exact, size_of(traits_of(truth), n), law, strength, random).throughput;
}

struct Coverage {
  int inside = 0, all = 0, not_identified = 0;
};

Coverage coverage_of(const Law& law, int studies)
{
  Coverage coverage;
  for (int i = 0; i < studies; ++i) {
    Random random(static_cast<std::uint64_t>(1000 + i));
    Truth truth;
    truth.is_weak = i % 2 == 0;
    truth.global_batch = truth.is_weak ? 64 : 2048;
    truth.bytes = 1e6 * std::pow(2, i % 5);
    const double strength = 0.1 + 0.9 * static_cast<double>(i % 7) / 6;
    SeriesMeasurements series{.series = law.name, .traits = traits_of(truth), .sizes = {}};
    series.traits.is_own_program = true; // of which nothing is known but what it measured
    for (const std::int64_t n : {1, 2, 4, 8}) {
      MeasuredSize size{size_of(series.traits, n), {}};
      for (int repeat = 0; repeat < 3; ++repeat) size.runs.push_back(run_by(truth, size.at, law, strength, random));
      series.sizes.push_back(std::move(size));
    }
    const std::vector<std::int64_t> sizes{16, 32};
    for (const auto& prediction : forecast(series, sizes, {}).predictions) {
      if (!prediction.is_identified) {
        ++coverage.not_identified;
        continue;
      }
      const double truth_at = true_throughput_by(truth, prediction.at.size, law, strength);
      const auto& interval = prediction.throughput_interval;
      ++coverage.all;
      coverage.inside += interval.low <= truth_at && truth_at <= interval.high ? 1 : 0;
    }
  }
  return coverage;
}

} // namespace

TEST_CASE("intervals hold what they promise over laws that the model does not know")
{
  int inside = 0, all = 0;
  for (const auto& law : laws()) {
    const auto coverage = coverage_of(law, 35);
    UNSCOPED_INFO(law.name << ": " << coverage.inside << " of " << coverage.all << " inside, " << coverage.not_identified
                           << " not identified");
    if (law.name == "as the model") continue;
    inside += coverage.inside;
    all += coverage.all;
  }
  CHECK(inside >= 0.75 * all);
  CHECK(inside <= 0.9 * all);
}
