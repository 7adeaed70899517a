#include "recipes/reading/document.hpp"

#include "tests/recipes/support.hpp"

#include <catch2/catch.hpp>

using namespace dt::recipes;
using namespace dt::recipes::test;

namespace {

struct Parsed {
  std::optional<Node> root;
  std::string errors;
};

Parsed parse(const std::string& text)
{
  Diagnostics diagnostics;
  Parsed parsed{parse_document({std::make_shared<const std::string>("f"), text}, diagnostics), ""};
  try {
    diagnostics.throw_if_any();
  } catch (const RecipeError& error) {
    parsed.errors = error.what();
  }
  return parsed;
}

std::string errors(const std::string& text) { return parse(text).errors; }

// The tree on one line: maps in {}, lists in [], quoted texts in "".
std::string show(const Node& node)
{
  std::string text;
  switch (node.kind) {
  case Node::Kind::null:
    return "~";
  case Node::Kind::scalar:
    return node.quoted ? '"' + node.text + '"' : node.text;
  case Node::Kind::list:
    for (const auto& item : node.items) text += (text.empty() ? "" : " ") + show(item);
    return "[" + text + "]";
  case Node::Kind::map:
    for (const auto& entry : node.entries) text += (text.empty() ? "" : " ") + entry.key + ":" + show(entry.value);
    return "{" + text + "}";
  }
  return text;
}

std::string tree(const std::string& text)
{
  const auto parsed = parse(text);
  CHECK(parsed.errors.empty());
  REQUIRE(parsed.root);
  return show(*parsed.root);
}

} // namespace

TEST_CASE("a word with a bracket that is not in quotes is named")
{
  const std::string advice = " contains a bracket, which begins a list or a map; put it in quotes";
  CHECK(errors("a: [--nodelist=node[0-1]]\n") == "f:1:20: not valid YAML: `--nodelist=node[0-1]`" + advice);
  CHECK_THAT(errors("a: [x, 'node[0]', --exclude=n[1-2,4], y]\n"), Catch::Contains("`--exclude=n[1-2,4]`" + advice));
  CHECK_THAT(errors("a: { b: c{d} }\n"), Catch::Contains("`c{d}`" + advice));
  CHECK(tree("a: [\"--nodelist=node[0-1]\", 'x[1]', [1, 2]]\nb: node[0-1]\n") ==
        "{a:[\"--nodelist=node[0-1]\" \"x[1]\" [1 2]] b:node[0-1]}");
}

TEST_CASE("a key with a character that looks like another or like nothing is named with its code point")
{
  CHECK_THAT(errors("a:\n  lear\u00ADning: 1\n"), Catch::Contains("contains U+00AD, which is invisible; type it again"));
  CHECK_THAT(errors("a: 1\n\u00A0b: 2\n"), Catch::Contains("U+00A0, which looks like a blank"));
  CHECK_THAT(errors("a\u2010b: 1\n"), Catch::Contains("U+2010, which looks like `-`"));
  CHECK(errors("n\u0430me: 1\n") == "f:1:2: the key `n\u0430me` contains U+0430, which looks like `a`; type it again");
  CHECK_THAT(errors("version\uFF1A 1\nname: a\n"),
             Catch::Contains("line 1 contains U+FF1A, which looks like `:`, as its character 8"));
  CHECK(errors("# \u2014 a dash in a comment \u00A0\na: 1 # \u2212\n").empty());
}

TEST_CASE("an empty document is nothing, and one keeps order, quotes and nothing, and tabs between words are no indentation")
{
  CHECK(tree("b: 1\na: [x, \"2\", ~]\nc:\n  d: |\n    line\n") == "{b:1 a:[x \"2\" ~] c:{d:\"line\n\"}}");
  CHECK(tree("") == "~");
  CHECK(tree("# only a comment\n") == "~");
  CHECK(tree("---\n...\n") == "~");
  CHECK(tree("a:\t1\t# comment\nb: [1,\t2]\n") == "{a:1 b:[1 2]}");
}

TEST_CASE("keys and values know their line and column, counted in characters")
{
  const auto parsed = parse("é: [1,\n  ü, {x: y}]\n");
  REQUIRE(parsed.root);
  const auto& list = parsed.root->entries.front().value;
  CHECK(parsed.root->entries.front().mark.column == 1);
  CHECK(list.mark.column == 4);
  CHECK(list.items[1].mark.line == 2);
  CHECK(list.items[1].mark.column == 3);
  CHECK(list.items[2].entries[0].mark.column == 7);
  CHECK(list.items[2].entries[0].value.mark.column == 10);
}

