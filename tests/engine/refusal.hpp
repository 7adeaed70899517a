// What an action is refused with.
#pragma once

#include "core/error.hpp"

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

namespace dt::test {

// The message of the error that an action ends in, which must be of this kind; "" if it is accepted.
template<class Action> std::string refusal(ErrorKind kind, Action action)
{
  try {
    action();
    return {};
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
}

// The same without the words that it must begin with, as the name of a file.
template<class Action> std::string refusal_behind(const std::string& begin, ErrorKind kind, Action action)
{
  const auto words = refusal(kind, action);
  if (words.empty()) return words;
  CHECK_THAT(words, Catch::StartsWith(begin));
  return words.substr(std::min(words.size(), begin.size()));
}

} // namespace dt::test
