#include "store/folder.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"

#include <cerrno>
#include <fstream>

namespace dt::store {
namespace {

namespace fs = std::filesystem;

AttemptFacts read_attempt(const AttemptFolder& folder, std::vector<std::string>& problems)
{
  AttemptFacts facts{folder.number(),         read_submission(folder),
                     read_begin(folder),      read_end(folder),
                     read_error(folder),      read_result(folder),
                     read_preemption(folder), read_probe(folder),
                     fenced_by(folder),       static_cast<std::int64_t>(read_launches(folder).size()),
                     folder.events()};
  // The records are written atomically, so one that is there and unreadable is damaged, not on its way.
  const auto expect = [&](bool is_read, const fs::path& path) {
    std::error_code ignored;
    if (!is_read && fs::exists(path, ignored))
      problems.push_back(path.string() + " is damaged or of another format; it was left out");
  };
  expect(facts.submission.has_value(), folder.submission());
  expect(facts.begin.has_value(), folder.begin());
  expect(facts.error.has_value(), folder.error());
  expect(facts.result || facts.fenced_by, folder.result());
  expect(facts.preemption.has_value(), folder.preempted());
  expect(facts.probe.has_value(), folder.probe());
  return facts;
}

// What everything else is derived from must not be nonsense.
void expect_sound(const PlannedRun& planned, const std::string& key, const fs::path& path)
{
  if (planned.key != key) throw FolderError(path.string() + " is of another run, " + planned.key);
  const auto& resources = planned.spec.resources;
  if (resources.nodes < 1 || resources.ranks_per_node < 1 || resources.threads_per_rank < 1)
    throw FolderError(path.string() + " is damaged: nodes, ranks a node and threads a rank must be at least 1");
}

// Core's errors about files, as this folder's.
template<class Read> auto as_folder_error(Read read)
{
  try {
    return read();
  } catch (const Error& error) {
    throw FolderError(error.what());
  }
}

std::int64_t size_of(const fs::path& file)
{
  std::error_code missing;
  const auto bytes = fs::file_size(file, missing);
  return missing ? -1 : static_cast<std::int64_t>(bytes);
}

void add_fingerprint(Hasher& hasher, const AttemptFolder& folder)
{
  hasher.update("attempt " + std::to_string(folder.number()));
  for (const auto& path : {folder.submission(), folder.begin(), folder.error(), folder.result(), folder.end(), folder.preempted(),
                           folder.probe(), folder.launches()}) {
    const auto bytes = read_file_if_exists(path);
    hasher.update(bytes ? "\n" + std::to_string(bytes->size()) + ":" + *bytes : "\n-");
  }
  hasher.update("\n" + std::to_string(size_of(folder.events())));
}

} // namespace

RunFacts read_run_folder(const fs::path& run_folder, const std::string& key, int last_attempt)
{
  return as_folder_error([&] {
    RunFacts facts{read_planned_run(run_folder), {}, {}};
    expect_sound(facts.planned, key, spec_path(run_folder));
    for (const int number : attempt_numbers(run_folder))
      if (number <= last_attempt) facts.attempts.push_back(read_attempt(AttemptFolder(run_folder, number), facts.problems));
    return facts;
  });
}

std::string fingerprint_of(const fs::path& run_folder, int last_attempt)
{
  return as_folder_error([&] {
    Hasher hasher;
    for (const int number : attempt_numbers(run_folder))
      if (number <= last_attempt) add_fingerprint(hasher, AttemptFolder(run_folder, number));
    return hasher.hex();
  });
}

std::int64_t read_lines_from(const fs::path& file, std::int64_t offset, const std::function<void(std::string_view)>& take)
{
  constexpr std::size_t block_bytes = 4 * 1024 * 1024;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    if (errno == ENOENT || errno == ENOTDIR) return offset;
    throw FolderError(system_error("read " + file.string(), errno).what());
  }
  stream.seekg(offset);
  std::string pending; // the beginning of a line whose end is not read yet
  std::string block(block_bytes, '\0');
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())), stream.gcount() > 0) {
    pending.append(block, 0, static_cast<std::size_t>(stream.gcount()));
    const auto whole = pending.rfind('\n') + 1; // 0 when there is none
    take(std::string_view(pending).substr(0, whole));
    pending.erase(0, whole);
    offset += static_cast<std::int64_t>(whole);
  }
  if (stream.bad()) throw FolderError(system_error("read " + file.string(), errno).what());
  return offset;
}

} // namespace dt::store
