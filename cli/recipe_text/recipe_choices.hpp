// RecipeChoices: what a user of `dtctl new` wants, from which the text of the recipe is made. Pure functions.
#pragma once

#include "core/spec/choices.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::cli {

enum class SizeUnit { ranks, nodes, parts };

struct RecipeChoices {
  std::string schema; // path of the JSON Schema of recipes, for editors; empty: none
  std::string file;   // path of the recipe, for the commands in its comments; empty: standard output
  std::string name;
  std::string model, data;
  std::string set;             // data packed: name of the set in the home
  std::int64_t image_size = 0; // data packed: side of the images that the model gets; 0: as the set has them
  std::int64_t samples = 0;    // for training; 0: not known, but enough for every batch that choose_batch chooses
  std::vector<std::string> strategies;
  std::optional<StudyMode> study; // nothing: no scaling study
  SizeUnit unit = SizeUnit::ranks;
  std::vector<std::int64_t> sizes; // of the study; without a study at most one
  std::int64_t ranks_per_node = 1; // with unit nodes
  std::int64_t repeats = 1;        // runs per size
  std::int64_t global_batch = 0;   // 0: batch_per_rank is given
  std::int64_t batch_per_rank = 0;
  std::string profile; // machine profile; empty: none
  bool on_slurm = false;
  std::string partition;                                      // on Slurm; empty: the cluster's default
  bool profile_sets_ranks = false, profile_sets_time = false; // the profile gives ranks_per_node and time_limit
  bool oversubscribe = false;                                 // the largest size has more ranks than this machine has cores
  std::string program;              // a program of the user's own, relative to the recipe; empty: dtengine
  std::vector<std::string> command; // that starts it
  bool exchanges = true;            // whether its ranks exchange anything, as far as its source tells
  bool without_mpi = false;         // its ranks run here, and there is no mpirun to start them

  bool is_program() const { return !program.empty(); }
  bool is_single() const { return !study && strategies.size() < 2 && repeats == 1; }
};

// Reads "1,2,4". Throws a usage error for anything else than different whole numbers from 1 to 1,000,000.
std::vector<std::int64_t> parse_sizes(std::string_view text);
// Reads "sync-sgd,easgd". Throws a usage error for an unknown or repeated strategy.
std::vector<std::string> parse_strategies(std::string_view text);

// The word of "--study none" is no study. Throws a usage error for an unknown word.
std::optional<StudyMode> parse_study(std::string_view text);
// The words that parse_study knows.
std::vector<std::string> study_words();

// A data set that suits the model, and a model that suits the data set.
std::string default_data(std::string_view model);
std::string default_model(std::string_view data);

// Whether the data set has the images for which the model was published, so that nobody need ask the engine. True for synthetic,
// whose images get the model's shape, and for custom, whose layers fit all data sets.
bool is_known_to_fit(std::string_view model, std::string_view data);

// Sizes with 1, 2, 4, … workers that fit on `cores`; at least one. Strategies that are compared, and those with servers, get two
// workers at least, even if their ranks must share cores. Without a study, and for a program whose ranks exchange nothing, a
// single size.
std::vector<std::int64_t> default_sizes(const RecipeChoices& choices, std::int64_t cores);

// Ranks of a size, and those of them that train under a strategy with its default number of servers.
std::int64_t ranks_at(const RecipeChoices& choices, std::int64_t size);
std::int64_t workers_at(const RecipeChoices& choices, std::int64_t size, const std::string& strategy);

// Samples of all workers per step at the largest size.
std::int64_t largest_step(const RecipeChoices& choices);

// Chooses a batch that suits all sizes, if none was given. Throws a usage error if there is none of a sensible size.
void choose_batch(RecipeChoices& choices);

// Throws a usage error for a batch that the kind of study does not take.
void check_batch(const RecipeChoices& choices);

// Throws a usage error for choices that contradict each other: a strategy without a worker at one of the sizes, a global batch
// that cannot be divided among the workers, a batch that the kind of study does not take, several sizes without a study.
void check_choices(const RecipeChoices& choices);

} // namespace dt::cli
