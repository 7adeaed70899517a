// Makes data sets: rendered images with labels, written as real IDX (digits) and CIFAR-10 (shapes) files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace dt::data {

struct MakeOptions {
  std::string kind;                        // "digits" or "shapes"
  std::filesystem::path folder;            // created with its parents if missing
  std::int64_t train = 20000, test = 4000; // numbers of images, 10 to 1,000,000 each; the ten classes are equally frequent
  std::uint64_t seed = 1;
  // Is called now and then, about two hundred times in all, with the numbers of images that are rendered and that will be. If it
  // throws, nothing is written.
  std::function<void(std::int64_t done, std::int64_t all)> progress{};
};

// Writes all files and a hidden .dtctl-data.json with the options, or nothing. Equal options give equal bytes on every machine.
// Returns false if the folder already holds exactly these intact files. A set that was made with other options, or is damaged, is
// replaced. Throws a usage error if the options are out of range or the folder contains files that dtctl did not make. If writing
// fails, it throws an environment error and keeps the old content.
bool make_data(const MakeOptions& options);

} // namespace dt::data
