// Follows the folder of an attempt while a user moves the home. A job knows only the old path of its home. After the `mv`,
// nothing is at this path until the supervisor has made a link there, about a tenth of a second later.
#pragma once

#include "core/files/descriptor.hpp"
#include "core/record/attempt_files.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>

namespace dt::jobs::agent {

class AttemptPlace {
 public:
  static constexpr std::chrono::seconds patience{30};

  explicit AttemptPlace(const AttemptFolder& attempt);

  // Waits until the folder is at its path. Returns false if it is lost. `begin_to_wait` is called once if it is not there at
  // once.
  bool await(const std::function<void()>& begin_to_wait);
  // Whether the folder was removed, or has not been at its path for as long as `patience`.
  bool is_lost();
  // Certain only if the folder was there when this object was made, or when await() returned.
  bool was_removed() const;

  // has_moved() compares with the place that the folder has now.
  void watch();
  // Whether the folder is not at its path, or was moved and is at its path by a link.
  bool has_moved() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool is_at_its_path() const;
  void open();
  std::filesystem::path real_path() const; // empty if it is not known

  std::filesystem::path path_;
  std::optional<Descriptor> folder_; // stays the same folder when that is moved
  std::optional<Clock::time_point> absent_since_;
  std::filesystem::path watched_;
};

} // namespace dt::jobs::agent
