#include "engine/data/packing/finished_set.hpp"

#include "core/error.hpp"
#include "core/file.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sys/stat.h>

namespace dt::data {
namespace {

std::int64_t changed_ns(const PackedFile& file)
{
  struct stat facts;
  if (::fstat(file.descriptor(), &facts) != 0) throw system_error("stat " + file.path().string(), errno);
  return std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
}

// Whether the records are these images in this order, apart from those that were left out.
bool has_items(const PackedFile& file, const PackPlan& plan, const SourceListing& listing)
{
  const auto names = file.names();
  std::int64_t record = 0;
  for (const auto index : plan.order.items) {
    const auto& item = listing.items[static_cast<std::size_t>(index)];
    if (record < file.size() && names[static_cast<std::size_t>(record)] == item.name && file.entry(record).label == item.label &&
        file.entry(record).bytes == plan.record_bytes(item))
      ++record;
  }
  const auto all = static_cast<std::int64_t>(plan.order.items.size());
  return record == file.size() && record + file.description().skipped == all;
}

// Why the set is another one; empty if it is not.
std::string difference(const PackedFile& file, const PackPlan& plan, const SourceListing& listing)
{
  const auto& set = file.description();
  if (set.source != listing.description) return fmt::format("it was packed from another source ({})", set.source);
  if (set.options != plan.options) return fmt::format("it was packed with other options ({})", set.options);
  if (set.classes != listing.classes || !has_items(file, plan, listing)) return "the source has other images now";
  if (listing.newest_ns > changed_ns(file)) return "files of the source have changed since it was packed";
  return "";
}

} // namespace

std::optional<PackResult> equal_set(const std::filesystem::path& path, const PackPlan& plan, const SourceListing& listing)
{
  if (!is_there(path)) return std::nullopt;
  std::string why;
  try {
    const PackedFile file(path);
    file.require_intact_index();
    why = difference(file, plan, listing);
    if (why.empty())
      return PackResult{.was_there = true, .id = file.id(), .file_bytes = file.file_bytes(), .description = file.description()};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::recipe) throw;
    if (!is_there(path)) return std::nullopt; // removed at this moment
    why = "it is not a complete packed set, or damaged";
  }
  throw Error(ErrorKind::usage,
              fmt::format("{} exists already, and {}. Nothing was written; choose another name, or replace it with --force.",
                          path.string(), why));
}

} // namespace dt::data
