// The data sets in <home>/data: packed files, and folders.
#pragma once

#include "cli/output/cell.hpp"
#include "core/data/packed_file.hpp"
#include "core/home/home.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dt::cli {

// The file that NAME|FILE of a command line means: a word with a slash or the ending .pack is a path, any other is the name of a
// set in the home. Throws a usage error for a name that no set can have.
std::filesystem::path packed_path(const Home& home, const std::string& word);

// Throws a usage error unless the name consists of letters, digits, ".", "_" and "-" and begins with a letter or digit.
void require_set_name(const std::string& name);

// A data set that `dtctl data make` has written, as the folder's record .dtctl-data.json describes it.
struct MadeFolder {
  std::string kind; // "digits"
  std::int64_t train = 0, test = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> files; // names, with that of the record itself
};

// Reads the folder's record. Returns nothing if `dtctl data make` has not written this folder.
std::optional<MadeFolder> made_folder(const std::filesystem::path& folder);

// A data set in the home. No records are read.
struct DataSet {
  std::string name, kind{}; // kind: "packed", "digits", "shapes", "folder", "unfinished", "damaged"
  std::optional<std::int64_t> train{}, test{}, classes{};
  std::optional<std::uint64_t> bytes{};
  std::string image{}, id{}, problem{};
};

// Sorted by name.
std::vector<DataSet> data_sets(const Home& home);

// "32 x 32, in colour, as pixels".
std::string image_text(const PackedDescription& set);

} // namespace dt::cli
