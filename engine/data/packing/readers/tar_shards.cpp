#include "core/file.hpp"
#include "core/text.hpp"
#include "engine/data/images/decoder.hpp"
#include "engine/data/packing/readers/labels.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/tar_file.hpp"
#include "engine/data/packing/source_files.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// A member's name, taken apart as WebDataset does: "a/0001.seg.png" has the key "a/0001" and the ending ".seg.png".
struct MemberName {
  std::string key, ending;
  explicit MemberName(const std::string& path)
  {
    const auto base = path.rfind('/') + 1; // 0 if there is no slash
    const auto dot = std::min(path.find('.', base), path.size());
    key = path.substr(0, dot);
    ending = path.substr(dot);
  }
  bool is_hidden() const { return key.empty() || key.ends_with('/'); }
};

enum class ShardSplit { none, train, test };

// The split that a word in the file's name or the folder says: "imagenet-train-0001.tar", "val/0001.tar".
ShardSplit split_of(const std::string& name)
{
  std::string word;
  for (const char c : name + ".") {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      word += static_cast<char>(c | 0x20);
      continue;
    }
    if (word == "train" || word == "training") return ShardSplit::train;
    if (word == "test" || word == "val" || word == "valid" || word == "validation") return ShardSplit::test;
    word.clear();
  }
  return ShardSplit::none;
}

bool has_tar_name(const std::string& name)
{
  return std::ranges::any_of(std::array{".tar", ".tar.gz", ".tgz"}, [&](const char* ending) { return name.ends_with(ending); });
}

// The shards in a folder and in its sub-folders, sorted; relative to the folder.
std::vector<std::string> shards_in(const fs::path& folder)
{
  std::vector<std::string> shards;
  for (const auto& name : names_in(folder)) {
    if (has_tar_name(name)) shards.push_back(name);
    if (!name.starts_with('.') && fs::is_directory(folder / name))
      for (const auto& below : names_in(folder / name))
        if (has_tar_name(below)) shards.push_back(name + "/" + below);
  }
  std::ranges::sort(shards);
  return shards;
}

