// `dtengine data describe` and `dtengine start`: check a run's input files before the run is submitted.
#pragma once

#include "engine/train/job/model_report.hpp"
#include "engine/train/weights/start.hpp"

#include <filesystem>
#include <string>

namespace dt::train {

struct DataReportOptions {
  std::string name;             // one of data_names(), except synthetic
  std::filesystem::path folder; // of a packed set: its file
  std::int64_t image_size = 0;  // data.image_size
  bool json = false;
};

// Opens the data set, as a run does (of a packed set it reads the index), and prints the shape of its images and the numbers of
// classes and images. Throws a recipe error with file, found and expected values if the data set does not match its name.
int report_data(const DataReportOptions& options);

struct StartReportOptions {
  std::filesystem::path file;
  ModelReportOptions model; // the model that will start from the file
};

// Reads the file as a run reads its train.start_from, and prints where its weights come from. Throws a recipe error if the file
// is neither a checkpoint nor an archive of weights, or if its tensors do not match the model; an environment error if the file
// cannot be read; a run error if this machine has too little memory for the model.
int report_start(const StartReportOptions& options);

// read_start() with recipe errors for a file that does not fit.
Start read_weights(const std::filesystem::path& file, const std::vector<nn::Parameter>& parameters);

} // namespace dt::train
