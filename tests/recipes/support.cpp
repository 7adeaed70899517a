#include "tests/recipes/support.hpp"

#include "core/spec/spec_schema.hpp"
#include "core/text.hpp"
#include "tests/core/error_of.hpp"

#include <fstream>

namespace dt::recipes::test {

namespace fs = std::filesystem;

fs::path TemporaryFolder::write(const std::string& name, const std::string& text) const
{
  fs::create_directories((path() / name).parent_path());
  std::ofstream(path() / name, std::ios::binary) << text;
  return path() / name;
}

std::string minimal(const std::string& more)
{
  return "version: 1\nmodel: { name: lenet }\ndata: { name: digits }\ntrain: { global_batch: 64, epochs: 2 }\n" + more;
}

Plan plan_of(const std::string& text, const LoadOptions& options)
{
  const TemporaryFolder folder;
  return load_plan(folder.write("r.yaml", text), options);
}

std::string errors_in(const TemporaryFolder& folder, const std::string& name, const LoadOptions& options)
{
  try {
    load_plan(folder.path() / name, options);
  } catch (const RecipeError& error) {
    std::string text = error.what();
    const auto prefix = folder.path().string() + "/";
    for (auto at = text.find(prefix); at != text.npos; at = text.find(prefix, at)) text.erase(at, prefix.size());
    return text;
  }
  return "";
}

std::string errors_of(const std::string& text, const LoadOptions& options)
{
  const TemporaryFolder folder;
  folder.write("r.yaml", text);
  return errors_in(folder, "r.yaml", options);
}

std::vector<Profile> profiles_in(const std::string& user_config)
{
  const TemporaryFolder folder;
  LoadOptions options;
  options.user_config = folder.write("user.yaml", user_config);
  return list_profiles(options);
}

std::string error_in_profile(const std::string& line)
{
  const auto text = dt::test::message_of([&] { profiles_in("profiles:\n  a:\n    " + line + "\n"); });
  return text.substr(text.find("user.yaml") + 10);
}

std::string places_of(const std::string& text, const LoadOptions& options)
{
  std::string places;
  try {
    plan_of(text, options);
  } catch (const RecipeError& error) {
    for (const auto& [file, line, column, message] : error.diagnostics())
      places += (places.empty() ? "" : " ") + std::to_string(line) + ":" + std::to_string(column);
  }
  return places;
}

LoadOptions with_set(const std::vector<std::string>& set)
{
  LoadOptions options;
  options.set = set;
  return options;
}

std::string allowed_keys(const std::string& block, const std::string& prefix)
{
  std::vector<std::string> names;
  for (const auto& key : spec_keys()) {
    if (!key.path.starts_with(block + ".")) continue;
    const auto rest = key.path.substr(block.size() + 1);
    auto name = prefix + std::string(prefix.empty() ? rest.substr(0, rest.find('.')) : rest);
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return join(names, ", ");
}

std::string allowed_models() { return join(strings_of(model_names()), ", "); }

std::vector<std::string> names_of(const Plan& plan)
{
  std::vector<std::string> names;
  for (const auto& run : plan.runs) {
    const auto name = run_name(run);
    names.push_back(name == run.name ? "" : name.substr(run.name.size() + 1));
  }
  return names;
}

} // namespace dt::recipes::test
