#include "core/rank_state.hpp"

#include "core/file.hpp"
#include "core/text.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace dt {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

std::string dump(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

template<class Record> std::optional<Record> read(const std::filesystem::path& path, Record (*convert)(const Json&))
{
  const auto text = read_file_if_exists(path);
  if (!text) return std::nullopt;
  const auto json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != schema) return std::nullopt; // of whatever type
  try {
    return convert(json);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

Json json_of(const RankState& s)
{
  return Json{{"rank", s.rank}, {"host", s.host},       {"step", s.step},                 {"what", s.what},
              {"peer", s.peer}, {"waiting", s.waiting}, {"since_unix_s", s.since_unix_s}, {"unix_s", s.unix_s}};
}

RankState state_of(const Json& j)
{
  return {j.at("rank"), j.at("host"), j.at("step"), j.at("what"), j.at("peer"), j.at("waiting"), j.at("since_unix_s"), j.at("unix_s")};
}

StallRecord stall_of(const Json& j)
{
  StallRecord stall{.unix_s = j.at("unix_s"), .stalled_s = j.at("stalled_s"), .step = j.at("step"), .missing = {}, .ranks = {}};
  for (const auto& rank : j.at("missing")) stall.missing.push_back({rank.at("rank"), rank.at("host"), rank.at("why")});
  for (const auto& rank : j.at("ranks")) stall.ranks.push_back(state_of(rank));
  if (!j.at("resolved_unix_s").is_null()) stall.resolved_unix_s = j.at("resolved_unix_s");
  return stall;
}

} // namespace

std::filesystem::path state_path(const AttemptFolder& attempt, int rank)
{
  return attempt.states() / ("rank-" + std::to_string(rank));
}

std::string to_json(const RankState& state)
{
  auto json = json_of(state);
  json["schema"] = schema;
  return dump(json);
}

std::optional<RankState> read_rank_state(const AttemptFolder& attempt, int rank)
{
  return read<RankState>(state_path(attempt, rank), state_of);
}

std::string to_json(const StallRecord& s)
{
  Json missing = Json::array(), ranks = Json::array();
  for (const auto& rank : s.missing) missing.push_back({{"rank", rank.rank}, {"host", rank.host}, {"why", rank.why}});
  for (const auto& rank : s.ranks) ranks.push_back(json_of(rank));
  const Json resolved = std::isnan(s.resolved_unix_s) ? Json(nullptr) : Json(s.resolved_unix_s);
  return dump(Json{{"schema", schema}, {"unix_s", s.unix_s},   {"stalled_s", s.stalled_s},      {"step", s.step},
                   {"missing", missing}, {"ranks", ranks}, {"resolved_unix_s", resolved}});
}

std::optional<StallRecord> read_stall(const AttemptFolder& attempt) { return read<StallRecord>(attempt.stall(), stall_of); }

std::string words_of(const std::vector<MissingRank>& missing)
{
  std::vector<std::string> parts;
  for (const auto& rank : missing) parts.push_back("rank " + std::to_string(rank.rank) + " on " + rank.host + " " + rank.why);
  return join(parts, "; ");
}

} // namespace dt
