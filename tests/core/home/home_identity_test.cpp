// A home knows itself after a move, and a copy of it knows that it is one.
#include "core/home/home_identity.hpp"

#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace dt;
namespace fs = std::filesystem;
using Catch::Contains;
using test::message_of;

namespace {

struct Place {
  Place() { const LockedHome first(home); }
  std::string identity(const std::string& name) const { return read_file(folder.path() / name / "identity.json"); }
  test::TemporaryFolder folder;
  const Home home{folder.path() / "a"};
  const Home other{folder.path() / "b"};
};

} // namespace

TEST_CASE("a home that was moved, is seen by a link or was restored from a backup at its place is itself")
{
  const Place place;
  const auto before = place.identity("a");
  fs::rename(place.home.root(), place.other.root());
  CHECK_FALSE(original_of(place.other));
  const LockedHome again(place.other);
  CHECK(place.identity("b").substr(place.identity("b").find("\"id\""), 40) == before.substr(before.find("\"id\""), 40));
  CHECK_THAT(place.identity("b"), Contains(place.other.root().string()));
  const Place linked;
  fs::create_directory_symlink(linked.home.root(), linked.other.root());
  CHECK_FALSE(original_of(linked.other));
  const auto known = linked.identity("a");
  {
    const LockedHome by_link(linked.other);
  }
  CHECK(linked.identity("a") == known);
  const Place restored_place;
  fs::copy(restored_place.home.root(), restored_place.other.root(), fs::copy_options::recursive);
  fs::remove_all(restored_place.home.root());
  fs::copy(restored_place.other.root(), restored_place.home.root(), fs::copy_options::recursive);
  CHECK_FALSE(original_of(restored_place.home));
  const LockedHome restored(restored_place.home);
}

TEST_CASE("a copy names its original and cannot be locked for changes until it is made a home of its own")
{
  const Place place;
  fs::copy(place.home.root(), place.other.root(), fs::copy_options::recursive);
  CHECK(original_of(place.other) == place.home.root());
  CHECK_FALSE(original_of(place.home));
  CHECK_THAT(message_of([&] { const LockedHome copy(place.other); }),
             Contains(place.other.root().string() + " is a copy of the home " + place.home.root().string()) &&
                 Contains("Use the original: DTCTL_HOME=" + place.home.root().string()));
  CHECK_FALSE(LockedHome::try_lock(place.other));
  {
    const LockedHome original(place.home);
  }
  fs::remove(place.other.root() / "identity.json");
  {
    const LockedHome own(place.other);
  }
  CHECK(place.identity("a").substr(0, 60) != place.identity("b").substr(0, 60));
  CHECK_FALSE(original_of(place.other));
}

TEST_CASE("a copy whose original is gone says so")
{
  const Place place;
  fs::copy(place.home.root(), place.other.root(), fs::copy_options::recursive);
  fs::remove_all(place.home.root());
  CHECK_THAT(message_of([&] { const LockedHome copy(place.other); }),
             Contains("which is not there any more or on another machine") && Contains("rm -r " + place.other.root().string()));
}

TEST_CASE("a damaged identity is written anew")
{
  const Place place;
  for (const auto* text : {"", "{", "[]", R"({"schema": 1, "id": 5})"}) {
    replace_file(place.home.root() / "identity.json", text);
    {
      const LockedHome again(place.home);
    }
    CHECK_THAT(place.identity("a"), Contains("\"place\""));
  }
}
