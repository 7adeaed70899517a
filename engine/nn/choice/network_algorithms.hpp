// The fastest algorithms of all convolutions of a network on this machine.
#pragma once

#include "engine/nn/choice/convolution_trial.hpp"
#include "engine/nn/graph/network.hpp"

#include <filesystem>
#include <functional>

namespace dt::nn {

struct TimingOptions {
  std::filesystem::path cache{}; // folder with the choices of earlier calls; empty: none
  double seconds = 4;            // at most, for all convolutions together; small networks get less (seconds_for)
};

struct NetworkAlgorithms {
  Algorithms algorithms;  // of every convolution; empty for NetworkOptions::reference
  int timed = 0;          // number of distinct convolutions that were timed; the others keep the rules
  bool is_cached = false; // the choice is of an earlier call
  double seconds = 0;     // that the choice took
};

// How a convolution is timed, and whether image lanes are clearly faster than these options: tests give their own.
struct Timers {
  std::function<LayerAlgorithms(const ConvolutionCase&, double seconds)> convolution;
  std::function<bool(const NetworkOptions&)> lanes_are_faster;
};
Timers timers();

// Returns the choice in the cache for the same layers, batch, threads, precision, processor, oneDNN and program, or times: each
// distinct convolution alone, on fewer images if the time does not suffice for all, and then, for networks with small layers,
// steps of the whole network with and without image lanes. Takes the same winograd as the options; their algorithms and
// image_lanes are not looked at. Ignores what it cannot read or write in the cache. Throws the errors of Network.
NetworkAlgorithms choose_network_algorithms(const NetworkOptions& options, const TimingOptions& timing,
                                            const Timers& by = timers());

} // namespace dt::nn
