#include "jobs/agent/attempt_log.hpp"

#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "jobs/launch/last_words.hpp"
#include "jobs/machine/quick_file.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace dt::jobs::agent {

void AttemptLog::say(const std::string& what, std::optional<int> code) const
{
  const auto line = own_line(token_, what, code);
  try {
    return write_all(open_regular(attempt_.err(), O_WRONLY | O_CREAT | O_APPEND).get(), line, attempt_.err());
  } catch (const Error&) { // the place for it below is that of this process
  }
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void AttemptLog::put(const std::filesystem::path& path, const std::string& text) const
{
  record([&] { write_file_quick(path, text); });
}

} // namespace dt::jobs::agent
