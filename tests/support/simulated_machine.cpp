#include "tests/support/simulated_machine.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace dt::test {
namespace {

constexpr double scatter = 0.02, large_scatter = 0.08, small_scatter = 0.01;
constexpr double correlation = 0.6;
const double two_speeds = std::log(1.05); // between the speeds of a machine that has two
const double drift = std::log(1 - 0.06);  // over a study
const double outlier = std::log(1 - 0.3);

} // namespace

double Draws::normal()
{
  const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * M_PI * uniform();
  return radius * std::cos(angle);
}

std::vector<std::size_t> Draws::order(std::size_t count)
{
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left) std::swap(order[left - 1], order[random_.below(left)]);
  return order;
}

std::string_view name_of(MachineKind kind)
{
  switch (kind) {
  case MachineKind::equal:
    return "equal";
  case MachineKind::unequal:
    return "unequal";
  case MachineKind::outliers:
    return "outliers";
  case MachineKind::bimodal:
    return "bimodal";
  case MachineKind::drift:
    return "drift";
  case MachineKind::autocorrelated:
    return "autocorrelated";
  case MachineKind::switching:
    return "switching";
  }
  return "";
}

SimulatedMachine::SimulatedMachine(MachineKind kind, bool has_nodes, std::size_t runs, Draws& draws)
    : kind_(kind), has_nodes_(has_nodes), runs_(static_cast<double>(runs)), draws_(draws), last_(draws.normal()),
      is_slow_(draws.chance(0.5))
{
  for (auto& node : nodes_) node = scatter * draws_.normal();
}

double SimulatedMachine::next(std::size_t candidate)
{
  double logarithm = disturbance(candidate);
  if (has_nodes_) logarithm += nodes_[static_cast<std::size_t>(draws_.uniform() * static_cast<double>(nodes_.size()))];
  ++started_;
  return std::exp(logarithm);
}

double SimulatedMachine::disturbance(std::size_t candidate)
{
  const double noise = draws_.normal();
  switch (kind_) {
  case MachineKind::equal:
    return scatter * noise;
  case MachineKind::unequal:
    return (candidate % 2 == 0 ? large_scatter : scatter) * noise;
  case MachineKind::outliers:
    return scatter * noise + (draws_.chance(0.05) ? outlier : 0);
  case MachineKind::bimodal:
    return small_scatter * noise - (draws_.chance(0.5) ? two_speeds : 0);
  case MachineKind::drift:
    return scatter * noise + drift * started_ / runs_;
  case MachineKind::autocorrelated:
    last_ = correlation * last_ + std::sqrt(1 - correlation * correlation) * noise;
    return scatter * last_;
  case MachineKind::switching:
    if (draws_.chance(0.1)) is_slow_ = !is_slow_;
    return small_scatter * noise - (is_slow_ ? two_speeds : 0);
  }
  return 0;
}

} // namespace dt::test
