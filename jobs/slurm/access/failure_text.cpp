#include "jobs/slurm/access/failure_text.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace dt::jobs::slurm {
namespace {

struct ErrorText {
  int code;
  std::string_view words;
};

// Of Slurm 20.11 to 25.11, whose texts of these errors are the same (src/common/slurm_errno.c).
constexpr ErrorText error_texts[]{
    {1000, "Unexpected message received"},
    {1001, "Communication connection failure"},
    {1002, "Message send failure"},
    {1003, "Message receive failure"},
    {1004, "Communication shutdown failure"},
    {1005, "Incompatible versions of client and server code"},
    {1800, "Unable to contact slurm controller (connect failure)"},
    {1801, "Unable to contact slurm controller (send failure)"},
    {1802, "Unable to contact slurm controller (receive failure)"},
    {1803, "Unable to contact slurm controller (shutdown failure)"},
    {2000, "Invalid partition name specified"},
    {2007, "Unable to create job record, try again"},
    {2017, "Invalid job id specified"},
    {2018, "Invalid node name specified"},
    {2021, "Job/step already completing or completed"},
    {2027, "Slurm backup controller in standby mode"},
    {2029, "Invalid feature specification"},
    {2038, "Job dependency problem"},
    {2045, "Invalid account or account/partition combination specified"},
    {2048, "Invalid license specification"},
    {2050, "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"},
    {2052, "Access denied to requested reservation"},
    {2053, "Requested reservation is invalid"},
    {2066, "Invalid qos specification"},
    {2070, "Required partition not available (inactive or drain)"},
    {2072, "Invalid generic resource (gres) specification"},
    {2081, "Invalid job array specification"},
    {2084, "Job has already finished"},
    {2085, "Job is not running"},
    {2086, "Job is not pending nor running"},
    {2101, "Partition in DOWN state"},
    {2124, "Invalid time-min specification (exceeds job's time or other limits)"},
    {2131, "Controller is in standby mode, try a different controller"},
    {2133, "Invalid preferred feature specification"},
    {5000, "Received zero length message"},
    {5001, "Received message length < 0"},
    {5002, "Failed to send entire message"},
    {5003, "Header lengths are longer than data received"},
    {5004, "Socket timed out on send/recv operation"},
    {5005, "Zero Bytes were transmitted or received"},
};

// Errors of the system, which Slurm passes on.
constexpr int system_errors[]{ETIMEDOUT, ECONNREFUSED, ECONNRESET, EPIPE, ENETUNREACH, EHOSTUNREACH, EINTR, EAGAIN};

// sbatch's own words while it waits to try again.
constexpr ErrorText wait_texts[]{
    {2007, "Slurm job queue full, sleeping and retrying"},
    {EAGAIN, "Slurm temporarily unable to accept job, sleeping and retrying"},
};

int code_of_text(std::string_view line)
{
  for (const auto& row : wait_texts)
    if (line.find(row.words) != line.npos) return row.code;
  for (const auto& row : error_texts)
    if (line.ends_with(row.words)) return row.code;
  for (const int number : system_errors)
    if (line.ends_with(std::strerror(number))) return number;
  return refused_by_command;
}

// Without "sbatch: error: ", "squeue: fatal: ", "slurm_load_jobs error: ".
std::string plain_line(const std::string& line)
{
  for (const std::string_view mark : {"error: ", "fatal: "})
    if (const auto place = line.find(mark); place != std::string::npos) return line.substr(place + mark.size());
  return line;
}

std::vector<std::string> error_lines(std::string_view err)
{
  std::vector<std::string> lines;
  for (const auto& line : split(err, '\n'))
    if (const auto words = plain_line(std::string(trim(line))); !words.empty()) lines.push_back(words);
  return lines;
}

} // namespace

// As the library does, the words are Slurm's text of the error and, behind a colon, what it said before.
SlurmFailure failure_of(std::string_view command, const CommandResult& result)
{
  constexpr int timed_out = 5004;
  if (result.timed_out) return {timed_out, fmt::format("{} has not answered in time", command)};
  const auto lines = error_lines(result.err);
  if (lines.empty())
    return {refused_by_command, result.signal != 0
                                    ? fmt::format("{} was ended by {}", command, signal_name(result.signal))
                                    : fmt::format("{} failed with exit code {} and said nothing", command, result.exit_code)};
  constexpr std::string_view of_sbatch = "Batch job submission failed: ";
  // A site may print lines of its own after the error.
  const auto told = std::find_if(lines.rbegin(), lines.rend(),
                                 [](const std::string& line) { return code_of_text(line) != refused_by_command; });
  const auto place = told == lines.rend() ? lines.size() - 1 : static_cast<std::size_t>(lines.rend() - told) - 1;
  auto words = lines[place];
  const int code = code_of_text(words);
  if (words.starts_with(of_sbatch)) words.erase(0, of_sbatch.size());
  if (place > 0) words += ": " + lines[place - 1];
  return {code, printable(words)};
}

bool waits_for_room(std::string_view err)
{
  return std::any_of(std::begin(wait_texts), std::end(wait_texts),
                     [&](const ErrorText& row) { return err.find(row.words) != err.npos; });
}

} // namespace dt::jobs::slurm
