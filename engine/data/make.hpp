// Makes data sets: rendered images with labels, written as genuine IDX (digits) and CIFAR-10 (shapes) files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace dt::engine {

struct MakeOptions {
  std::string kind;                        // "digits" or "shapes"
  std::filesystem::path folder;            // made with its parents when it is not there
  std::int64_t train = 20000, test = 4000; // images, 10 to 1,000,000 each; the ten classes are equally frequent
  std::uint64_t seed = 1;
};

// Writes the files and a hidden .dtctl-data.json that names the options, all or none; equal options give equal bytes on
// every machine. False when the folder holds exactly these already, whole; a set made with other options, or damaged, is
// replaced. A usage error when the options are out of range or the folder holds anything that was not made so; an
// environment error, and what was there before, when the disk refuses.
bool make_data(const MakeOptions& options);

} // namespace dt::engine
