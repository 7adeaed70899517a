// Counts how often each file of a folder is opened (inotify).
#pragma once

#include "core/error.hpp"
#include "core/files/descriptor.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

#include <sys/inotify.h>
#include <unistd.h>

namespace dt::test {

class OpenedFiles {
 public:
  // Counts from now on, in the folder itself.
  explicit OpenedFiles(const std::filesystem::path& folder) : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC))
  {
    // The kernel joins equal events in a row. The events of closing keep those of opening apart.
    if (events_.get() < 0 || ::inotify_add_watch(events_.get(), folder.c_str(), IN_OPEN | IN_CLOSE) < 0)
      throw system_error("watch " + folder.string(), errno);
  }

  // By name; listings of the folder are counted under "".
  std::map<std::string, int> counts()
  {
    std::array<char, 64 * 1024> buffer{};
    for (;;) {
      const auto got = ::read(events_.get(), buffer.data(), buffer.size());
      if (got <= 0) return counts_;
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof event);
        if ((event.mask & IN_OPEN) != 0) ++counts_[event.len > 0 ? buffer.data() + at + sizeof event : ""];
        at += sizeof event + event.len;
      }
    }
  }

 private:
  Descriptor events_;
  std::map<std::string, int> counts_;
};

} // namespace dt::test
