// dtctl data make, with the real engine.
#include "tests/cli/driver.hpp"
#include "tests/support/eventually.hpp"

#include <csignal>

#include <catch2/catch.hpp>

#include <sys/wait.h>

namespace fs = std::filesystem;
using dt::test::Dtctl;
using dt::test::eventually;

TEST_CASE("data make shows images and their rate in a terminal, and nothing of them anywhere else")
{
  const Dtctl dtctl;
  const auto live = dtctl.in_terminal({"data", "make", "digits", "--train", "4000", "--test", "100"}, 80, {"NO_COLOR=1"});
  CHECK(live.find(" of 4100 images, ") != std::string::npos);
  CHECK(live.find(" images/s, ") != std::string::npos);
  const auto in_pipe = dtctl.run({"data", "make", "shapes", "--train", "400", "--test", "100"});
  CHECK(in_pipe.err == "");
  CHECK(in_pipe.out.find("images/s") == std::string::npos);
  CHECK(in_pipe.out.find("images 500 500") == std::string::npos);
  const auto quiet =
      dtctl.in_terminal({"data", "make", "digits", "--train", "50", "--test", "10", "--out", "q", "--quiet"}, 80, {"NO_COLOR=1"});
  CHECK(quiet.find("images/s") == std::string::npos);
}

TEST_CASE("when data make is killed the engine ends too, and leaves neither a set nor a part of one")
{
  const Dtctl dtctl;
  const auto folder = dtctl.folder() / "sets";
  fs::create_directory(folder);
  const auto child = dtctl.start({"data", "make", "shapes", "--train", "1000000", "--out", (folder / "shapes").string()});
  REQUIRE(eventually([&] { return !fs::is_empty(folder); })); // the engine has begun
  CHECK_FALSE(fs::exists(folder / "shapes"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(eventually([&] { return fs::is_empty(folder); }));
}
