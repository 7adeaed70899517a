#include "core/file.hpp"
#include "core/text.hpp"
#include "engine/data/packing/readers/extensions.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/source_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

constexpr std::array test_names{"test", "val", "valid", "validation"};

bool is_hidden(std::string_view name) { return name.starts_with('.'); }

// The names in a folder, sorted, without hidden ones.
std::vector<std::string> visible_names(const fs::path& folder)
{
  auto names = names_in(folder);
  std::erase_if(names, is_hidden);
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> sub_folders(const fs::path& folder)
{
  auto names = visible_names(folder);
  std::erase_if(names, [&](const std::string& name) {
    std::error_code error;
    return !fs::is_directory(folder / name, error);
  });
  return names;
}

class ClassFolders final : public SourceReader {
 public:
  explicit ClassFolders(const SourceOptions& options) : root_(options.path)
  {
    listing_.description = "folder " + last_name(root_);
    const auto test = test_folder(options);
    const bool has_train = is_split("train");
    if (has_train && test.empty()) require_train_alone();
    if (!options.test_folder.empty() && !has_train)
      throw source_error(root_, "--test-folder needs a folder train/ with class folders for the training set.");
    listing_.classes = sub_folders(has_train ? root_ / "train" : root_);
    if (listing_.classes.empty())
      throw source_error(has_train ? root_ / "train" : root_,
                         "there are no class folders. Each class needs a folder of its own with its images.");
    list_classes(has_train ? "train" : "", false);
    if (!test.empty()) list_test(test);
    if (const auto remark = ignored_.remark(); !remark.empty()) listing_.remarks.push_back(remark);
    stamp_.store(listing_);
  }

  bool is_concurrent() const override { return true; }

  void read(SampleRange items, const ItemVisitor& visit) override
  {
    for (auto i = items.begin; i < items.end; ++i) read_item(i, visit);
  }

 private:
  // Whether the source's sub-folder `name` contains class folders.
  bool is_split(const std::string& name) const { return is_folder(root_ / name) && !sub_folders(root_ / name).empty(); }

  // Without a test set, folders beside train/ would be neither classes nor images of it.
  void require_train_alone() const
  {
    auto others = sub_folders(root_);
    std::erase(others, "train");
    if (others.empty()) return;
    constexpr std::size_t listed = 5;
    const auto count = others.size();
    for (auto& name : others) name = printable(name) + "/";
    if (count > listed) others.resize(listed), others.emplace_back("…");
    throw source_error(root_,
                       fmt::format("train/ has class folders, but {} beside it {}: {}. Remove or move {}, or name the folder "
                                   "of the test set, which needs class folders too, with --test-folder.",
                                   count == 1 ? "the folder" : "the folders",
                                   count == 1 ? "is no test set with class folders" : "are no test sets with class folders",
                                   fmt::join(others, ", "), count == 1 ? "it" : "them"));
  }

  // The sub-folder with the test set; empty if there is none.
  std::string test_folder(const SourceOptions& options) const
  {
    if (!options.test_folder.empty()) {
      if (!is_there(root_ / options.test_folder) || !is_split(options.test_folder))
        throw source_error(root_ / options.test_folder, "there are no class folders for the test set.");
      return options.test_folder;
    }
    std::vector<std::string> found;
    if (is_split("train"))
      for (const auto* name : test_names)
        if (is_split(name)) found.emplace_back(name);
    if (found.size() > 1)
      throw source_error(root_, fmt::format("there are {} folders that may be the test set: {}. Choose one with --test-folder.",
                                            found.size(), fmt::join(found, ", ")));
    return found.empty() ? "" : found.front();
  }

  void list_classes(const std::string& split, bool is_test)
  {
    for (const auto& name : visible_names(root_ / split)) {
      const auto known = std::ranges::lower_bound(listing_.classes, name);
      if (known != listing_.classes.end() && *known == name)
        list_images(split.empty() ? fs::path(name) : fs::path(split) / name, known - listing_.classes.begin(), is_test, 0);
      else if (!is_folder(root_ / split / name))
        ignored_.add(name);
    }
  }

  void list_test(const std::string& split)
  {
    for (const auto& name : sub_folders(root_ / split))
      if (!std::ranges::binary_search(listing_.classes, name))
        throw source_error(root_ / split / name, "this class has no folder in train/. Both sets need the same classes.");
    list_classes(split, true);
  }

  void list_images(const fs::path& folder, std::ptrdiff_t label, bool is_test, int depth)
  {
    constexpr int most_floors = 32; // a link may lead back to a folder above it
    if (depth == most_floors) throw source_error(root_ / folder, fmt::format("more than {} folders in each other.", most_floors));
    for (const auto& name : visible_names(root_ / folder)) {
      const auto path = folder / name;
      struct stat facts {};
      const bool is_known = ::stat((root_ / path).c_str(), &facts) == 0;
      if (is_known && S_ISDIR(facts.st_mode)) {
        list_images(path, label, is_test, depth + 1);
        continue;
      }
      const auto format = format_of_extension(path.extension().string());
      if (!format) {
        ignored_.add(path);
        continue;
      }
      stamp_.add(path.string(), facts);
      listing_.items.push_back({path.string(), static_cast<std::uint32_t>(label), is_test, *format == ImageFormat::jpeg,
                                static_cast<std::uint64_t>(facts.st_size)});
    }
  }

  void read_item(std::int64_t index, const ItemVisitor& visit) const
  {
    const auto& item = listing_.items[static_cast<std::size_t>(index)];
    std::string bytes, trouble;
    try {
      bytes = read_file(root_ / item.name);
      if (bytes.size() != item.bytes)
        throw source_error(root_ / item.name, fmt::format("the file had {} bytes and now has {}. Call dtctl data pack again when "
                                                          "nothing writes into the source.",
                                                          item.bytes, bytes.size()));
    } catch (const IrregularFile&) {
      trouble = "it is not a regular file";
    } catch (const SystemError& error) {
      if (error.number() != ENOENT && error.number() != EACCES && error.number() != ELOOP) throw;
      trouble = error.what();
    }
    visit(index, bytes, trouble);
  }

  fs::path root_;
  SourceStamp stamp_;
  IgnoredFiles ignored_;
};

} // namespace

std::unique_ptr<SourceReader> read_class_folders(const SourceOptions& options) { return std::make_unique<ClassFolders>(options); }

} // namespace dt::data
