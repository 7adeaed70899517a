#include "core/record/rank_state.hpp"

#include "core/record/fields.hpp"
#include "core/record/json_fields.hpp"
#include "core/record/parse.hpp"
#include "core/text.hpp"

namespace dt {

using record::Json;

std::filesystem::path state_path(const AttemptFolder& attempt, int rank)
{
  return attempt.states() / ("rank-" + std::to_string(rank));
}

std::string to_json(const RankState& state) { return record::to_json(state, rank_state_fields()); }

std::optional<RankState> read_rank_state(const AttemptFolder& attempt, int rank)
{
  return record::read(state_path(attempt, rank), [](std::string_view text) { return record::parse(text, rank_state_fields()); });
}

std::string to_json(const StallRecord& stall)
{
  Json missing = Json::array(), ranks = Json::array();
  for (const auto& rank : stall.missing) missing.push_back(record::json_of(rank, missing_rank_fields()));
  for (const auto& rank : stall.ranks) ranks.push_back(record::json_of(rank, rank_state_fields()));
  return record::to_json(stall, stall_fields(), Json{{"missing", missing}, {"ranks", ranks}});
}

std::optional<StallRecord> read_stall(const AttemptFolder& attempt) { return record::read(attempt.stall(), record::parse_stall); }

std::optional<StallRecord> record::parse_stall(std::string_view text)
{
  return parse_with<StallRecord>(text, [](const Json& json) {
    auto stall = record::record_of(json, stall_fields());
    for (const auto& rank : json.at("missing")) stall.missing.push_back(record::record_of(rank, missing_rank_fields()));
    for (const auto& rank : json.at("ranks")) stall.ranks.push_back(record::record_of(rank, rank_state_fields()));
    return stall;
  });
}

std::string words_of(const std::vector<MissingRank>& missing)
{
  std::vector<std::string> parts;
  for (const auto& rank : missing) parts.push_back("rank " + std::to_string(rank.rank) + " on " + rank.host + " " + rank.why);
  return join(parts, "; ");
}

} // namespace dt
