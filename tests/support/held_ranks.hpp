// Ranks that stand still in the midst of a step for as long as a test wants, so that a signal comes at a known moment of their
// training, however fast the machine is and however long it keeps the test itself from the cores.
#pragma once

#include "core/files/file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace dt::test {

class HeldRanks {
 public:
  HeldRanks() = default;
  explicit HeldRanks(std::filesystem::path file) : file_(std::move(file)) {}
  ~HeldRanks() { release(); }
  HeldRanks(const HeldRanks&) = delete;
  HeldRanks& operator=(const HeldRanks&) = delete;

  // NAME and value of what the ranks need in their environment. Only ranks with this environment are held.
  std::vector<std::pair<std::string, std::string>> environment() const
  {
    return {{"LD_PRELOAD", DTCTL_BINARY_DIR "/tests/liblong_step.so"},
            {"DTCTL_TEST_HOLD", file_.string()},
            {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0"}};
  }
  // As options of `dtctl submit` and `dtctl sweep`.
  std::vector<std::string> options() const
  {
    std::vector<std::string> words;
    for (const auto& [name, value] : environment()) words.insert(words.end(), {"--set", "resources.env." + name + "=" + value});
    return words;
  }

  // From now on a rank stays where it is at each call of MPI after the first `calls` ones since its first look at the signals,
  // which comes after its first step. A rank that is held goes on when its call is not among them any more.
  void hold(int calls = 0) const { write_file_atomic(file_, std::to_string(calls)); }
  // All go on. Does nothing when none is held.
  void release() const
  {
    std::error_code none;
    std::filesystem::remove(file_, none);
  }
  // Ranks that are held now. The others wait inside MPI for those that are.
  std::size_t count() const
  {
    std::size_t held = 0;
    for (const auto& entry : std::filesystem::directory_iterator(file_.parent_path()))
      held += entry.path().filename().string().starts_with(file_.filename().string() + ".");
    return held;
  }

 private:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "hold";
};

} // namespace dt::test
