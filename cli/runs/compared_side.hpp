// One side of a comparison: the runs that a selector names, or those of a reference file.
#pragma once

#include "cli/runs/selectors.hpp"
#include "store/analysis/doubts/separation.hpp"
#include "store/analysis/verdict/metric.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace dt::cli {

struct ComparedSide {
  std::string title; // "scaling (89c369c085)", for people
  std::vector<store::Run> runs;
  std::vector<store::Measured> measured{};     // when and where its succeeded runs were measured
  std::set<std::string> environments{};        // store::python_environments of its runs
  std::map<std::string, std::string> labels{}; // the recipe's own, of the study that is named (StudyRecord::labels)
  std::string recipe{};                        // the file of that study's recipe, as seen from here; empty: elsewhere, or none
  std::string study{};                         // the name of the study; empty: the selector names none
  std::string tuned_by{};                      // the metric by which that study was tuned (StudyTune::metric); empty: it was not
};

// Reads when, where and in which environments the side's runs were measured.
void read_surroundings(store::Database& database, ComparedSide& side);

// `by` is the key whose values are compared; empty: none. Throws usage errors as select does, and for an unknown key.
ComparedSide side_of(ResultsStore& results, const Selector& selector, const std::string& by);

// Whether a reference names a file: it ends in ".json".
bool is_reference_file(const std::string& reference);

// The runs of a file that `dtctl export --format json` has written. `where`: only those that meet the condition. Throws a usage
// error that names the file and what is wrong in it, or as side_of.
ComparedSide read_reference(const std::filesystem::path& file, const std::string& where, const std::string& by);

} // namespace dt::cli
