// What an attempt's standard error says about its end, sorted by origin: the program, the launcher of the ranks, and dtctl
// itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs {

// A line of dtctl in an attempt's standard error: "dtctl: WHAT (exit code 3) [job 3f2a91]". dtjob and the process that starts a
// rank make it with this function; job.sh prints the same form. It ends with the first characters of the job's token. No program
// prints these by accident, so last_words() recognises the line by them. Without a token it cannot.
std::string own_line(std::string_view token, std::string_view what, std::optional<int> code = std::nullopt);
// A line about what happened on the way. It is never the cause of an end.
std::string own_note(std::string_view token, std::string_view what);

// Each member is one sentence or line, or empty.
struct LastWords {
  std::string error;       // of the program: the last line of its last traceback or crash, else its last line about an error
  bool is_certain = false; // `error` is of a traceback or crash; otherwise the words of the line suggest an error
  std::string launcher;    // of mpirun, srun, ssh, torchrun: the first sentence that is not about the end of the program; if
                           // nobody says anything, an error of Open MPI's runtime
  std::string own;         // of dtctl: what ended the job, with its exit code; otherwise the first line that is no note
  std::string rest;        // of the program: the last line, if none of its lines is about an error
};

// `text` is the standard error of an attempt, or its end. `token` is the job's.
LastWords last_words(std::string_view text, std::string_view token);

// The lines of the program, without terminal codes. If it printed none, all lines.
std::vector<std::string> program_lines(std::string_view text, std::string_view token);

} // namespace dt::jobs
