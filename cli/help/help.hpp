// Help pages, derived from the App that parses the command line, and helpers shared with completion and manual page.
#pragma once

#include "core/error.hpp"

#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace dt::cli {

// Makes the root and the verbs that are added to it later print dtctl's pages of help.
void add_help_pages(CLI::App& root);

// The text that `dtctl` prints when it is called without a verb: its purpose, the first commands, the commands for help.
std::string welcome_page();

// The page of the verb that these words name: {"data", "pack"}; without words, of dtctl. Throws a usage error that says
// what to type for an unknown verb.
std::string help_page(const CLI::App& root, const std::vector<std::string>& words);

// The refusal of a word that is no verb below `family`, with what to type in its place.
Error unknown_verb(const CLI::App& family, const std::string& word);

// Visible verbs of an App, in order of registration.
std::vector<const CLI::App*> visible_verbs(const CLI::App& app);

// Visible options of an App, without positional arguments.
std::vector<const CLI::Option*> visible_options(const CLI::App& app);

std::vector<const CLI::Option*> positionals(const CLI::App& app);

// "-q,--quiet" -> {"-q", "--quiet"}.
std::vector<std::string> spellings(const CLI::Option& option);

// The name of an option's or argument's value: "KEY=VALUE". Empty for a flag.
std::string value_name(const CLI::Option& option);

// An option with its value: "--set KEY=VALUE". Flags have no value.
std::string signature(const CLI::Option& option);

// Returns "dtctl sweep [OPTIONS] RECIPE".
std::string usage_line(const CLI::App& app);

} // namespace dt::cli
