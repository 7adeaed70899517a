// dtctl data import: takes a packed set that was made elsewhere into the home.
#include "cli/data/data_sets.hpp"
#include "cli/data/engine_call.hpp"
#include "cli/output/progress.hpp"
#include "cli/verbs/data/data_verbs.hpp"
#include "core/file_at.hpp"
#include "core/temporary_file.hpp"
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

struct Options {
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
    lock_ = try_lock_removable(path_);
    if (!lock_) throw Error(ErrorKind::usage, fmt::format("Another process imports {} at this moment.", target_.string()));
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

  // Gives the copy the target's name and the mode of packed sets. Throws a usage error if the target exists; `name`: the set's.
  void commit(const std::string& name)
  {
    const auto mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(lock_->descriptor(), 0644 & ~mask) != 0) throw system_error("set the mode of " + path_.string(), errno);
    if (::link(path_.c_str(), target_.c_str()) != 0) {
      if (errno == EEXIST) throw already_there(name);
      throw system_error("create " + target_.string(), errno);
    }
    ::unlink(path_.c_str());
    lock_.reset();
    sync_folder(folder_of(target_));
  }

 private:
  fs::path target_, path_;
  std::optional<FileLock> lock_;
};

bool holds_same(const fs::path& packed, const PackedFile& source)
{
  try {
    const PackedFile there(packed);
    return there.id() == source.id() && there.file_bytes() == source.file_bytes();
  } catch (const Error&) { // damaged, or another file
    return false;
  }
}

// Whether an earlier call imported the same set. If that call was killed after it had linked the copy to the set's name and
// before it removed the copy's own name, that name is removed now.
bool was_imported(const PackedFile& source, const fs::path& target)
{
  if (!holds_same(target, source)) return false;
  Copy copy(target);
  if (is_there(copy.path())) copy.lock(); // a locked copy removes its name when it is destroyed
  return true;
}

ExitCode print_set(Context& context, const std::string& name, const fs::path& target)
{
  context.out.field("name", "data set", text_cell(name, Style::strong));
  print_packed(context, PackedFile(target));
  return ExitCode::ok;
}

ExitCode import_set(Context& context, const Options& options)
{
  const PackedFile source(fs::absolute(options.file));
  const auto name = options.name.empty() ? fs::path(options.file).stem().string() : options.name;
  require_set_name(name);
  const auto target = context.home().packed_set(name);
  if (is_there(target)) {
    if (!was_imported(source, target)) throw already_there(name);
    context.messages.info("{} is there already, with the same content", name);
    return print_set(context, name, target);
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
  {
    const auto home = context.locked_home();
    copy.commit(name);
  }
  return print_set(context, name, target);
}

} // namespace

void add_data_import(Commands& commands, Verb& family)
{
  auto options = std::make_shared<Options>();
  auto& verb =
      commands.add_under(family,
                         {"import", "Verbs", "Copy a packed set that was made elsewhere into the home.",
                          "The copy is checked completely before it gets its name. A set of the same name is never replaced.\n\n"
                          "Example:\n  dtctl data import /scratch/flowers.pack"},
                         [options](Context& context) { return import_set(context, *options); });
  verb.add_option("FILE", options->file, "the packed set")->required()->type_name("FILE");
  verb.add_option("--as", options->name, "name of the set in the home (that of the file)")->type_name("NAME");
}

} // namespace dt::cli
