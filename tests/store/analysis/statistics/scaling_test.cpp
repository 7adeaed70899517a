#include "core/maths/statistics.hpp"
#include "store/analysis/statistics/distributions.hpp"
#include "store/analysis/statistics/scaling.hpp"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

TEST_CASE("the median is the middle value or the mean of the two middle ones, and a quantile is interpolated")
{
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(median({7}) == 7);
  CHECK(std::isnan(median({})));
  CHECK(quantile({10, 20, 30, 40, 50}, 0.25) == 20);
  CHECK(quantile({0, 10}, 0.3) == Approx(3));
  CHECK(quantile({5, 1, 3}, 0) == 1);
  CHECK(quantile({5, 1, 3}, 1) == 5);
}

namespace {

Moments logs_of(const std::vector<double>& values) { return log_moments(values); }

double efficiency_of(double throughput, double size, double base, double base_size)
{
  return efficiency(logs_of({throughput}), size, logs_of({base}), base_size);
}

Interval interval_of(const std::vector<double>& sample, double size, const std::vector<double>& base, double base_size)
{
  return efficiency_interval(logs_of(sample), size, logs_of(base), base_size);
}

// Standard normal numbers that are the same with every standard library: the sum of twelve even ones less six.
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : bits_(seed) {}
  double operator()()
  {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(bits_() >> 11) * 0x1p-53;
    return sum;
  }

 private:
  std::mt19937_64 bits_;
};

// Of many studies with so many repeats, whose throughputs are log-normal with these scatters: how often the interval holds the
// true efficiency, 0.9.
double coverage(std::size_t repeats, double base_scatter, double scatter)
{
  constexpr int studies = 4000;
  Normal normal(11);
  int covered = 0;
  for (int study = 0; study < studies; ++study) {
    std::vector<double> base, sample;
    for (std::size_t i = 0; i < repeats; ++i) {
      base.push_back(100 * std::exp(base_scatter * normal()));
      sample.push_back(360 * std::exp(scatter * normal()));
    }
    const auto interval = interval_of(sample, 4, base, 1);
    if (interval.low <= 0.9 && 0.9 <= interval.high) ++covered;
  }
  return covered / static_cast<double>(studies);
}

} // namespace

TEST_CASE("efficiency follows its definition, with geometric means")
{
  CHECK(efficiency_of(300, 4, 100, 1) == Approx(0.75));
  CHECK(efficiency_of(300, 8, 100, 2) == Approx(0.75));
  CHECK(efficiency_of(100, 2, 100, 2) == 1);
  CHECK(efficiency(logs_of({100, 400}), 2, logs_of({100}), 1) == Approx(1));
}

TEST_CASE("the interval is Welch's on logarithms, without scatter the efficiency itself, and needs three runs of either size")
{
  // Logarithms 0, 0.1, 0.2 and 1, 1.3, 1.6: variances 0.01 and 0.09, f = (0.1/3)² / ((0.01/3)²/2 + (0.03)²/2) = 2.439.
  const std::vector<double> base{1, std::exp(0.1), std::exp(0.2)}, sample{std::exp(1.0), std::exp(1.3), std::exp(1.6)};
  const auto interval = interval_of(sample, 2, base, 1);
  const double f = 0.01 / 9 / (0.0001 / 18 + 0.0081 / 18), reach = student_t_quantile(0.975, f) * std::sqrt(0.1 / 3);
  CHECK(f == Approx(2.439).epsilon(1e-3));
  CHECK(interval.low == Approx(std::exp(1.2 - reach) / 2));
  CHECK(interval.high == Approx(std::exp(1.2 + reach) / 2));
  const auto exact = interval_of({200, 200, 200}, 4, {100, 100, 100}, 1);
  CHECK(exact.low == Approx(0.5));
  CHECK(exact.high == Approx(0.5));
  const std::vector<double> two{1, 2}, three{1, 2, 3};
  CHECK(std::isnan(interval_of(three, 2, two, 1).low));
  CHECK(std::isnan(interval_of(two, 2, three, 1).high));
}

TEST_CASE("the interval holds the true efficiency in 95 of 100 studies, with 3, 5 and 10 repeats")
{
  for (const std::size_t repeats : {3, 5, 10})
    for (const double scatter : {0.01, 0.05, 0.3}) {
      CAPTURE(repeats, scatter);
      CHECK(coverage(repeats, 0.05, scatter) > 0.93);
      CHECK(coverage(repeats, 0.05, scatter) < 0.98); // with few repeats Welch's degrees of freedom err on the safe side
    }
}

namespace {

// Three runs with these workers and servers on one node, around this throughput.
std::vector<Run> runs_of(std::int64_t workers, std::int64_t servers, double throughput, const std::string& series = "")
{
  std::vector<Run> runs;
  for (const double scatter : {0.99, 1.0, 1.01})
    runs.push_back({.series = series,
                    .nodes = 1,
                    .ranks = workers + servers,
                    .workers = workers,
                    .succeeded = true,
                    .throughput = throughput * scatter});
  return runs;
}

std::vector<ScalingRow> rows_of(std::initializer_list<std::vector<Run>> points, StudySizes sizes = StudySizes::grow)
{
  std::vector<Run> runs;
  for (const auto& point : points) runs.insert(runs.end(), point.begin(), point.end());
  return scaling_of(runs, sizes);
}

} // namespace

TEST_CASE("efficiency per process counts parameter servers, efficiency per worker does not")
{
  const auto rows = rows_of({runs_of(1, 0, 100), runs_of(2, 1, 180)});
  CHECK(rows[1].efficiency == Approx(0.9));
  CHECK(rows[1].efficiency_per_process == Approx(0.6));
  CHECK(rows[0].efficiency_per_process == Approx(1));
}

