// Recognises secrets by their look, whatever name they have: user names and passwords in URLs, private keys, tokens of known
// services and long random strings.
#pragma once

#include <string>
#include <string_view>

namespace dt {

// The text that replaces a secret.
inline constexpr std::string_view secret_mask = "***";

// Where a text comes from decides what counts as a long random string in it.
enum class TextKind {
  prose, // commands, causes, recipes: they hold hashes, paths and names. From 32 mixed small letters, capitals and digits on
  value, // of a variable of the environment: from 20 on, without capitals too, and hexadecimal numbers of at least 32 digits
  known, // of a variable that is known to be harmless: nothing
};

// Returns the text with each secret in it replaced by `secret_mask`:
//
//   scheme://USER:PASSWORD@host               the user and the password; a short user without a password stays
//   -----BEGIN … PRIVATE KEY-----…            up to its END line, or to the end of the text
//   Bearer TOKEN, Basic TOKEN                 the word behind it
//   ghp_…, sk-…, AKIA…, eyJ….….…, …           tokens that begin as those of known services
//   a long random string                      see TextKind
std::string mask_secrets(std::string_view text, TextKind kind);

} // namespace dt
