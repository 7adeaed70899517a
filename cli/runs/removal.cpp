#include "cli/runs/removal.hpp"

#include "core/error.hpp"

#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

// Enough space for SQLite to delete the rows of a study: its helper files, and a second copy of each page that changes.
constexpr std::size_t reserve_bytes = 512 * 1024;
constexpr std::string_view study_prefix = "study-", run_prefix = "run-";

fs::path reserve_of(const Home& home) { return home.root() / "reserve"; }
fs::path removed_folder(const Home& home) { return home.root() / "removed"; }

// A folder on another file system cannot be renamed into <home>/removed. It is renamed into one of these instead.
std::vector<fs::path> folders_beside(const Home& home)
{
  std::vector<fs::path> beside;
  for (const auto& folder : {home.runs(), home.studies(), home.data()}) beside.push_back(folder / ".removed");
  return beside;
}

fs::path made(const fs::path& folder)
{
  make_folders(folder);
  return folder;
}

void remove_content(const fs::path& folder)
{
  for (const auto& name : names_in(folder)) fs::remove_all(folder / name);
}

// Whether a removal has emptied the folder and the database has not forgotten it yet (Removal::free_space).
bool is_emptied(const fs::path& folder)
{
  const auto name = folder.filename().string();
  return (name.starts_with(study_prefix) || name.starts_with(run_prefix)) && names_in(folder).empty();
}

// Ends a removal that was killed.
void remove_left(const fs::path& folder)
{
  for (const auto& name : names_in(folder))
    if (!is_emptied(folder / name)) fs::remove_all(folder / name);
}

} // namespace

std::string why_full(const fs::path& folder)
{
  const auto path = folder / fmt::format(".space-{}", ::getpid());
  std::string why;
  try {
    write_file_atomic(path, std::string(reserve_bytes, '\0'));
  } catch (const SystemError& failure) {
    if (is_lack_of_space(failure.number())) why = std::generic_category().message(failure.number());
  }
  std::error_code ignored;
  fs::remove(path, ignored);
  return why;
}

void keep_reserve(const Home& home, bool always)
{
  constexpr std::uintmax_t smallest_disk = 4 * reserve_bytes; // with less space left, the runs need it more
  const auto path = reserve_of(home);
  if (::access(path.c_str(), F_OK) == 0) return;
  std::error_code error;
  const auto space = fs::space(home.root(), error);
  if (error || (!always && space.available < smallest_disk)) return;
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.is_open() && ::posix_fallocate(file.get(), 0, static_cast<off_t>(reserve_bytes)) != 0) fs::remove(path, error);
}

void Removal::prepare(const Home& home) { make_folders(removed_folder(home)); }

Removal::Removal(const LockedHome& home) : home_(home), beside_(folders_beside(home)), removed_(made(removed_folder(home)))
{
  remove_left(removed_);
  for (const auto& folder : beside_) remove_left(folder);
}

Removal::~Removal()
{
  for (auto last = taken_.rbegin(); last != taken_.rend(); ++last) {
    std::error_code ignored; // the folder stays complete in `removed`
    fs::rename(last->second, last->first, ignored);
  }
  remove_beside();
}

void Removal::remove_beside() const
{
  std::error_code ignored; // most of them do not exist; one that still holds something stays
  for (const auto& folder : beside_) fs::remove(folder, ignored);
}

void Removal::take(const fs::path& folder, const std::string& name)
{
  std::error_code error;
  auto place = removed_ / name;
  fs::rename(folder, place, error);
  if (error == std::errc::cross_device_link) {
    place = made(folder.parent_path() / ".removed") / name;
    fs::rename(folder, place, error);
  }
  if (error == std::errc::no_such_file_or_directory) return;
  if (error) throw system_error("remove " + folder.string(), error.value());
  taken_.emplace_back(folder, place);
}

void Removal::free_space()
{
  std::error_code ignored; // there may be no reserve
  fs::remove(reserve_of(home_), ignored);
  for (const auto& [original, place] : taken_) freed_.push_back(place);
  taken_.clear();
  for (const auto& place : freed_) remove_content(place);
}

void Removal::commit()
{
  for (const auto& [original, place] : std::exchange(taken_, {})) fs::remove_all(place);
  for (const auto& place : std::exchange(freed_, {})) fs::remove_all(place);
  remove_beside();
}

namespace {

// Calls `visit` with each empty folder of a removal, whether it was that of a study, and the id of the study or the run.
template<class Visit> void visit_emptied(const Home& home, Visit visit)
{
  auto folders = folders_beside(home);
  folders.push_back(removed_folder(home));
  for (const auto& folder : folders) {
    std::vector<std::string> names;
    try {
      names = names_in(folder);
    } catch (const Error&) { // what cannot be read now is forgotten later
    }
    for (const auto& name : names)
      if (is_emptied(folder / name)) visit(folder / name, name.starts_with(study_prefix), name.substr(name.find('-') + 1));
  }
}

} // namespace

Emptied emptied(const Home& home)
{
  Emptied found;
  visit_emptied(home, [&](const fs::path&, bool is_study, const std::string& id) {
    (is_study ? found.studies : found.runs).push_back(id);
  });
  return found;
}

void forget_emptied(const LockedHome& home)
{
  visit_emptied(home, [](const fs::path& place, bool, const std::string&) { fs::remove(place); });
}

} // namespace dt::cli
