#include "core/home/home_identity.hpp"

#include "core/error.hpp"
#include "core/text.hpp"

#include <array>
#include <cstdint>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/random.h>
#include <sys/stat.h>

namespace dt {
namespace {

namespace fs = std::filesystem;

struct Identity {
  std::string id, place;
  std::uint64_t folder = 0; // inode number
  std::int64_t born_ns = 0; // when the folder was made; 0: the file system does not tell
};

fs::path file_of(const fs::path& root) { return root / "identity.json"; }

// The identity that the folder has now, without an id. Nothing if it cannot be looked at.
std::optional<Identity> seen_at(const fs::path& root)
{
  struct statx facts {};
  std::error_code error;
  const auto place = fs::canonical(root, error);
  if (error || ::statx(AT_FDCWD, place.c_str(), 0, STATX_INO | STATX_BTIME, &facts) != 0) return std::nullopt;
  const bool tells = (facts.stx_mask & STATX_BTIME) != 0;
  return Identity{"", place.string(), facts.stx_ino,
                  tells ? facts.stx_btime.tv_sec * 1'000'000'000 + facts.stx_btime.tv_nsec : 0};
}

// Reads identity.json of the home. Returns nothing if the file is missing or damaged.
std::optional<Identity> recorded_at(const fs::path& root)
{
  const auto text = read_file_if_exists(file_of(root));
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("schema", 0) != 1) return std::nullopt;
  try {
    return Identity{json.at("id"), json.at("place"), json.at("folder"), json.at("born_ns")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

bool is_same_folder(const Identity& a, const Identity& b)
{
  return a.folder == b.folder && (a.born_ns == b.born_ns || a.born_ns == 0 || b.born_ns == 0);
}

// A folder that is where it was is no copy, whatever its number: it may have been restored from a backup.
bool is_copy(const Identity& recorded, const std::optional<Identity>& seen)
{
  return seen && recorded.place != seen->place && !is_same_folder(recorded, *seen);
}

std::string words_about_copy(const Home& home, const Identity& recorded)
{
  const auto there = recorded_at(recorded.place);
  const auto place = printable(recorded.place);
  const bool is_there_still = there && recorded.id == there->id;
  return fmt::format(
      "{0} is a copy of the home {1}{2}. Runs that have not ended belong to the original, and a copy must not submit, cancel or "
      "remove anything. {3}If the original is gone, or the copy is to be a home of its own: rm -r {4} {5}",
      printable(home.root().string()), place, is_there_still ? "" : ", which is not there any more or on another machine",
      is_there_still ? fmt::format("Use the original: DTCTL_HOME={}. ", shell_quote(place)) : "",
      shell_quote(file_of(home.root()).string()), shell_quote(home.local_queue().string()));
}

std::string new_id()
{
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw system_error("draw an id for a home", errno);
  std::string id;
  for (const auto byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

} // namespace

std::optional<fs::path> original_of(const Home& home)
{
  const auto recorded = recorded_at(home.root());
  return recorded && is_copy(*recorded, seen_at(home.root())) ? std::optional<fs::path>(recorded->place) : std::nullopt;
}

std::string words_about_copy(const Home& home)
{
  const auto recorded = recorded_at(home.root());
  return recorded && is_copy(*recorded, seen_at(home.root())) ? words_about_copy(home, *recorded) : "";
}

void establish_identity(const Home& home)
{
  const auto recorded = recorded_at(home.root());
  auto seen = seen_at(home.root());
  if (recorded && is_copy(*recorded, seen)) throw Error(ErrorKind::environment, words_about_copy(home, *recorded));
  if (!seen) return;
  if (recorded && recorded->place == seen->place && is_same_folder(*recorded, *seen)) return;
  seen->id = recorded ? recorded->id : new_id();
  try {
    write_file_atomic(
        file_of(home.root()),
        nlohmann::json{
            {"schema", 1}, {"id", seen->id}, {"place", seen->place}, {"folder", seen->folder}, {"born_ns", seen->born_ns}}
                .dump() +
            "\n");
  } catch (const SystemError&) { // a full disk: a later call writes it, and what frees space must work
  }
}

} // namespace dt
