// The verbs of dtctl and their command lines.
#pragma once

#include "cli/context.hpp"
#include "cli/validators.hpp"
#include "core/error.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace dt::cli {

// How a verb is presented.
struct VerbInfo {
  std::string name;
  std::string group;   // the heading it stands under in `dtctl --help`; empty: hidden
  std::string summary; // one line
  std::string details; // paragraphs under the options: what it does beyond the summary, examples
};

inline constexpr const char* recipe_verbs = "Recipes and training";
inline constexpr const char* run_verbs = "Following runs";
inline constexpr const char* result_verbs = "Results";
inline constexpr const char* setup_verbs = "Setting up";

using Action = std::function<ExitCode(Context&)>;

class Commands {
 public:
  Commands();
  CLI::App& root() { return root_; }
  const CLI::App& root() const { return root_; }
  // A verb that does something. The caller adds its options.
  CLI::App& add(const VerbInfo& info, Action action);
  CLI::App& add_under(CLI::App& parent, const VerbInfo& info, Action action);
  // A verb that only holds others: `dtctl db check`.
  CLI::App& add_family(const VerbInfo& info);
  // The verb that was given, after parsing; the root when none was.
  const CLI::App& selected() const;
  const Action& action_of(const CLI::App& verb) const { return actions_.at(&verb); }
  bool quiet() const { return quiet_; }
  // The words behind "--" of this verb go there as they are. Other verbs take them as arguments.
  void pass_rest(const CLI::App& verb, std::vector<std::string>& words) { rests_[&verb] = &words; }
  // Where they go; null for verbs that take them as arguments.
  std::vector<std::string>* rest_of(const CLI::App& verb) const;

 private:
  CLI::App& make(CLI::App& parent, const VerbInfo& info);
  CLI::App root_;
  std::map<const CLI::App*, Action> actions_;
  std::map<const CLI::App*, std::vector<std::string>*> rests_;
  bool json_ = false, quiet_ = false;
};

// "db check" for the App of that verb; empty for the root.
std::string verb_name(const CLI::App& verb);

// All verbs, registered here and nowhere else.
void register_verbs(Commands& commands);

// An option that may be given several times with one value each.
CLI::Option* add_list(CLI::App& verb, const std::string& flags, std::vector<std::string>& values, const std::string& help);

} // namespace dt::cli
