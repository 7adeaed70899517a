// dtctl data remove: deletes a data set that dtctl has made.
#include "cli/data/data_sets.hpp"
#include "cli/runs/removal.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "core/files/file.hpp"
#include "core/files/file_at.hpp"
#include "core/lookup.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <fstream>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

struct RemoveSetOptions {
  std::string name;
  bool yes = false, dry_run = false;
};

// Keeps `data pack` away from a set. A journal that was made for the lock alone goes with it.
class PackingLock {
 public:
  // Throws a usage error if the set is being packed.
  explicit PackingLock(const fs::path& packed)
      : journal_(packed.string() + ".journal"), was_there_(is_there(journal_)), lock_(try_lock_removable(journal_))
  {
    if (!lock_)
      throw Error(ErrorKind::usage, fmt::format("{} is being packed at this moment. Nothing was removed.", packed.string()));
  }
  PackingLock(const PackingLock&) = delete;
  PackingLock& operator=(const PackingLock&) = delete;
  ~PackingLock()
  {
    std::error_code ignored;
    if (lock_ && !was_there_) fs::remove(journal_, ignored);
  }
  // The journal, if it was not made for the lock alone.
  std::optional<fs::path> journal() const { return was_there_ ? std::optional(journal_) : std::nullopt; }

 private:
  fs::path journal_;
  bool was_there_;
  std::optional<FileLock> lock_;
};

// Files and folders of the set, and how many bytes they have.
struct Parts {
  std::unique_ptr<PackingLock> lock; // of an unfinished set, until it is removed
  std::vector<fs::path> paths;
  std::uint64_t bytes = 0;
};

// Whether the file begins like a packed set, however damaged the rest may be.
bool begins_like_packed(const fs::path& path)
{
  std::string bytes(packed_magic.size(), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes == packed_magic;
}

void add_packed(Parts& parts, const fs::path& path)
{
  if (!is_there(path)) return;
  try {
    (void)PackedFile(path);
  } catch (const Error&) {
    if (!fs::is_regular_file(path) || !begins_like_packed(path)) throw; // another file
  }
  parts.bytes += fs::file_size(path);
  parts.paths.push_back(path);
}

// Adds the partial file that an interrupted `data pack` has left, and keeps other calls of it away.
void add_unfinished(Parts& parts, const fs::path& packed)
{
  const fs::path partial = packed.string() + ".partial", journal = packed.string() + ".journal";
  if (!is_there(journal) && !is_there(partial)) return;
  parts.lock = std::make_unique<PackingLock>(packed);
  if (is_there(partial)) {
    parts.bytes += fs::file_size(partial);
    parts.paths.push_back(partial);
  }
}

void add_folder(Parts& parts, const fs::path& folder)
{
  if (!is_there(folder) || !is_folder(folder)) return;
  const auto made = made_folder(folder);
  if (!made)
    throw Error(ErrorKind::usage, fmt::format("{} was not made by dtctl, so dtctl does not remove it.", folder.string()));
  for (const auto& name : names_in(folder))
    if (std::ranges::find(made->files, name) == made->files.end())
      throw Error(ErrorKind::usage, fmt::format("{} holds a file that was not made by dtctl: {}. Nothing was removed.",
                                                folder.string(), printable(name)));
  parts.bytes += made->bytes;
  parts.paths.push_back(folder);
}

Parts parts_of(const Home& home, const std::string& name)
{
  require_set_name(name);
  const auto packed = home.packed_set(name);
  Parts parts;
  add_unfinished(parts, packed); // first, because a set that is being packed may get its name at any moment
  add_packed(parts, packed);
  add_folder(parts, home.data() / name);
  // Last, because a new call of `data pack` may begin as soon as the journal has left its place.
  if (parts.lock && parts.lock->journal()) parts.paths.push_back(*parts.lock->journal());
  if (!parts.paths.empty()) return parts;
  std::vector<std::string> names;
  for (const auto& set : data_sets(home)) names.push_back(set.name);
  throw Error(ErrorKind::usage, names.empty() ? fmt::format("there is no data set `{}` in {}", name, home.data().string())
                                              : unknown_name("data set", name, names));
}

ExitCode remove_set(Context& context, const RemoveSetOptions& options)
{
  const auto home = context.locked_home();
  const auto parts = parts_of(home, options.name);
  const auto size = format_bytes(static_cast<double>(parts.bytes));
  if (!options.yes && !options.dry_run)
    throw Error(ErrorKind::usage,
                fmt::format("this would remove the data set {} ({}). Add --yes to do it, or --dry-run to see what would go",
                            options.name, size));
  if (!options.dry_run) {
    Removal removal(home);
    for (const auto& path : parts.paths) removal.take(path, "data-" + path.filename().string());
    removal.commit();
  }
  std::vector<std::string> files;
  for (const auto& path : parts.paths) files.push_back(path.string());
  context.out.field("set", options.dry_run ? "would remove" : "removed",
                    {options.name, fmt::format("data set {} ({})", options.name, size), Style::strong});
  context.out.field("files", "files", {files, join(files, ", "), Style::plain});
  context.out.data("bytes", parts.bytes);
  context.out.data("dry_run", options.dry_run);
  return ExitCode::ok;
}

} // namespace

void add_data_remove(Commands& commands, Verb& family)
{
  auto options = std::make_shared<RemoveSetOptions>();
  auto& verb = commands.add_under(
      family,
      {"remove", family_verbs, "Delete a data set from the home.",
       "Removes packed sets, what an interrupted dtctl data pack has left, and folders of dtctl data make; nothing that dtctl "
       "did\n"
       "not make. Results of runs stay. A removal cannot be undone.\n\nExample:\n  dtctl data remove flowers --yes"},
      [options](Context& context) { return remove_set(context, *options); });
  verb.add_option("SET", options->name, "name of a data set in the home")->required()->type_name("SET");
  verb.add_flag("-y,--yes", options->yes, "do it without asking");
  verb.add_flag("-n,--dry-run", options->dry_run, "print what would be removed; remove nothing");
}

} // namespace dt::cli
