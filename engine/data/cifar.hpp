// CIFAR's binary files: records of one or two label bytes and 3x32x32 bytes, red plane first; no header.
#pragma once

#include "engine/data/byte_source.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt::engine {

// A label byte of each record: its name in errors, and how many values it has.
struct CifarLabel {
  std::string_view name;
  std::int64_t classes;
};

// How a CIFAR set lies on disk. The last label of a record is the one that is learnt.
struct CifarLayout {
  std::string subfolder; // looked into when the files are not in the folder itself, as the archive unpacks
  std::vector<std::string> train_files, test_files;
  std::vector<CifarLabel> labels;
};

// A recipe error that names the file, what it holds and what was expected, when one is missing, is empty, is not a whole
// number of records, or has a label out of range.
ImageSets read_cifar_sets(std::string_view data_set, const std::filesystem::path& folder, const CifarLayout& layout);

// CIFAR-10's: data_batch_1.bin … data_batch_5.bin and test_batch.bin, one label; also below cifar-10-batches-bin/.
CifarLayout cifar10_layout();

} // namespace dt::engine
