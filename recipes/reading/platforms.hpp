// Platforms: files that describe a machine on which runs are simulated, those of recipes/library/platforms and the user's.
//
//   description: Sunway TaihuLight, as the swCaffe paper describes it
//   platform:
//     nodes: 1024
//     bandwidth: 12 GB/s          # source of the figure, or "assumed"
//     ...
#pragma once

#include "recipes/reading/settings.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dt::recipes {

// Name of the platform whose figures are in the recipe's or the profile's own block `platform`.
inline constexpr std::string_view custom_platform = "custom";

// Whether a value of resources.platform is the path of a file: it contains a slash or ends in .yaml or .yml.
bool is_platform_file(std::string_view value);

struct PlatformFile {
  std::string name; // of the file, without its extension
  std::string description;
  Settings settings; // keys of the block `platform`
};

// Reads each file once.
class PlatformBook {
 public:
  // The platform of a value of resources.platform. For `custom`: one without figures. Adds a diagnostic at `mark`, or in the
  // file, and returns null if there is no such platform or its file has a mistake.
  const PlatformFile* find(const std::string& value, const Mark& mark, Diagnostics& diagnostics);

 private:
  std::map<std::string, std::optional<PlatformFile>> files_;
};

// File of a shipped platform.
std::filesystem::path platform_path(const std::string& name);

// Names of the shipped platforms, sorted.
std::vector<std::string> shipped_platforms();

} // namespace dt::recipes
