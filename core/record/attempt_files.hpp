// The folder of one attempt, and the table of the files in it. docs/run-folder.md prints the table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dt {

// The files and folders of an attempt, in the order of the table's rows.
enum class AttemptFile {
  submission,
  deferred,
  script,
  out,
  err,
  owner,
  hosts,
  begin,
  heartbeat,
  events,
  error,
  result,
  launches,
  earlier_begin,
  probe,
  algorithms,
  load,
  energy,
  compute_profile,
  preempted,
  checkpoints,
  trace,
  dump,
  states,
  stall,
  requeue,
  settled,
  end,
  cancel,
  asked,
  stop_reason,
  cause,
  reserve,
  work,
  anew,
  reports,
  output,
  master,
};
inline constexpr std::size_t attempt_file_count = 38;

struct AttemptFileRow {
  AttemptFile file;
  std::string_view name;   // "begin.json"; of a folder without a slash
  std::string_view within; // of a folder: the names in it
  std::string holds;       // contents. Capitals are terminals: SP is a blank, LF ends a line; `unix_s` is seconds since 1970
  std::string_view writer; // who writes it, and when or how
};

// One row per file, in the order of AttemptFile.
std::span<const AttemptFileRow> attempt_files();

std::string_view name_of(AttemptFile file);

// <home>/runs/<key>/attempts/<n>: one attempt to execute a run. A later attempt never changes the files of an earlier one.
class AttemptFolder {
 public:
  AttemptFolder(const std::filesystem::path& run_folder, int number);
  explicit AttemptFolder(const std::filesystem::path& attempt_folder);
  const std::filesystem::path& path() const { return path_; }
  int number() const { return number_; }
  std::filesystem::path run_folder() const { return path_.parent_path().parent_path(); }

  std::filesystem::path path_of(AttemptFile file) const { return path_ / name_of(file); }

  // Short forms of path_of.
  std::filesystem::path submission() const { return path_of(AttemptFile::submission); }
  std::filesystem::path deferred() const { return path_of(AttemptFile::deferred); }
  std::filesystem::path script() const { return path_of(AttemptFile::script); }
  std::filesystem::path out() const { return path_of(AttemptFile::out); }
  std::filesystem::path err() const { return path_of(AttemptFile::err); }
  std::filesystem::path owner() const { return path_of(AttemptFile::owner); }
  std::filesystem::path begin() const { return path_of(AttemptFile::begin); }
  std::filesystem::path heartbeat() const { return path_of(AttemptFile::heartbeat); }
  std::filesystem::path events() const { return path_of(AttemptFile::events); }
  std::filesystem::path error() const { return path_of(AttemptFile::error); }
  std::filesystem::path result() const { return path_of(AttemptFile::result); }
  std::filesystem::path asked() const { return path_of(AttemptFile::asked); }
  std::filesystem::path launches() const { return path_of(AttemptFile::launches); }
  std::filesystem::path probe() const { return path_of(AttemptFile::probe); }
  std::filesystem::path algorithms() const { return path_of(AttemptFile::algorithms); }
  std::filesystem::path preempted() const { return path_of(AttemptFile::preempted); }
  std::filesystem::path checkpoints() const { return path_of(AttemptFile::checkpoints); }
  std::filesystem::path trace() const { return path_of(AttemptFile::trace); }
  std::filesystem::path dump() const { return path_of(AttemptFile::dump); }
  std::filesystem::path states() const { return path_of(AttemptFile::states); }
  std::filesystem::path stall() const { return path_of(AttemptFile::stall); }
  std::filesystem::path requeue() const { return path_of(AttemptFile::requeue); }
  std::filesystem::path settled() const { return path_of(AttemptFile::settled); }
  std::filesystem::path end() const { return path_of(AttemptFile::end); }
  std::filesystem::path cancel() const { return path_of(AttemptFile::cancel); }
  std::filesystem::path stop_reason() const { return path_of(AttemptFile::stop_reason); }
  std::filesystem::path cause() const { return path_of(AttemptFile::cause); }
  std::filesystem::path reserve() const { return path_of(AttemptFile::reserve); }

 private:
  std::filesystem::path path_;
  int number_;
};

// The step in the name of a checkpoint's file, 120 for "step-120.safetensors". Nothing for any other name.
std::optional<std::int64_t> checkpoint_step(std::string_view file_name);

// Numbers of the attempts in a run folder, ascending.
std::vector<int> attempt_numbers(const std::filesystem::path& run_folder);

// The algorithms.json of the newest attempt that has one, among those up to number `last`. Nothing if there is none.
std::optional<std::filesystem::path> recorded_algorithms(const std::filesystem::path& run_folder,
                                                         int last = std::numeric_limits<int>::max());

} // namespace dt
