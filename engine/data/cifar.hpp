// CIFAR's binary files: records of one or two label bytes and 3x32x32 bytes, red plane first, without header.
#pragma once

#include "engine/data/byte_source.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::data {

// A label byte of each record: its name in error messages, and its number of values.
struct CifarLabel {
  std::string_view name;
  std::int64_t classes;
};

// How a CIFAR set is stored on disk. The last label of a record is the one to learn.
struct CifarLayout {
  std::string subfolder; // searched if the files are not in the folder itself; the archive unpacks into it
  std::vector<std::string> train_files, test_files;
  std::vector<CifarLabel> labels;
};

// Throws a recipe error with file, content and expectation if a file is missing, is empty, is not a whole number of records, or
// has a label out of range.
ImageSets read_cifar_sets(std::string_view data_set, const std::filesystem::path& folder, const CifarLayout& layout);

// CIFAR-10: data_batch_1.bin … data_batch_5.bin and test_batch.bin, with one label; searched in cifar-10-batches-bin/ too.
CifarLayout cifar10_layout();

} // namespace dt::data