TEST_CASE("the speed-up of the smallest size is 1, whether that is one rank, two ranks or fifteen workers of a server")
{
  for (const auto& [workers, servers] : {std::pair{1, 0}, {2, 0}, {15, 1}}) {
    CAPTURE(workers, servers);
    const auto rows = rows_of({runs_of(workers, servers, 100), runs_of(2 * workers, servers, 190)});
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].speedup == 1);
    CHECK(rows[0].efficiency == 1);
    CHECK(rows[0].baseline_size == workers);
    CHECK(rows[1].speedup == Approx(1.9));
    CHECK(rows[1].efficiency == Approx(0.95));
  }
}

TEST_CASE("a label of which one size was measured is compared with nothing, whatever the study is")
{
  auto failed = runs_of(4, 0, 350, "b");
  for (auto& run : failed) run.succeeded = false, run.throughput = not_measured;
  for (const auto sizes : {StudySizes::grow, StudySizes::labels, StudySizes::parts}) {
    const auto rows = rows_of({runs_of(2, 0, 100, "a"), runs_of(2, 0, 100, "b"), failed}, sizes);
    REQUIRE(rows.size() == 3);
    for (const auto& row : rows) {
      CHECK(row.baseline_size == 0);
      CHECK(std::isnan(row.speedup));
      CHECK(std::isnan(row.efficiency));
      CHECK(std::isnan(row.efficiency_per_process));
    }
  }
}

TEST_CASE("accuracy and communication share of a point are means, because accuracies are compared by their means")
{
  auto runs = runs_of(1, 0, 100);
  for (std::size_t i = 0; const double value : {0.5, 0.6, 1.0})
    runs[i].accuracy = value, runs[i++].communication_share = value / 2;
  const auto row = scaling_of(runs, StudySizes::grow).at(0);
  CHECK(row.accuracy == Approx(0.7));
  CHECK(row.communication_share == Approx(0.35));
}

TEST_CASE("a point has the platform of its runs, whatever its label begins with")
{
  auto simulated = runs_of(1, 0, 100, "simulated");
  for (auto& run : simulated) run.platform = "ethernet-10g";
  const auto rows = rows_of({simulated, runs_of(1, 0, 100, "simulated=1")}, StudySizes::labels);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].platform == "ethernet-10g");
  CHECK(rows[1].platform == "");
}

TEST_CASE("the throughput of a point is the mean that its speed-up is made of, not the median")
{
  std::vector<Run> runs;
  for (const auto& [ranks, throughput] : {std::pair{1, 100.0}, {1, 101.0}, {1, 150.0}, {2, 190.0}, {2, 250.0}, {2, 251.0}}) {
    runs.push_back(runs_of(ranks, 0, throughput)[1]);
  }
  const auto rows = scaling_of(runs, StudySizes::grow);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].speedup == Approx(rows[1].throughput / rows[0].throughput));
  CHECK(rows[0].throughput == Approx(std::cbrt(100.0 * 101 * 150)));
  CHECK(rows[0].throughput_median == 101);
}

TEST_CASE("parts of the same cores are compared by throughput alone")
{
  std::vector<Run> runs;
  for (const auto& [parts, throughput] : {std::pair{1, 100.0}, std::pair{2, 130.0}, std::pair{4, 80.0}})
    for (auto& run : runs_of(2 * parts, 0, throughput)) {
      run.nodes = 2;
      runs.push_back(run);
    }
  const auto rows = scaling_of(runs, StudySizes::parts);
  REQUIRE(rows.size() == 3);
  for (const auto& [i, size, ratio] : {std::tuple{0, 1, 1.0}, std::tuple{1, 2, 1.3}, std::tuple{2, 4, 0.8}}) {
    const auto& row = rows[static_cast<std::size_t>(i)];
    CHECK(row.size == size);
    CHECK(row.efficiency == Approx(ratio));
    CHECK(row.speedup == Approx(ratio));
    CHECK(row.baseline_size == 1);
    CHECK(std::isnan(row.efficiency_per_process));
  }
  CHECK(rows[1].efficiency_low > 1.2);
  CHECK(rows[1].efficiency_high < 1.4);
}

TEST_CASE("runs of a ladder are paired within their blocks, so that a drift of the machine does not widen the interval")
{
  // The machine is slower from block to block; within each block four ranks reach 80 % of four times one rank, with little
  // scatter.
  std::vector<Run> runs, separate;
  for (int block = 0; block < 4; ++block)
    for (const std::int64_t ranks : {1, 4}) {
      const double drift = std::exp(-0.3 * block), scatter = ranks == 4 ? 1 + 0.002 * (block % 2) : 1;
      separate.push_back(runs_of(ranks, 0, 100 * drift * scatter * (ranks == 1 ? 1 : 3.2))[1]);
      runs.push_back(separate.back());
      runs.back().block = "17 " + std::to_string(block);
    }
  const auto paired = scaling_of(runs, StudySizes::grow).at(1), unpaired = scaling_of(separate, StudySizes::grow).at(1);
  CHECK(paired.efficiency == Approx(0.8).epsilon(0.01));
  CHECK(paired.efficiency == Approx(unpaired.efficiency));
  CHECK(paired.efficiency_high - paired.efficiency_low < 0.01);
  CHECK(paired.paired_blocks == 4);
  CHECK(unpaired.paired_blocks == 0);
  CHECK(unpaired.efficiency_high - unpaired.efficiency_low > 0.2);
  runs.back().block.clear(); // one run outside of the ladder: nothing is paired
  CHECK(scaling_of(runs, StudySizes::grow).at(1).efficiency_high == Approx(unpaired.efficiency_high));
}
