// Starts dtsim and reads its output.
#pragma once

#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <nlohmann/json.hpp>

#include <string>

#include <catch2/catch.hpp>

namespace dt::test {

using Json = nlohmann::json;

// dtsim with these words, of which none holds a blank.
inline CommandResult dtsim(const std::string& words)
{
  auto command = split(words, ' ');
  command.insert(command.begin(), DTCTL_BINARY_DIR "/bin/dtsim");
  return run_command(command);
}

// The output of a command that must succeed.
inline Json json_of(const std::string& words)
{
  const auto result = dtsim(words + " --json");
  INFO(result.err);
  REQUIRE(result.ok());
  return Json::parse(result.out);
}

// Simulated seconds of a sum; of a step of the first strategy.
inline double sum_s(const std::string& words) { return 1e-6 * json_of("allreduce " + words).at("us_median").get<double>(); }
inline double step_s(const std::string& words) { return json_of("strategies " + words).at(0).at("step_s").get<double>(); }

} // namespace dt::test
