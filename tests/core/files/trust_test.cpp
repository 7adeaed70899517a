// Whose home is used, and whose is refused with what to do. Several cases need root, who alone can give files away.
#include "core/files/trust.hpp"

#include "core/home/home.hpp"
#include "tests/core/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace dt;
namespace fs = std::filesystem;
using Catch::Contains;
using test::message_of;

namespace {

constexpr uid_t stranger = 54321; // no user of this machine

// Acts as another user until it is destroyed.
class As {
 public:
  explicit As(uid_t user) { REQUIRE(::seteuid(user) == 0); }
  As(const As&) = delete;
  As& operator=(const As&) = delete;
  ~As() { (void)!::seteuid(0); }
};

bool is_root()
{
  if (::geteuid() == 0) return true;
  WARN("not tested: only root can give files to another user");
  return false;
}

struct SomeHome {
  SomeHome()
  {
    ::chmod(folder.path().c_str(), 0755); // so that others can look at the home itself
    fs::create_directories(root / "runs");
    for (const auto& path : {root, root / "runs"}) ::chmod(path.c_str(), 0700);
  }
  std::string objection() const
  {
    return message_of([&] { require_own_home(root); });
  }
  test::TemporaryFolder folder;
  fs::path root = folder.path() / "home";
};

} // namespace

TEST_CASE("a home of one's own and a home that does not exist yet are accepted")
{
  const SomeHome home;
  require_own_home(home.root);
  require_own_home(home.folder.path() / "none");
  ::chmod(home.root.c_str(), 0755); // readable by others: nothing is executed because of that
  require_own_home(home.root);
}

TEST_CASE("a home, or a folder in it with programs, that others can write is refused until it is repaired as the message says")
{
  const SomeHome home;
  for (const auto& path : {home.root, home.root / "runs"}) {
    ::chmod(path.c_str(), 0777);
    CHECK_THAT(home.objection(), Contains("Other users can write to " + path.string() + " (mode 0777)") &&
                                     Contains("chmod -R go-w " + path.string()));
    ::chmod(path.c_str(), 01777); // sticky: others can still add files
    CHECK_THAT(home.objection(), Contains("Other users can write to " + path.string()));
    ::chmod(path.c_str(), 0700);
    require_own_home(home.root);
  }
}

TEST_CASE("a home of another user is refused with what to do, and so is a folder in it that another user owns")
{
  if (!is_root()) return;
  const SomeHome home;
  for (const auto* name : {"runs", "local", "programs", "environments", "slurm", "doctor"}) {
    fs::create_directories(home.root / name);
    REQUIRE(::chown((home.root / name).c_str(), stranger, stranger) == 0);
    CHECK_THAT(home.objection(), Contains((home.root / name).string() + " belongs to another user (uid 54321)"));
    REQUIRE(::chown((home.root / name).c_str(), 0, 0) == 0);
  }
  REQUIRE(::chown(home.root.c_str(), stranger, stranger) == 0);
  CHECK_THAT(home.objection(), Contains("The home " + home.root.string() + " belongs to another user (uid 54321)") &&
                                   Contains("set DTCTL_HOME to a folder of yours") && Contains("dtctl.yaml"));
}

TEST_CASE("a second user of a home is told at once whose it is and what to do, also if the home is root's or cannot be looked at")
{
  if (!is_root()) return;
  const SomeHome home;
  {
    const As other(stranger);
    CHECK_THAT(home.objection(), Contains("another user (root, uid 0)") && Contains("Every user needs a home of their own"));
  }
  REQUIRE(::chown(home.root.c_str(), stranger + 1, stranger + 1) == 0);
  {
    const As other(stranger);
    CHECK_THAT(home.objection(), Contains("another user (uid 54322)") && Contains("Every user needs a home of their own"));
  }
  ::chmod(home.folder.path().c_str(), 0700);
  const As other(stranger);
  CHECK_THAT(home.objection(), Contains("cannot be looked at (Permission denied)") && Contains("Every user needs a home"));
}

TEST_CASE("a link of another user that leads to a home of one's own is refused")
{
  if (!is_root()) return;
  const SomeHome home;
  const auto link = home.folder.path() / "link";
  fs::create_directory_symlink(home.root, link);
  require_own_home(link);
  REQUIRE(::lchown(link.c_str(), stranger, stranger) == 0);
  CHECK_THAT(message_of([&] { require_own_home(link); }), Contains("belongs to another user (uid 54321)"));
}
