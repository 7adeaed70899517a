// PendingText: text that is to be appended to a file to which other processes append too. What could not be written is kept, and
// the next call of write() goes on with it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dt::jobs {

class PendingText {
 public:
  explicit PendingText(std::filesystem::path path) : path_(std::move(path)) {}

  void add(std::string_view text) { text_ += text; }
  // Throws a SystemError that names the file if not all of the text could be written.
  void write();

 private:
  std::filesystem::path path_;
  std::string text_; // not written yet
};

} // namespace dt::jobs
