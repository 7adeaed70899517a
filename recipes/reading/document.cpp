// The only file that includes yaml-cpp. It uses yaml-cpp's events instead of its nodes: a node tree loses duplicate keys, aliases
// and quotes, and can grow without limit before the document can be refused.
#include "recipes/reading/document.hpp"

#include "core/odd_characters.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace dt::recipes {
namespace {

// Converts yaml-cpp's lines and byte columns, counted from 0, to lines and character columns, counted from 1.
class Places {
 public:
  explicit Places(const Source& source) : source_(source)
  {
    starts_.push_back(0);
    for (std::size_t i = 0; i < source.text.size(); ++i)
      if (source.text[i] == '\n') starts_.push_back(i + 1);
    const auto is_wide = [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; };
    if (std::none_of(source.text.begin(), source.text.end(), is_wide)) return;
    characters_.reserve(source.text.size() + 1);
    std::uint32_t count = 0;
    for (const char c : source.text) {
      characters_.push_back(count);
      if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
    }
    characters_.push_back(count);
  }

  Mark mark_of(const YAML::Mark& place) const
  {
    if (!source_.has_lines || place.line < 0) return source_.whole();
    return {source_.name, place.line + 1, 1 + column_of(place)};
  }

  // The text from a place to the end of its line.
  std::string_view rest_of_line(const YAML::Mark& place) const
  {
    return line_of(place).substr(std::min(line_of(place).size(), std::size_t(place.column)));
  }

  std::string_view line_of(const YAML::Mark& place) const
  {
    if (place.line < 0 || std::size_t(place.line) >= starts_.size()) return {};
    const std::string_view text = std::string_view(source_.text).substr(starts_[std::size_t(place.line)]);
    return text.substr(0, text.find('\n'));
  }

 private:
  int column_of(const YAML::Mark& place) const
  {
    if (characters_.empty() || std::size_t(place.line) >= starts_.size()) return place.column;
    const auto start = starts_[std::size_t(place.line)];
    const auto end = std::min(start + std::size_t(place.column), source_.text.size());
    return static_cast<int>(characters_[end] - characters_[start]);
  }

