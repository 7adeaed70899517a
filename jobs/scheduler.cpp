#include "jobs/scheduler.hpp"

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "jobs/local/local_scheduler.hpp"

namespace dt::jobs {

std::unique_ptr<Scheduler> make_scheduler(const std::string& name, const Home& home)
{
  if (name == "local") return std::make_unique<local::LocalScheduler>(home);
  throw Error(ErrorKind::recipe, "There is no scheduler `" + printable(name) +
                                     "`; resources.scheduler may be one of: " + join(strings_of(scheduler_names()), ", ") + ".");
}

} // namespace dt::jobs
