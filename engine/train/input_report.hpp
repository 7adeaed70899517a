// dtengine data describe and dtengine start: whether the files that a run reads are what it needs, before it is submitted.
#pragma once

#include "engine/train/model_report.hpp"

#include <filesystem>
#include <string>

namespace dt::engine {

struct DataReportOptions {
  std::string name; // of data_names(), but not synthetic
  std::filesystem::path folder;
  bool json = false;
};

// Reads the data set whole, as a run does, and prints its images' shape, its classes and how many there are. A recipe error that
// names file, found and expected when it is not what its name says.
int report_data(const DataReportOptions& options);

struct StartReportOptions {
  std::filesystem::path file;
  ModelReportOptions model; // that is to begin with it
};

// Reads the file as a run reads its train.start_from and prints where its weights come from. A recipe error when it is no
// checkpoint and no archive of weights, or its tensors are not the model's; an environment error when it cannot be read; a run
// error when this machine has no memory for the model.
int report_start(const StartReportOptions& options);

} // namespace dt::engine
