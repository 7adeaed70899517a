// A page as headless Chromium shows it (tests/support/browser/browser.py).
#pragma once

#include "core/machine/process.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace dt::test {

// The command that looks at the address and prints one JSON object.
inline std::vector<std::string> browser_command(const std::string& url, const std::vector<std::string>& options = {})
{
  std::vector<std::string> words{"/usr/bin/python3", DTCTL_SOURCE_DIR "/tests/support/browser/browser.py", "look", url};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

// What a reader sees: console, requests, overlaps, wide, values.
inline nlohmann::json look_at(const std::string& url, const std::vector<std::string>& options = {})
{
  const auto result = run_command(browser_command(url, options));
  INFO(result.err);
  REQUIRE(result.ok());
  return nlohmann::json::parse(result.out);
}

} // namespace dt::test
