// Texts and tables as HTML.
#include "cli/report/html/assets.hpp"
#include "cli/report/html/markup.hpp"
#include "cli/report/html/page.hpp"
#include "core/machine/process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fstream>

#include <catch2/catch.hpp>

using Catch::Contains;
using namespace dt;
using namespace dt::cli;

TEST_CASE("text as HTML has no character with a meaning of its own")
{
  CHECK(escaped("a<b>&\"c\"'d'") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  CHECK(escaped("red\x1b[31m\xff") == "red\\x1b[31m\\xff");
  CHECK(escaped("two\nlines") == "two\nlines");
}

TEST_CASE("JSON in a script element cannot end the element")
{
  const auto text = script_json({{"name", "</script><!--<script>"}});
  CHECK_THAT(text, !Contains("<"));
  CHECK(Json::parse(text).at("name") == "</script><!--<script>");
}

TEST_CASE("columns that are only for programs are in the page, hidden, for the file that a reader saves")
{
  const Table table{"points", {{"shown", "title"}, {"hidden", ""}}, {{text_cell("a"), real_cell(1.25)}}};
  const auto html = table_html(table, "points");
  CHECK_THAT(html, Contains("<th scope=\"col\" data-name=\"hidden\" class=\"more\">"));
  CHECK_THAT(html, Contains("<td class=\"more\" data-v=\"1.25\"></td>"));
}

TEST_CASE("a link is on the first cell that is shown")
{
  const Table table{"runs", {{"hidden", ""}, {"key", "key"}}, {{text_cell("x"), text_cell("3f2a")}}};
  CHECK_THAT(table_html(table, "runs", {"run?key=3f2a&x=\"<"}),
             Contains("<td><a href=\"run?key=3f2a&amp;x=&quot;&lt;\">3f2a</a></td>"));
}

TEST_CASE("the policy of a page names the SHA-256 of its scripts, as Python computes it")
{
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "page.js", std::ios::binary) << page_js().text;
  const auto hash =
      run_command({"/usr/bin/python3", "-c",
                   "import base64, hashlib, sys\n"
                   "print(base64.b64encode(hashlib.sha256(open(sys.argv[1], 'rb').read()).digest()).decode(), end='')",
                   (folder.path() / "page.js").string()});
  CHECK(csp_source(page_js()) == "'sha256-" + hash.out + "'");
  CHECK_THAT(content_security_policy(Delivery::file), Contains(csp_source(page_js())));
}
