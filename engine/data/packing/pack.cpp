#include "engine/data/packing/pack.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/text.hpp"
#include "engine/data/packing/pack_state.hpp"
#include "engine/data/packing/part_pool.hpp"
#include "engine/data/packing/plan.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// Tells whether a finished set is the one that is to be packed.

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

// Nothing if there is no file. The set's facts if it was packed with the same options, has the images of the source, and no file
// of the source is newer. Throws a usage error if there is another set or another file.
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

// `whose`: the beginning of the message. Classes are given by label.
void require_used(const std::vector<bool>& is_used, const std::vector<std::string>& classes, std::string_view whose)
{
  std::vector<std::string> empty;
  for (std::size_t label = 0; label < is_used.size(); ++label)
    if (!is_used[label]) empty.push_back(printable(classes[label]));
  if (empty.empty()) return;
  const auto count = empty.size();
  if (count > 10) empty.resize(10), empty.emplace_back("…");
  throw Error(
      ErrorKind::usage,
      fmt::format("{}{} of the {} classes {} no images: {}. Add images or remove the {}; --allow-empty-classes accepts {}.",
                  whose, count, classes.size(), count == 1 ? "has" : "have", fmt::join(empty, ", "),
                  count == 1 ? "class" : "classes", count == 1 ? "it" : "them"));
}

void require_sound(const SourceListing& listing, const PackOptions& options)
{
  if (listing.items.empty())
    throw Error(ErrorKind::usage, fmt::format("The source ({}) has no images.{}{}", listing.description,
                                              listing.remarks.empty() ? "" : " ", fmt::join(listing.remarks, " ")));
  if (std::ssize(listing.classes) < options.least_classes)
    throw Error(ErrorKind::usage,
                fmt::format("The source ({}) has only the class {}; a network needs at least {}. Add images of another class.",
                            listing.description, printable(listing.classes.front()), options.least_classes));
  if (options.allow_empty_classes) return;
  std::vector<bool> is_used(listing.classes.size());
  for (const auto& item : listing.items) is_used[item.label] = true;
  require_used(is_used, listing.classes, "");
}

// "3 of 400 images cannot be decoded:" and the first ten of them.
std::string corrupt_text(const std::vector<CorruptItem>& corrupt, const SourceListing& listing)
{
  return fmt::format("{} of {} images cannot be decoded:{}", corrupt.size(), listing.items.size(),
                     lines_of(corrupt, [&](std::int64_t item) { return listing.items[static_cast<std::size_t>(item)].name; }));
}

PackedDescription describe(const PackPlan& plan, const SourceListing& listing, const PackState& state)
{
  PackedDescription set;
  PixelSums sums;
  ImageSizes sizes;
  for (const auto& result : state.results()) {
    sums.add(result->sums);
    sizes.add(result->sizes);
  }
  set.encoding = plan.encoding;
  set.channels = plan.channels;
  set.height = sizes.height;
  set.width = sizes.width;
  set.min_side = sizes.min_side;
  set.max_side = sizes.max_side;
  set.classes = listing.classes;
  set.source = listing.description;
  set.options = plan.options;
  if (sums.pixels == 0) throw Error(ErrorKind::usage, "No training image can be decoded.");
  set.mean = sums.mean(plan.channels);
  set.deviation = sums.deviation(plan.channels);
  return set;
}

// Sentences about the content of the images; for those that an earlier call has packed too.
void add_content_remarks(const PackPlan& plan, const SourceListing& listing, const PackState& state, PackResult& result)
{
  ContentFacts facts;
  for (const auto& part : state.results()) facts.add(part->facts);
  const auto images = static_cast<std::int64_t>(listing.items.size()) - result.description.skipped;
  auto& remarks = result.remarks;
  for (auto& remark : decoding_remarks(facts, plan.colours, images)) remarks.push_back(std::move(remark));
  remarks.push_back(
      constant_remark(facts, images, [&](std::int64_t item) { return listing.items[static_cast<std::size_t>(item)].name; }));
  remarks.push_back(channels_remark(result.description.mean, result.description.deviation));
  std::erase(remarks, "");
}

// Gives the finished file its name. Returns the set of that name if another process has made an equal one meanwhile. Throws a
// usage error if it has made another one.
std::optional<PackResult> commit(const PackOptions& options, const PackPlan& plan, const SourceListing& listing, PackState& state)
{
  while (!state.commit(options.force)) { // again if the other set was removed before it could be looked at
    std::optional<PackResult> there;
    try {
      there = equal_set(options.output, plan, listing);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      throw Error(ErrorKind::usage,
                  fmt::format("Another process has made {0} meanwhile; nothing was replaced. What this call has packed is kept "
                              "in {1}. To replace {0}, repeat this call with --force.",
                              options.output.string(), state.partial().string()));
    }
    if (!there) continue;
    state.discard();
    return there;
  }
  return std::nullopt;
}

