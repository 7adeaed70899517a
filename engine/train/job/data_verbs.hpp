// The verbs of `dtengine data`: describe and make, and those of packed sets.
#pragma once

#include <memory>

namespace CLI {
class App;
} // namespace CLI

namespace dt::train {

class DataVerbs {
 public:
  explicit DataVerbs(CLI::App& app);
  ~DataVerbs();
  DataVerbs(const DataVerbs&) = delete;
  DataVerbs& operator=(const DataVerbs&) = delete;
  // Runs the verb that was given. Returns the exit code.
  int run() const;

 private:
  struct Options;
  std::unique_ptr<Options> options_;
};

// `dtengine data pack`, `check` and `show`.
class PackedVerbs {
 public:
  explicit PackedVerbs(CLI::App& data);
  ~PackedVerbs();
  PackedVerbs(const PackedVerbs&) = delete;
  PackedVerbs& operator=(const PackedVerbs&) = delete;
  // Runs the verb that was given, one of the three. Returns the exit code.
  int run() const;

 private:
  struct Options;
  std::unique_ptr<Options> options_;
};

} // namespace dt::train
