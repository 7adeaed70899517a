#include "cli/command/commands.hpp"

#include "core/text.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace dt::cli {

Commands::Commands()
    : root_(std::make_unique<CLI::App>("Honest scaling studies of distributed training: recipe, jobs, trained network, results.",
                                       "dtctl"))
{
  root_->require_subcommand(1);
  root_->set_help_flag("-h,--help", "print this help and exit");
  root_->set_version_flag("-V,--version", "dtctl " DTCTL_VERSION, "print the version and exit");
}

Commands::~Commands() = default;

Verb& Commands::make(CLI::App& parent, const VerbInfo& info)
{
  auto& verb = *parent.add_subcommand(info.name, info.summary);
  verb.group(info.group);
  verb.footer(info.details);
  verb.add_flag("--json", json_, "print one JSON value with \"schema\": 1 on standard output, errors included")
      ->disable_flag_override();
  verb.add_flag("-q,--quiet", quiet_, "print warnings and errors only; no tables")->disable_flag_override();
  return verbs_.emplace_back(verb);
}

Verb& Commands::add(const VerbInfo& info, Action action)
{
  auto& verb = make(*root_, info);
  actions_[&verb.app()] = std::move(action);
  return verb;
}

Verb& Commands::add_under(Verb& parent, const VerbInfo& info, Action action)
{
  auto& verb = make(parent.app(), info);
  actions_[&verb.app()] = std::move(action);
  return verb;
}

Verb& Commands::add_family(const VerbInfo& info)
{
  auto& family = make(*root_, info);
  family.app().require_subcommand(1);
  return family;
}

const CLI::App& Commands::selected() const
{
  const CLI::App* verb = root_.get();
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

} // namespace dt::cli
