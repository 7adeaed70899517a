// Who may see the pages of `dtctl serve`.
#include "cli/serve/access.hpp"

#include <catch2/catch.hpp>

using namespace dt::cli;

TEST_CASE("secrets are the same only if all of their bytes are, and a token is 32 hexadecimal digits that no other has")
{
  const auto token = new_token();
  CHECK(token.size() == 32);
  CHECK(token.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(new_token() != token);
  CHECK(is_same_secret("abc", "abc"));
  for (const auto* other : {"abd", "ab", "abcd", ""}) CHECK_FALSE(is_same_secret(other, "abc"));
}

TEST_CASE("the name of a page is what follows the token in its path")
{
  CHECK(page_name({.method = "GET", .path = "/token/study", .parameters = {}, .headers = {}}) == "study");
  CHECK(page_name({.method = "GET", .path = "/token/", .parameters = {}, .headers = {}}).empty());
  CHECK(page_name({.method = "GET", .path = "/token/assets/page.css", .parameters = {}, .headers = {}}) == "assets/page.css");
}

TEST_CASE("only names of the loopback are hosts of the pages, with any port")
{
  const auto is_refused = [](const std::string& host) {
    return refusal({.method = "GET", .path = "/token/", .parameters = {}, .headers = {{"host", host}}}, "token").has_value();
  };
  for (const char* host : {"127.0.0.1", "127.0.0.1:80", "localhost", "localhost:65535", "[::1]", "[::1]:80"}) {
    INFO(host);
    CHECK_FALSE(is_refused(host));
  }
  for (const char* host :
       {"", "evil.example", "127.0.0.1.evil.example", "localhost:", "localhost:port", "localhost:80:80", "127.0.0.2", "[::2]"}) {
    INFO(host);
    CHECK(is_refused(host));
  }
}
