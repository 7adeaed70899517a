// The verbs of dtctl and their command lines.
#pragma once

#include "cli/command/context.hpp"
#include "cli/command/verb.hpp"
#include "core/error.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dt::cli {

// The help texts of a verb.
struct VerbInfo {
  std::string name;
  std::string group;   // heading in `dtctl --help`; empty: hidden
  std::string summary; // one line
  std::string details; // below the options: what the summary does not say, as a table of columns if possible, and an example
};

// The headings of `dtctl --help`, in the order in which a study goes.
inline constexpr const char* write_verbs = "Write";
inline constexpr const char* run_verbs = "Run";
inline constexpr const char* follow_verbs = "Follow";
inline constexpr const char* understand_verbs = "Understand";
inline constexpr const char* show_verbs = "Show";
inline constexpr const char* keep_verbs = "Keep";
inline constexpr const char* family_verbs = "Verbs"; // below a verb that only contains others

using Action = std::function<ExitCode(Context&)>;

class Commands {
 public:
  Commands();
  ~Commands();
  CLI::App& root() { return *root_; }
  const CLI::App& root() const { return *root_; }
  // Adds a verb that runs `action`. The caller adds its options.
  Verb& add(const VerbInfo& info, Action action);
  Verb& add_under(Verb& parent, const VerbInfo& info, Action action);
  // Adds a verb that only contains other verbs, such as `dtctl db`.
  Verb& add_family(const VerbInfo& info);
  // After parsing: the verb that was given, or the root if none was.
  const CLI::App& selected() const;
  const Action& action_of(const CLI::App& verb) const { return actions_.at(&verb); }
  bool quiet() const { return quiet_; }
  // Stores the words after "--" of this verb unchanged in `words`. Other verbs treat them as arguments.
  void pass_rest(const Verb& verb, std::vector<std::string>& words) { rests_[&verb.app()] = &words; }
  // The `words` given to pass_rest; null for verbs that treat them as arguments.
  std::vector<std::string>* rest_of(const CLI::App& verb) const;

 private:
  Verb& make(CLI::App& parent, const VerbInfo& info);
  std::unique_ptr<CLI::App> root_;
  std::deque<Verb> verbs_;
  std::map<const CLI::App*, Action> actions_;
  std::map<const CLI::App*, std::vector<std::string>*> rests_;
  bool json_ = false, quiet_ = false;
};

// Full name of a verb: "db check". Empty for the root.
std::string verb_name(const CLI::App& verb);

} // namespace dt::cli
