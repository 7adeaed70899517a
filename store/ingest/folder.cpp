#include "store/ingest/folder.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/hash.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include <unistd.h>

namespace dt::store {
namespace {

namespace fs = std::filesystem;

// The files whose records the database has. The fingerprint depends on the order.
constexpr std::array stored_files{AttemptFile::submission, AttemptFile::begin,     AttemptFile::error, AttemptFile::result,
                                  AttemptFile::end,        AttemptFile::preempted, AttemptFile::probe, AttemptFile::load,
                                  AttemptFile::energy,     AttemptFile::launches};

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

// Reads the records of an attempt and adds the texts of their files to the fingerprint.
AttemptRecord read_attempt(const AttemptFolder& folder, Hasher& fingerprint)
{
  AttemptRecord record;
  fingerprint.update("attempt " + std::to_string(folder.number()));
  AttemptReader(folder).read(stored_files, record, [&](const std::string* text) {
    fingerprint.update(text != nullptr ? "\n" + std::to_string(text->size()) + ":" + *text : "\n-");
  });
  fingerprint.update("\n" + std::to_string(size_of(folder.events())));
  return record;
}

} // namespace

RunRecords read_attempts(const fs::path& run_folder, int last_attempt)
{
  return as_folder_error([&] {
    RunRecords records;
    Hasher fingerprint;
    for (const int number : attempt_numbers(run_folder))
      if (number <= last_attempt) records.attempts.push_back(read_attempt(AttemptFolder(run_folder, number), fingerprint));
    records.fingerprint = fingerprint.hex();
    return records;
  });
}

PlannedRun read_spec(const fs::path& run_folder, const std::string& key)
{
  return as_folder_error([&] {
    auto planned = read_planned_run(run_folder);
    expect_sound(planned, key, spec_path(run_folder));
    return planned;
  });
}

std::int64_t read_lines_from(const fs::path& file, std::int64_t offset, const std::function<void(std::string_view)>& take)
{
  constexpr std::int64_t most_bytes = 4 * 1024 * 1024;
  const auto stream = as_folder_error([&] { return std::make_unique<OpenFile>(file); });
  const auto size = stream->size();
  if (size <= offset) return offset;
  std::string pending; // the beginning of an incomplete line
  std::string block(static_cast<std::size_t>(std::min(most_bytes, size - offset)), '\0');
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
