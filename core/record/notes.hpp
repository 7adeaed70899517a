// Notes and tags of studies and runs, in one file of the home: <home>/notes.json.
#pragma once

#include "core/error.hpp"
#include "core/home/locked_home.hpp"

#include <map>
#include <string>
#include <vector>

namespace dt {

struct Note {
  std::vector<std::string> tags; // sorted, each once
  std::string text;
  double changed_unix_s = 0;
  bool is_empty() const { return tags.empty() && text.empty(); }
};

// By the id of a study or the key of a run.
using Notes = std::map<std::string, Note>;

// notes.json is damaged or of another format; the message names it.
class DamagedNotes : public Error {
 public:
  explicit DamagedNotes(const std::string& message) : Error(ErrorKind::environment, message) {}
};

// Throws DamagedNotes. Empty if there is no file.
Notes read_notes(const Home& home);

// Notes that are empty are left out.
void write_notes(const LockedHome& home, const Notes& notes);

// Another text whenever the file has been replaced; empty if there is none.
std::string stamp_of_notes(const Home& home);

} // namespace dt
