#include "store/analysis/doubts/separation.hpp"

#include "core/machine/host_list.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dt::store {
namespace {

constexpr double least_busy_difference = 0.05; // of busy shares

std::set<std::string> studies_of(std::span<const Measured> runs)
{
  std::set<std::string> studies;
  for (const auto& run : runs) studies.insert(run.study);
  return studies;
}

std::set<std::string> hosts_of(std::span<const Measured> runs)
{
  std::set<std::string> hosts;
  for (const auto& run : runs) hosts.insert(run.hosts.begin(), run.hosts.end());
  return hosts;
}

// The different texts of a fact.
std::set<std::string> facts_of(std::span<const Measured> runs, const std::string& name)
{
  std::set<std::string> texts;
  for (const auto& run : runs)
    if (const auto found = run.facts.find(name); found != run.facts.end()) texts.insert(found->second);
  return texts;
}

// From the first begin to the last end of a side; NaN if a time is not known.
struct Span {
  double begin = not_measured, end = not_measured;
};

Span span_of(std::span<const Measured> runs)
{
  if (runs.empty()) return {};
  Span span{runs.front().begin_unix_s, runs.front().end_unix_s};
  for (const auto& run : runs) {
    if (std::isnan(run.begin_unix_s) || std::isnan(run.end_unix_s)) return {};
    span.begin = std::min(span.begin, run.begin_unix_s);
    span.end = std::max(span.end, run.end_unix_s);
  }
  return span;
}

std::vector<Occasion> occasions_of(std::span<const Measured> runs)
{
  std::vector<Occasion> occasions;
  for (const auto& run : runs) occasions.push_back({run.begin_unix_s, run.hosts, run.block});
  return occasions;
}

// The texts of both sides, if they differ. A fact that one side does not know does not differ.
void add_difference(std::vector<SeparateFact>& facts, const std::string& name, std::string a, std::string b)
{
  if (!a.empty() && !b.empty() && a != b) facts.push_back({name, std::move(a), std::move(b)});
}

std::string listed(const std::set<std::string>& texts)
{
  return join(std::vector<std::string>(texts.begin(), texts.end()), " and ");
}

std::string hosts_text(const std::set<std::string>& hosts)
{
  const std::vector<std::string> list(hosts.begin(), hosts.end());
  return compact_hosts(list);
}

// The largest share of the cores that others took during a run of the side.
double busy_share_of(std::span<const Measured> runs)
{
  double share = not_measured;
  for (const auto& run : runs) share = std::fmax(share, run.busy_share);
  return share;
}

std::vector<SeparateFact> differing_facts(std::span<const Measured> a, std::span<const Measured> b)
{
  std::vector<SeparateFact> facts;
  add_difference(facts, "hosts", hosts_text(hosts_of(a)), hosts_text(hosts_of(b)));
  for (const auto& name : fact_names()) add_difference(facts, name, listed(facts_of(a, name)), listed(facts_of(b, name)));
  const double busy_a = busy_share_of(a), busy_b = busy_share_of(b);
  if (std::abs(busy_a - busy_b) >= least_busy_difference)
    add_difference(facts, "cores taken by others", "up to " + format_percent(busy_a), "up to " + format_percent(busy_b));
  return facts;
}

bool have_none_in_common(const std::set<std::string>& a, const std::set<std::string>& b)
{
  const auto is_in_b = [&](const std::string& text) { return b.contains(text); };
  return !a.empty() && !b.empty() && std::none_of(a.begin(), a.end(), is_in_b);
}

} // namespace

const std::vector<std::string>& fact_names()
{
  static const std::vector<std::string> names{"processors", "kernels",  "clock governors", "MPI libraries", "oneDNN versions",
                                              "compilers",  "niceness", "resource limits", "builds"};
  return names;
}

Separation separation_of(std::span<const Measured> a, std::span<const Measured> b)
{
  const auto span_a = span_of(a), span_b = span_of(b);
  Separation result;
  result.apart_s = std::max({0.0, span_a.begin - span_b.end, span_b.begin - span_a.end});
  if (std::isnan(span_a.begin) || std::isnan(span_b.begin)) result.apart_s = not_measured;
  result.a_is_later = span_a.begin > span_b.begin;
  const auto studies = studies_of(a);
  result.is_one_study = studies.size() == 1 && studies == studies_of(b) && !studies.contains("");
  result.by = confounding_of(occasions_of(a), occasions_of(b));
  result.is_together = result.by == Confounded::no && !std::isnan(result.apart_s);
  result.facts = differing_facts(a, b);
  result.other_hosts = result.by == Confounded::by_nodes || have_none_in_common(hosts_of(a), hosts_of(b));
  const auto processors_a = facts_of(a, fact_names().front()), processors_b = facts_of(b, fact_names().front());
  const bool are_known = !processors_a.empty() && !processors_b.empty();
  result.other_processors = are_known && processors_a != processors_b;
  result.is_same_kind = are_known ? processors_a == processors_b : hosts_of(a) == hosts_of(b) && !hosts_of(a).empty();
  return result;
}

} // namespace dt::store
