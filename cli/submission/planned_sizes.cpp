#include "cli/submission/planned_sizes.hpp"

#include "cli/answers/prediction_tables.hpp"
#include "store/query/queries.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// The recipe's sizes.
struct Sizes {
  explicit Sizes(const Resolved& resolved)
  {
    for (const auto& run : resolved.runs) {
      nodes.insert(run.spec.resources.nodes);
      ranks.insert(run.spec.ranks());
    }
  }
  std::set<std::int64_t> nodes, ranks;
};

// The recipe's sizes that were not measured, as the series counts.
std::vector<std::int64_t> missing_sizes(const store::SeriesMeasurements& series, const Sizes& planned)
{
  auto sizes = series.traits.by_nodes ? planned.nodes : planned.ranks;
  for (const auto& size : series.sizes) sizes.erase(size.at.size);
  return {sizes.begin(), sizes.end()};
}

// The series of the newest study of this name that predictions can be made from.
std::vector<store::SeriesMeasurements> measured_series(const Home& home, const std::string& name)
{
  if (!store::holds_anything(home.database())) return {};
  store::Database database(home.database(), store::Access::read_only);
  for (const auto& study : store::find_studies(database, name))
    if (study.name == name && study.succeeded > 0) return store::measurements_of_study(database, study.id, {});
  return {};
}

std::vector<OfSeries<store::Prediction>> predictions_of(const store::SeriesMeasurements& series, const Sizes& planned,
                                                        const std::optional<CostModel>& network)
{
  std::vector<OfSeries<store::Prediction>> all;
  const auto sizes = missing_sizes(series, planned);
  if (sizes.empty() || series.sizes.size() < 2 || series.traits.is_own_program) return all;
  for (auto& prediction : store::forecast(series, sizes, network).predictions)
    all.push_back({series.series, std::move(prediction)});
  return all;
}

void print_predicted(Context& context, const Home& home, const Resolved& resolved)
{
  const auto network = network_of(context, "");
  std::vector<OfSeries<store::Prediction>> all;
  std::int64_t next = 0;
  const Sizes planned(resolved);
  for (const auto& series : measured_series(home, resolved.study.name)) {
    auto found = predictions_of(series, planned, network);
    if (found.empty()) continue;
    all.insert(all.end(), found.begin(), found.end());
    const auto most = 4 * series.sizes.back().at.size;
    next = std::max(next, store::most_informative_size(series, network, most));
  }
  if (all.empty()) return;
  context.out.heading("Predicted, from the sizes that have run (see: dtctl predict)");
  context.out.table(without_empty_columns(prediction_table(all)));
  if (next > 0)
    context.out.field("most_informative_size", "tells most",
                      {next, fmt::format("{} (the size whose measurement would improve predictions most)", next), Style::plain});
}

} // namespace

void print_planned_sizes(Context& context, const Home& home, const Resolved& resolved)
{
  try {
    print_predicted(context, home, resolved);
  } catch (const Error&) { // dtctl predict says what is missing
  }
}

} // namespace dt::cli
