#include "engine/data/packing/readers/source_files.hpp"

#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {

namespace fs = std::filesystem;

bool SourceListing::has_test() const { return std::ranges::any_of(items, &SourceItem::is_test); }

Error source_error(const fs::path& path, std::string_view cause)
{
  return {ErrorKind::usage, fmt::format("{}: {}", printable(path.string()), cause)};
}

void SourceStamp::add(std::string_view name, const struct stat& facts)
{
  const auto nanoseconds = [](const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
  const auto changed_ns = nanoseconds(facts.st_mtim);
  newest_ns_ = std::max(newest_ns_, changed_ns);
  // cp -p and rsync -a give a file the time of another one; the inode and its own time (ctime) cannot be set
  hasher_.update(fmt::format("{} {} {} {} ", facts.st_size, changed_ns, nanoseconds(facts.st_ctim), facts.st_ino));
  hasher_.update(name);
  hasher_.update(std::string_view("\0", 1));
}

void SourceStamp::add(const fs::path& path)
{
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) throw system_error("stat " + path.string(), errno);
  if (!S_ISREG(facts.st_mode)) throw source_error(path, "this is not a regular file.");
  add(path.filename().string(), facts);
}

void SourceStamp::store(SourceListing& listing) const
{
  listing.stamp = hasher_.hex();
  listing.newest_ns = newest_ns_;
}

void IgnoredFiles::add_extension(std::string_view extension)
{
  ++counts_[extension.empty() ? "no extension" : printable(extension)];
}

std::string IgnoredFiles::remark() const
{
  if (counts_.empty()) return "";
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts_.begin(), counts_.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::int64_t all = 0;
  std::vector<std::string> words;
  for (const auto& [extension, count] : sorted) {
    all += count;
    if (words.size() < 5) words.push_back(fmt::format("{} ({})", extension, count));
  }
  if (words.size() < sorted.size()) words.emplace_back("…");
  return fmt::format("{} left out because of {} extension: {}.", counted(all, "file was", "files were"),
                     all == 1 ? "its" : "their", fmt::join(words, ", "));
}

std::string last_name(const fs::path& path)
{
  const auto whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole.filename().string() : whole.parent_path().filename().string();
}

std::vector<std::string> numbered_classes(std::int64_t count)
{
  std::vector<std::string> names;
  for (std::int64_t label = 0; label < count; ++label) names.push_back(std::to_string(label));
  return names;
}

} // namespace dt::data
