// Decides who may see the pages of `dtctl serve`. The loopback of a login node is shared with other users, and a browser sends
// requests to it for any page that it shows; so each address contains a secret, and requests that look like another site's are
// refused.
#pragma once

#include "cli/serve/http_server.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dt::cli {

// 128 random bits of the kernel as 32 hexadecimal digits.
std::string new_token();

// Whether the texts are equal. The time does not depend on where they differ.
bool is_same_secret(std::string_view a, std::string_view b);

// Why the request is refused; nothing if it may be answered:
//   405  the method is not GET or HEAD
//   403  the Host header does not name the loopback (DNS rebinding), another site asks (Origin, Sec-Fetch-Site), or the path does
//   not
//        begin with the token
std::optional<HttpResponse> refusal(const HttpRequest& request, std::string_view token);

// The part of the path behind "/TOKEN/": "", "study", "assets/page.css".
std::string page_name(const HttpRequest& request);

} // namespace dt::cli
