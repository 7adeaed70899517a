#include "core/spec/secrets.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace dt {
namespace {

std::string upper(std::string_view text)
{
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

// Variables whose values are never secrets although they may look random. A name that ends in `*` is a beginning.
constexpr std::string_view harmless_names[]{
    "PATH",     "HOME",     "USER",   "SHELL",   "TERM",    "TMPDIR",  "LANG",    "TZ",     "PWD",        "OLDPWD",
    "HOSTNAME", "MASTER_*", "OMP_*",  "KMP_*",   "GOMP_*",  "MKL_*",   "BLIS_*",  "GOTO_*", "OPENBLAS_*", "NCCL_*",
    "RCCL_*",   "UCX_*",    "OMPI_*", "PMIX_*",  "PRTE_*",  "HWLOC_*", "I_MPI_*", "FI_*",   "MPICH_*",    "CUDA_*",
    "NVIDIA_*", "ROCR_*",   "HIP_*",  "SLURM_*", "DTCTL_*", "TORCH_*", "TF_*",    "XLA_*",  "LD_*",       "LC_*"};

// Names that contain a word of secrets and are none. The first two are only the shell's.
constexpr std::string_view folder_names[]{"PWD", "OLDPWD"};
constexpr std::string_view innocent_names[]{"NUM_KEY_VALUE_HEADS", "KEY_DIM",      "KEY_SIZE", "SORT_KEY",
                                            "PRIMARY_KEY",         "SSH_AUTH_SOCK"};

bool is_harmless(std::string_view upper_name)
{
  return std::any_of(std::begin(harmless_names), std::end(harmless_names), [&](auto known) {
    return known.ends_with('*') ? upper_name.starts_with(known.substr(0, known.size() - 1)) : upper_name == known;
  });
}

// The words of a name, in capitals.
std::vector<std::string> words_of(std::string_view upper_name)
{
  std::string blanks(upper_name);
  for (char& c : blanks)
    if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  return split(blanks, '_');
}

bool is_word_of_secrets(const std::string& word)
{
  constexpr std::string_view parts[]{"TOKEN",      "SECRET",  "PASSWORD",      "PASSWD", "PASSPHRASE",
                                     "CREDENTIAL", "PRIVATE", "AUTHORIZATION", "COOKIE"};
  constexpr std::string_view words[]{"KEY",    "APIKEY", "AUTH", "PASS",    "PWD",    "PAT",     "PW",
                                     "BEARER", "DSN",    "JWT",  "SSHPASS", "PGPASS", "PASSCODE"};
  constexpr std::string_view of_texts[]{"TOKENS", "TOKENIZER", "TOKENIZERS", "TOKENIZED"};
  if (std::find(std::begin(of_texts), std::end(of_texts), word) != std::end(of_texts)) return false;
  return std::find(std::begin(words), std::end(words), word) != std::end(words) ||
         std::any_of(std::begin(parts), std::end(parts), [&](auto part) { return word.find(part) != word.npos; });
}

// A variable of the environment has a name in capitals; names in small letters are those of recipes, programs and sentences,
// whose values may be hashes.
TextKind kind_of(std::string_view name)
{
  if (is_harmless(upper(name))) return TextKind::known;
  return name == upper(name) ? TextKind::value : TextKind::prose;
}

bool is_name_byte(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Position at which the name that ends before `end` begins. Dashes before it, as of an option, are none of it.
std::size_t begin_of_name(std::string_view text, std::size_t end)
{
  auto begin = end;
  while (begin > 0 && is_name_byte(text[begin - 1])) --begin;
  while (begin < end && text[begin] == '-') ++begin;
  return begin;
}

// Position after the quoted text that begins at `begin`, as YAML writes it: \" within double quotes, '' within single ones.
std::size_t end_of_quoted(std::string_view line, std::size_t begin)
{
  const char quote = line[begin];
  for (auto at = begin + 1; at < line.size(); ++at) {
    if (quote == '"' && line[at] == '\\') {
      ++at;
    } else if (line[at] == quote) {
      if (quote == '"' || at + 1 == line.size() || line[at + 1] != quote) return at + 1;
      ++at;
    }
  }
  return line.size();
}

// ---- values of options ------------------------------------------------------------------------------------------------

// Whether the value behind the option is a secret: by the option's name, or as NAME:PASSWORD of a user.
bool is_secret_of_option(std::string_view option, std::string_view value)
{
  if (looks_secret(option)) return true;
  const auto colon = value.find(':');
  const bool has_password = colon != value.npos && colon > 0 && value.find_first_not_of("0123456789:") != value.npos;
  return (option == "-u" || option.ends_with("-user")) && has_password && value.find("://") == value.npos;
}

struct Part {
  std::size_t begin, end;
};

// The value of the option that ends before `at`. Between the two stands a blank, or what divides the words of a list: `", "` and
// the like, the dash of the next item; or the backslash of a line that goes on. In doubt, too much is the value.
std::optional<Part> value_behind_option(std::string_view text, std::size_t at)
{
  const auto behind = [&](std::string_view bytes, std::size_t from) {
    return std::min(text.find_first_not_of(bytes, from), text.size());
  };
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;
  auto begin = behind(" \t,", at);
  const bool is_in_list = text.substr(at, begin - at).find(',') != text.npos;
  bool is_item = false;
  if (text.substr(begin).starts_with("\\\n")) {
    begin = behind(" \t", begin + 2);
  } else if (begin < text.size() && text[begin] == '\n') {
    begin = behind(" \t\n", begin);
    is_item = text.substr(begin).starts_with("- ");
    if (!is_item && !is_in_list) return std::nullopt;
    if (is_item) begin = behind(" \t", begin + 1);
  } else if (begin == at) {
    return std::nullopt;
  }
  if (begin == text.size()) return std::nullopt;
  if (text[begin] == '"' || text[begin] == '\'') {
    const auto end = end_of_quoted(text, begin);
    return Part{begin + 1, end > begin + 1 && text[end - 1] == text[begin] ? end - 1 : end};
  }
  if (text[begin] == '-') return std::nullopt; // another option
  const auto* ends = is_item ? "\n" : is_in_list ? ",]}\n" : " \t\n\"'`";
  const auto end = std::min(text.find_first_of(ends, begin), text.size());
  return Part{begin, begin + trim(text.substr(begin, end - begin)).size()};
}

// `--api-key VALUE` in any text: commands, lists of YAML and JSON, scripts.
std::string without_option_values(std::string_view text)
{
  constexpr std::string_view before_option = " \t\n\"'`[({,;|&=";
  std::string masked;
  std::size_t done = 0;
  for (auto at = text.find('-'); at != text.npos; at = text.find('-', at)) {
    const auto begin = at;
    while (at < text.size() && (is_name_byte(text[at]) || text[at] == '.')) ++at;
    if (begin < done || (begin > 0 && before_option.find(text[begin - 1]) == text.npos)) continue;
    const auto value = value_behind_option(text, at);
    if (!value || value->begin == value->end) continue;
    if (!is_secret_of_option(text.substr(begin, at - begin), text.substr(value->begin, value->end - value->begin))) continue;
    masked.append(text.substr(done, value->begin - done)).append(secret_mask);
    at = done = value->end;
  }
  return masked.append(text.substr(done));
}

// ---- assignments ------------------------------------------------------------------------------------------------------

// Position after the value that begins at `begin`, behind the mark `:` or `=`. In doubt, too much is a value: a value in a flow
// mapping ends at a comma or a brace, one of the shell at a blank, any other at a comment or the end of the line.
std::size_t end_of_value(std::string_view line, std::size_t begin, char mark, bool in_flow)
{
  if (line[begin] == '"' || line[begin] == '\'') return end_of_quoted(line, begin);
  const auto comment = std::min(line.find(" #", begin), line.size());
  const auto end = mark == '=' ? line.find_first_of(" \t\"'", begin) : in_flow ? line.find_first_of(",}", begin) : line.size();
  return begin + trim(line.substr(begin, std::min(comment, end) - begin)).size();
}

struct MaskedLine {
  std::string text;
  // Lines that are indented deeper than this belong to a secret value; npos: none do.
  std::size_t secret_indent = std::string_view::npos;
};

// Whether the name that begins at `name` is the key of a block mapping: nothing but its indentation, a dash or a quote is before
// it. Lines below that are indented deeper then belong to its value.
bool is_block_key(std::string_view line, std::size_t name)
{
  return line.substr(0, name).find_first_not_of(" \t-\"'") == line.npos;
}

// Whether the name before a colon is a word of a sentence, "unexpected key: seed", and not the key of a mapping.
bool is_in_sentence(std::string_view line, std::size_t begin, std::string_view name)
{
  constexpr std::string_view ambiguous[]{"key", "token", "pass", "auth", "private", "cookie", "pat"};
  if (std::find(std::begin(ambiguous), std::end(ambiguous), name) == std::end(ambiguous)) return false;
  return !is_block_key(line, begin) && line.substr(0, begin).find_first_of("{[,\"'") == line.npos;
}

// `marks`: ":=" or "=" alone.
MaskedLine masked_line(std::string_view line, std::string_view marks)
{
  MaskedLine masked;
  std::size_t done = 0;
  for (auto at = line.find_first_of(marks); at != line.npos; at = line.find_first_of(marks, at + 1)) {
    if (at < done) continue;
    auto name_end = at;
    if (name_end > 0 && (line[name_end - 1] == '"' || line[name_end - 1] == '\'')) --name_end; // a quoted key
    const auto begin = begin_of_name(line, name_end);
    const auto name = line.substr(begin, name_end - begin);
    const bool is_secret = looks_secret(name) && !(line[at] == ':' && is_in_sentence(line, begin, name));
    if (is_secret && line[at] == ':' && is_block_key(line, begin))
      masked.secret_indent = std::min(line.find_first_not_of(" \t-"), line.size());
    const auto value = std::min(line.find_first_not_of(" \t", at + 1), line.size());
    if (value == line.size() || name.empty()) continue;
    const auto end = end_of_value(line, value, line[at], line.substr(0, begin).find('{') != line.npos);
    const auto text = line.substr(value, end - value);
    const auto shown = is_secret ? std::string(secret_mask) : mask_secrets(text, kind_of(name));
    if (shown == text) continue;
    masked.text.append(line.substr(done, value - done)).append(shown);
    done = end;
  }
  masked.text.append(line.substr(done));
  return masked;
}

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
  // A word in one case is a secret only without `-` and `_`, because names join their words by these.
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

// Finds the `@` behind the user part of a URL whose authority begins at `begin`. Returns npos if the URL has no user part. A
// password may hold a slash that should have been escaped; a colon that only begins a port number is none of a password.
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

namespace {

// A variable that is known to be harmless may be a list of paths, divided by colons.
std::string masked_text(std::string_view text, TextKind kind)
{
  std::vector<std::string> lines;
  auto secret_indent = std::string_view::npos;
  for (const auto& line : split(mask_secrets(without_option_values(text), kind), '\n')) {
    const auto indent = std::min(line.find_first_not_of(" \t"), line.size());
    if (secret_indent != std::string_view::npos && (indent > secret_indent || (indent == line.size() && !line.empty()))) {
      if (lines.back() != std::string(secret_indent + 2, ' ') + std::string(secret_mask))
        lines.push_back(std::string(secret_indent + 2, ' ') + std::string(secret_mask));
      continue;
    }
    auto masked = masked_line(line, kind == TextKind::known ? "=" : ":=");
    if (!line.empty()) secret_indent = masked.secret_indent;
    lines.push_back(std::move(masked.text));
  }
  return join(lines, "\n");
}

} // namespace

bool looks_secret(std::string_view name)
{
  if (std::find(std::begin(folder_names), std::end(folder_names), name) != std::end(folder_names)) return false;
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  auto whole = upper(name);
  std::replace(whole.begin(), whole.end(), '-', '_');
  if (std::find(std::begin(innocent_names), std::end(innocent_names), whole) != std::end(innocent_names)) return false;
  const auto words = words_of(whole);
  return whole.find("CONNECTION_STRING") != whole.npos || std::any_of(words.begin(), words.end(), is_word_of_secrets);
}

std::string without_secrets(std::string_view name, std::string_view value)
{
  return looks_secret(name) ? std::string(secret_mask) : masked_text(value, kind_of(name));
}

std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables)
{
  for (auto& [name, value] : variables) value = without_secrets(name, value);
  return variables;
}

std::vector<std::string> without_secrets(std::vector<std::string> words)
{
  std::string before;
  for (auto& word : words) {
    const auto option = std::exchange(before, word);
    const bool is_value =
        option.starts_with('-') && option.find('=') == option.npos && !word.starts_with('-') && is_secret_of_option(option, word);
    word = is_value ? std::string(secret_mask) : without_secrets(std::string_view(word));
  }
  return words;
}

std::string text_without_secrets(const FieldValue& value) { return to_text(without_secrets(value)); }

RunSpec without_secrets(RunSpec spec)
{
  for (const auto& key : spec_keys()) {
    const bool has_text = key.type == KeyType::text || key.type == KeyType::text_list || key.type == KeyType::text_map;
    if (has_text) set_value(spec, key, without_secrets(value_of(spec, key)));
  }
  return spec;
}

std::string without_secrets(std::string_view text) { return masked_text(text, TextKind::prose); }

} // namespace dt
