#include "core/spec/secret_values.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace dt {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_byte(char c) { return is_lower(c) || is_upper(c) || is_digit(c) || c == '_' || c == '-' || c == '+' || c == '/'; }

// ---- private keys -----------------------------------------------------------------------------------------------------

std::string without_private_keys(std::string_view text)
{
  constexpr std::string_view begin_mark = "-----BEGIN ", end_mark = "-----END ", dashes = "-----";
  std::string masked;
  for (auto begin = text.find(begin_mark); begin != npos; begin = text.find(begin_mark)) {
    const auto name_end = text.find(dashes, begin + begin_mark.size());
    const auto name = text.substr(begin, name_end == npos ? npos : name_end - begin);
    if (name.find("PRIVATE KEY") == npos || name.find('\n') != npos) {
      masked += text.substr(0, begin + begin_mark.size());
      text.remove_prefix(begin + begin_mark.size());
      continue;
    }
    masked.append(text.substr(0, begin)).append(secret_mask);
    const auto last = text.find(end_mark, begin);
    const auto end = last == npos ? npos : text.find(dashes, last + end_mark.size());
    text.remove_prefix(end == npos ? text.size() : end + dashes.size());
  }
  return masked.append(text);
}

// ---- random strings ---------------------------------------------------------------------------------------------------

// Shannon's entropy of the characters, as a share of what as many different characters have. Random strings of 20 to 60 letters
// and digits have 0.84 and more.
double entropy_share(std::string_view text)
{
  std::array<int, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double bits = 0;
  for (const int count : counts)
    if (count > 0) {
      const double share = count / static_cast<double>(text.size());
      bits -= share * std::log2(share);
    }
  return text.size() < 2 ? 0 : bits / std::log2(static_cast<double>(text.size()));
}

// The share of neighbours that change between small letters, capitals and digits. Random text has about 0.6, most names in
// CamelCase have less than 0.4.
double change_share(std::string_view text)
{
  const auto kind = [](char c) { return is_lower(c) ? 0 : is_upper(c) ? 1 : is_digit(c) ? 2 : 3; };
  int changes = 0;
  for (std::size_t i = 1; i < text.size(); ++i) changes += kind(text[i]) != kind(text[i - 1]);
  return text.size() < 2 ? 0 : changes / static_cast<double>(text.size() - 1);
}

bool is_hexadecimal(std::string_view text)
{
  return text.find_first_not_of("0123456789abcdef") == npos || text.find_first_not_of("0123456789ABCDEF") == npos;
}

// A word without `/`.
bool is_random(std::string_view word, TextKind kind)
{
  const bool is_value = kind == TextKind::value;
  if (word.size() < (is_value ? 20 : 32)) return false;
  const bool has_lower = std::any_of(word.begin(), word.end(), is_lower),
             has_upper = std::any_of(word.begin(), word.end(), is_upper);
  if (std::none_of(word.begin(), word.end(), is_digit)) return false;
  if (is_hexadecimal(word)) return is_value && word.size() >= 32;
  if (has_lower && has_upper) return entropy_share(word) >= 0.84 && change_share(word) >= 0.41;
  // Of one case only without `-` and `_`, which join the words of a name.
  return is_value && (has_lower || has_upper) && word.find_first_of("-_") == npos && entropy_share(word) >= 0.8 &&
         change_share(word) >= 0.3;
}

// Standard base64 has slashes, and so do paths, which begin in another way and repeat more letters.
bool is_random_with_slashes(std::string_view word)
{
  const bool has_all = std::any_of(word.begin(), word.end(), is_lower) && std::any_of(word.begin(), word.end(), is_upper) &&
                       std::any_of(word.begin(), word.end(), is_digit);
  return has_all && word.size() >= 40 && word.front() != '/' && entropy_share(word) >= 0.84 && change_share(word) >= 0.38;
}

bool has_known_prefix(std::string_view word)
{
  constexpr std::string_view prefixes[]{"ghp_",     "gho_",  "ghu_",  "ghs_",     "ghr_",      "github_pat_", "glpat-",
                                        "gldt-",    "xoxb-", "xoxp-", "xoxa-",    "xapp-",     "sk-",         "sk_live_",
                                        "rk_live_", "hf_",   "npm_",  "pypi-",    "dckr_pat_", "AKIA",        "ASIA",
                                        "AIza",     "ya29",  "hvs",   "wandb_v1_"};
  constexpr std::size_t least_bytes = 16;
  return word.size() >= least_bytes && std::any_of(word.begin(), word.end(), is_digit) &&
         std::any_of(std::begin(prefixes), std::end(prefixes), [&](auto prefix) { return word.starts_with(prefix); });
}