// Writes the index and gives the file its name.
PackResult finish(const PackOptions& options, const PackPlan& plan, const SourceListing& listing, PackState& state)
{
  const auto corrupt = state.corrupt();
  if (!corrupt.empty() && !options.skip_corrupt)
    throw Error(ErrorKind::recipe,
                fmt::format("{}\nRepair or remove these files and pack again with --restart, or leave them out of the set with "
                            "--corrupt skip. The other images are kept in {}, so that --corrupt skip takes little time.",
                            corrupt_text(corrupt, listing), state.partial().string()));
  auto set = describe(plan, listing, state);
  std::vector<PackedEntry> entries;
  std::vector<std::string> names;
  std::vector<bool> is_used(listing.classes.size());
  for (std::size_t i = 0; i < plan.order.items.size(); ++i) {
    const auto index = plan.order.items[i];
    const auto& item = listing.items[static_cast<std::size_t>(index)];
    const auto hash = state.hash_of(index);
    if (!hash) continue;
    ++(static_cast<std::int64_t>(i) < plan.order.train ? set.train_samples : set.test_samples);
    entries.push_back({plan.begins[static_cast<std::size_t>(index)], *hash, static_cast<std::uint32_t>(plan.record_bytes(item)),
                       item.label, 0});
    names.push_back(item.name);
    is_used[item.label] = true;
  }
  if (!options.allow_empty_classes) require_used(is_used, listing.classes, "Without the images that cannot be decoded, ");
  set.skipped = static_cast<std::int64_t>(corrupt.size());
  PackResult result{.remarks = listing.remarks};
  if (!corrupt.empty()) result.remarks.push_back(corrupt_text(corrupt, listing) + "\nThey were left out.");
  if (set.test_samples == 0 && plan.order.train < static_cast<std::int64_t>(plan.order.items.size()))
    result.remarks.emplace_back("No image of the test set can be decoded, so the set has no test images.");
  result.id = finish_packed_file(state.descriptor(), state.partial(), plan.records_end, entries, names, set);
  result.file_bytes = state.file_bytes();
  result.description = std::move(set);
  add_content_remarks(plan, listing, state, result);
  if (auto there = commit(options, plan, listing, state)) {
    there->remarks = std::move(result.remarks);
    return *std::move(there);
  }
  return result;
}

// Files that changed between their listing and now may have been read in part before and in part after.
void require_unchanged(const SourceOptions& options, const SourceListing& listing)
{
  if (open_source(options)->listing().stamp != listing.stamp)
    throw Error(ErrorKind::usage,
                fmt::format("The source ({}) has changed while it was packed. Pack it again when nothing writes into it.",
                            printable(listing.description)));
}

// Packs the parts that are missing.
void pack_parts(const PackOptions& options, const PackPlan& plan, SourceReader& source, PackState& state)
{
  const auto all = static_cast<std::int64_t>(source.listing().items.size());
  if (options.progress && state.done() > 0) options.progress(state.done(), all);
  const auto cores = static_cast<int>(cpu_allowance().whole_cores());
  PartPool pool{plan, source, options.threads > 0 ? options.threads : cores,
                [&](std::uint64_t begin, std::string_view record) { state.write(begin, record); },
                [&](PartResult&& result) {
                  state.finish_part(std::move(result));
                  if (options.progress) options.progress(state.done(), all);
                }};
  try {
    const auto missing = state.missing();
    pool.run(missing);
    if (!missing.empty()) require_unchanged(options.source, source.listing());
  } catch (const Error& error) {
    // With these options the set cannot be finished, or what is done stays for the next call.
    error.kind() == ErrorKind::usage ? state.discard() : state.flush_if_possible();
    throw;
  }
  state.flush();
}

} // namespace

PackResult pack_data(const PackOptions& options)
{
  const auto source = open_source(options.source);
  const auto& listing = source->listing();
  require_sound(listing, options);
  const auto plan = plan_pack(options, *source);
  if (!options.force)
    if (auto there = equal_set(options.output, plan, listing)) {
      PackState::forget_finished(options.output);
      there->remarks = listing.remarks;
      if (const auto remark = channels_remark(there->description.mean, there->description.deviation); !remark.empty())
        there->remarks.push_back(remark);
      return *there;
    }
  PackState state(options, plan, listing);
  const auto resumed = state.done();
  pack_parts(options, plan, *source, state);
  auto result = finish(options, plan, listing, state);
  result.resumed = resumed;
  return result;
}

} // namespace dt::data
