#include "jobs/launch/launcher.hpp"

#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/spec/names.hpp"
#include "core/text.hpp"
#include "jobs/launch/mpirun.hpp"
#include "jobs/launch/srun.hpp"

namespace dt::jobs {

std::unique_ptr<Launcher> make_launcher(const std::string& name)
{
  if (name == "mpirun") return std::make_unique<MpirunLauncher>();
  if (name == "srun") return std::make_unique<SrunLauncher>();
  throw Error(ErrorKind::recipe, unknown_name("launcher", name, strings_of(launcher_names())));
}

} // namespace dt::jobs
