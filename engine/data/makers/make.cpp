#include "engine/data/makers/make.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "engine/data/makers/makers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

namespace dt::data {
namespace {

namespace fs = std::filesystem;

// ---- the makers ----------------------------------------------------------------------------------------------------

struct Maker {
  std::string_view kind;
  int version; // of the images: increase it whenever equal options give other bytes
  void (*make)(const MakeOptions& options, const FileSink& sink);
};

constexpr std::array makers{Maker{"digits", 1, make_digits}, Maker{"shapes", 1, make_shapes}};

const Maker& maker_of(const MakeOptions& options)
{
  for (const auto& maker : makers)
    if (maker.kind == options.kind) return maker;
  throw Error(ErrorKind::usage, fmt::format("There is no data set {} to make; there are digits and shapes.", options.kind));
}

void check_count(std::string_view purpose, std::int64_t count)
{
  // at least one per class; at most what fits into memory, where files are built
  constexpr std::int64_t least = made_classes, most = 1'000'000;
  if (count < least || count > most)
    throw Error(ErrorKind::usage, fmt::format("{} {} samples were asked for; it must be {} to {}.", count, purpose, least, most));
}

// ---- the manifest: .dtctl-data.json --------------------------------------------------------------------------------

constexpr std::string_view manifest_name = ".dtctl-data.json";

struct ManifestFile {
  std::string name;
  std::uint64_t bytes;
  std::string hash;
};

// Content of a folder as its maker recorded it. The file is hidden, so it does not belong to the data's identity.
struct Manifest {
  std::string kind;
  int version = 0;
  std::uint64_t seed = 0;
  std::int64_t train = 0, test = 0;
  std::vector<ManifestFile> files;
};

bool same_request(const Manifest& a, const Manifest& b)
{
  return std::tie(a.kind, a.version, a.seed, a.train, a.test) == std::tie(b.kind, b.version, b.seed, b.train, b.test);
}

bool same_options(const Manifest& a, const Manifest& b)
{
  return std::tie(a.kind, a.seed, a.train, a.test) == std::tie(b.kind, b.seed, b.train, b.test);
}

std::string to_json(const Manifest& manifest)
{
  nlohmann::ordered_json json{{"schema", 1},
                              {"kind", manifest.kind},
                              {"generator", manifest.version},
                              {"seed", manifest.seed},
                              {"train", manifest.train},
                              {"test", manifest.test},
                              {"files", nlohmann::ordered_json::array()}};
  for (const auto& file : manifest.files)
    json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"hash", file.hash}});
  return json.dump(2) + "\n";
}

// Empty if there is no manifest, or one that dtctl did not write.
std::optional<Manifest> read_manifest(const fs::path& folder)
{
  const auto text = read_file_if_exists(folder / manifest_name);
  if (!text) return std::nullopt;
  try {
    const auto json = nlohmann::json::parse(*text);
    Manifest manifest{json.at("kind"), json.at("generator"), json.at("seed"), json.at("train"), json.at("test"), {}};
    for (const auto& file : json.at("files")) manifest.files.push_back({file.at("name"), file.at("bytes"), file.at("hash")});
    return manifest;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

bool is_whole(const fs::path& folder, const ManifestFile& file)
{
  std::error_code error;
  const auto size = fs::file_size(folder / file.name, error);
  if (error || size != file.bytes) return false;
  const auto bytes = read_file_if_exists(folder / file.name);
  return bytes && hash_hex(*bytes) == file.hash;
}

// ---- the folder ----------------------------------------------------------------------------------------------------

bool is_ours(const Manifest& manifest, const std::string& name)
{
  return name == manifest_name ||
         std::any_of(manifest.files.begin(), manifest.files.end(), [&](const ManifestFile& file) { return file.name == name; });
}

// The content of a folder: its names, sorted, and its manifest. A folder that does not exist has no names.
struct Look {
  std::vector<std::string> names;
  std::optional<Manifest> manifest;
};

std::vector<std::string> sorted_names(const fs::path& folder)
{
  auto names = names_in(folder);
  std::sort(names.begin(), names.end());
  return names;
}

// Another process may make or remove the folder between two looks at it, so it is looked at until nothing has changed.
Look look_at(const fs::path& folder)
{
  for (;;) {
    Look look{sorted_names(folder), read_manifest(folder)};
    if (sorted_names(folder) == look.names) return look;
  }
}

void refuse_foreign(const fs::path& folder, const Look& look, std::string_view kind)
{
  const auto there = look.manifest.value_or(Manifest{});
  if (!there.kind.empty() && there.kind != kind)
    throw Error(ErrorKind::usage, fmt::format("{} holds the data set {}; {} are not written over it. Choose another folder.",
                                              folder.string(), there.kind, kind));
  std::vector<std::string> foreign;
  for (const auto& name : look.names)
    if (!is_ours(there, name)) foreign.push_back(name);
  if (foreign.empty()) return;
  const auto shown = std::span(foreign).first(std::min<std::size_t>(foreign.size(), 3));
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "{} holds files that were not made by dtctl ({}{}); nothing was written. Choose another folder, or empty this one.",
          folder.string(), fmt::join(shown, ", "), shown.size() < foreign.size() ? ", …" : ""));
}

