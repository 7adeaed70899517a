// dtengine model: what a network consists of and costs, without training it.
#pragma once

#include "engine/nn/network.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace dt::engine {

struct ModelReportOptions {
  std::string model;                 // of model_names(); custom, or left out, with layers
  std::filesystem::path layers_file; // a line a layer; empty: `layers`
  std::vector<std::string> layers;   // likewise
  std::string image;                 // "3x224x224"; empty: the model's natural one
  std::int64_t classes = 0;          // 0: the model's natural number
  std::int64_t batch = 0;            // above 0: build the network and tell the memory that it plans
  bool json = false;
};

// The network that the options name: a recipe error when there is no such model, a usage error when they do not go together.
NetworkOptions network_options(const ModelReportOptions& options);

// Prints the report. A recipe error when the model does not exist, its shapes do not fit, or the batch needs more memory than
// there is, a usage error when options do not go together.
int report_model(const ModelReportOptions& options);

} // namespace dt::engine
