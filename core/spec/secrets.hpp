// Hiding secrets: what dtctl prints, exports and keeps in its database goes through these functions. A value is a secret by the
// name that it has, or by its own look (mask_secrets).
#pragma once

#include "core/spec/run_spec.hpp"
#include "core/spec/spec_schema.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dt {

// The text that replaces a secret.
inline constexpr std::string_view secret_mask = "***";

// The origin of a text. It decides from which length on a random string in the text is masked.
enum class TextKind {
  prose, // commands, causes, recipes: they hold hashes, paths and names. From 32 mixed small letters, capitals and digits on
  value, // of a variable of the environment: from 20 on, without capitals too, and hexadecimal numbers of at least 32 digits
  known, // of a variable that is known to be harmless: nothing
};

// Recognises secrets by their look, whatever name they have. Returns the text with each of them replaced by `secret_mask`:
//
//   scheme://USER:PASSWORD@host               the user and the password; a short user without a password stays
//   -----BEGIN … PRIVATE KEY-----…            up to its END line, or to the end of the text
//   Bearer TOKEN, Basic TOKEN                 the word behind it
//   ghp_…, sk-…, AKIA…, eyJ….….…, …           tokens that begin as those of known services
//   a long random string                      see TextKind
std::string mask_secrets(std::string_view text, TextKind kind);

// Whether a variable with this name is treated as a secret. That is so if one of its words (letters and digits between other
// characters) is KEY, APIKEY, AUTH, PASS, PWD, PAT, BEARER, DSN, JWT, SSHPASS, PGPASS or PASSCODE, or contains TOKEN, SECRET,
// PASSWORD, PASSWD, PASSPHRASE, CREDENTIAL, PRIVATE, AUTHORIZATION or COOKIE, or if the name contains CONNECTION_STRING. Case
// does not matter. Harmless are words about the tokens of a text (TOKENS, TOKENIZER), and a few whole names such as PWD and
// NUM_KEY_VALUE_HEADS.
bool looks_secret(std::string_view name);

// Returns the value of the variable `name` with the secrets in it masked: all of it if the name looks like that of a secret, else
// those in its text. Variables that are known to be harmless (PATH, OMP_*, NCCL_*, SLURM_*, …) may hold long random strings.
std::string without_secrets(std::string_view name, std::string_view value);

// Returns the same variables with the secrets in their values masked.
std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables);

// Returns the same spec with the secrets masked in the values of all keys. Only for display: such a spec must not be run.
RunSpec without_secrets(RunSpec spec);

// The words of a command: the word behind an option such as `--api-token` is a secret.
std::vector<std::string> without_secrets(std::vector<std::string> words);

// Returns the value of a recipe key as text, with the secrets masked.
std::string text_without_secrets(const FieldValue& value);

// Masks the secrets in any text: recipes, commands, causes, notes. Masks the values after `NAME:` or `NAME=` if NAME looks like a
// secret, also values of several lines, those of options (`--api-key VALUE`, also in lists of YAML and JSON; `-u NAME:PASSWORD`),
// and what is a secret by its look.
std::string without_secrets(std::string_view text);

// A recipe key's value, or a record's: masks the secrets in its texts.
template<class... Kinds> std::variant<Kinds...> without_secrets(std::variant<Kinds...> value)
{
  if (auto* variables = std::get_if<std::map<std::string, std::string>>(&value))
    *variables = without_secrets(std::move(*variables));
  else if (auto* words = std::get_if<std::vector<std::string>>(&value))
    *words = without_secrets(std::move(*words));
  else if (auto* text = std::get_if<std::string>(&value))
    *text = without_secrets(std::string_view(*text));
  return value;
}

} // namespace dt
