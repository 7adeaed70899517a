// A run folder with a spec, and dtengine started on it by the real mpirun.
#pragma once

#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/record/run_record.hpp"
#include "core/text.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace dt::test {

inline std::string dtengine() { return DTCTL_BINARY_DIR "/bin/dtengine"; }

// LeNet on synthetic images, on one node of so many ranks; batch and length are still to be given.
inline RunSpec small_lenet(std::int64_t ranks, std::int64_t train_samples)
{
  RunSpec spec;
  spec.name = "test";
  spec.model.name = "lenet";
  spec.data.name = "synthetic";
  spec.data.train_samples = train_samples;
  spec.data.test_samples = 60;
  spec.train.algorithms = AlgorithmChoice::rules; // equal runs end in equal bits
  spec.resources.ranks_per_node = ranks;
  spec.resources.oversubscribe = true;
  return spec;
}

// It trains until somebody stops it.
inline RunSpec endless(RunSpec spec)
{
  spec.train.steps = 1'000'000'000;
  spec.train.eval_every_epochs = 0;
  return spec;
}

class EngineRun {
 public:
  // Writes spec.json and makes attempts/1.
  explicit EngineRun(RunSpec spec, const std::string& data = "synthetic")
      : planned_(plan_run(std::move(spec), read_build_id(dtengine()), data))
  {
    make_folders(attempt().path());
    write_spec();
  }
  PlannedRun& planned() { return planned_; }
  const PlannedRun& planned() const { return planned_; }
  // What was changed in planned() gives the run another key.
  void write_spec()
  {
    planned_ = plan_run(std::move(planned_.spec), std::move(planned_.engine_build), std::move(planned_.data_id),
                        std::move(planned_.start_id));
    write_file_atomic(spec_path(folder_.path()), to_json(planned_));
  }
  AttemptFolder attempt(int number = 1) const { return {folder_.path(), number}; }

  // mpirun and its options for so many ranks; one rank may use every core of this machine.
  static std::vector<std::string> launch(int ranks)
  {
    auto words = split("env OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 " // Open MPI's own, see cmake/tests.cmake
                       "mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -np",
                       ' ');
    words.push_back(std::to_string(ranks));
    return words;
  }
  std::vector<std::string> engine(int number = 1) const
  {
    return {dtengine(), "run", "--attempt", attempt(number).path().string()};
  }

  // NAME and value, for mpirun and its ranks.
  using Environment = std::vector<std::pair<std::string, std::string>>;

  // Runs all ranks to their end, however that comes.
  CommandResult run(int ranks, int number = 1, const Environment& environment = {}) const
  {
    if (number > 1) make_folders(attempt(number).path());
    auto words = launch(ranks);
    const auto program = std::find(words.begin(), words.end(), "mpirun");
    std::vector<std::string> settings;
    for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
    words.insert(program, settings.begin(), settings.end());
    for (auto& word : engine(number)) words.push_back(std::move(word));
    return run_command(words, 120);
  }

 private:
  TemporaryFolder folder_;
  PlannedRun planned_;
};

} // namespace dt::test
