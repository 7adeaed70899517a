#include "jobs/machine/cores.hpp"

#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

#include <unistd.h>

namespace fs = std::filesystem;
using namespace dt;
using jobs::CoreLocks;

namespace {

// A folder of another user at that place, which goes away at the end; nothing if it exists already.
class Planted {
 public:
  explicit Planted(fs::path folder) : folder_(std::move(folder)), is_made_(fs::create_directory(folder_))
  {
    if (is_made_ && ::chown(folder_.c_str(), 54321, 54321) != 0) throw std::runtime_error("chown");
  }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
  ~Planted()
  {
    if (is_made_) fs::remove_all(folder_);
  }

 private:
  fs::path folder_;
  bool is_made_;
};

} // namespace

TEST_CASE("a folder of locks that another user has planted is refused by name, and looking makes none")
{
  const test::TemporaryFolder folder;
  const auto locks = folder.path() / "locks";
  CHECK(CoreLocks::existing(locks).holders().empty());
  CHECK_FALSE(fs::exists(locks));
  if (::geteuid() != 0) return; // only root can give a folder away
  const Planted planted(locks);
  for (const bool looks : {true, false})
    CHECK_THROWS_WITH(looks ? CoreLocks::existing(locks) : CoreLocks(locks),
                      locks.string() + " does not belong to you, so dtctl cannot assign cores safely; remove it, or set "
                                       "DTCTL_CORE_LOCKS to another folder.");
}
