// dtctl data import: takes a packed set that was made elsewhere into the home.
#include "cli/data/data_sets.hpp"
#include "cli/data/engine_call.hpp"
#include "cli/output/count_view.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "core/files/file_at.hpp"
#include "core/files/temporary_file.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

struct ImportOptions {
  std::string file, name;
};

Error already_there(const std::string& name)
{
  return {ErrorKind::usage,
          fmt::format("There is a data set {0} already. Choose another name with --as, or remove that one first: "
                      "dtctl data remove {0}",
                      name)};
}

// A copy beside its target, which is removed unless it gets the target's name.
class Copy {
 public:
  explicit Copy(const fs::path& target)
      : target_(target), path_(folder_of(target) / fmt::format(".{}.import", target.filename().string()))
  {
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy()
  {
    if (lock_) ::unlink(path_.c_str()); // without the lock it is another call's copy
  }
  const fs::path& path() const { return path_; }

  // Another call that copies to this target holds the lock.
  void lock()
  {
    if (!try_lock()) throw Error(ErrorKind::usage, fmt::format("Another process imports {} at this moment.", target_.string()));
  }

  void fill(const PackedFile& from, CountView& view) const
  {
    Descriptor to(::open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!to.is_open()) throw system_error("create " + path_.string(), errno);
    std::string block(std::size_t{4} << 20, '\0');
    for (std::uint64_t done = 0; done < from.file_bytes();) {
      const auto got = read_at(from.descriptor(), block.data(), std::min<std::uint64_t>(block.size(), from.file_bytes() - done),
                               done, from.path());
      if (got == 0) throw Error(ErrorKind::environment, from.path().string() + " became shorter while it was copied");
      write_all(to.get(), std::string_view(block).substr(0, got), path_);
      done += got;
      constexpr double mebibyte = 1 << 20;
      view.show(static_cast<double>(done) / mebibyte, static_cast<double>(from.file_bytes()) / mebibyte, now_unix_s());
    }
    if (::fsync(to.get()) != 0) throw system_error("sync " + path_.string(), errno);
  }

  bool try_lock()
  {
    lock_ = try_lock_removable(path_);
    return lock_.has_value();
  }

  // Gives the copy the target's name and the mode of packed sets. Returns false if the target exists.
  bool commit()
  {
    const auto mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(lock_->descriptor(), 0644 & ~mask) != 0) throw system_error("set the mode of " + path_.string(), errno);
    if (::link(path_.c_str(), target_.c_str()) != 0) {
      if (errno == EEXIST) return false;
      throw system_error("create " + target_.string(), errno);
    }
    ::unlink(path_.c_str());
    lock_.reset();
    sync_folder(folder_of(target_));
    return true;
  }

 private:
  fs::path target_, path_;
  std::optional<FileLock> lock_;
};

// The facts of the set that has this name already, if its content is that of the source. Nothing if there is none. Throws a usage
// error if another set has the name.
std::optional<PackedFacts> same_there(const PackedFile& source, const fs::path& target, const std::string& name)
{
  if (!is_there(target)) return std::nullopt;
  try {
    const PackedFile there(target);
    if (there.id() == source.id() && there.file_bytes() == source.file_bytes()) return facts_of(there);
  } catch (const Error&) { // damaged, another file, or removed at this moment
    if (!is_there(target)) return std::nullopt;
  }
  throw already_there(name);
}

// If an earlier call was killed after it had linked the copy to the set's name and before it removed the copy's own name, that
// name is removed now.
void remove_left_copy(const fs::path& target)
{
  Copy copy(target);
  if (is_there(copy.path())) copy.try_lock(); // a locked copy removes its name when it is destroyed
}

// Gives the copy its name, or finds that another process has imported the same set meanwhile. Other processes do not change the
// home's data sets while the name is given and the facts are read.
PackedFacts take_in(Context& context, const PackedFile& source, Copy& copy, const fs::path& target, const std::string& name)
{
  const auto home = context.made_home();
  while (!copy.commit()) // again if the other set was removed before it could be looked at
    if (auto there = same_there(source, target, name)) return *std::move(there);
  return facts_of(PackedFile(target));
}

ExitCode print_set(Context& context, const std::string& name, const PackedFacts& facts)
{
  context.out.field("name", "data set", text_cell(name, Style::strong));
  print_packed(context, facts);
  return ExitCode::ok;
}

ExitCode import_set(Context& context, const ImportOptions& options)
{
  const PackedFile source(fs::absolute(options.file));
  const auto name = options.name.empty() ? fs::path(options.file).stem().string() : options.name;
  require_set_name(name);
  const auto target = context.home().packed_set(name);
  if (const auto there = same_there(source, target, name)) {
    remove_left_copy(target);
    context.messages.info("{} is there already, with the same content", name);
    return print_set(context, name, *there);
  }
  make_folders(folder_of(target));
  Copy copy(target);
  copy.lock();
  const auto view = make_count_view(context.err_terminal, !context.messages.should_log(spdlog::level::info), "MiB");
  copy.fill(source, *view);
  view->leave();
  const auto result = ask_engine(context, {"check", "--progress", copy.path().string()}, "checking the data set");
  const auto bad = result.at("bad").size();
  if (bad > 0)
    throw Error(ErrorKind::usage,
                fmt::format("{} of the {} images of {} {} damaged, for example {}. Nothing was imported; copy the file "
                            "again. dtctl data check lists all of them.",
                            bad, result.at("records").get<std::int64_t>(), options.file, bad == 1 ? "is" : "are",
                            printable(result.at("bad").at(0).at("name").get<std::string>())));
  return print_set(context, name, take_in(context, source, copy, target, name));
}

} // namespace

void add_data_import(Commands& commands, Verb& family)
{
  auto options = std::make_shared<ImportOptions>();
  auto& verb =
      commands.add_under(family,
                         {"import", family_verbs, "Copy a packed set that was made elsewhere into the home.",
                          "The copy is checked completely before it gets its name. A set of the same name is never replaced.\n\n"
                          "Example:\n  dtctl data import /scratch/flowers.pack"},
                         [options](Context& context) { return import_set(context, *options); });
  verb.add_option("FILE", options->file, "the packed set")->required()->type_name("FILE");
  verb.add_option("--as", options->name, "name of the set in the home (that of the file)")->type_name("NAME");
}

} // namespace dt::cli
