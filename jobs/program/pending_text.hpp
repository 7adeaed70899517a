// PendingText: text that is to be appended to a file. What could not be written is kept, and the next call of write() goes on at
// the same place, so that the file holds every byte once even if the disk was full for a while.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace dt::jobs {

class PendingText {
 public:
  // sole: no other process writes the file, and it is empty or absent now. Bytes are then written at the position that they
  // belong to, also when it is not known how many of them a failed attempt has left (a file server may report that at close).
  // shared: other processes append to the file at the same time.
  enum class Writers { sole, shared };
  PendingText(std::filesystem::path path, Writers writers) : path_(std::move(path)), writers_(writers) {}

  void add(std::string_view text) { text_ += text; }
  // Throws a SystemError that names the file if not all of the text could be written.
  void write();

 private:
  // Returns an errno value, 0 if all of the text was written. `done`: bytes that were.
  int write_to(int descriptor, std::size_t& done) const;

  std::filesystem::path path_;
  Writers writers_;
  std::string text_;         // not written yet
  std::int64_t written_ = 0; // bytes before it, of a file that nobody else writes
};

} // namespace dt::jobs
