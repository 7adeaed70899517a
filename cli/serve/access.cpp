#include "cli/serve/access.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

#include <fmt/format.h>
#include <sys/random.h>

namespace dt::cli {
namespace {

// The host of "host", "host:8080" or "[::1]:8080". Empty if what follows it is no port.
std::string_view host_of(std::string_view authority)
{
  const auto colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.ends_with(']')) return authority;
  const auto port = authority.substr(colon + 1);
  const bool is_port = !port.empty() && port.size() <= 5 &&
                       std::all_of(port.begin(), port.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return is_port ? authority.substr(0, colon) : std::string_view();
}

// Through `ssh -L` the port may be another one, so any port is right.
bool is_loopback(std::string_view authority)
{
  constexpr std::array<std::string_view, 3> names{"127.0.0.1", "localhost", "[::1]"};
  return std::find(names.begin(), names.end(), host_of(authority)) != names.end();
}

// A page of another site that loads, frames or fetches this one. A link that the user follows is allowed: it opens a page only if
// its address contains the token.
bool is_from_another_site(const HttpRequest& request)
{
  const auto origin = request.header("origin");
  if (!origin.empty() && origin != "http://" + request.header("host")) return true;
  const auto site = request.header("sec-fetch-site");
  const bool is_own = site.empty() || site == "same-origin" || site == "none";
  return !is_own && request.header("sec-fetch-mode") != "navigate";
}

HttpResponse plain(int status, const std::string& text)
{
  return {.status = status, .type = "text/plain; charset=utf-8", .body = text};
}

std::string_view first_part(std::string_view path)
{
  if (!path.starts_with('/')) return {};
  path.remove_prefix(1);
  return path.substr(0, path.find('/'));
}

} // namespace

std::string new_token()
{
  std::array<unsigned char, 16> bytes{};
  for (std::size_t done = 0; done < bytes.size();) {
    const auto got = ::getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got < 0 && errno != EINTR) throw system_error("getrandom", errno);
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  std::string token;
  for (const auto byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool is_same_secret(std::string_view a, std::string_view b)
{
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < b.size(); ++i)
    difference |= static_cast<unsigned char>(i < a.size() ? a[i] : 0) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

std::optional<HttpResponse> refusal(const HttpRequest& request, std::string_view token)
{
  if (request.method != "GET" && request.method != "HEAD") return plain(405, "The pages can only be read.\n");
  if (!is_loopback(request.header("host"))) return plain(403, "The address must name 127.0.0.1 or localhost.\n");
  if (is_from_another_site(request)) return plain(403, "Other sites may not use these pages.\n");
  if (!is_same_secret(first_part(request.path), token))
    return plain(403, "The address is not complete. Open the one that dtctl serve has printed.\n");
  return std::nullopt;
}

std::string page_name(const HttpRequest& request)
{
  const auto slash = request.path.find('/', 1);
  return slash == std::string::npos ? "" : request.path.substr(slash + 1);
}

} // namespace dt::cli
