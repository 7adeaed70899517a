// Pages of help, from the same App that parses; and the parts that completions and the manual page share with them.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace dt::cli {

class HelpFormatter : public CLI::FormatterBase {
public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// Exit codes, environment and examples under `dtctl --help`.
std::string root_footer();

// Verbs of an App that are not hidden, in order of registration.
std::vector<const CLI::App*> visible_verbs(const CLI::App& app);

// Options of an App that are not hidden and not positional.
std::vector<const CLI::Option*> visible_options(const CLI::App& app);

std::vector<const CLI::Option*> positionals(const CLI::App& app);

// "-q,--quiet" -> {"-q", "--quiet"}.
std::vector<std::string> spellings(const CLI::Option& option);

// "KEY=VALUE" of an option or argument that takes one; empty for a flag.
std::string value_name(const CLI::Option& option);

// "--set KEY=VALUE"; flags have no value.
std::string signature(const CLI::Option& option);

// "dtctl submit [OPTIONS] RECIPE".
std::string usage_line(const CLI::App& app);

} // namespace dt::cli
