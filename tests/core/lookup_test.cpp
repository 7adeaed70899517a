#include "core/counted.hpp"
#include "core/lookup.hpp"

#include <array>

#include <catch2/catch.hpp>

using namespace dt;

namespace {

struct Entry {
  std::string_view name;
  int value;
};
constexpr std::array entries{Entry{"ring", 1}, Entry{"tree", 2}};

} // namespace

TEST_CASE("a name finds its entry") { CHECK(lookup(entries, "allreduce", "tree").value == 2); }

TEST_CASE("an unknown name is refused with what it should name, the nearest name and all names")
{
  CHECK_THROWS_WITH(lookup(entries, "allreduce", "rign"),
                    "there is no allreduce `rign`; did you mean `ring`? Allowed: ring, tree");
  CHECK_THROWS_WITH(lookup(entries, "allreduce", "butterfly"), "there is no allreduce `butterfly`; allowed: ring, tree");
}

TEST_CASE("the kind of the error is the caller's, because a name may come from a recipe or from the command line")
{
  for (const auto kind : {ErrorKind::recipe, ErrorKind::usage}) {
    try {
      lookup(entries, "allreduce", "x", kind);
      FAIL("found");
    } catch (const Error& error) {
      CHECK(error.kind() == kind);
    }
  }
}

TEST_CASE("what was meant may be said in place of the nearest name")
{
  const std::vector<std::string> verbs{"last", "status"};
  CHECK(unknown_name("verb", "ls", verbs, "dtctl status --all") ==
        "there is no verb `ls`; did you mean `dtctl status --all`? Allowed: last, status");
}

TEST_CASE("a count has its noun in the right number")
{
  CHECK(counted(1, "run") == "1 run");
  CHECK(counted(3, "run") == "3 runs");
  CHECK(counted(std::size_t{0}, "run") == "0 runs");
  CHECK(counted(1, "class", "classes") == "1 class");
  CHECK(counted(2, "run has", "runs have") == "2 runs have");
}
