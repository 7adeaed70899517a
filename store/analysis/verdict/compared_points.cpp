#include "store/analysis/verdict/compared_points.hpp"

#include "core/counted.hpp"
#include "core/error.hpp"
#include "core/natural_key.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace dt::store {
namespace {

using Size = std::pair<std::int64_t, std::int64_t>;

Size size_of(const ComparedPoint& point) { return {point.nodes, point.ranks}; }

// Whether a label's word, "strategy=sync-sgd", is about the key: "sync_strategy", "sync.strategy" or "strategy".
bool is_about(std::string_view word, std::string_view key)
{
  std::string name(word.substr(0, word.find('='))), path(key);
  std::replace(name.begin(), name.end(), '.', '_');
  std::replace(path.begin(), path.end(), '.', '_');
  return name == path || path.ends_with("_" + name) || name.ends_with("_" + path);
}

bool is_size(std::string_view key)
{
  constexpr std::array<std::string_view, 4> sizes{"nodes", "ranks", "workers", "ranks_per_node"};
  return std::any_of(sizes.begin(), sizes.end(), [&](auto size) { return is_about(size, key); });
}

std::string without_key(const std::string& series, std::string_view key)
{
  auto words = split(series, ' ');
  std::erase_if(words, [&](const auto& word) { return is_about(word, key); });
  return join(words, " ");
}

// Whether runs of one value and size have different labels.
bool differ_in_more(std::span<const Run> runs)
{
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::string> labels;
  return std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
    return !run.is_control && labels.try_emplace({run.value, run.nodes, run.ranks}, run.series).first->second != run.series;
  });
}

void refuse_mixture(const ComparedPoint& point)
{
  std::set<std::string> labels;
  for (const auto& run : point.runs) labels.insert(run.series);
  if (labels.size() < 2) return;
  const std::vector<std::string> listed(labels.begin(), labels.end());
  throw Error(ErrorKind::usage, printable(name_of(point)) + " stands for " + std::to_string(listed.size()) +
                                    " different points; choose one with --where-a (and --where-b):\n  " +
                                    printable_lines(join(listed, "\n  ")));
}

bool has_one_label(const std::vector<ComparedPoint>& points)
{
  return std::all_of(points.begin(), points.end(), [&](const ComparedPoint& point) {
    return point.candidate == points.front().candidate && point.rest == points.front().rest;
  });
}

// What two points must have in common to be compared.
using MatchKey = std::tuple<Size, std::string, std::string>;

// Moves each point of `b` next to the first point of `a` that has its key and no partner yet.
Matching match_by(std::vector<ComparedPoint>& a, std::vector<ComparedPoint>& b,
                  const std::function<MatchKey(const ComparedPoint&)>& key_of)
{
  std::multimap<MatchKey, std::size_t> places; // in `b`; those of one key in the order of `b`
  for (std::size_t i = 0; i < b.size(); ++i) places.emplace(key_of(b[i]), i);
  Matching matching;
  for (auto& point : a) {
    const auto partner = places.lower_bound(key_of(point));
    if (partner == places.end() || partner->first != key_of(point)) {
      matching.only_a.push_back(std::move(point));
      continue;
    }
    matching.pairs.push_back({std::move(point), std::move(b[partner->second])});
    places.erase(partner);
  }
  std::set<std::size_t> left;
  for (const auto& [key, place] : places) left.insert(place);
  for (const auto place : left) matching.only_b.push_back(std::move(b[place]));
  return matching;
}

// "0123456789" of an engine, "files 259f620af1" of a user's own program.
std::string build_text(const Run& run)
{
  constexpr std::string_view files = "files-";
  if (!run.engine_build.starts_with(files)) return short_key(run.engine_build);
  return "files " + short_key(std::string_view(run.engine_build).substr(files.size()));
}

// Something that a fair comparison has in common.
struct Common {
  const char* what;
  std::string (*text)(const Run&);
};