void refuse_other_options(const fs::path& folder, const Manifest& there, const Manifest& wanted)
{
  if (same_options(there, wanted)) return;
  throw Error(ErrorKind::usage,
              fmt::format("{} holds {} that were made with other options (--train {} --test {} --seed {}); nothing was written. "
                          "Choose another folder with --out, or remove this one first.",
                          folder.string(), there.kind, there.train, there.test, there.seed));
}

// A new folder next to its target. It is removed with its content unless commit() moves it into place.
class FolderTransaction {
 public:
  explicit FolderTransaction(fs::path target) : target_(std::move(target))
  {
    make_folders(target_.parent_path(), Readers::everybody);
    path_ = new_folder("new");
  }
  FolderTransaction(const FolderTransaction&) = delete;
  FolderTransaction& operator=(const FolderTransaction&) = delete;
  ~FolderTransaction() { remove(path_); }
  const fs::path& path() const { return path_; }

  // Moves the new folder to the target. With `replaces`, an old target is removed, or restored if the move fails. Returns false
  // if another process has made the target meanwhile.
  bool commit(bool replaces)
  {
    if (!replaces) return rename(path_, target_);
    const fs::path aside = new_folder("old");
    const bool is_aside = rename(target_, aside, ENOENT); // else another process has removed it
    try {
      const bool is_done = rename(path_, target_);
      remove(aside);
      return is_done;
    } catch (...) {
      if (is_aside) rename(aside, target_);
      throw;
    }
  }

 private:
  // Creates an empty folder with an unused name next to the target.
  fs::path new_folder(std::string_view what) const
  {
    for (int number = 0;; ++number) {
      auto path = target_.parent_path() / fmt::format(".{}.{}.{}.{}", target_.filename().string(), what, ::getpid(), number);
      std::error_code error;
      if (fs::create_directory(path, error)) return path;
      if (error) throw system_error("make a folder beside " + target_.string(), error.value());
    }
  }
  // Returns false if the target is a folder with content, or if the error is the one that is `expected`.
  static bool rename(const fs::path& from, const fs::path& to, int expected = 0)
  {
    if (std::rename(from.c_str(), to.c_str()) == 0) return true;
    if (errno == ENOTEMPTY || errno == EEXIST || errno == expected) return false;
    throw system_error("rename " + from.string() + " to " + to.string(), errno);
  }
  static void remove(const fs::path& folder)
  {
    std::error_code ignored; // leftovers are hidden and harmless
    fs::remove_all(folder, ignored);
  }
  fs::path target_, path_;
};

// Returns false if another process has made the folder meanwhile.
bool write_set(const Maker& maker, const MakeOptions& options, Manifest manifest, const fs::path& folder, bool replaces)
{
  FolderTransaction transaction(folder);
  maker.make(options, [&](std::string_view name, std::string_view bytes) {
    write_file_atomic(transaction.path() / name, bytes, Readers::everybody);
    manifest.files.push_back({std::string(name), bytes.size(), hash_hex(bytes)});
  });
  write_file_atomic(transaction.path() / manifest_name, to_json(manifest), Readers::everybody);
  return transaction.commit(replaces);
}

// Resolves links and dots, so that the parent is the real location of the folder.
fs::path real_path(const fs::path& folder)
{
  if (folder.empty()) throw Error(ErrorKind::usage, "No folder was given to make the data set in.");
  std::error_code error;
  fs::path path;
  do path = fs::weakly_canonical(fs::absolute(folder), error);
  while (error == std::errc::no_such_file_or_directory); // removed at this moment; a path that does not exist is no error
  if (error) throw system_error("look into " + folder.string(), error.value());
  return path.has_filename() ? path : path.parent_path();
}

} // namespace

std::uint8_t MadePart::label(std::int64_t index) const
{
  std::array<std::uint8_t, made_classes> classes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Random random(sub_key(sub_key(key_, 1), static_cast<std::uint64_t>(index / made_classes)));
  for (std::size_t i = classes.size() - 1; i > 0; --i) std::swap(classes[i], classes[random.below(i + 1)]);
  return classes[static_cast<std::size_t>(index % made_classes)];
}

bool make_data(const MakeOptions& options)
{
  const Maker& maker = maker_of(options);
  check_count("training", options.train);
  check_count("test", options.test);
  const fs::path folder = real_path(options.folder);
  const Manifest wanted{options.kind, maker.version, options.seed, options.train, options.test, {}};
  const auto whole = [&](const ManifestFile& file) { return is_whole(folder, file); };
  for (;;) { // again if another process has made the folder meanwhile
    const auto look = look_at(folder);
    const auto& there = look.manifest;
    refuse_foreign(folder, look, options.kind);
    if (there) refuse_other_options(folder, *there, wanted);
    if (there && same_request(*there, wanted) && std::all_of(there->files.begin(), there->files.end(), whole)) return false;
    if (write_set(maker, options, wanted, folder, !look.names.empty())) return true;
  }
}

} // namespace dt::data