  const Source& source_;
  std::vector<std::size_t> starts_;       // offsets at which lines start
  std::vector<std::uint32_t> characters_; // number of characters before each byte; empty if every byte is a character
};

// The document cannot be used at all. The exception passes through yaml-cpp's parser.
struct Refusal : std::runtime_error {
  Refusal(Mark where, const std::string& message) : std::runtime_error(message), mark(std::move(where)) {}
  Mark mark;
};

// A finished part of the tree, with the number of nodes that a copy of it adds.
struct Part {
  Node node;
  std::size_t nodes = 1;
  int height = 1;
};

// Builds the tree from the parser's events.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const Places& places, Diagnostics& diagnostics) : places_(places), diagnostics_(diagnostics) {}

  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override
  {
    if (++documents_ == 1) return;
    // yaml-cpp reads left-over text as another document, for some texts in an endless loop.
    const auto rest = places_.rest_of_line(mark);
    if (rest.starts_with("---")) refuse(mark, "a second document starts here; a file may contain only one");
    refuse(mark, "not valid YAML: " + ticked(trim(rest)) + " does not fit the text before it");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { finish({node_at(mark, Node::Kind::null)}, anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override
  {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias inside the value that it refers to");
    if (int(stack_.size()) + found->second.height > deepest_nesting) refuse_depth(mark);
    count(found->second.nodes, places_.mark_of(mark));
    place(found->second, places_.mark_of(mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& value) override
  {
    check_tag(mark, tag);
    Part part{node_at(mark, Node::Kind::scalar)};
    part.node.text = value;
    part.node.quoted = tag != "?";
    finish(std::move(part), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override
  {
    start(mark, tag, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value) override
  {
    start(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override
  {
    finish_map(stack_.back().part);
    end();
  }

 private:
  struct Frame {
    Part part;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;                // of a map: a key waits for its value
    bool skip_value = false;             // of a map: the key was refused
    std::vector<std::size_t> merge = {}; // of a map: entries whose key is an unquoted <<
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const
  {
    throw Refusal(places_.mark_of(mark), message);
  }
  [[noreturn]] void refuse_depth(const YAML::Mark& mark) const
  {
    refuse(mark, "nested deeper than " + std::to_string(deepest_nesting) + " levels");
  }

  Node node_at(const YAML::Mark& mark, Node::Kind kind) const
  {
    Node node;
    node.kind = kind;
    node.mark = places_.mark_of(mark);
    return node;
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag)
  {
    if (tag.empty() || tag == "?" || tag == "!") return;
    diagnostics_.add(places_.mark_of(mark),
                     "the tag " + ticked(tag) +
                         " has no meaning here; remove it, and put texts that look like numbers in quotes");
  }

  void count(std::size_t nodes, const Mark& mark)
  {
    nodes_ += nodes;
    if (nodes_ > most_nodes)
      throw Refusal(mark, "more than " + std::to_string(most_nodes) + " values, counting each anchor and alias in full");
  }

  void keep(YAML::anchor_t anchor, const Part& part)
  {
    count(part.nodes, part.node.mark);
    anchors_[anchor] = part;
  }

  void start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind)
  {
    if (int(stack_.size()) == deepest_nesting) refuse_depth(mark);
    count(1, places_.mark_of(mark));
    check_tag(mark, tag);
    stack_.push_back({{node_at(mark, kind)}, anchor});
  }

  void end()
  {
    auto frame = std::move(stack_.back());
    stack_.pop_back();
    if (frame.anchor != YAML::NullAnchor) keep(frame.anchor, frame.part);
    const auto mark = frame.part.node.mark;
    place(std::move(frame.part), mark);
  }

  void finish(Part part, YAML::anchor_t anchor)
  {
    count(1, part.node.mark);
    if (anchor != YAML::NullAnchor) keep(anchor, part);
    const auto mark = part.node.mark;
    place(std::move(part), mark);
  }

  // Adds a finished part to its parent. `mark` is the place where it is used.
  void place(Part part, const Mark& mark)
  {
    if (stack_.empty()) {
      root_ = std::move(part.node);
      return;
    }
    auto& frame = stack_.back();
    frame.part.nodes += part.nodes;
    frame.part.height = std::max(frame.part.height, part.height + 1);
    auto& parent = frame.part.node;
    if (parent.kind == Node::Kind::list) {
      parent.items.push_back(std::move(part.node));
    } else if (!std::exchange(frame.has_key, !frame.has_key)) {
      place_key(frame, part.node, mark);
    } else if (!frame.skip_value) {
      parent.entries.back().value = std::move(part.node);
    }
  }

  void place_key(Frame& frame, const Node& key, const Mark& mark)
  {
    auto& entries = frame.part.node.entries;
    frame.skip_value = key.kind != Node::Kind::scalar;
    if (frame.skip_value) {
      diagnostics_.add(mark, "a key must be a word, not " + describe(key));
      return;
    }
    if (const auto odd = find_odd_character(key.text)) {
      frame.skip_value = true;
      auto place = mark;
      if (place.line > 0) place.column += static_cast<int>(display_width(key.text.substr(0, odd->offset))) + (key.quoted ? 1 : 0);
      diagnostics_.add(place, "the key " + ticked(key.text) + " contains " + odd->words + "; type it again");
      return;
    }
    if (!key.quoted && key.text == "<<") frame.merge.push_back(entries.size());
    entries.push_back({key.text, mark, {}});
  }

  void finish_map(Part& part)
  {
    auto& entries = part.node.entries;
    const auto merges = std::move(stack_.back().merge);
    std::vector<Entry> merged;
    for (auto at = merges.rbegin(); at != merges.rend(); ++at) {
      merged.push_back(std::move(entries[*at]));
      entries.erase(entries.begin() + std::ptrdiff_t(*at));
    }
    std::unordered_map<std::string, int> lines;
    std::erase_if(entries, [&](const Entry& entry) { return is_duplicate(entry, lines); });
    std::unordered_set<std::string> known;
    for (const auto& entry : entries) known.insert(entry.key);
    for (auto at = merged.rbegin(); at != merged.rend(); ++at) merge(part.node, at->value, known);
  }

  bool is_duplicate(const Entry& entry, std::unordered_map<std::string, int>& lines)
  {
    const auto [first, is_new] = lines.emplace(entry.key, entry.mark.line);
    if (!is_new)
      diagnostics_.add(entry.mark, "the key " + ticked(entry.key) + " is given twice" +
                                       (first->second > 0 ? ", first in line " + std::to_string(first->second) : ""));
    return !is_new;
  }

  // Handles `<<: *map` and `<<: [*map, …]`: adds keys that are not there yet; earlier maps win.
  void merge(Node& into, const Node& from, std::unordered_set<std::string>& known)
  {
    if (from.kind == Node::Kind::list) {
      for (const auto& item : from.items) merge(into, item, known);
      return;
    }
    if (from.kind != Node::Kind::map) {
      diagnostics_.add(from.mark, "`<<` merges a map or a list of maps, not " + describe(from));
      return;
    }
    for (const auto& entry : from.entries)
      if (known.insert(entry.key).second) into.entries.push_back(entry);
  }

  const Places& places_;
  Diagnostics& diagnostics_;
  Node root_;
  std::vector<Frame> stack_;
  std::unordered_map<YAML::anchor_t, Part> anchors_;
  std::size_t nodes_ = 0;
  int documents_ = 0;
};

// Explains the parser's short messages to the author of a recipe.
std::string explain(std::string_view message)
{
  struct Explanation {
    std::string_view message, meaning;
  };
  static constexpr Explanation known[] = {
      {"illegal map value", "a `:` where no key is allowed; check the indentation, and put texts that contain `: ` in quotes"},
      {"illegal map key", "a key where none is allowed; check the indentation"},
      {"illegal block entry", "a `-` where no list item is allowed; check the indentation"},
      {"illegal tab when looking for indentation", "a tab in the indentation; YAML requires spaces"},
      {"illegal EOF in scalar", "the file ends inside a quoted text; a quote is missing"},
      {"illegal flow end", "a closing bracket without its opening one"},
      {"end of sequence flow not found", "a `[` is never closed, or a `,` is missing"},
      {"end of map flow not found", "a `{` is never closed, or a `,` is missing"},
      {"end of map not found", "this line does not fit the map that contains it; check the indentation"},
      {"end of sequence not found", "this line does not fit the list that contains it; check the indentation"},
      {"unknown token", "no value can start with this character; put it in quotes"},
      {"the referenced anchor is not defined", "this alias has no anchor before it"},
  };
  for (const auto& [text, meaning] : known)
    if (text == message) return std::string(meaning);
  return printable(message);
}

// A word of the line that contains a bracket although it is not in quotes: "--nodelist=node[0-1]".
std::string word_with_bracket(std::string_view line)
{
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0 || c == '"' || c == '\'') {
      quote = quote == 0 ? c : quote == c ? char{0} : quote;
      begin = i + 1;
    } else if (std::string_view(" \t,[]{}").find(c) != std::string_view::npos) {
      if ((c == '[' || c == '{') && i > begin) {
        const auto end = std::min(line.find_first_of("]}", i), line.size() - 1);
        return std::string(line.substr(begin, end + 1 - begin));
      }
      begin = i + 1;
    }
  }
  return {};
}

std::string describe_error(const YAML::Exception& error, const Places& places)
{
  auto place = error.mark;
  for (int up = 0; up < 2 && place.line >= 0; ++up, --place.line) // the parser may notice it in the next line
    if (const auto odd = find_odd_character(places.line_of(place)))
      return fmt::format("not valid YAML: line {} contains {}, as its character {}; type it again", place.line + 1, odd->words,
                         display_width(places.line_of(place).substr(0, odd->offset)) + 1);
  const bool is_flow = error.msg.find("flow") != std::string::npos || error.msg.find("end of ") == 0;
  if (const auto word = word_with_bracket(places.line_of(error.mark)); is_flow && !word.empty())
    return "not valid YAML: " + ticked(word) + " contains a bracket, which begins a list or a map; put it in quotes";
  const auto line = places.line_of(error.mark);
  const auto indentation = line.substr(0, line.find_first_not_of(" \t"));
  if (indentation.find('\t') != std::string_view::npos)
    return "not valid YAML: " + explain("illegal tab when looking for indentation");
  return "not valid YAML: " + explain(error.msg);
}

} // namespace

std::string describe(const Node& node)
{
  switch (node.kind) {
  case Node::Kind::null:
    return "nothing";
  case Node::Kind::scalar:
    return node.quoted ? "the text " + ticked(node.text) : ticked(node.text);
  case Node::Kind::list:
    return "a list";
  case Node::Kind::map:
    return "a map";
  }
  return "nothing";
}

std::optional<Node> parse_document(const Source& source, Diagnostics& diagnostics)
{
  const Places places(source);
  Builder builder(places, diagnostics);
  try {
    // If a quoted text is not closed, yaml-cpp lets it end with the last line. The added comment turns that into an error.
    std::istringstream stream(source.text.ends_with('\n') ? source.text + "#" : source.text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    auto root = builder.take_root();
    if (!root.mark.file) root.mark = source.whole();
    return root;
  } catch (const Refusal& refusal) {
    diagnostics.add(refusal.mark, refusal.what());
  } catch (const YAML::Exception& error) {
    diagnostics.add(places.mark_of(error.mark), describe_error(error, places));
  }
  return std::nullopt;
}

} // namespace dt::recipes
