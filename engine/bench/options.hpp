// Command line options of the benchmarks.
#pragma once

#include "core/spec/choices.hpp"
#include "core/text.hpp"
#include "engine/bench/bench.hpp"

#include <CLI/CLI.hpp>

namespace dt::bench {

// An option whose words are the choices of an enumeration.
template<HasChoices Value> CLI::Option* add_choice(CLI::App& app, const char* name, Value& value, const char* help)
{
  return app
      .add_option_function<std::string>(
          name, [&value](const std::string& word) { value = choice_of<Value>(word); }, help)
      ->default_str(std::string(name_of(value)))
      ->check(CLI::IsMember(strings_of(choice_names<Value>())));
}

// Likewise, of several values with commas between them.
template<HasChoices Value> CLI::Option* add_choices(CLI::App& app, const char* name, std::vector<Value>& values, const char* help)
{
  std::vector<std::string> given;
  for (const auto value : values) given.emplace_back(name_of(value));
  const auto take = [&values](const std::vector<std::string>& words) {
    values.clear();
    for (const auto& word : words) values.push_back(choice_of<Value>(word));
  };
  return app.add_option_function<std::vector<std::string>>(name, take, help)
      ->delimiter(',')
      ->default_str("[" + join(given, ",") + "]")
      ->check(CLI::IsMember(strings_of(choice_names<Value>())));
}

// Why `text` is not the bytes of a vector, which has a whole number of weights; empty if it is.
inline std::string problem_of_vector_bytes(const std::string& text)
{
  std::int64_t bytes = 0;
  if (CLI::detail::lexical_cast(text, bytes) && bytes > 0 && bytes % static_cast<std::int64_t>(sizeof(float)) == 0) return {};
  return "`" + text + "` is not possible here; a vector has 4 bytes for each number: write 4, 8, 1048576, …";
}

// The subcommands that time communication, with real ranks or simulated ones.
void add_allreduce(CLI::App& app, AllreduceBench& options);
void add_strategies(CLI::App& app, StrategiesBench& options);

} // namespace dt::bench
