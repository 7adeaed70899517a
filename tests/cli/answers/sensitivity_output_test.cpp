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

TEST_CASE("a range says over which figures it goes and names the variations without a result, and one without any result is none")
{
  const std::string range = "100 samples/s at size 4; 90 samples/s to 110 samples/s over ±20 % of each assumed figure",
                    most = ", most by bandwidth (90 samples/s to 110 samples/s)";
  CHECK(described(varied, {}) == range + most);
  CHECK(described(varied, {figure("platform.latency-20%"), figure("platform.latency+20%"), figure("train.modelled_rate+20%")}) ==
        range + " that has a result" + most + "; without a result: latency ±20 %, modelled_rate +20 %");
  CHECK(described({}, {figure("platform.bandwidth-20%"), figure("platform.bandwidth-20%")}) ==
        "100 samples/s at size 4; without a result: bandwidth -20 %");
  CHECK(described({}, {}).empty());
  CHECK(described({}, {*varied_figure("other assumed=platform.bandwidth-20%")}).empty());
}
