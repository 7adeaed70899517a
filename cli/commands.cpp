#include "cli/commands.hpp"

#include "cli/help.hpp"
#include "core/text.hpp"

namespace dt::cli {

Commands::Commands() : root_("Honest scaling studies of distributed training: recipe, jobs, trained network, results.", "dtctl")
{
  root_.formatter(std::make_shared<HelpFormatter>());
  root_.require_subcommand(1);
  root_.set_help_flag("-h,--help", "print this help and exit");
  root_.set_version_flag("-V,--version", "dtctl " DTCTL_VERSION, "print the version and exit");
  root_.footer(root_footer());
}

CLI::App& Commands::make(CLI::App& parent, const VerbInfo& info)
{
  auto& verb = *parent.add_subcommand(info.name, info.summary);
  verb.group(info.group);
  verb.footer(info.details);
  verb.add_flag("--json", json_, "print one JSON value with \"schema\": 1 on standard output, errors included")
      ->disable_flag_override();
  verb.add_flag("-q,--quiet", quiet_, "no messages but warnings and errors")->disable_flag_override();
  return verb;
}

CLI::App& Commands::add(const VerbInfo& info, Action action) { return add_under(root_, info, std::move(action)); }

CLI::App& Commands::add_under(CLI::App& parent, const VerbInfo& info, Action action)
{
  auto& verb = make(parent, info);
  actions_[&verb] = std::move(action);
  return verb;
}

CLI::App& Commands::add_family(const VerbInfo& info)
{
  auto& family = make(root_, info);
  family.require_subcommand(1);
  return family;
}

const CLI::App& Commands::selected() const
{
  const CLI::App* verb = &root_;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  return *verb;
}

std::vector<std::string>* Commands::rest_of(const CLI::App& verb) const
{
  const auto found = rests_.find(&verb);
  return found == rests_.end() ? nullptr : found->second;
}

std::string verb_name(const CLI::App& verb)
{
  if (verb.get_parent() == nullptr) return "";
  const auto parent = verb_name(*verb.get_parent());
  return parent.empty() ? verb.get_name() : parent + " " + verb.get_name();
}

CLI::Option* add_list(CLI::App& verb, const std::string& flags, std::vector<std::string>& values, const std::string& help)
{
  // Without the last call an option would also swallow the words behind its value.
  return verb.add_option(flags, values, help)->take_all()->allow_extra_args(false);
}

} // namespace dt::cli
