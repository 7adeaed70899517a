#include "cli/data/data_sets.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view partial_ending = ".pack.partial", record_name = ".dtctl-data.json";

std::string without_ending(const std::string& name, std::string_view ending)
{
  return name.substr(0, name.size() - ending.size());
}

DataSet packed_set(const fs::path& path, const std::string& name)
{
  DataSet set{.name = name, .kind = "packed"};
  try {
    const PackedFile file(path);
    const auto& description = file.description();
    set.train = description.train_samples;
    set.test = description.test_samples;
    set.classes = static_cast<std::int64_t>(description.classes.size());
    set.bytes = file.file_bytes();
    set.image = image_text(description);
    set.id = file.id();
  } catch (const Error& error) {
    set.kind = "damaged";
    set.problem = error.what();
  }
  return set;
}

DataSet folder_set(const fs::path& path, const std::string& name)
{
  DataSet set{.name = name, .kind = "folder"};
  if (const auto made = made_folder(path)) {
    set.kind = made->kind;
    set.train = made->train;
    set.test = made->test;
    set.classes = 10; // of digits and shapes
    set.bytes = made->bytes;
    set.image = made->kind == "digits" ? "28 x 28, grey" : "32 x 32, in colour";
  }
  return set;
}

DataSet unfinished_set(const fs::path& path, const std::string& name)
{
  DataSet set{.name = name, .kind = "unfinished"};
  std::error_code ignored;
  set.bytes = fs::file_size(path, ignored);
  return set;
}

} // namespace

void require_set_name(const std::string& name)
{
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  const auto is_allowed = [&](char c) { return is_plain(c) || c == '.' || c == '_' || c == '-'; };
  if (!name.empty() && is_plain(name[0]) && name.size() <= 200 && std::ranges::all_of(name, is_allowed)) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} cannot be the name of a data set: a name has letters, digits, \".\", \"_\" and \"-\", and "
                          "begins with a letter or digit. For a file, give a path with a slash.",
                          name.empty() ? "\"\"" : printable(name)));
}

fs::path packed_path(const Home& home, const std::string& word)
{
  if (word.find('/') != word.npos || word.ends_with(packed_extension)) return fs::absolute(word).lexically_normal();
  require_set_name(word);
  return home.packed_set(word);
}

std::optional<MadeFolder> made_folder(const fs::path& folder)
{
  const auto text = read_file_if_exists(folder / record_name);
  if (!text) return std::nullopt;
  try {
    const auto json = Json::parse(*text);
    MadeFolder made{json.at("kind"), json.at("train"), json.at("test"), 0, {std::string(record_name)}};
    for (const auto& file : json.at("files")) {
      made.bytes += file.at("bytes").get<std::uint64_t>();
      made.files.push_back(file.at("name"));
    }
    return made;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::vector<DataSet> data_sets(const Home& home)
{
  const auto root = home.data();
  std::vector<DataSet> sets;
  for (const auto& name : names_in(root)) {
    if (name.starts_with('.')) continue;
    if (name.ends_with(packed_extension))
      sets.push_back(packed_set(root / name, without_ending(name, packed_extension)));
    else if (name.ends_with(partial_ending))
      sets.push_back(unfinished_set(root / name, without_ending(name, partial_ending)));
    else if (fs::is_directory(root / name))
      sets.push_back(folder_set(root / name, name));
  }
  std::ranges::sort(sets, {}, [](const DataSet& set) { return std::pair(set.name, set.kind); });
  return sets;
}

std::string image_text(const PackedDescription& set)
{
  const auto colours = set.channels == 1 ? "grey" : "in colour",
             encoding = set.encoding == PackedEncoding::jpeg ? "JPEG" : "pixels";
  if (set.height > 0) return fmt::format("{} x {}, {}, {}", set.height, set.width, colours, encoding);
  return fmt::format("{} to {} pixels a side, {}, {}", set.min_side, set.max_side, colours, encoding);
}

} // namespace dt::cli
