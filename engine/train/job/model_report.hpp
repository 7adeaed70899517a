// `dtengine model`: reports the layers and the cost of a network without training it.
#pragma once

#include "engine/nn/graph/network.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace dt::train {

struct ModelReportOptions {
  std::string model;                 // one of model_names(); "custom" or empty with layers
  std::filesystem::path layers_file; // file with one line per layer; empty: use `layers`
  std::vector<std::string> layers;   // one layer per entry, in the same format
  std::string image;                 // "3x224x224"; empty: the model's natural shape
  std::int64_t classes = 0;          // 0: the model's natural number
  std::int64_t batch = 0;            // above 0: build the network and report its planned memory
  bool json = false;
};

// Makes the network options. Throws a usage error if the report options contradict each other.
nn::NetworkOptions network_options(const ModelReportOptions& options);

// Prints the report and returns the exit status. Throws a recipe error if the model does not exist, its shapes do not fit, or the
// batch needs more memory than available; a usage error if options contradict each other.
int report_model(const ModelReportOptions& options);

} // namespace dt::train
