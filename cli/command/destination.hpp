// Where an option -o writes: a file, or standard output for `-`.
#pragma once

#include "cli/command/context.hpp"
#include "cli/output/scratch_folder.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dt::cli {

// Whether -o names standard output.
inline bool is_standard_output(std::string_view file) { return file == "-"; }

// Writes the text into the file, and prints its name; to standard output, as the JSON member `name`, for `-` and if there is no
// file.
void write_text(Context& context, const std::string& file, const std::string& name, std::string_view text);

// A file that another program writes, or that is no text.
class Destination {
 public:
  // `ending` chooses the format of what goes to standard output. Throws a usage error where that is a terminal, or JSON is
  // printed.
  Destination(Context& context, const std::string& file, std::string_view ending);
  const std::filesystem::path& path() const { return path_; }
  // To be called when path() is written.
  void done() const;

 private:
  std::optional<ScratchFolder> scratch_; // for standard output
  std::filesystem::path path_;
};

} // namespace dt::cli
