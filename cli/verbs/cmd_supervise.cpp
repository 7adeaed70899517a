// dtctl supervise (hidden): started by the local scheduler; runs queued jobs and exits when the queue is empty.
#include "cli/verbs/verbs.hpp"
#include "jobs/local/supervisor.hpp"

#include <memory>
#include <string>

namespace dt::cli {

void add_supervise(Commands& commands)
{
  auto home = std::make_shared<std::string>();
  auto options = std::make_shared<jobs::local::SupervisorOptions>();
  auto& verb = commands.add({"supervise", "", "Run the local queue until it is empty.", ""}, [home, options](Context&) {
    return static_cast<ExitCode>(jobs::local::run_supervisor(Home(*home), *options));
  });
  verb.add_flag("--succeed", options->succeeds, "wait until the present supervisor leaves");
  verb.add_option("--home", *home, "the folder of the queue")->required()->type_name("FOLDER");
}

} // namespace dt::cli
