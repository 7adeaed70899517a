// Machine profiles: what a user's and a project's configuration say about the machine, so that recipes need not.
//
//   profiles:
//     default: { resources: { threads_per_rank: 4 } }
//     cluster: { extends: default, resources: { partition: batch, modules: [openmpi/4.1] } }
#pragma once

#include "recipes/recipe_file.hpp"

#include <map>
#include <optional>
#include <string>

namespace dt::recipes {

class ProfileBook {
 public:
  // Reads both files; a missing file is an empty one. A profile that stands in both has the keys of both, the project's
  // being stronger.
  ProfileBook(const LoadOptions& options, Diagnostics& diagnostics);

  bool contains(const std::string& name) const { return profiles_.contains(name); }
  // All keys of a profile and of those it extends; with a diagnostic at `mark` and no keys when there is none of that name.
  Settings find(const std::string& name, const Mark& mark, Diagnostics& diagnostics) const;
  std::vector<Profile> list() const;

 private:
  struct Definition {
    Mark mark; // of the name, in the strongest file
    Settings settings;
    std::optional<MarkedText> extends;
  };

  void read_file(const std::filesystem::path& path, Diagnostics& diagnostics);
  void read_profile(const Entry& entry, const std::filesystem::path& folder, Diagnostics& diagnostics);
  void check_extends(Diagnostics& diagnostics) const;
  std::vector<std::string> names() const;
  Settings resolve(const Definition& definition) const;

  std::map<std::string, Definition> profiles_;
  std::string files_; // where profiles are looked for, for messages
};

} // namespace dt::recipes
