#include "engine/data/packing/pack_state.hpp"

#include "core/error.hpp"
#include "core/files/file_at.hpp"
#include "core/files/temporary_file.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

fs::path with_ending(const fs::path& path, std::string_view ending)
{
  auto longer = path;
  longer += ending;
  return longer;
}

// Says in which point this call differs from the interrupted one; empty if in none.
std::string difference(const JournalHeader& there, const JournalHeader& wanted)
{
  if (there.source != wanted.source) return fmt::format("another source ({})", printable(there.source));
  if (there.options != wanted.options) return fmt::format("other options ({})", printable(there.options));
  return there == wanted ? "" : "the source as it was before some of its files changed";
}

} // namespace

PackState::PackState(const PackOptions& options, const PackPlan& plan, const SourceListing& listing)
    : plan_(plan), header_{listing.description, plan.options, listing.stamp, static_cast<std::int64_t>(listing.items.size()),
                           static_cast<std::int64_t>(plan.parts.size())},
      output_(options.output), partial_(with_ending(options.output, ".partial")),
      journal_path_(with_ending(options.output, ".journal")), results_(plan.parts.size())
{
  lock();
  resume_or_begin(options.restart);
  require_space();
}

void PackState::lock()
{
  lock_ = try_lock_removable(journal_path_);
  if (!lock_)
    throw Error(ErrorKind::usage,
                fmt::format("Another process packs or removes {} at this moment. Wait until it has ended.", output_.string()));
}

void PackState::resume_or_begin(bool restart)
{
  auto content = restart ? std::nullopt : read_journal(journal_path_);
  if (content)
    if (const auto other = difference(content->header, header_); !other.empty())
      throw Error(ErrorKind::usage,
                  fmt::format("{} is there from a call that was interrupted, with {}. Repeat that call, or begin "
                              "anew with --restart.",
                              partial_.string(), other));
  if (content && !has_records_of(*content)) content.reset();
  file_.emplace(::open(partial_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (content ? 0 : O_TRUNC), 0644));
  if (!file_->is_open()) throw system_error("create " + partial_.string(), errno);
  journal_.emplace(journal_path_, header_, content);
  if (!content) return;
  for (auto& result : content->parts) {
    const auto part = static_cast<std::size_t>(result.part);
    if (part >= results_.size() || results_[part] || static_cast<std::int64_t>(result.hashes.size()) != plan_.parts[part].size())
      continue; // impossible for a journal of this version
    done_ += plan_.parts[part].size();
    results_[part] = std::move(result);
  }
}

// Whether the file is as long as it must be to hold the records of the journal's parts.
bool PackState::has_records_of(const JournalContent& content) const
{
  struct stat facts {};
  if (::stat(partial_.c_str(), &facts) != 0) return false;
  std::uint64_t end = 0;
  for (const auto& result : content.parts) {
    const auto part = static_cast<std::size_t>(result.part);
    if (part >= plan_.parts.size()) return false;
    for (auto item = plan_.parts[part].begin; item < plan_.parts[part].end; ++item)
      if (std::ranges::find(result.corrupt, item, &CorruptItem::item) == result.corrupt.end())
        end = std::max(end, plan_.begins[static_cast<std::size_t>(item)] + 1);
  }
  return static_cast<std::uint64_t>(facts.st_size) >= end;
}

void PackState::require_space()
{
  struct statvfs disk {};
  struct stat file {};
  if (::statvfs(folder_of(partial_).c_str(), &disk) != 0 || ::fstat(file_->get(), &file) != 0) return;
  const auto free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize + static_cast<std::uint64_t>(file.st_blocks) * 512;
  if (free >= plan_.records_end) return;
  if (done_ == 0) discard();
  throw Error(ErrorKind::environment,
              fmt::format("{} needs {}, but only {} are free there. Make room, or choose another place.", output_.string(),
                          format_bytes(static_cast<double>(plan_.records_end)), format_bytes(static_cast<double>(free))));
}

std::uint64_t PackState::file_bytes() const
{
  struct stat facts {};
  if (::fstat(file_->get(), &facts) != 0) throw system_error("stat " + partial_.string(), errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

std::vector<std::int64_t> PackState::missing() const
{
  std::vector<std::int64_t> parts;
  for (std::size_t part = 0; part < results_.size(); ++part)
    if (!results_[part]) parts.push_back(static_cast<std::int64_t>(part));
  return parts;
}

std::vector<CorruptItem> PackState::corrupt() const
{
  std::vector<CorruptItem> items;
  for (const auto& result : results_)
    if (result) items.insert(items.end(), result->corrupt.begin(), result->corrupt.end());
  return items;
}

std::optional<std::uint64_t> PackState::hash_of(std::int64_t item) const
{
  const auto part = std::ranges::upper_bound(plan_.parts, item, {}, &SampleRange::begin) - plan_.parts.begin() - 1;
  const auto& result = *results_[static_cast<std::size_t>(part)];
  if (std::ranges::find(result.corrupt, item, &CorruptItem::item) != result.corrupt.end()) return std::nullopt;
  return result.hashes[static_cast<std::size_t>(item - plan_.parts[static_cast<std::size_t>(part)].begin)];
}

void PackState::write(std::uint64_t begin, std::string_view record) const { write_at(file_->get(), record, begin, partial_); }

void PackState::finish_part(PartResult&& result)
{
  const auto part = static_cast<std::size_t>(result.part);
  done_ += plan_.parts[part].size();
  results_[part] = result;
  unsynced_.push_back(std::move(result));
  if (!last_flush_ || std::chrono::steady_clock::now() - *last_flush_ >= std::chrono::seconds(1)) flush();
}

void PackState::flush()
{
  if (unsynced_.empty()) return;
  if (::fdatasync(file_->get()) != 0) throw system_error("sync " + partial_.string(), errno);
  journal_->append(unsynced_);
  unsynced_.clear();
  last_flush_ = std::chrono::steady_clock::now();
}

void PackState::flush_if_possible() noexcept
{
  try {
    flush();
  } catch (...) { // a full disk, for example: the next call packs these parts again
    unsynced_.clear();
  }
}

bool PackState::commit(bool force)
{
  const unsigned flags = force ? 0 : RENAME_NOREPLACE;
  int failed = ::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, output_.c_str(), flags) == 0 ? 0 : errno;
  if (failed == EINVAL) // a file system without this operation
    failed = is_there(output_) ? EEXIST : std::rename(partial_.c_str(), output_.c_str()) == 0 ? 0 : errno;
  if (failed == EEXIST) return false;
  if (failed != 0) throw system_error(fmt::format("rename {} to {}", partial_.string(), output_.string()), failed);
  sync_folder(folder_of(output_));
  ::unlink(journal_path_.c_str());
  return true;
}

void PackState::forget_finished(const std::filesystem::path& output)
{
  const auto journal = with_ending(output, ".journal");
  if (!is_there(journal) || is_there(with_ending(output, ".partial"))) return;
  if (const auto lock = try_lock_removable(journal)) ::unlink(journal.c_str());
}

void PackState::discard()
{
  ::unlink(partial_.c_str());
  ::unlink(journal_path_.c_str());
}

} // namespace dt::data
