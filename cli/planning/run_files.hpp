// What a recipe takes from another run by naming it: the weights to start from (train.start_from) and the algorithms of its
// convolutions (train.algorithms_from).
#pragma once

#include "core/home/home.hpp"
#include "core/spec/algorithms.hpp"
#include "core/spec/run_spec.hpp"

#include <string>

namespace dt::cli {

// The file for a value of train.start_from: the named file, or the checkpoint with the largest step of the run with that folder
// or key. Throws a recipe error if the run has no checkpoint.
std::string start_file(const Home& home, const std::string& named);

// The same for train.algorithms_from: the named file, or the algorithms.json of the run's newest attempt that has one.
std::string algorithms_file(const Home& home, const std::string& named);

// The algorithms that a run with train.algorithms `fixed` repeats: those in the file of train.algorithms_from, otherwise those of
// train.algorithm_list. Throws a recipe error if the file cannot be read, or if the run excludes one of the algorithms.
Algorithms fixed_algorithms(const Home& home, const TrainSpec& train);

} // namespace dt::cli
