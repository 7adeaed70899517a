// PackState: the files of a set that is being packed. OUTPUT.partial holds the records, OUTPUT.journal says which are done.
#pragma once

#include "core/files/descriptor.hpp"
#include "core/files/file.hpp"
#include "engine/data/packing/journal.hpp"
#include "engine/data/packing/plan.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

namespace dt::data {

class PackState {
 public:
  // Begins, or goes on with what an interrupted call with the same options has left. Throws a usage error if another call packs
  // this set now, or if the files that are there belong to other options or to another source and --restart was not given.
  PackState(const PackOptions& options, const PackPlan& plan, const SourceListing& listing);

  const std::filesystem::path& partial() const { return partial_; }
  int descriptor() const { return file_->get(); }
  // Bytes of the file so far.
  std::uint64_t file_bytes() const;
  // Images in finished parts.
  std::int64_t done() const { return done_; }
  // Parts that are not finished, ascending.
  std::vector<std::int64_t> missing() const;
  const std::vector<std::optional<PartResult>>& results() const { return results_; }
  std::vector<CorruptItem> corrupt() const;
  // Hash of the item's record; nothing if the item is corrupt.
  std::optional<std::uint64_t> hash_of(std::int64_t item) const;

  // Writes a record. May be called by several threads at once.
  void write(std::uint64_t begin, std::string_view record) const;
  // Takes the result of a part whose records are written. After at most a second it is on the disk.
  void finish_part(PartResult&& result);
  // Syncs the records, then appends the results to the journal.
  void flush();
  // Like flush(), but does nothing if it fails, because another error is being reported.
  void flush_if_possible() noexcept;
  // Renames the finished file to the output and removes the journal. Returns false if the output exists and `force` is false;
  // then both files stay.
  bool commit(bool force);
  // Removes both files.
  void discard();
  // Removes the journal of a finished set, left by a call that was killed after it had given the set its name.
  static void forget_finished(const std::filesystem::path& output);

 private:
  void lock();
  void resume_or_begin(bool restart);
  bool has_records_of(const JournalContent& content) const;
  void require_space();

  const PackPlan& plan_;
  JournalHeader header_;
  std::filesystem::path output_, partial_, journal_path_;
  std::optional<FileLock> lock_;
  std::optional<Descriptor> file_;
  std::optional<PackJournal> journal_;
  std::vector<std::optional<PartResult>> results_; // by part
  std::vector<PartResult> unsynced_;
  std::optional<std::chrono::steady_clock::time_point> last_flush_;
  std::int64_t done_ = 0;
};

} // namespace dt::data
