// The scripts and the style of pages, embedded when dtctl is built (cmake/embed_assets.cmake).
#pragma once

#include <string>
#include <string_view>

namespace dt::cli {

struct Asset {
  std::string_view text;
  std::string_view sha256; // in hexadecimal digits
};

Asset chart_js(); // Chart.js, from the distribution
Asset charts_js();
Asset page_js();
Asset live_js();
Asset page_css();

// Returns "'sha256-…='", the source expression of a Content-Security-Policy that allows the text inline [CSP3, 2.3.1].
std::string csp_source(const Asset& asset);

} // namespace dt::cli