constexpr Common commons[]{
    {"machines", [](const Run& run) { return run.platform.empty() ? "measured" : "simulated on " + run.platform; }},
    {"models", [](const Run& run) { return run.model; }},
    {"data", [](const Run& run) { return run.data_id.substr(0, 10); }},
    {"builds", build_text},
    {"global batches", [](const Run& run) { return std::to_string(run.global_batch); }},
    {"modelled rates", [](const Run& run) { return format_shortest(run.modelled_rate); }},
    {"target accuracies", [](const Run& run) { return format_shortest(run.target_accuracy); }},
};

std::vector<std::string> dependence_names(std::span<const Run> runs)
{
  std::set<std::string> names;
  for (const auto& run : runs)
    for (const auto& [name, text] : run.depends_on) names.insert(name);
  return {names.begin(), names.end()};
}

// The different texts of what the runs depended on by this name; empty if one of them says nothing about it.
std::vector<std::string> dependences_of(const std::string& name, std::span<const Run> runs)
{
  std::set<std::string> texts;
  for (const auto& run : runs) {
    if (run.is_control || !run.succeeded) continue;
    const auto found = run.depends_on.find(name);
    if (found == run.depends_on.end()) return {};
    texts.insert(found->second);
  }
  return {texts.begin(), texts.end()};
}

// A point's runs have one label, so they are all simulated or all measured.
bool is_simulated(const ComparedPoint& point) { return !point.runs.empty() && !point.runs.front().platform.empty(); }

// The candidate without the word that marks simulated runs.
std::string plain_candidate(const ComparedPoint& point)
{
  constexpr std::string_view mark = "simulated";
  std::string_view text = point.candidate;
  if (is_simulated(point) && text.starts_with(mark)) text.remove_prefix(std::min(text.size(), mark.size() + 1));
  return std::string(text);
}

std::string values_of(const Common& common, std::span<const Run> runs)
{
  std::set<std::string> values;
  for (const auto& run : runs)
    if (!run.is_control) values.insert(common.text(run));
  const std::vector<std::string> all(values.begin(), values.end());
  return join(all, " and ");
}

// The parts that are not empty, with commas.
std::string joined(std::vector<std::string> parts)
{
  std::erase(parts, "");
  return join(parts, ", ");
}

void add_once(std::vector<std::string>& sentences, const std::string& sentence)
{
  if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) sentences.push_back(sentence);
}

} // namespace

std::string size_text(std::int64_t nodes, std::int64_t ranks)
{
  const auto text = counted(ranks, "rank");
  return nodes > 1 ? text + " on " + std::to_string(nodes) + " nodes" : text;
}

std::string name_of(const ComparedPoint& point)
{
  return joined({point.candidate, point.rest, size_text(point.nodes, point.ranks)});
}

std::string title_of(const ComparedPoint& point)
{
  return joined({point.title, point.rest_title, size_text(point.nodes, point.ranks)});
}

PointLabels labels_of(std::span<const ComparedPoint> points, const std::map<std::string, std::string>& of_recipe)
{
  std::vector<std::string> labels;
  for (const auto& point : points) labels.push_back(point.candidate);
  return PointLabels(labels, of_recipe);
}

void give_titles(std::vector<ComparedPoint>& points, const PointLabels& labels)
{
  std::vector<std::string> rests;
  for (const auto& point : points) rests.push_back(point.rest);
  const PointLabels others(rests);
  for (auto& point : points) {
    point.title = labels.shown(point.candidate);
    point.rest_title = others.shown(point.rest);
  }
}

std::vector<ComparedPoint> points_without_titles(std::vector<Run> runs, std::string_view key)
{
  const bool with_rest = !key.empty() && differ_in_more(runs);
  using Place = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;
  std::map<Place, ComparedPoint> sorted;
  for (auto& run : runs) {
    if (run.is_control) continue;
    const auto candidate = key.empty() ? run.series : std::string(key) + "=" + run.value;
    const auto rest = with_rest ? without_key(run.series, key) : std::string();
    auto& point = sorted[{natural_key(candidate), candidate, rest, run.ranks, run.nodes}];
    if (point.runs.empty()) point = {.candidate = candidate, .rest = rest, .nodes = run.nodes, .ranks = run.ranks, .runs = {}};
    point.runs.push_back(std::move(run));
  }
  std::vector<ComparedPoint> points;
  for (auto& [place, point] : sorted) {
    refuse_mixture(point);
    points.push_back(std::move(point));
  }
  return points;
}

