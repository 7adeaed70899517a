// What the recipe tests share: a folder of files that goes away, and the errors of a recipe as text.
#pragma once

#include "recipes/recipe.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dt::recipes::test {

struct TemporaryFolder : dt::test::TemporaryFolder {
  std::filesystem::path write(const std::string& name, const std::string& text) const;
};

// A recipe of one run with nothing wrong, and with `more` appended.
std::string minimal(const std::string& more = "");

// The plan of a recipe called r.yaml; every error escapes.
Plan plan_of(const std::string& text, const LoadOptions& options = {});

// The lines of the RecipeError that the recipe ends in, files without their folder; empty when there is none.
std::string errors_of(const std::string& text, const LoadOptions& options = {});
std::string errors_in(const TemporaryFolder& folder, const std::string& name, const LoadOptions& options = {});

// Each text ends in errors that begin so: with a place and what is wrong there.
struct Refused {
  std::string text, begin;
};
template<class Errors> void check_refused(Errors errors, const std::vector<Refused>& rows)
{
  for (const auto& [text, begin] : rows) {
    INFO(text);
    CHECK_THAT(errors(text), Catch::StartsWith(begin));
  }
}

// The profiles of a user's configuration, and the error of one with a profile that holds this line, without the file.
std::vector<Profile> profiles_in(const std::string& user_config);
std::string error_in_profile(const std::string& line);

// "4:24 5:1": where these lines are to be mended.
std::string places_of(const std::string& text, const LoadOptions& options = {});

// The options with these words behind --set.
LoadOptions with_set(const std::vector<std::string>& set);

// "name, path, …": the keys of a block as errors list them, each with the prefix before it. Without a prefix a block within
// the block is one name.
std::string allowed_keys(const std::string& block, const std::string& prefix = "");

// "lenet, …": all models as errors list them.
std::string allowed_models();

// The label of each run, and "ranks=2" of a size, "#2" of a repeat.
std::vector<std::string> names_of(const Plan& plan);

} // namespace dt::recipes::test
