// Catch2's main, and the hidden verb that a local queue starts the running program with.
#define CATCH_CONFIG_RUNNER
#include "jobs/local/supervisor.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string_view>

int main(int argc, char* argv[])
{
  ::setenv("DTCTL_JOB_AGENT", DTCTL_BINARY_DIR "/bin/dtjob", 0); // it is not in the folder of this program
  if (argc >= 4 && std::string_view(argv[1]) == "supervise" && std::string_view(argv[2]) == "--home") {
    dt::jobs::local::SupervisorOptions quick;
    quick.grace_s = 2;
    quick.tick_s = 0.05;
    quick.succeeds = argc == 5;
    return dt::jobs::local::run_supervisor(dt::Home(argv[3]), quick);
  }
  return Catch::Session().run(argc, argv);
}
