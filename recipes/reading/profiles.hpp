// Machine profiles: settings for a machine in the user's or the project's configuration, so that recipes need not contain them.
//
//   profiles:
//     default: { resources: { threads_per_rank: 4 } }
//     cluster:
//       extends: default
//       resources: { partition: batch, modules: [openmpi/4.1] }
//       network: { latency: 2us, bandwidth: 100 Gbit/s }     # for dtctl predict
//       cost: { node_hour: 0.8, currency: EUR }              # for plans and predictions
//       platform: { latency: 2us, bandwidth: 100 Gbit/s, memory_bandwidth: 10 GB/s }   # for simulated runs
#pragma once

#include "recipes/reading/network.hpp"
#include "recipes/reading/recipe_file.hpp"

#include <map>
#include <optional>
#include <string>

namespace dt::recipes {

class ProfileBook {
 public:
  // Reads both files; a missing file counts as empty. If both files define a profile, it has the keys of both, and the project's
  // values win.
  ProfileBook(const LoadOptions& options, Diagnostics& diagnostics);

  bool contains(const std::string& name) const { return profiles_.contains(name); }
  // Returns all keys of a profile and of the profiles it extends. If there is no profile with this name, adds a diagnostic at
  // `mark` and returns no keys.
  Settings find(const std::string& name, const Mark& mark, Diagnostics& diagnostics) const;
  // The `cost:` block of the profile or of one that it extends.
  std::optional<Price> price_of(const std::string& name) const;
  std::vector<Profile> list() const;

 private:
  struct Definition {
    Mark mark; // place of the name in the file that wins
    Settings settings;
    std::optional<MarkedText> extends;
    std::optional<CostModel> network;
    std::optional<Price> price;
  };

  void read_file(const std::filesystem::path& path, Diagnostics& diagnostics);
  void read_profile(const Entry& entry, const std::filesystem::path& folder, Diagnostics& diagnostics);
  void check_extends(Diagnostics& diagnostics) const;
  std::vector<std::string> names() const;
  std::vector<const Definition*> chain_of(const Definition& definition) const;
  Settings resolve(const Definition& definition) const;

  std::map<std::string, Definition> profiles_;
  std::string files_; // the files that were searched, for messages
};

} // namespace dt::recipes
