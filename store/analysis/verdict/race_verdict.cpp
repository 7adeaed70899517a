#include "store/analysis/verdict/race_verdict.hpp"

#include "core/text.hpp"
#include "store/analysis/verdict/number_text.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace dt::store {
namespace {

class RaceWords {
 public:
  RaceWords(std::span<const RacePoint> points, const Race& race, const RaceRule& rule, const std::string& limit)
      : points_(points), race_(race), rule_(rule), limit_(limit)
  {
  }

  // By size, ascending: what the rivals of the size have come to.
  std::vector<std::string> outcomes() const
  {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> sizes;
    for (std::size_t i = 0; i < points_.size(); ++i) sizes[{points_[i].ranks, points_[i].nodes}].push_back(i);
    std::vector<std::string> outcomes;
    for (const auto& [size, rivals] : sizes)
      if (rivals.size() > 1) outcomes.push_back(outcome(rivals, sizes.size() > 1));
    return outcomes;
  }

 private:
  std::string outcome(const std::vector<std::size_t>& rivals, bool with_size) const
  {
    std::vector<std::string> best, open;
    for (const auto i : rivals) {
      const auto& standing = race_.standings[i];
      if (standing.is_best) best.push_back(shown(i));
      if (standing.is_racing || standing.is_open) open.push_back(shown(i));
    }
    const auto of_all = " of " + std::to_string(rivals.size()) +
                        (rule_.better == Better::larger ? " by throughput" : " by time to target") +
                        (with_size ? " at " + size_text(points_[rivals.front()].nodes, points_[rivals.front()].ranks) : "");
    if (!open.empty())
      return "Undecided between " + std::to_string(open.size()) + of_all + why_open() +
             (open.size() < rivals.size() ? ": " + join(open, ", ") : "");
    const auto after = after_repeats(most_repeats(rivals));
    if (best.empty()) return "No candidate" + of_all + " has a value" + after;
    if (best.size() == 1) return best.front() + " is the best" + of_all + after;
    return join(best, ", ") + " are the best" + of_all + " and equivalent within " + number_text("%.3g %%", 100 * rule_.margin) +
           after;
  }

  std::string shown(std::size_t point) const
  {
    return points_[point].title.empty() ? points_[point].label : points_[point].title;
  }

  std::int64_t most_repeats(const std::vector<std::size_t>& rivals) const
  {
    std::int64_t most = 0;
    for (const auto i : rivals) most = std::max(most, race_.standings[i].repeats);
    return most;
  }

  static std::string after_repeats(std::int64_t repeats) { return " after " + std::to_string(repeats) + " repeats"; }

  std::string why_open() const
  {
    if (race_.is_over) return after_repeats(race_.repeats) + ", the most that are allowed";
    return limit_.empty() ? ", so far: the same sweep --until-decided goes on" : ", because of " + limit_;
  }

  std::span<const RacePoint> points_;
  const Race& race_;
  const RaceRule& rule_;
  const std::string& limit_;
};

} // namespace

VerdictText race_verdict(std::span<const RacePoint> points, const Race& race, const RaceRule& rule, const std::string& limit,
                         std::span<const std::string> facts)
{
  auto outcomes = RaceWords(points, race, rule, limit).outcomes();
  if (outcomes.empty()) return {};
  std::reverse(outcomes.begin(), outcomes.end()); // the largest size first
  return {outcomes.front(), {facts.begin(), facts.end()}, {outcomes.begin() + 1, outcomes.end()}};
}

} // namespace dt::store
