#include "store/folder.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"

#include <cerrno>
#include <memory>

#include <unistd.h>

namespace dt::store {
namespace {

namespace fs = std::filesystem;

AttemptFacts read_attempt(const AttemptFolder& folder, std::vector<std::string>& problems)
{
  auto outcome = read_outcome(folder);
  AttemptFacts facts{folder.number(),
                     read_submission(folder),
                     read_begin(folder),
                     read_end(folder),
                     read_error(folder),
                     std::move(outcome.result),
                     read_preemption(folder),
                     read_probe(folder),
                     read_load(folder),
                     outcome.fenced_by,
                     static_cast<std::int64_t>(read_launches(folder).size()),
                     folder.events()};
  // The records are written atomically. A record that exists but cannot be read is therefore damaged, not incomplete.
  const auto expect = [&](bool is_read, const fs::path& path) {
    if (!is_read && is_there(path)) problems.push_back(path.string() + " is damaged or of another format; it was left out");
  };
  expect(facts.submission.has_value(), folder.submission());
  expect(facts.begin.has_value(), folder.begin());
  expect(facts.error.has_value(), folder.error());
  expect(facts.result || facts.fenced_by, folder.result());
  expect(facts.preemption.has_value(), folder.preempted());
  expect(facts.probe.has_value(), folder.probe());
  expect(facts.load.has_value(), load_path(folder));
  return facts;
}

// Checks the values from which many others are derived.
void expect_sound(const PlannedRun& planned, const std::string& key, const fs::path& path)
{
  if (planned.key != key) throw FolderError(path.string() + " belongs to another run, " + planned.key);
  const auto& resources = planned.spec.resources;
  if (resources.nodes < 1 || resources.ranks_per_node < 1 || resources.threads_per_rank < 1)
    throw FolderError(path.string() + " is damaged: nodes, ranks per node and threads per rank must be at least 1");
}

// Converts errors of core's file functions into FolderError.
template<class Read> auto as_folder_error(Read read)
{
  try {
    return read();
  } catch (const SystemError& error) {
    throw FolderError(error.what(), error.number() != ENOENT);
  } catch (const Error& error) {
    throw FolderError(error.what());
  }
}

// A file that is read at offsets.
class OpenFile {
 public:
  explicit OpenFile(const fs::path& path) : path_(path), descriptor_(open_if_exists(path)) {}
  bool is_open() const { return descriptor_.is_open(); }
  // -1 when there is no such file.
  std::int64_t size() const { return is_open() ? static_cast<std::int64_t>(::lseek(descriptor_.get(), 0, SEEK_END)) : -1; }
  // What the file holds at `offset`, at most as much as `block` has room for; empty at the end.
  std::string_view read(std::string& block, std::int64_t offset) const
  {
    for (;;) {
      const auto got = ::pread(descriptor_.get(), block.data(), block.size(), offset);
      if (got >= 0) return std::string_view(block).substr(0, static_cast<std::size_t>(got));
      if (errno != EINTR) throw system_error("read " + path_.string(), errno);
    }
  }

 private:
  fs::path path_;
  Descriptor descriptor_;
};

void add_fingerprint(Hasher& hasher, const AttemptFolder& folder)
{
  hasher.update("attempt " + std::to_string(folder.number()));
  for (const auto& path : {folder.submission(), folder.begin(), folder.error(), folder.result(), folder.end(), folder.preempted(),
                           folder.probe(), load_path(folder), folder.launches()}) {
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
  const auto stream = as_folder_error([&] { return std::make_unique<OpenFile>(file); });
  if (!stream->is_open()) return offset;
  std::string pending; // the beginning of an incomplete line
  std::string block(block_bytes, '\0');
  for (auto at = offset;;) {
    const auto bytes = as_folder_error([&] { return stream->read(block, at); });
    if (bytes.empty()) return offset;
    at += static_cast<std::int64_t>(bytes.size());
    pending.append(bytes);
    const auto whole = pending.rfind('\n') + 1; // 0 if there is no complete line
    take(std::string_view(pending).substr(0, whole));
    pending.erase(0, whole);
    offset += static_cast<std::int64_t>(whole);
  }
}

std::int64_t size_of(const fs::path& file)
{
  return as_folder_error([&] { return OpenFile(file).size(); });
}

} // namespace dt::store
