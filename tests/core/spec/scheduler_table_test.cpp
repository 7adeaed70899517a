// The table of schedulers.
#include "core/spec/scheduler_table.hpp"

#include <catch2/catch.hpp>

using namespace dt;

TEST_CASE("the local scheduler never restarts a job, Slurm may, and an unknown one may hold a job after its end")
{
  const auto& local = scheduler_row("local");
  CHECK_FALSE(local.restarts_jobs);
  CHECK_FALSE(local.shares_allocations);
  CHECK_FALSE(local.takes_arguments);
  CHECK(local.uses_this_machine);
  CHECK(local.keeps_queue_here);
  const auto& slurm = scheduler_row("slurm");
  CHECK(slurm.restarts_jobs);
  CHECK(slurm.shares_allocations);
  CHECK(slurm.serves_other_users);
  CHECK_FALSE(slurm.keeps_queue_here);
  CHECK(scheduler_row("pbs").restarts_jobs);
  CHECK_FALSE(scheduler_row("pbs").keeps_queue_here);
}
