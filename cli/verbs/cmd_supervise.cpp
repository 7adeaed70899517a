// dtctl supervise (hidden): started by the local scheduler; runs queued jobs and exits when the queue is empty.
#include "cli/verbs/verbs.hpp"
#include "jobs/local/supervisor.hpp"

#include <memory>
#include <string>

namespace dt::cli {

void add_supervise(Commands& commands)
{
  auto home = std::make_shared<std::string>();
  auto& verb = commands.add({"supervise", "", "Run the local queue until it is empty.", ""},
                            [home](Context&) { return static_cast<ExitCode>(jobs::local::run_supervisor(Home(*home))); });
  verb.add_option("--home", *home, "the folder of the queue")->required()->type_name("FOLDER");
}

} // namespace dt::cli
