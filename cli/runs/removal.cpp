#include "cli/runs/removal.hpp"

#include "core/error.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

fs::path made(const fs::path& folder)
{
  make_folders(folder);
  return folder;
}

void remove_content(const fs::path& folder)
{
  for (const auto& name : names_in(folder)) fs::remove_all(folder / name);
}

} // namespace

std::string why_full(const fs::path& folder)
{
  const auto path = folder / fmt::format(".space-{}", ::getpid());
  std::string why;
  try {
    write_file_atomic(path, std::string(65536, '\0')); // a database needs about as much for one change
  } catch (const SystemError& failure) {
    if (failure.number() == ENOSPC || failure.number() == EDQUOT) why = std::generic_category().message(failure.number());
  }
  std::error_code ignored;
  fs::remove(path, ignored);
  return why;
}

void Removal::prepare(const Home& home) { make_folders(home.root() / "removed"); }

Removal::Removal(const LockedHome& home) : removed_(made(home.root() / "removed"))
{
  for (const auto& folder : {home.runs(), home.studies(), home.data()}) beside_.push_back(folder / ".removed");
  remove_content(removed_); // left from a removal that was killed
  for (const auto& folder : beside_) fs::remove_all(folder);
}

Removal::~Removal()
{
  for (auto last = taken_.rbegin(); last != taken_.rend(); ++last) {
    std::error_code ignored; // the folder stays complete in `removed`
    fs::rename(last->second, last->first, ignored);
  }
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

void Removal::commit()
{
  taken_.clear();
  remove_content(removed_);
  for (const auto& folder : beside_) fs::remove_all(folder);
}

} // namespace dt::cli
