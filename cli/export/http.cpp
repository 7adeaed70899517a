#include "cli/export/http.hpp"

#include "core/file.hpp"
#include "core/number.hpp"
#include "core/process.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

namespace dt::cli {
namespace {

namespace fs = std::filesystem;

constexpr double longest_s = 300; // of a request with its repetitions, if curl does not keep its own limits
constexpr std::uintmax_t largest_answer_bytes = 64 * 1024 * 1024; // a page of 1,000 runs with all their tags has about 10 MB

bool is_url_character(char c)
{
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("-._~:/[]!$&'()*+,;=%").find(c) != std::string_view::npos;
}

fs::path make_private_folder()
{
  auto pattern = (fs::temp_directory_path() / "dtctl-export-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw system_error("make a folder like " + pattern, errno);
  return pattern;
}

// A line of curl's configuration: name = "value".
std::string option(std::string_view name, std::string_view value)
{
  std::string line = std::string(name) + " = \"";
  for (const char c : value) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + "\"\n";
}

std::string authorization(const Credentials& credentials)
{
  if (!credentials.user.empty() && !credentials.password.empty())
    return option("user", credentials.user + ":" + credentials.password);
  return credentials.token.empty() ? "" : option("header", "Authorization: Bearer " + credentials.token);
}

// curl's own limit does not hold for answers without a length, so the system's limit on the size of a file does. With SIGXFSZ
// ignored, the write fails that would go beyond it.
CommandResult run_curl(const std::string& configuration)
{
  constexpr int no_such_program = 127;
  constexpr std::uintmax_t bytes_a_block = 512; // the unit of ulimit -f
  // -q: the user's ~/.curlrc could change what is printed.
  const auto script = fmt::format("trap '' XFSZ; ulimit -f {}; exec curl -q --config -", largest_answer_bytes / bytes_a_block);
  auto result = run_command({"/bin/sh", "-c", script}, longest_s, configuration);
  if (result.exit_code == no_such_program)
    throw Error(ErrorKind::environment,
                "the program curl, which sends HTTP requests, is not installed; install it (Debian: apt-get install curl)");
  return result;
}

// "curl: (7) Failed to connect …" without the program's name, or how the program ended.
std::string complaint_of(const CommandResult& result)
{
  if (result.timed_out) return fmt::format("no answer within {} s", longest_s);
  auto said = trim(result.err);
  if (said.starts_with("curl: ")) said.remove_prefix(6);
  return said.empty() ? fmt::format("curl ended with exit code {}", result.exit_code) : printable(said);
}

} // namespace

std::string checked_url(const std::string& url)
{
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::usage, "--to " + printable(url) + ": " + why + "; an example: --to http://127.0.0.1:5000");
  };
  if (url.find('@') != std::string::npos) // first, because other messages repeat the URL, and it may hold a password
    throw Error(ErrorKind::usage, "--to takes no user name and no password, which every list of processes would show; set "
                                  "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD");
  const auto scheme = url.starts_with("http://") ? 7U : url.starts_with("https://") ? 8U : 0U;
  if (scheme == 0) refuse("the URL must begin with http:// or https://");
  const auto host = url.substr(scheme, url.find('/', scheme) - scheme);
  if (host.empty() || host.front() == ':') refuse("the URL names no host");
  if (!std::all_of(url.begin(), url.end(), is_url_character))
    refuse("the URL holds a character that the address of a server cannot hold");
  return url.substr(0, url.find_last_not_of('/') + 1);
}

std::string percent_encoded(const std::string& text)
{
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte < 0x80 && (std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos);
    encoded += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return encoded;
}

HttpClient::HttpClient(std::string url, Credentials credentials)
    : url_(std::move(url)), credentials_(std::move(credentials)), folder_(make_private_folder())
{
}

HttpClient::~HttpClient()
{
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string HttpClient::configuration(const Request& request) const
{
  auto text = option("url", url_ + request.path) + option("request", request.method) + option("proto", "=http,https") +
              "silent\nshow-error\ngloboff\nconnect-timeout = 10\nmax-time = 60\n" +
              option("output", (folder_ / "answer").string()) + option("write-out", "%{http_code}") + authorization(credentials_);
  if (!request.body.empty())
    text += option("header", "Content-Type: application/json") + option("header", "Expect:") +
            option("data-binary", "@" + (folder_ / "request").string());
  // The server may ask for a pause (Retry-After). curl stops retrying after 30 s.
  if (request.repeatable) text += "retry = 2\nretry-delay = 1\nretry-max-time = 30\n";
  return text;
}

Answer HttpClient::send(const Request& request) const
{
  fs::remove(folder_ / "answer");
  if (!request.body.empty()) replace_file(folder_ / "request", request.body);
  const auto result = run_curl(configuration(request));
  if (std::error_code none; fs::file_size(folder_ / "answer", none) >= largest_answer_bytes && !none)
    throw Error(
        ErrorKind::environment,
        fmt::format("{} {}{}: the answer has more than {} MiB, so it does not come from an MLflow server. Is the URL of --to "
                    "right?",
                    request.method, url_, printable(request.path), largest_answer_bytes / 1024 / 1024));
  Answer answer;
  answer.status = leading_number<int>(result.out).value_or(0);
  if (!result.ok() || answer.status == 0)
    throw Error(ErrorKind::environment,
                fmt::format("{} {}{}: {}. Is the server running, and is its URL right? Export again when it answers.",
                            request.method, url_, printable(request.path), complaint_of(result)));
  answer.body = read_file_if_exists(folder_ / "answer").value_or("");
  return answer;
}

} // namespace dt::cli
