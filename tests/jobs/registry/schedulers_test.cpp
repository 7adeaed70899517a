#include "jobs/registry/schedulers.hpp"

#include "core/spec/names.hpp"
#include "core/text.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::jobs;

TEST_CASE("the registry has one scheduler for each name that a recipe may use, in the same order, and refuses others")
{
  std::vector<std::string> names;
  for (const auto* kind : scheduler_kinds()) {
    names.push_back(kind->name());
    CHECK(&scheduler_kind(kind->name()) == kind);
  }
  CHECK(names == strings_of(scheduler_names()));
  CHECK_THROWS_WITH(scheduler_kind("pbs"), "there is no scheduler `pbs`; allowed: local, slurm");
}