std::vector<ComparedPoint> points_of(std::vector<Run> runs, std::string_view key,
                                     const std::map<std::string, std::string>& of_recipe)
{
  auto points = points_without_titles(std::move(runs), key);
  give_titles(points, labels_of(points, of_recipe));
  return points;
}

Matching matched(std::vector<ComparedPoint> a, std::vector<ComparedPoint> b)
{
  const auto complaint =
      "no point of A matches one of B by label and size\n  points of A:" + listed(a) + "\n  points of B:" + listed(b);
  if (a.size() == 1 && b.size() == 1) return {{{std::move(a.front()), std::move(b.front())}}, {}, {}};
  const bool only_sizes = has_one_label(a) && has_one_label(b);
  auto matching = match_by(a, b, [&](const ComparedPoint& point) {
    return only_sizes ? MatchKey(size_of(point), {}, {}) : MatchKey(size_of(point), plain_candidate(point), point.rest);
  });
  if (matching.pairs.empty()) throw Error(ErrorKind::usage, complaint);
  return matching;
}

std::vector<Contest> contests_of(std::vector<ComparedPoint> points, std::string_view key)
{
  const bool across_sizes = !key.empty() && is_size(key);
  const bool across_machines = is_about("platform", key);
  std::map<std::tuple<std::string, Size, bool>, Contest> sorted;
  for (auto& point : points) {
    const auto size = across_sizes ? Size() : size_of(point);
    auto& contest = sorted[{point.rest, size, !across_machines && is_simulated(point)}];
    const auto where = across_sizes ? std::string() : size_text(point.nodes, point.ranks);
    contest.name = joined({point.rest, where});
    contest.title = joined({point.rest_title, where});
    contest.points.push_back(std::move(point));
  }
  std::vector<Contest> contests;
  for (auto& [place, contest] : sorted)
    if (contest.points.size() > 1) contests.push_back(std::move(contest));
  return contests;
}

std::string listed(const std::vector<ComparedPoint>& points)
{
  constexpr std::size_t most = 12;
  std::string lines;
  for (std::size_t i = 0; i < std::min(points.size(), most); ++i) lines += "\n    " + printable(name_of(points[i]));
  if (points.size() > most) lines += "\n    and " + std::to_string(points.size() - most) + " more";
  return lines;
}

std::vector<std::string> differences(const Matching& matching)
{
  std::vector<std::string> sentences;
  for (const auto& common : commons)
    for (const auto& pair : matching.pairs) {
      const auto a = values_of(common, pair.a.runs), b = values_of(common, pair.b.runs);
      if (a != b) add_once(sentences, std::string("the ") + common.what + " differ: A has " + a + ", B has " + b);
    }
  for (const auto& pair : matching.pairs)
    for (const auto& name : dependence_names(pair.a.runs)) {
      const auto a = dependences_of(name, pair.a.runs), b = dependences_of(name, pair.b.runs);
      if (!a.empty() && !b.empty() && a != b)
        add_once(sentences, "the " + name + " differ: A has " + join(a, " and ") + "; B has " + join(b, " and "));
    }
  return sentences;
}

std::vector<std::string> differences(std::span<const Contest> contests)
{
  std::vector<std::string> sentences;
  for (const auto& contest : contests) {
    std::vector<Run> runs;
    for (const auto& point : contest.points) runs.insert(runs.end(), point.runs.begin(), point.runs.end());
    for (const auto& common : commons)
      if (const auto values = values_of(common, runs); values.find(" and ") != std::string::npos)
        add_once(sentences, std::string("the ") + common.what + " of the candidates differ: " + values);
    for (const auto& name : dependence_names(runs))
      if (const auto texts = dependences_of(name, runs); texts.size() > 1)
        add_once(sentences, "the " + name + " of the candidates differ: " + join(texts, "; "));
  }
  return sentences;
}

} // namespace dt::store
