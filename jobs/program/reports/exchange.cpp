#include "jobs/program/reports/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace dt::jobs {
namespace {

constexpr std::size_t least_steps = 3; // fewer equal losses may be chance

constexpr const char* no_figures =
    "so the samples of the ranks do not add up, and there is no throughput, speed-up or efficiency";
constexpr const char* remedy = "Train with the two lines of dtctl_sync or with DistributedDataParallel, or set ranks: 1";

// A program that reports how long its ranks communicate says that they do.
Exchange exchange_of(const RankReport& report)
{
  const auto communication = static_cast<std::size_t>(Phase::communication);
  const bool communicates =
      std::ranges::any_of(report.steps, [&](const StepLine& step) { return step.phase_s[communication] > 0; });
  const auto seen = report.exchange.value_or(Exchange::unknown);
  return communicates && (seen == Exchange::none || seen == Exchange::unknown) ? Exchange::some : seen;
}

bool has_loss(const StepLine& step) { return step.loss && std::isfinite(*step.loss); }

// Whether all ranks report the same losses, to the last bit. A constant loss tells nothing.
bool have_equal_losses(std::span<const RankReport> reports)
{
  const auto& first = reports.front().steps;
  if (first.size() < least_steps || !std::ranges::all_of(first, has_loss)) return false;
  if (std::ranges::all_of(first, [&](const StepLine& step) { return step.loss == first.front().loss; })) return false;
  return std::ranges::all_of(reports, [&](const RankReport& report) {
    return std::ranges::equal(report.steps, first,
                              [](const StepLine& a, const StepLine& b) { return a.step == b.step && a.loss == b.loss; });
  });
}

CaveatLine doubt_of(bool are_isolated, bool are_idle, bool sum_gradients, bool is_unknown, std::span<const RankReport> reports)
{
  const auto ranks = reports.size(), steps = reports.front().steps.size();
  const bool is_equal = have_equal_losses(reports);
  if (are_isolated && !is_equal)
    return {"copies", fmt::format("the {} ranks exchange nothing: they are {} trainings of their own, {}. {}", ranks, ranks,
                                  no_figures, remedy)};
  if (is_equal && (are_isolated || are_idle))
    return {"copies",
            fmt::format("the {} ranks are {} copies of one training: they exchange {}, and their losses are equal in all {} "
                        "steps, {}. {}",
                        ranks, ranks, are_isolated ? "nothing" : "no gradients", steps, no_figures, remedy)};
  if (is_equal && sum_gradients)
    return {"copies",
            fmt::format("the {} ranks train with the same batches: they exchange gradients, but their losses are equal in all "
                        "{} steps, {}. Give each rank its own part of the data, with DistributedSampler for example",
                        ranks, steps, no_figures)};
  if (is_equal && is_unknown)
    return {"exchange",
            fmt::format("it is not seen whether the {} ranks exchange anything, and their losses are equal in all {} steps. "
                        "If they are copies of one training, there is no scaling: {}",
                        ranks, steps, "train with DistributedDataParallel, or set ranks: 1")};
  return {};
}

} // namespace

CaveatLine doubt_of_exchange(std::span<const RankReport> reports)
{
  if (reports.size() < 2 || std::ranges::any_of(reports, [](const RankReport& report) { return report.sync.has_value(); }))
    return {};
  std::vector<Exchange> seen; // by the ranks that report anything
  for (const auto& report : reports)
    if (report.exchange || !report.steps.empty()) seen.push_back(exchange_of(report));
  if (seen.empty()) return {};
  const auto all = [&](auto... kinds) {
    return std::ranges::all_of(seen, [&](Exchange each) { return ((each == kinds) || ...); });
  };
  using enum Exchange;
  return doubt_of(all(none), all(none, idle), all(gradients), all(none, idle, unknown), reports);
}

} // namespace dt::jobs
