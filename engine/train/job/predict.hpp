// `dtengine predict`: the outputs of a model for the test images of a data set, for comparisons with other programs.
#pragma once

#include "core/spec/run_spec.hpp"
#include "engine/train/job/model_report.hpp"

#include <filesystem>

namespace dt::train {

struct PredictOptions {
  ModelReportOptions model;      // image and classes are the data set's, except with synthetic data
  std::filesystem::path weights; // as train.start_from: a checkpoint or other weights (.safetensors, .npz)
  DataSpec data{};               // `path`: the set's place; test_samples: how many images
  bool with_images = false;
  std::filesystem::path output; // .npz
  bool force = false;
};

// Writes "logits" (samples x classes), "labels" and, if asked, "images" (samples x channels x height x width, normalised) as
// 32-bit floats, and prints how many of the images have their largest output at their label. Throws a recipe error if data set,
// model and weights do not fit; a usage error if the output is there already.
int predict(const PredictOptions& options);

} // namespace dt::train
