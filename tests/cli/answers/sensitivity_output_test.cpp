#include "cli/answers/sensitivity_output.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::store;

namespace {

ScalingRow row(const std::string& label, double throughput)
{
  ScalingRow row;
  row.label = label;
  row.nodes = row.ranks = row.size = 4;
  row.throughput = throughput;
  return row;
}

const ScalingRow point = row("simulated", 100);
const std::vector<ScalingRow> varied{row("simulated assumed=platform.bandwidth-20%", 90),
                                     row("simulated assumed=platform.bandwidth+20%", 110)};

VariedFigure figure(const std::string& word) { return *varied_figure("simulated assumed=" + word); }

std::string described(std::span<const ScalingRow> results, const std::vector<VariedFigure>& without_result)
{
  const auto all = sensitivities_of(std::span(&point, 1), results, without_result);
  return all.empty() ? "" : cli::describe(all.front());
}

} // namespace

TEST_CASE("a range says over which figures it goes, and names the variations without a result")
{
  CHECK(described(varied, {}) == "100 samples/s at size 4; 90 samples/s to 110 samples/s over ±20 % of each assumed figure, "
                                 "most by bandwidth (90 samples/s to "
                                 "110 samples/s)");
  CHECK(described(varied, {figure("platform.latency-20%"), figure("platform.latency+20%"), figure("train.modelled_rate+20%")}) ==
        "100 samples/s at size 4; 90 samples/s to 110 samples/s over ±20 % of each assumed figure that has a result, most by "
        "bandwidth "
        "(90 samples/s to 110 samples/s); without a result: latency ±20 %, modelled_rate +20 %");
}

TEST_CASE("a range of which no varied run has a result is none, and says so")
{
  CHECK(described({}, {figure("platform.bandwidth-20%"), figure("platform.bandwidth-20%")}) ==
        "100 samples/s at size 4; without a result: bandwidth -20 %");
  CHECK(described({}, {}).empty());
  CHECK(described({}, {*varied_figure("other assumed=platform.bandwidth-20%")}).empty());
}