TEST_CASE("an alias stands for its anchor's value, and a merge key adds what is not there, from the earlier map first")
{
  CHECK(tree("a: &x [1, 2]\nb: *x\n") == "{a:[1 2] b:[1 2]}");
  CHECK(errors("a: *x\n") == "f:1:4: not valid YAML: this alias has no anchor before it");
  CHECK(errors("a: &x [*x]\n") == "f:1:8: an alias inside the value that it refers to");
  CHECK(tree("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3, z: 4}\n") == "{a:{x:1 y:2} b:{y:3 z:4 x:1}}");
  CHECK(tree("- &a {x: 1}\n- &b {x: 2, y: 2}\n- <<: [*a, *b]\n") == "[{x:1} {x:2 y:2} {x:1 y:2}]");
  CHECK(tree("{\"<<\": 1}") == "{<<:1}");
  CHECK(errors("a: {<<: 3}\n") == "f:1:9: `<<` merges a map or a list of maps, not `3`");
  CHECK(errors("a: {<<: [{x: 1}, y]}\n") == "f:1:18: `<<` merges a map or a list of maps, not `y`");
}

TEST_CASE("a key must be a word that is given once, also across quotes, and a tag has no meaning")
{
  const auto parsed = parse("? [a]\n: b\n? {c: d}\n: e\n~: f\ng: h\n");
  CHECK(parsed.errors == "f:1:3: a key must be a word, not a list\nf:3:3: a key must be a word, not a map\n"
                         "f:5:1: a key must be a word, not nothing");
  CHECK(show(*parsed.root) == "{g:h}");
  for (const auto& [text, tag] : {std::pair{"a: !!str 1\n", "tag:yaml.org,2002:str"}, {"a: !mine {b: 1}\n", "!mine"}})
    CHECK_THAT(errors(text), Catch::StartsWith("f:1:4: the tag `" + std::string(tag) + "` has no meaning here"));
  CHECK(errors("a: 1\nb: 2\na: 3\n") == "f:3:1: the key `a` is given twice, first in line 1");
  CHECK(errors("{a: 1, \"a\": 2}") == "f:1:8: the key `a` is given twice, first in line 1");
  CHECK(show(*parse("a: 1\na: 2\n").root) == "{a:1}");
}

TEST_CASE("nesting is refused beyond 64 levels, however it is made")
{
  const std::string message = "nested deeper than 64 levels";
  CHECK(tree(std::string(64, '[') + std::string(64, ']')).size() == 128);
  CHECK(errors(std::string(65, '[') + std::string(65, ']')) == "f:1:65: " + message);
  CHECK_THAT(errors(std::string(100'000, '[')), Catch::EndsWith(message));
  CHECK_THAT(errors(std::string(100'000, '{')), Catch::EndsWith(message));
  std::string dashes, questions;
  for (int i = 0; i < 50'000; ++i) dashes += "- ", questions += "? ";
  CHECK(errors(dashes) == "f:1:129: " + message);
  CHECK(errors(questions) == "f:1:129: " + message);
  CHECK(errors("a: &a " + std::string(40, '[') + std::string(40, ']') + "\nb: " + std::string(40, '[') + "*a" +
               std::string(40, ']')) == "f:2:44: " + message);
}

TEST_CASE("aliases that multiply, or anchors around a large value, are refused before they fill the memory")
{
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const auto inner = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + inner;
    for (int j = 1; j < 10; ++j) bomb += ", " + inner;
    bomb += "]\n";
  }
  CHECK_THAT(errors(bomb), Catch::EndsWith("more than 500000 values, counting each anchor and alias in full"));
  std::string values;
  for (int i = 0; i < 100'000; ++i) values += "x,";
  std::string text;
  for (int i = 0; i < 10; ++i) text += "&a" + std::to_string(i) + " [";
  CHECK_THAT(errors(text + values + std::string(10, ']')),
             Catch::EndsWith("more than 500000 values, counting each anchor and alias in full"));
}

TEST_CASE("a file holds one document, and text that belongs to nothing is no further one")
{
  CHECK(errors("a: 1\n---\nb: 2\n") == "f:2:1: a second document starts here; a file may contain only one");
  CHECK(tree("---\na: 1\n...\n") == "{a:1}");
  CHECK(errors(", b: ? \n") == "f:1:1: not valid YAML: `, b: ?` does not fit the text before it");
  CHECK(errors("a: 1\n}\n") == "f:2:1: not valid YAML: a closing bracket without its opening one");
}

TEST_CASE("syntax errors say what to look for, and a quote that is never closed does not swallow the rest of the file")
{
  CHECK_THAT(errors("a: b: c\n"),
             Catch::StartsWith("f:1:5: not valid YAML: a `:` where no key is allowed; check the indentation"));
  CHECK(errors("a:\n\tb: 1\n") == "f:2:3: not valid YAML: a tab in the indentation; YAML requires spaces");
  CHECK(errors("a:\n  b: 1\n\tc: 2\n") == "f:3:1: not valid YAML: a tab in the indentation; YAML requires spaces");
  CHECK(errors("a: %b\n") == "f:1:4: not valid YAML: no value can start with this character; put it in quotes");
  const std::string message = "not valid YAML: the file ends inside a quoted text; a quote is missing";
  CHECK(errors("a: 'b\nc: 1\n") == "f:3:2: " + message);
  CHECK(errors("a: \"b\nc: 1\n\n") == "f:4:2: " + message);
  CHECK(errors("a: 'b") == "f:1:6: " + message);
  CHECK(tree("a: |\n  x\n") == "{a:\"x\n\"}");
  CHECK(tree("a: 'it''s'\n") == "{a:\"it's\"}");
}
