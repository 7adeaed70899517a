#include "core/counted.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"
#include "engine/data/packing/readers/extensions.hpp"
#include "engine/data/packing/readers/readers.hpp"
#include "engine/data/packing/readers/source_files.hpp"
#include "engine/data/packing/readers/split_names.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

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
    find_splits(options.test_folder);
    const auto& classes_in = train_.empty() ? root_ : root_ / train_;
    listing_.classes = sub_folders(classes_in);
    if (listing_.classes.empty())
      throw source_error(classes_in, "there are no class folders. Each class needs a folder of its own with its images.");
    list_classes(train_, false);
    if (!test_.empty()) list_test();
    if (const auto remark = ignored_.remark(); !remark.empty()) listing_.remarks.push_back(remark);
    add_remarks();
    stamp_.store(listing_);
  }

  bool is_concurrent() const override { return true; }

  void read(SampleRange items, const ItemVisitor& visit) override
  {
    for (auto i = items.begin; i < items.end; ++i) read_item(i, visit);
  }

 private:
  // A sub-folder whose name says a split, and which contains class folders.
  struct SplitFolder {
    std::string name;
    Split split;
    std::vector<std::string> classes;
    bool has_images; // beside the class folders
  };

  std::vector<SplitFolder> split_folders() const
  {
    std::vector<SplitFolder> found;
    for (const auto& name : sub_folders(root_)) {
      const auto split = read_split_name(name).split;
      auto classes = sub_folders(root_ / name);
      if (split == Split::none || classes.empty()) continue;
      const bool has_images = std::ranges::any_of(visible_names(root_ / name), [](const std::string& file) {
        return format_of_extension(fs::path(file).extension().string()).has_value();
      });
      found.push_back({name, split, std::move(classes), has_images});
    }
    return found;
  }

  static bool share_classes(const SplitFolder& a, const SplitFolder& b)
  {
    return std::ranges::any_of(a.classes, [&](const std::string& name) { return std::ranges::binary_search(b.classes, name); });
  }

  // Finds the folders of the training set and of the test set, if there are such. Folders that say different splits and hold the
  // same class folders are splits; one alone is the training set if its name says so and no images lie beside its folders, and
  // else a class.
  void find_splits(const std::string& given_test)
  {
    const auto folders = split_folders();
    std::vector<std::string> train, test;
    for (const auto& folder : folders)
      if (folder.split == Split::train) {
        train.push_back(folder.name);
      } else if (std::ranges::any_of(folders, [&](const SplitFolder& other) {
                   return &other != &folder && (other.split == Split::train || share_classes(folder, other));
                 })) {
        test.push_back(folder.name);
      }
    if (folders.empty()) require_classes();
    if (train.size() == 1 && test.empty() && given_test.empty() && folders.front().has_images) train.clear(); // a class
    if (train.size() > 1)
      throw source_error(root_,
                         fmt::format("there are {} folders that may be the training set: {}. Leave one of them in the source.",
                                     train.size(), fmt::join(train, ", ")));
    if (train.empty() && !test.empty())
      throw source_error(root_,
                         fmt::format("the folders {} hold class folders of the same names, but there is no folder train/ for "
                                     "the training set.",
                                     fmt::join(test, ", ")));
    if (!given_test.empty() && train.empty())
      throw source_error(root_, "--test-folder needs a folder train/ with class folders for the training set.");
    if (train.empty()) return;
    train_ = inner(train.front());
    if (given_test.empty() && test.empty()) return require_train_alone(train.front());
    test_ = chosen_test(given_test, test);
  }

  // Images that lie in train/ and test/ themselves have no class.
  void require_classes() const
  {
    const auto names = sub_folders(root_);
    const auto says = [](Split split) {
      return [split](const std::string& name) { return read_split_name(name).split == split; };
    };
    if (std::ranges::any_of(names, says(Split::train)) && !std::ranges::all_of(names, says(Split::train)) &&
        std::ranges::none_of(names, says(Split::none)))
      throw source_error(root_,
                         fmt::format("the folders {} say a split, but there are no class folders in them. Each class needs a "
                                     "folder of its own with its images.",
                                     fmt::join(names, ", ")));
  }

  std::string chosen_test(const std::string& given, const std::vector<std::string>& found) const
  {
    if (!given.empty()) {
      if (!is_folder(root_ / given) || sub_folders(root_ / given).empty())
        throw source_error(root_ / given, "there are no class folders for the test set.");
      return given;
    }
    if (found.size() > 1)
      throw source_error(root_, fmt::format("there are {} folders that may be the test set: {}. Choose one with --test-folder.",
                                            found.size(), fmt::join(found, ", ")));
    return inner(found.front());
  }

  // Archives are often unpacked into a folder of their own name: "seg_train/seg_train".
  std::string inner(const std::string& split) const
  {
    const auto names = sub_folders(root_ / split);
    return names.size() == 1 && read_split_name(names[0]).split == read_split_name(split).split ? split + "/" + names[0] : split;
  }

  // Without a test set, folders beside train/ would be neither classes nor images of it.
  void require_train_alone(const std::string& train) const
  {
    auto others = sub_folders(root_);
    std::erase(others, train);
    if (others.empty()) return;
    constexpr std::size_t listed = 5;
    const auto count = others.size();
    for (auto& name : others) name = printable(name) + "/";
    if (count > listed) others.resize(listed), others.emplace_back("…");
    throw source_error(root_,
                       fmt::format("{}/ has class folders, but {} beside it {}: {}. Remove or move {}, or name the folder "
                                   "of the test set, which needs class folders too, with --test-folder.",
                                   printable(train), count == 1 ? "the folder" : "the folders",
                                   count == 1 ? "is no test set with class folders" : "are no test sets with class folders",
                                   fmt::join(others, ", "), count == 1 ? "it" : "them"));
  }

  void add_remarks()
  {
    std::vector<std::string> others;
    if (!test_.empty())
      for (const auto& name : sub_folders(root_))
        if (!train_.starts_with(name) && !test_.starts_with(name)) others.push_back(printable(name) + "/");
    if (!others.empty())
      listing_.remarks.push_back(fmt::format("{} left out, because the training set is {}/ and the test set {}/: {}.",
                                             counted(others.size(), "folder was", "folders were"), printable(train_),
                                             printable(test_), fmt::join(others, ", ")));
    const auto place = train_.empty() ? root_ : root_ / train_;
    const bool all_are_split = std::ranges::all_of(listing_.classes, [&](const std::string& name) {
      const auto parts = sub_folders(place / name);
      const auto has = [&](Split split) {
        return std::ranges::any_of(parts, [&](const std::string& part) { return read_split_name(part).split == split; });
      };
      return has(Split::train) && (has(Split::test) || has(Split::validation));
    });
    if (all_are_split)
      listing_.remarks.emplace_back("Each class folder holds folders of a training set and of a test set, and their images were "
                                    "taken together. Make folders train/CLASS and test/CLASS to keep the split.");
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

  void list_test()
  {
    for (const auto& name : sub_folders(root_ / test_))
      if (!std::ranges::binary_search(listing_.classes, name))
        throw source_error(root_ / test_ / name,
                           fmt::format("this class has no folder in {}/. Both sets need the same classes.", printable(train_)));
    list_classes(test_, true);
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
  std::string train_, test_; // folders of the splits in root_; empty: none
  SourceStamp stamp_;
  IgnoredFiles ignored_;
};

} // namespace

std::unique_ptr<SourceReader> read_class_folders(const SourceOptions& options) { return std::make_unique<ClassFolders>(options); }

} // namespace dt::data
