// Reads the files of MNIST and CIFAR into memory. All functions throw a recipe error with file, content and expectation if a file
// is missing, truncated or foreign; an environment error if it cannot be read.
#pragma once

#include "engine/data/sources/byte_source.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace dt::data {

// Reads MNIST's four files from a folder: {train,t10k}-images-idx3-ubyte and {train,t10k}-labels-idx1-ubyte. Each may be plain or
// end in .gz, and may have a dot instead of the dash before idx; if several exist, the order is dash, dash with .gz, dot, dot
// with .gz. The number of classes is `classes`, or one more than the largest training label; larger labels are refused.
ImageSets read_idx_sets(std::string_view data_set, const std::filesystem::path& folder, std::optional<std::int64_t> classes = {});

// Reads CIFAR-10's data_batch_1.bin … data_batch_5.bin and test_batch.bin, also from the sub-folder cifar-10-batches-bin.
ImageSets read_cifar10_sets(std::string_view data_set, const std::filesystem::path& folder);

// Reads CIFAR-100's train.bin and test.bin, also from the sub-folder cifar-100-binary. Labels are the fine ones.
ImageSets read_cifar100_sets(std::string_view data_set, const std::filesystem::path& folder);

} // namespace dt::data
