// What the recipe tests share: a folder of files that goes away, and the errors of a recipe as text.
#pragma once

#include "recipes/recipe.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace dt::recipes::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

// A recipe of one run with nothing wrong, and with `more` appended.
std::string minimal(const std::string& more = "");

// The plan of a recipe called r.yaml; every error escapes.
Plan plan_of(const std::string& text, const LoadOptions& options = {});

// The lines of the RecipeError that the recipe ends in, files without their folder; empty when there is none.
std::string errors_of(const std::string& text, const LoadOptions& options = {});
std::string errors_in(const TemporaryFolder& folder, const std::string& name, const LoadOptions& options = {});

// "name, path, …": the keys of a block as errors list them, each with the prefix before it. A block within the block has one
// name.
std::string allowed_keys(const std::string& block, const std::string& prefix = "");

// "lenet, …": all models as errors list them.
std::string allowed_models();

// The label of each run, and "ranks=2" of a size, "#2" of a repeat.
std::vector<std::string> names_of(const Plan& plan);

} // namespace dt::recipes::test
