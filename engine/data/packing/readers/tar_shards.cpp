#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "engine/data/archives/archive_file.hpp"
#include "engine/data/packing/readers/extensions.hpp"
#include "engine/data/packing/readers/labels.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/source_files.hpp"
#include "engine/data/packing/readers/split_names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// Adds the shards in a folder and below it, relative to `root`; counts other files.
void add_shards(const fs::path& root, const fs::path& folder, int depth, std::vector<std::string>& shards, IgnoredFiles& ignored)
{
  constexpr int most_floors = 32; // a link may lead back to a folder above it
  if (depth == most_floors) throw source_error(root / folder, fmt::format("more than {} folders in each other.", most_floors));
  for (const auto& name : names_in(root / folder)) {
    const auto path = folder / name;
    if (name.starts_with('.')) continue;
    if (is_folder(root / path))
      add_shards(root, path, depth + 1, shards, ignored);
    else if (has_tar_name(name))
      shards.push_back(path.string());
    else
      ignored.add(path);
  }
}

// An extension as the user wrote it, with or without its dot: "left.PNG" is ".left.png".
std::string as_extension(const std::string& word)
{
  return word.empty() || word.starts_with('.') ? lower_case(word) : "." + lower_case(word);
}

class TarShards final : public SourceReader {
 public:
  explicit TarShards(const SourceOptions& options)
      : image_extension_(as_extension(options.images)),
        label_extension_(options.labels.empty() ? ".cls" : as_extension(options.labels))
  {
    const bool is_folder_of_shards = fs::is_directory(options.path);
    listing_.description = "tar " + last_name(options.path);
    root_ = is_folder_of_shards ? options.path : options.path.parent_path();
    is_folder_of_shards ? add_shards(root_, "", 0, shards_, ignored_) : shards_.push_back(options.path.filename().string());
    std::ranges::sort(shards_);
    if (shards_.empty()) throw source_error(root_, "there are no tar files.");
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) list(shard);
    listing_.classes = label_items(listing_.items, labels_);
    labels_.clear();
    find_splits();
    add_remarks();
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
    std::string image_name, label_name;
    std::vector<std::string> other_images, other_labels; // members with more than one dot in their names
  };

  fs::path path_of(std::size_t shard) const { return root_ / shards_[shard]; }

  // Without --images: a plain extension of an image, and nothing before it.
  bool is_image(const MemberName& name) const
  {
    return image_extension_.empty() ? format_of_extension(name.extension).has_value() : name.extension == image_extension_;
  }
  bool is_label(const MemberName& name) const { return name.extension == label_extension_; }

  void list(std::size_t shard)
  {
    stamp_.add(path_of(shard));
    ArchiveFile tar(path_of(shard), ArchiveKind::tar);
    std::unordered_map<std::string, Found> found;
    std::vector<std::string> keys; // in the order of their first members
    while (tar.next()) {
      const MemberName name(tar.name());
      if (name.is_hidden()) {
        hidden_ += name.format() && name.extension.compare(0, 2, "._") != 0 ? 1 : 0;
        continue;
      }
      const auto [sample, is_new] = found.try_emplace(name.key);
      if (is_new) keys.push_back(name.key);
      take(shard, tar, name, sample->second);
    }
    if (links_ == 0 && tar.links() > 0) first_link_ = shards_[shard] + "/" + tar.first_link();
    links_ += tar.links();
    for (const auto& key : keys) settle(shard, key, found.at(key));
  }

  void take(std::size_t shard, ArchiveFile& tar, const MemberName& name, Found& sample)
  {
    const bool label = is_label(name), image = is_image(name);
    if (tar.is_sparse() && (label || image))
      throw source_error(path_of(shard), fmt::format("the member {} is stored with holes, so it is {}. Make the tar file again "
                                                     "without --sparse (-S), or without this member.",
                                                     printable(tar.name()), label ? "no label" : "no image"));
    if (label) return add_label(shard, tar, sample);
    if (image) return add_image(shard, tar, sample, name);
    if (name.format()) sample.other_images.push_back(tar.name());
    if (name.extension.ends_with(".cls")) sample.other_labels.push_back(tar.name());
    ignored_.add_extension(name.extension);
    has_long_extension_ |= name.extension.rfind('.') != 0 && !name.extension.empty();
  }

  // When all members of the shard are known: the sample must have an image with a label, or no part of either is left.
  void settle(std::size_t shard, const std::string& key, Found& sample)
  {
    if (!sample.image) {
      if (!sample.other_images.empty() && image_extension_.empty()) throw no_plain_image(shard, sample.other_images.front());
      if (!sample.label) return;
      if (without_image_++ == 0) first_without_image_ = shards_[shard] + "/" + sample.label_name;
      return;
    }
    if (!sample.label) throw no_label(shard, key, sample);
    labels_[*sample.image] = std::move(*sample.label);
  }

  Error no_plain_image(std::size_t shard, const std::string& member) const
  {
    const MemberName name(member);
    auto other = name.extension.substr(1);
    auto renamed = name.key + name.extension;
    std::replace(renamed.begin() + static_cast<std::ptrdiff_t>(name.key.size()),
                 renamed.begin() + static_cast<std::ptrdiff_t>(renamed.rfind('.')), '.', '_');
    return source_error(
        path_of(shard),
        fmt::format("the extension of the member {} is {}, and not .jpg, .jpeg, .png or .webp. In a tar file, the key of a "
                    "sample is its name up to the first dot ({}), and all that follows is the extension. Rename such members "
                    "(to {}), or choose an extension: --images {} takes these images, and --images {} leaves them out.",
                    printable(member), printable(name.extension), printable(name.key), printable(renamed),
                    printable(shell_quote(other)), other.substr(other.rfind('.') + 1)));
  }

  Error no_label(std::size_t shard, const std::string& key, const Found& sample) const
  {
    auto text = fmt::format("{} has no label: there is no member {}{}.", printable(sample.image_name), printable(key),
                            printable(label_extension_));
    if (!sample.other_labels.empty())
      text += fmt::format(" There is {}, but the key of a sample is its name up to the first dot. Rename it, or choose the "
                          "labels with --labels {}.",
                          printable(sample.other_labels.front()),
                          printable(shell_quote(MemberName(sample.other_labels.front()).extension.substr(1))));
    return source_error(path_of(shard), text);
  }

  void add_label(std::size_t shard, ArchiveFile& tar, Found& sample)
  {
    constexpr std::uint64_t longest = 1000;
    const auto& name = tar.name();
    if (sample.label)
      throw source_error(path_of(shard), sample.label_name == name ? fmt::format("the member {} is there twice.", printable(name))
                                                                   : fmt::format("there are two labels of one image: {} and {}.",
                                                                                 printable(sample.label_name), printable(name)));
    if (tar.size() > longest)
      throw source_error(path_of(shard),
                         fmt::format("{} has {} bytes; a label has up to {}.", printable(name), tar.size(), longest));
    std::string text;
    tar.read(text);
    sample.label = trim(text);
    sample.label_name = name;
    if (sample.label->empty()) throw source_error(path_of(shard), fmt::format("{} is empty.", printable(name)));
  }

  void add_image(std::size_t shard, const ArchiveFile& tar, Found& sample, const MemberName& name)
  {
    if (sample.image)
      throw source_error(path_of(shard), fmt::format("there are two images with the key {}: {} and {}. Each key names one image.",
                                                     printable(name.key), printable(sample.image_name), printable(tar.name())));
    sample.image = listing_.items.size();
    sample.image_name = tar.name();
    listing_.items.push_back({shards_[shard] + "/" + tar.name(), 0, false, name.format() == ImageFormat::jpeg, tar.size()});
    shard_of_item_.push_back(static_cast<std::uint32_t>(shard));
    labels_.emplace_back();
  }

  void add_remarks()
  {
    if (without_image_ > 0)
      listing_.remarks.push_back(fmt::format(
          "{} left out; the first is {}.", counted(without_image_, "label without an image was", "labels without an image were"),
          printable(first_without_image_)));
    if (hidden_ > 0)
      listing_.remarks.push_back(
          fmt::format("{} left out because the name begins with a dot.", counted(hidden_, "image was", "images were")));
    if (links_ > 0)
      listing_.remarks.push_back(fmt::format("{} left out because a tar file stores no content for a link; the first is {}.",
                                             counted(links_, "link was", "links were"), printable(first_link_)));
    auto remark = ignored_.remark();
    if (remark.empty()) return;
    if (has_long_extension_) remark += " In a tar file, the extension is all that follows the first dot of a name.";
    listing_.remarks.push_back(remark);
  }

  // The source has a test set if every shard's name says its split and both occur.
  void find_splits()
  {
    std::vector<Split> splits;
    for (const auto& shard : shards_) splits.push_back(read_split_name(shard).split);
    const auto has = [&](Split split) { return std::ranges::find(splits, split) != splits.end(); };
    if (has(Split::none) || !has(Split::train)) return;
    for (std::size_t i = 0; i < listing_.items.size(); ++i) listing_.items[i].is_test = splits[shard_of_item_[i]] != Split::train;
  }

  // Goes on to the member of this item, which comes after the last one.
  void find_item(std::int64_t index)
  {
    const auto shard = shard_of_item_[static_cast<std::size_t>(index)];
    if (!tar_ || open_shard_ != shard) {
      tar_.emplace(path_of(shard), ArchiveKind::tar);
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
  std::vector<std::string> labels_;                     // by item, while the source is listed
  const std::string image_extension_, label_extension_; // in lower case; no image extension: any plain one
  std::int64_t without_image_ = 0, hidden_ = 0;
  std::int64_t links_ = 0;
  std::string first_without_image_, first_link_;
  bool has_long_extension_ = false; // whether a member with more than one dot in its name was left out
  SourceStamp stamp_;
  IgnoredFiles ignored_;

  std::optional<ArchiveFile> tar_;
  std::uint32_t open_shard_ = 0;
  std::int64_t next_item_ = 0; // the item after the last one that was read
};

} // namespace

std::unique_ptr<SourceReader> read_tar_shards(const SourceOptions& options) { return std::make_unique<TarShards>(options); }

} // namespace dt::data