class TarShards final : public SourceReader {
 public:
  explicit TarShards(const SourceOptions& options)
  {
    const bool is_folder_of_shards = fs::is_directory(options.path);
    listing_.description = "tar " + last_name(options.path);
    root_ = is_folder_of_shards ? options.path : options.path.parent_path();
    shards_ = is_folder_of_shards ? shards_in(root_) : std::vector{options.path.filename().string()};
    if (shards_.empty()) throw source_error(root_, "there are no tar files.");
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) list(shard);
    listing_.classes = label_items(listing_.items, labels_);
    labels_.clear();
    find_splits();
    if (without_image_ > 0)
      listing_.remarks.push_back(fmt::format("{} without an image {} left out.",
                                             without_image_ == 1 ? "1 label" : fmt::format("{} labels", without_image_),
                                             without_image_ == 1 ? "was" : "were"));
    if (const auto remark = ignored_.remark(); !remark.empty()) listing_.remarks.push_back(remark);
    stamp_.store(listing_);
  }

  void read(SampleRange items, const ItemVisitor& visit) override
  {
    if (items.begin < next_item_) tar_.reset(), next_item_ = 0;
    std::string bytes;
    for (; next_item_ < items.end; ++next_item_) {
      find_item(next_item_);
      if (next_item_ < items.begin) continue;
      const auto& item = listing_.items[static_cast<std::size_t>(next_item_)];
      tar_->read(bytes);
      if (bytes.size() != item.bytes) throw changed(next_item_);
      visit(next_item_, bytes, "");
    }
  }

 private:
  struct Found {
    std::optional<std::size_t> image; // in items
    std::optional<std::string> label;
    std::string image_name;
  };

  fs::path path_of(std::size_t shard) const { return root_ / shards_[shard]; }

  void list(std::size_t shard)
  {
    stamp_.add(path_of(shard));
    TarFile tar(path_of(shard));
    std::unordered_map<std::string, Found> found;
    while (tar.next()) {
      const MemberName name(tar.name());
      if (name.is_hidden()) continue;
      const bool is_label = name.ending == ".cls";
      if (tar.is_sparse() && (is_label || format_of_extension(name.ending)))
        throw source_error(path_of(shard), fmt::format("the member {} is stored with holes, so it is {}. Make the tar file again "
                                                       "without --sparse (-S), or without this member.",
                                                       printable(tar.name()), is_label ? "no label" : "no image"));
      if (is_label)
        add_label(shard, tar, found[name.key], name.key);
      else if (format_of_extension(name.ending))
        add_image(shard, tar, found[name.key], name);
      else
        ignored_.add(tar.name());
    }
    for (auto& [key, sample] : found) {
      if (!sample.image) {
        ++without_image_;
        continue;
      }
      if (!sample.label)
        throw source_error(path_of(shard), fmt::format("{} has no label: there is no member {}.cls.",
                                                       printable(sample.image_name), printable(key)));
      labels_[*sample.image] = std::move(*sample.label);
    }
  }

  void add_label(std::size_t shard, TarFile& tar, Found& sample, const std::string& key)
  {
    constexpr std::uint64_t longest = 1000;
    if (sample.label) throw source_error(path_of(shard), fmt::format("the member {}.cls is there twice.", printable(key)));
    if (tar.size() > longest)
      throw source_error(path_of(shard),
                         fmt::format("{}.cls has {} bytes; a label has up to {}.", printable(key), tar.size(), longest));
    std::string text;
    tar.read(text);
    sample.label = trim(text);
    if (sample.label->empty()) throw source_error(path_of(shard), fmt::format("{}.cls is empty.", printable(key)));
  }

  void add_image(std::size_t shard, const TarFile& tar, Found& sample, const MemberName& name)
  {
    if (sample.image)
      throw source_error(path_of(shard), fmt::format("there are two images with the key {}: {} and {}. Each key names one image.",
                                                     printable(name.key), printable(sample.image_name), printable(tar.name())));
    sample.image = listing_.items.size();
    sample.image_name = tar.name();
    listing_.items.push_back(
        {shards_[shard] + "/" + tar.name(), 0, false, *format_of_extension(name.ending) == ImageFormat::jpeg, tar.size()});
    shard_of_item_.push_back(static_cast<std::uint32_t>(shard));
    labels_.emplace_back();
  }

  // The source has a test set if every shard's name says its split and both occur.
  void find_splits()
  {
    std::vector<ShardSplit> splits;
    for (const auto& shard : shards_) splits.push_back(split_of(shard));
    const auto has = [&](ShardSplit split) { return std::ranges::find(splits, split) != splits.end(); };
    if (has(ShardSplit::none) || !has(ShardSplit::train)) return;
    for (std::size_t i = 0; i < listing_.items.size(); ++i)
      listing_.items[i].is_test = splits[shard_of_item_[i]] == ShardSplit::test;
  }

  // Goes on to the member of this item, which comes after the last one.
  void find_item(std::int64_t index)
  {
    const auto shard = shard_of_item_[static_cast<std::size_t>(index)];
    if (!tar_ || open_shard_ != shard) {
      tar_.emplace(path_of(shard));
      open_shard_ = shard;
    }
    const auto member = std::string_view(listing_.items[static_cast<std::size_t>(index)].name).substr(shards_[shard].size() + 1);
    while (tar_->next())
      if (tar_->name() == member) return;
    throw changed(index);
  }

  Error changed(std::int64_t index) const
  {
    return source_error(path_of(shard_of_item_[static_cast<std::size_t>(index)]),
                        fmt::format("the file has changed since its members were listed: {} is not as it was.",
                                    printable(listing_.items[static_cast<std::size_t>(index)].name)));
  }

  fs::path root_;
  std::vector<std::string> shards_; // relative to root_
  std::vector<std::uint32_t> shard_of_item_;
  std::vector<std::string> labels_; // by item, while the source is listed
  std::int64_t without_image_ = 0;
  SourceStamp stamp_;
  IgnoredFiles ignored_;

  std::optional<TarFile> tar_;
  std::uint32_t open_shard_ = 0;
  std::int64_t next_item_ = 0; // the item after the last one that was read
};

} // namespace

std::unique_ptr<SourceReader> read_tar_shards(const SourceOptions& options) { return std::make_unique<TarShards>(options); }

} // namespace dt::data
