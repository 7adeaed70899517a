// Makes data sets: rendered images with labels, written as genuine IDX (digits) and CIFAR-10 (shapes) files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace dt::engine {

struct MakeOptions {
  std::string kind; // "digits" or "shapes"
  std::filesystem::path folder;
  std::int64_t train = 20000, test = 4000;
  std::uint64_t seed = 1;
};

// Writes the files, all or none; equal options give equal bytes. False when the folder holds exactly these already.
bool make_data(const MakeOptions& options);

} // namespace dt::engine
