#include "core/record/baselines.hpp"

#include "core/error.hpp"
#include "core/lookup.hpp"
#include "core/record/json_fields.hpp"
#include "core/text.hpp"

namespace dt {
namespace {

std::optional<Baselines> parse_baselines(std::string_view text)
{
  return record::parse_with<Baselines>(text, [](const record::Json& json) {
    Baselines baselines;
    for (const auto& [name, entry] : json.at("baselines").items())
      baselines[name] = {entry.at("study").get<std::string>(), entry.at("study_name").get<std::string>(),
                         entry.at("set_unix_s").get<double>()};
    return baselines;
  });
}

} // namespace

Baselines read_baselines(const Home& home)
{
  const auto text = read_file_if_exists(home.baselines());
  if (!text) return {};
  auto baselines = parse_baselines(*text);
  if (!baselines)
    throw Error(ErrorKind::environment, record::refusal_of(home.baselines(), *text) +
                                            ". Mend it, or move it away and set the baselines "
                                            "again: dtctl note STUDY --baseline NAME");
  return std::move(*baselines);
}

const Baseline& baseline_named(const Baselines& baselines, const std::string& name)
{
  if (const auto found = baselines.find(name); found != baselines.end()) return found->second;
  if (baselines.empty())
    throw Error(ErrorKind::usage,
                "there is no baseline `" + printable(name) + "`; pin one with: dtctl note STUDY --baseline NAME");
  std::vector<std::string> names;
  for (const auto& [known, baseline] : baselines) names.push_back(known);
  throw Error(ErrorKind::usage, unknown_name("baseline", name, names));
}

void write_baselines(const LockedHome& home, const Baselines& baselines)
{
  record::Json all = record::Json::object();
  for (const auto& [name, baseline] : baselines)
    all[name] = {{"study", baseline.study}, {"study_name", baseline.study_name}, {"set_unix_s", baseline.set_unix_s}};
  write_file_atomic(home.baselines(), record::dump({{"schema", record::schema}, {"baselines", all}}));
}

} // namespace dt
