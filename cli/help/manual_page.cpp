// Generates dtctl(1) from the registered verbs and options, so that it always matches the program.
#include "cli/help/completion.hpp"
#include "cli/help/help.hpp"
#include "core/text.hpp"

namespace dt::cli {
namespace {

// Escapes a text for roff: backslashes, hyphens, and lines that look like a request.
std::string roff(const std::string& text)
{
  std::string escaped;
  bool at_line_begin = true;
  for (const char c : text) {
    if (at_line_begin && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
    at_line_begin = c == '\n';
  }
  return escaped;
}

std::string verbatim(const std::string& text) { return text.empty() ? "" : ".PP\n.nf\n" + roff(text) + "\n.fi\n"; }

std::string entry(const std::string& what, const std::string& does) { return ".TP\n.B " + roff(what) + "\n" + roff(does) + "\n"; }

void append_verb(std::string& page, const CLI::App& verb)
{
  page += ".SS \"" + roff(usage_line(verb)) + "\"\n" + roff(verb.get_description()) + "\n";
  for (const auto* option : positionals(verb)) page += entry(option->get_name(true, false), option->get_description());
  for (const auto* option : visible_options(verb)) page += entry(signature(*option), option->get_description());
  page += verbatim(verb.get_footer());
  for (const auto* below : visible_verbs(verb)) append_verb(page, *below);
}

} // namespace

std::string manual_page(const CLI::App& root)
{
  std::string page = ".TH DTCTL 1 \"\" \"dtctl " DTCTL_VERSION "\" \"User Commands\"\n"
                     ".SH NAME\ndtctl \\- " +
                     roff(root.get_description()) +
                     "\n"
                     ".SH SYNOPSIS\n.B " +
                     roff(usage_line(root)) + "\n.SH OPTIONS\n";
  for (const auto* option : visible_options(root)) page += entry(signature(*option), option->get_description());
  page += ".SH VERBS\n";
  for (const auto* verb : visible_verbs(root)) append_verb(page, *verb);
  return page + ".SH NOTES\n" + verbatim(root.get_footer());
}

} // namespace dt::cli
