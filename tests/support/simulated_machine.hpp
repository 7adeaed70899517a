// Machines whose runs scatter in a known way, for tests and benchmarks of the statistics.
#pragma once

#include "core/maths/random.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dt::test {

// Random numbers for simulations. Unlike dt::Random::normal, which is never beyond 3.5, its normal numbers have tails.
class Draws {
 public:
  explicit Draws(std::uint64_t key) : random_(key) {}
  double normal(); // standard normal, by the transformation of Box and Muller
  double uniform() { return (static_cast<double>(random_.word() >> 11) + 0.5) * 0x1p-53; } // in (0, 1)
  bool chance(double probability) { return uniform() < probability; }
  std::vector<std::size_t> order(std::size_t count); // 0 … count-1, shuffled

 private:
  Random random_;
};

// How the speeds of runs scatter. All speeds are log-normal beside what is said here.
enum class MachineKind {
  equal,          // 2 % in all candidates
  unequal,        // 8 % in candidates 0, 2, 4, …, and 2 % in the others
  outliers,       // 2 %; one run in 20 is 30 % slower
  bimodal,        // each run has one of two speeds that are 5 % apart, and 1 %
  drift,          // 2 %; the machine becomes 6 % slower over the study, linearly
  autocorrelated, // 2 %, with a correlation of 0.6 between a run and the next
  switching,      // two speeds that are 5 % apart and change before one run in ten, and 1 %
};
inline constexpr std::array machine_kinds{MachineKind::equal,    MachineKind::unequal, MachineKind::outliers,
                                          MachineKind::bimodal,  MachineKind::drift,   MachineKind::autocorrelated,
                                          MachineKind::switching};
std::string_view name_of(MachineKind kind);

// One machine during one study: gives the speeds of its runs, one after the other.
class SimulatedMachine {
 public:
  // `runs`: of the whole study, over which a machine of kind `drift` becomes slower. `has_nodes`: each run is on one of four
  // nodes, at random, whose speeds differ by 2 %.
  SimulatedMachine(MachineKind kind, bool has_nodes, std::size_t runs, Draws& draws);
  // The speed of the next run, which is one of this candidate, as a factor; its median is near 1.
  double next(std::size_t candidate);

 private:
  double disturbance(std::size_t candidate);

  MachineKind kind_;
  bool has_nodes_;
  double runs_, started_ = 0;
  Draws& draws_;
  std::array<double, 4> nodes_{}; // logarithms
  double last_ = 0;               // of autocorrelated runs, in standard deviations
  bool is_slow_ = false;          // of a switching machine
};

} // namespace dt::test