// A JSON web token: three parts of base64 with dots, the first of which begins an object.
std::size_t end_of_web_token(std::string_view text, std::size_t begin)
{
  if (!text.substr(begin).starts_with("eyJ")) return begin;
  auto end = begin;
  int dots = 0;
  for (; end < text.size() && (is_word_byte(text[end]) || text[end] == '.'); ++end) dots += text[end] == '.';
  return dots >= 1 && end - begin >= 20 ? end : begin;
}

bool is_secret_word(std::string_view word, TextKind kind)
{
  if (has_known_prefix(word)) return true;
  if (kind == TextKind::known) return false;
  if (word.find('/') == npos) return is_random(word, kind);
  if (is_random_with_slashes(word)) return true;
  const auto parts = split(word, '/');
  return std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return is_random(part, TextKind::prose); });
}

std::string without_random_words(std::string_view text, TextKind kind)
{
  std::string masked;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word_byte(text[at])) {
      ++at;
      continue;
    }
    auto end = end_of_web_token(text, at);
    const bool is_web_token = end > at;
    if (!is_web_token)
      while (end < text.size() && is_word_byte(text[end])) ++end;
    if (is_web_token || is_secret_word(text.substr(at, end - at), kind)) {
      masked.append(text.substr(done, at - done)).append(secret_mask);
      while (end < text.size() && text[end] == '=') ++end; // base64 is filled up with them
      done = end;
    }
    at = end;
  }
  return masked.append(text.substr(done));
}

// ---- URLs and headers -------------------------------------------------------------------------------------------------

// Where the `@` of a URL's user part is, whose authority begins at `begin`; npos: it has none. A password may hold a slash that
// should have been escaped; a colon that only begins a port number is none of a password.
std::size_t end_of_user(std::string_view text, std::size_t begin)
{
  const auto url = text.substr(begin, text.find_first_of(" \t\r\n\"'`<>", begin) - begin);
  const auto authority = url.substr(0, url.find_first_of("/?#"));
  if (const auto at = authority.rfind('@'); at != npos) return begin + at;
  const auto colon = authority.find(':');
  if (colon == npos || authority.find_first_not_of("0123456789", colon + 1) == npos) return npos;
  const auto at = url.find('@');
  return at == npos ? npos : begin + at;
}

std::string without_users_in_urls(std::string_view text)
{
  constexpr std::string_view mark = "://";
  constexpr std::size_t longest_user = 20;
  std::string masked;
  std::size_t done = 0;
  for (auto at = text.find(mark); at != npos; at = text.find(mark, at + mark.size())) {
    const auto begin = at + mark.size();
    const auto end = end_of_user(text, begin);
    if (end == npos || begin < done) continue;
    const auto user = text.substr(begin, end - begin);
    if (user.find(':') == npos && user.size() <= longest_user && !has_known_prefix(user)) continue;
    masked.append(text.substr(done, begin - done)).append(secret_mask);
    done = end;
  }
  return masked.append(text.substr(done));
}

// `scheme`: in small letters, with its blank.
std::string without_header_values(std::string_view text, std::string_view scheme)
{
  constexpr std::size_t least_bytes = 8; // "basic" and "bearer" are words of English, too
  const auto lower = lower_case(text);
  std::string masked;
  std::size_t done = 0;
  for (auto at = lower.find(scheme); at != npos; at = lower.find(scheme, at + 1)) {
    const auto begin = at + scheme.size();
    const auto end = std::min(text.find_first_of(" \t\r\n\"'`,;", begin), text.size());
    const auto word = text.substr(begin, end - begin);
    if (word.size() < least_bytes || std::all_of(word.begin(), word.end(), is_lower)) continue;
    masked.append(text.substr(done, begin - done)).append(secret_mask);
    done = end;
  }
  return masked.append(text.substr(done));
}

} // namespace

std::string mask_secrets(std::string_view text, TextKind kind)
{
  constexpr std::size_t shortest_secret = 8; // of what is recognised by its look alone
  if (text.size() < shortest_secret) return std::string(text);
  auto masked = without_users_in_urls(without_private_keys(text));
  for (const std::string_view scheme : {"bearer ", "basic "}) masked = without_header_values(masked, scheme);
  return without_random_words(masked, kind);
}

} // namespace dt
