// dtctl doctor: checks this machine and advises what to do about problems.
#include "cli/checks/machine.hpp"
#include "cli/checks/trial_job.hpp"
#include "cli/verbs/verbs.hpp"
#include "core/counted.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace dt::cli {
namespace {

Style style_of(Level level)
{
  switch (level) {
  case Level::ok:
    return Style::plain;
  case Level::warn:
    return Style::warning;
  case Level::fail:
    return Style::bad;
  }
  return Style::plain;
}

ExitCode print_findings(Context& context, const std::vector<Finding>& findings)
{
  Json list = Json::array();
  for (const auto& finding : findings) {
    const auto advice = finding.advice.empty() ? "" : ": " + finding.advice;
    context.out.field("", fmt::format("{:<4}  {}", name_of(finding.level), finding.check),
                      text_cell(finding.found + advice, style_of(finding.level)));
    list.push_back(
        {{"check", finding.check}, {"level", name_of(finding.level)}, {"found", finding.found}, {"advice", finding.advice}});
  }
  context.out.data("findings", std::move(list));
  const auto count = [&](Level level) {
    return std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.level == level; });
  };
  const auto warnings = count(Level::warn), failures = count(Level::fail);
  context.out.field("summary", "in all",
                    {{{"ok", count(Level::ok)}, {"warn", warnings}, {"fail", failures}},
                     fmt::format("{} ok, {}, {}", count(Level::ok), counted(warnings, "warning"), counted(failures, "failure")),
                     failures > 0 ? Style::bad : Style::good});
  return failures > 0 ? ExitCode::environment : ExitCode::ok;
}

struct DoctorOptions {
  bool launchers = false;
  LauncherTrial trial;
};

ExitCode doctor(Context& context, const DoctorOptions& options)
{
  return print_findings(context, options.launchers ? try_launchers(context, options.trial) : check_machine(context.home()));
}

} // namespace

void add_doctor(Commands& commands)
{
  auto options = std::make_shared<DoctorOptions>();
  auto& verb = commands.add({"doctor", keep_verbs,
                             "Check this machine (engine, MPI, cores, memory, Slurm, file system) and advise what to do.",
                             "Starts two ranks with mpirun. Exit 74 if something must be repaired before runs can work.\n"
                             "With --launchers, a short job on the cluster starts ranks on several nodes with mpirun and with "
                             "srun and each of its MPI\n"
                             "plugins, several times each. dtctl then prints which launcher the profile should name.\n\n"
                             "Example:\n  dtctl doctor --launchers --profile cluster"},
                            [options](Context& context) { return doctor(context, *options); });
  verb.add_flag("--launchers", options->launchers, "submit a short job to Slurm that tries every launcher");
  verb.add_option("--profile", options->trial.profile, "with --launchers: the machine profile to try")->type_name("NAME");
  verb.add_option("--nodes", options->trial.nodes, "with --launchers: nodes of the job (2)")
      ->type_name("N")
      ->check(positive_number());
}

} // namespace dt::cli
