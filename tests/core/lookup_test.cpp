#include "core/counted.hpp"
#include "core/lookup.hpp"
#include "tests/core/error_of.hpp"

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

TEST_CASE(
    "a name finds its entry, and an unknown one is refused with the nearest or what was meant, and an error of the caller's kind")
{
  CHECK(lookup(entries, "allreduce", "tree").value == 2);
  CHECK_THROWS_WITH(lookup(entries, "allreduce", "rign"),
                    "there is no allreduce `rign`; did you mean `ring`? Allowed: ring, tree");
  CHECK_THROWS_WITH(lookup(entries, "allreduce", "butterfly"), "there is no allreduce `butterfly`; allowed: ring, tree");
  const std::vector<std::string> verbs{"last", "status"};
  CHECK_THAT(unknown_name("verb", "ls", verbs, "dtctl status --all"), Catch::Contains("did you mean `dtctl status --all`?"));
  for (const auto kind : {ErrorKind::recipe, ErrorKind::usage})
    CHECK(test::error_of([&] { lookup(entries, "allreduce", "x", kind); }).kind() == kind);
}

TEST_CASE("a count has its noun in the right number")
{
  CHECK(counted(1, "run") == "1 run");
  CHECK(counted(3, "run") == "3 runs");
  CHECK(counted(std::size_t{0}, "run") == "0 runs");
  CHECK(counted(1, "class", "classes") == "1 class");
  CHECK(counted(2, "run has", "runs have") == "2 runs have");
}
