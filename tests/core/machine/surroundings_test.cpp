#include "core/machine/surroundings.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dt;

namespace {

// Whether `holds` is so in a process that has taken these over.
bool in_child(const Surroundings& taken, const std::function<bool()>& holds)
{
  const pid_t child = ::fork();
  if (child == 0) {
    take_over(taken);
    ::_exit(holds() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

TEST_CASE("surroundings are the same after they were written and read, unlimited ones too, and runs record what is limited")
{
  auto own = own_surroundings();
  own.limits["stack"] = {4096, ~std::uint64_t{0}};
  const auto read = parse_surroundings(to_json(own));
  CHECK(to_json(read) == to_json(own));
  REQUIRE(read.limits.contains("nofile"));
  CHECK(read.limits.at("stack").soft == 4096);
  CHECK(read.limits.at("stack").hard == ~std::uint64_t{0});
  CHECK(parse_surroundings("").limits.empty());
  CHECK(parse_surroundings("{\"niceness\": \"x\"}").niceness == 0);
  const Surroundings some{
      .niceness = 7, .umask = 027, .limits = {{"nofile", {500, 500}}, {"as", {~std::uint64_t{0}, ~std::uint64_t{0}}}}};
  CHECK(facts_of(some) == std::map<std::string, std::string>{{"niceness", "7"}, {"umask", "0027"}, {"limits", "nofile 500"}});
}

TEST_CASE("a process takes over niceness, umask and limits, as far as it may")
{
  auto wanted = own_surroundings();
  wanted.niceness = 7;
  wanted.umask = 027;
  const auto hard = wanted.limits.at("nofile").hard;
  wanted.limits["nofile"] = {100, hard};
  CHECK(in_child(wanted, [] {
    const auto own = own_surroundings();
    return own.niceness == 7 && own.umask == 027 && own.limits.at("nofile").soft == 100;
  }));
  wanted.limits["nproc"] = {~std::uint64_t{0}, ~std::uint64_t{0}}; // may be more than is allowed: then what is allowed
  CHECK(in_child(wanted, [&] { return own_surroundings().limits.at("nproc").soft >= wanted.limits.at("nofile").soft; }));
}

TEST_CASE("whoever has a lower niceness or a higher hard limit can give more")
{
  Surroundings usual{.niceness = 0, .umask = 022, .limits = {{"nofile", {1024, 4096}}}};
  auto nice = usual, small = usual, favoured = usual;
  nice.niceness = 7;
  small.limits["nofile"] = {8, 8};
  favoured.niceness = -5;
  CHECK(allow_more(usual, nice));
  CHECK(allow_more(usual, small));
  for (const auto* other : {&nice, &small, &favoured, &usual}) CHECK_FALSE(allow_more(*other, usual));
  CHECK_FALSE(allow_more(usual, favoured)); // a supervisor has 0 at best
}
