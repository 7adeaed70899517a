// dtctl slurm build: a module for the Slurm of this site.
#include "cli/verbs/verbs.hpp"
#include "jobs/registry/schedulers.hpp"

#include <memory>

namespace dt::cli {

void add_slurm(Commands& commands)
{
  auto& family =
      commands.add_family({"slurm", keep_verbs, "Slurm's own library for dtctl: build.",
                           "dtctl uses Slurm's library if it is of the release that dtctl was built for, and otherwise\n"
                           "Slurm's commands. `dtctl doctor` says which, and why. To choose: DTCTL_SLURM=library|commands\n\n"
                           "Example:\n  dtctl slurm build"});
  const auto build = std::make_shared<jobs::ModuleBuild>();
  build->compiler = "c++";
  auto& verb =
      commands.add_under(family,
                         {"build", family_verbs, "Build the module that uses the library of this site's Slurm.",
                          "Needs a compiler of C++20 and Slurm's headers (slurm/slurm.h). The module goes into the home,\n"
                          "folder modules. Remove it there to use the module or the commands as before.\n\n"
                          "Example:\n  dtctl slurm build --prefix /opt/slurm/23.11"},
                         [build](Context& context) {
                           const auto built = jobs::scheduler_kind("slurm").build_module(*build);
                           context.out.field("module", "module", text_cell(built.file.string()));
                           context.out.field("release", "for Slurm", text_cell(built.release));
                           return ExitCode::ok;
                         });
  verb.add_option("--prefix", build->prefix,
                  "folder of Slurm's installation, with include/slurm; default: that of scontrol in PATH")
      ->type_name("DIR");
  verb.add_option("--compiler", build->compiler, "the compiler; default: c++")->type_name("PROGRAM");
}

} // namespace dt::cli
