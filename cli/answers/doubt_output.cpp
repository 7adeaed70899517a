#include "cli/answers/doubt_output.hpp"

#include "cli/output/number_text.hpp"
#include "core/counted.hpp"
#include "core/spec/run_key.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace dt::cli {
namespace {

// Returns "-2.7 % from the first to the last of 3 controls (812 to 790 samples/s, spread 3.1 %); more than the noise of repeats,
// 0.8 %".
std::string describe(const store::Drift& drift)
{
  auto text = fmt::format("{} from the first to the last of {} controls ({} to {} samples/s, spread {:.1f} %)",
                          percent_change(drift.change), drift.controls, real_cell(drift.first).text, real_cell(drift.last).text,
                          drift.spread * 100);
  if (!std::isfinite(drift.noise)) return text + "; without repeats, the noise is unknown";
  return text +
         fmt::format("; {} the noise of repeats, {:.1f} %", drift.beyond_noise ? "more than" : "within", drift.noise * 100);
}

Json json_of(const store::Drift& drift)
{
  return {{"controls", drift.controls},
          {"first", drift.first},
          {"last", drift.last},
          {"change", drift.change},
          {"spread", drift.spread},
          {"noise", real_cell(drift.noise).value},
          {"beyond_noise", drift.beyond_noise}};
}

bool is_host(const store::Outlier& outlier) { return outlier.kind == store::Outlier::Kind::matrix_product; }

Json json_of(const store::Outlier& outlier)
{
  return {{"kind", is_host(outlier) ? "matrix_product" : "allreduce"},
          {"host", is_host(outlier) ? Json(outlier.host) : Json(nullptr)},
          {"runs", outlier.runs},
          {"ranks", outlier.ranks},
          {"slower_by", outlier.slower_by},
          {"is_on_one_machine", outlier.is_on_one_machine}};
}

std::string where_text(const store::Outlier& outlier)
{
  return outlier.is_on_one_machine ? "; all hosts are on one machine, whose cores were busy or slower then" : "";
}

std::string slower_text(const store::Outlier& outlier)
{
  return fmt::format("{} % slower than", std::lround(outlier.slower_by * 100));
}

// Returns "node2: matrix products 23 % slower than the others (2 ranks in 1 run)", and what is known of hosts on one machine.
std::string describe(const store::Outlier& outlier)
{
  if (!is_host(outlier))
    return fmt::format("run {}: allreduce {} in the others of its shape{}", short_key(outlier.runs.front()), slower_text(outlier),
                       where_text(outlier));
  return fmt::format("{}: matrix products {} the others ({} in {}){}", outlier.host, slower_text(outlier),
                     counted(outlier.ranks, "rank"), counted(outlier.runs.size(), "run"), where_text(outlier));
}

// Hosts that are emulated on one machine share its cores, so none of them is a slow node.
std::string label_of(const store::Outlier& outlier)
{
  if (outlier.is_on_one_machine) return "emulated hosts";
  return is_host(outlier) ? "slow node" : "slow network";
}

// "1 of 1 run", "2 of 6 runs".
std::string share(std::size_t count, std::size_t of_runs) { return fmt::format("{} of {}", count, counted(of_runs, "run")); }

// "28 of 157 runs: allreduce up to 71 % slower than in the others of their shape" in place of a line for each of many runs.
void add_outliers(std::vector<DoubtLine>& lines, const store::Doubts& doubts)
{
  constexpr std::size_t most_lines = 3;
  std::map<std::string, std::vector<const store::Outlier*>> slow_runs; // by label
  for (const auto& outlier : doubts.outliers)
    if (is_host(outlier))
      lines.push_back({label_of(outlier), describe(outlier)});
    else
      slow_runs[label_of(outlier)].push_back(&outlier);
  for (const auto& [label, outliers] : slow_runs)
    if (outliers.size() <= most_lines) {
      for (const auto* outlier : outliers) lines.push_back({label, describe(*outlier)});
    } else {
      const auto& worst = **std::ranges::max_element(outliers, {}, [](const auto* outlier) { return outlier->slower_by; });
      lines.push_back({label, fmt::format("{}: allreduce up to {} in the others of their shape{}",
                                          share(outliers.size(), doubts.measured_runs), slower_text(worst), where_text(worst))});
    }
}

Json json_of(const store::NotFiniteRun& run)
{
  const auto text = [](const std::string& words) { return words.empty() ? Json(nullptr) : Json(words); };
  return {
      {"run", run.run}, {"divergence", text(run.divergence)}, {"not_finite_steps", run.steps}, {"accuracy", text(run.accuracy)}};
}

std::size_t diverged_count(const store::Doubts& doubts)
{
  return static_cast<std::size_t>(
      std::count_if(doubts.not_finite.begin(), doubts.not_finite.end(), [](const auto& run) { return !run.divergence.empty(); }));
}

// Returns "2 of 3 runs: the loss is NaN from step 16 on; they are left out of accuracy and time to target".
std::string diverged_text(const store::Doubts& doubts)
{
  std::set<std::string> causes;
  for (const auto& run : doubts.not_finite)
    if (!run.divergence.empty()) causes.insert(run.divergence);
  const auto count = diverged_count(doubts);
  return fmt::format("{}: {}{}; {} left out of accuracy and time to target", share(count, doubts.measured_runs),
                     causes.size() > 1 ? "for example, " : "", *causes.begin(), count == 1 ? "it is" : "they are");
}

// Lines about runs that did not diverge.
void add_not_finite(std::vector<DoubtLine>& lines, const store::Doubts& doubts)
{
  std::size_t runs = 0, without_accuracy = 0;
  std::int64_t steps = 0;
  for (const auto& run : doubts.not_finite) {
    if (run.divergence.empty() && run.steps > 0) ++runs, steps = std::max(steps, run.steps);
    if (!run.accuracy.empty()) ++without_accuracy;
  }
  if (runs > 0)
    lines.push_back({"NaN or infinite",
                     fmt::format("{}: the loss was so in up to {} and became finite again; {}", share(runs, doubts.measured_runs),
                                 counted(steps, "step"), runs == 1 ? "the run counts as it is" : "they count as they are")});
  if (without_accuracy > 0)
    lines.push_back({"NaN", fmt::format("{}: the accuracy of the last evaluation is NaN, so it is in no statistics",
                                        share(without_accuracy, doubts.measured_runs))});
}

Json json_of(const store::ThrottledRun& run)
{
  return {{"run", run.run}, {"throttled_share", run.share}, {"quota_cores", real_cell(run.quota_cores).value}};
}

Json json_of(const store::BusyRun& run)
{
  const auto reason = [](double value) { return value > 0 ? Json(value) : Json(nullptr); };
  return {{"run", run.run},
          {"others_share", reason(run.others_share)},
          {"steal_share", reason(run.steal_share)},
          {"load", reason(run.load)},
          {"probe_slower_by", reason(run.probe_slower_by)},
          {"step_spread_ratio", reason(run.step_spread_ratio)}};
}

std::string one_decimal(double value) { return format_shortest(std::round(value * 10) / 10); }

// A line for each reason to assume that machines were busy, with its worst run: "3 of 5 runs: other processes took up to 48 % of
// the cores that the ranks needed".
std::vector<std::string> busy_texts(const std::vector<store::BusyRun>& busy, std::size_t of_runs)
{
  using store::BusyRun;
  struct Reason {
    double BusyRun::*value; // 0: it does not apply
    std::string (*text)(const BusyRun& worst);
  };
  constexpr Reason reasons[]{
      {&BusyRun::others_share,
       [](const BusyRun& run) {
         return "other processes took up to " + format_percent(run.others_share) + " of the cores that the ranks needed";
       }},
      {&BusyRun::steal_share,
       [](const BusyRun& run) {
         return "the hypervisor took up to " + format_percent(run.steal_share) + " of the cores for other virtual machines";
       }},
      {&BusyRun::load,
       [](const BusyRun& run) {
         return fmt::format("the load average was up to {} on {} cores", one_decimal(run.load), run.cores);
       }},
      {&BusyRun::probe_slower_by,
       [](const BusyRun& run) {
         return "matrix products before the first step were up to " + format_percent(run.probe_slower_by) +
                " slower than the median on the same node";
       }},
      {&BusyRun::step_spread_ratio,
       [](const BusyRun& run) {
         return "step times scattered up to " + one_decimal(run.step_spread_ratio) +
                " times as much as the median of the repeats";
       }},
  };
  std::vector<std::string> lines;
  for (const auto& [value, text] : reasons) {
    const auto count = std::ranges::count_if(busy, [&, value = value](const BusyRun& run) { return run.*value > 0; });
    if (count > 0)
      lines.push_back(fmt::format("{}: {}", share(static_cast<std::size_t>(count), of_runs),
                                  text(*std::ranges::max_element(busy, {}, value))));
  }
  return lines;
}

// "2 of 2 runs: a CPU quota of 0.5 cores held the ranks back for up to 75 % of the time; …"
std::string throttled_text(const std::vector<store::ThrottledRun>& throttled, std::size_t of_runs)
{
  const auto& worst = *std::ranges::max_element(throttled, {}, &store::ThrottledRun::share);
  const auto quota = std::isnan(worst.quota_cores) ? std::string()
                                                   : " of " + format_shortest(std::round(worst.quota_cores * 100) / 100) +
                                                         (worst.quota_cores == 1 ? " core" : " cores");
  return fmt::format("{}: a CPU quota{} held the ranks back for up to {} of the time; give the job more processor time, or run "
                     "fewer ranks or threads",
                     share(throttled.size(), of_runs), quota, format_percent(worst.share));
}

Json json_of(const store::MixedDependence& mixed) { return {{"name", mixed.name}, {"runs", mixed.runs}}; }

// "2 Python environments: CPython 3.11.2, 61 packages (3fa9c1d2e4) in 4 runs; CPython 3.12.1, 60 packages (77aa01b2c3) in 1 run"
std::string describe(const store::MixedDependence& mixed)
{
  std::vector<std::string> parts;
  for (const auto& [text, runs] : mixed.runs) parts.push_back(fmt::format("{} in {}", text, counted(runs, "run")));
  return fmt::format("{} {}: {}", mixed.runs.size(), mixed.name, join(parts, "; "));
}

// "6 of 6 runs: SENTENCE", or one of several sentences as an example.
std::string describe(const store::CaveatedRuns& caveated, std::size_t of_runs)
{
  const auto most = std::ranges::max_element(caveated.sentences, {}, [](const auto& sentence) { return sentence.second; });
  return fmt::format("{}: {}{}", share(caveated.runs, of_runs), caveated.sentences.size() > 1 ? "for example, " : "",
                     most->first);
}

Json json_of(const std::pair<const std::string, store::CaveatedRuns>& caveated)
{
  return {{"kind", caveated.first}, {"runs", caveated.second.runs}, {"sentences", caveated.second.sentences}};
}

std::string workers_text(const store::StepSamples& size) { return counted(static_cast<std::size_t>(size.workers), "worker"); }

// "40 samples on 1 worker and 80 on 2"
std::string samples_text(const std::vector<store::StepSamples>& sizes)
{
  const auto one = [](const store::StepSamples& size) { return fmt::format("{:.4g} on {:.0f}", size.samples, size.workers); };
  return fmt::format("{:.4g} samples on {}{}", sizes.front().samples, workers_text(sizes.front()),
                     sizes.size() > 1 ? " and " + one(sizes.back()) : "");
}

std::string describe(const store::BatchDoubt& doubt)
{
  const auto of_label = doubt.label.empty() ? "" : printable(doubt.label) + ": ";
  const auto& [growth, is_recorded, sizes] = doubt.recorded;
  if (doubt.kind == store::BatchDoubt::Kind::batch)
    return fmt::format("{}the recipe's {} makes {:.4g} samples a step on {}, but the program reported {:.4g}; figures are "
                       "made of what it reported. Let the program take DTCTL_{}, or correct the key",
                       of_label, doubt.told, doubt.of_recipe, workers_text(sizes.front()), sizes.front().samples,
                       doubt.told == "train.global_batch" ? "TRAIN_GLOBAL_BATCH" : "TRAIN_BATCH_PER_RANK");
  const std::string_view real = doubt.recorded.is_weak()     ? "the samples a worker stay, so this is weak scaling"
                                : doubt.recorded.is_strong() ? "the samples of a step stay, so this is strong scaling"
                                                             : "neither the samples of a step nor those of a worker stay";
  return fmt::format(
      "{}the recipe says {}, but a step has {}: {}. Predictions, charts and simulations follow what was recorded. {}", of_label,
      doubt.told, samples_text(sizes), real,
      doubt.recorded.is_weak() || doubt.recorded.is_strong()
          ? fmt::format("Write study.mode: {}, or change the batch in the program", doubt.recorded.is_weak() ? "weak" : "strong")
          : "Let the program keep the samples of a step, or those of a rank");
}

Json json_of(const store::BatchDoubt& doubt)
{
  Json sizes = Json::array();
  for (const auto& size : doubt.recorded.sizes) sizes.push_back({{"workers", size.workers}, {"samples", size.samples}});
  const bool is_mode = doubt.kind == store::BatchDoubt::Kind::mode;
  return {{"kind", is_mode ? "mode" : "batch"},
          {"label", doubt.label},
          {"recipe", is_mode ? Json(doubt.told) : Json(doubt.of_recipe)},
          {"key", is_mode ? "study.mode" : doubt.told},
          {"growth", is_mode ? Json(doubt.recorded.growth) : Json(nullptr)},
          {"recorded", std::move(sizes)}};
}

template<class Items> Json list_of(const Items& items)
{
  Json list = Json::array();
  for (const auto& item : items) list.push_back(json_of(item));
  return list;
}

std::size_t simulated_count(const store::Doubts& doubts)
{
  std::size_t count = 0;
  for (const auto& [platform, runs] : doubts.simulated_runs) count += runs;
  return count;
}

std::string simulated_text(const store::Doubts& doubts)
{
  std::vector<std::string> platforms;
  for (const auto& [platform, runs] : doubts.simulated_runs) platforms.push_back(platform);
  return fmt::format("{}: simulated on {}, so their times are simulated seconds",
                     share(simulated_count(doubts), doubts.measured_runs), join(platforms, ", "));
}

std::string modelled_text(const store::Doubts& doubts)
{
  return fmt::format("{} modelled their computation (train.modelled_rate): their throughput is not this machine's",
                     share(doubts.modelled_runs, doubts.measured_runs));
}

} // namespace

std::vector<DoubtLine> doubt_lines(const store::Doubts& doubts)
{
  std::vector<DoubtLine> lines;
  if (doubts.drift) lines.push_back({"drift", describe(*doubts.drift), doubts.drift->beyond_noise});
  if (diverged_count(doubts) > 0) lines.push_back({"diverged", diverged_text(doubts)});
  add_not_finite(lines, doubts);
  add_outliers(lines, doubts);
  for (const auto& reason : busy_texts(doubts.busy, doubts.measured_runs)) lines.push_back({"machine busy", reason});
  if (!doubts.throttled.empty()) lines.push_back({"cpu quota", throttled_text(doubts.throttled, doubts.measured_runs)});
  if (doubts.too_short.runs > 0)
    lines.push_back({"short", fmt::format("{} measured less than {} s (the shortest {}): pauses of the operating system are "
                                          "a large part of so short a time; train for more steps",
                                          share(doubts.too_short.runs, doubts.measured_runs), store::least_measured_s,
                                          seconds_cell(doubts.too_short.shortest_s).text)});
  for (const auto& batch : doubts.batches) lines.push_back({"batch", describe(batch), true});
  for (const auto& [kind, caveated] : doubts.caveats) lines.push_back({kind, describe(caveated, doubts.measured_runs)});
  if (!doubts.simulated_runs.empty()) lines.push_back({"simulated", simulated_text(doubts)});
  if (doubts.modelled_runs > 0) lines.push_back({"modelled", modelled_text(doubts)});
  for (const auto& mixed : doubts.mixed) lines.push_back({"mixed", describe(mixed)});
  if (doubts.not_as_submitted > 0)
    lines.push_back({"mixed", fmt::format("{} had another Python environment than the one with which they were submitted; "
                                          "dtctl show KEY says what differed (not_as_submitted)",
                                          share(doubts.not_as_submitted, doubts.measured_runs))});
  if (doubts.unused_changes > 0)
    lines.push_back({"packages",
                     fmt::format("changed after the submission of {}, and their program imports none of them: {}",
                                 share(doubts.unused_changes, doubts.measured_runs), doubts.unused_text),
                     false});
  return lines;
}

std::vector<std::string> deciding_facts(const store::Doubts& doubts)
{
  std::vector<std::string> facts;
  constexpr std::size_t least_part = 10; // a tenth of the runs
  const auto busy = doubts.busy.size();
  if (busy > 0 && least_part * busy >= doubts.measured_runs)
    facts.push_back(fmt::format("the machine was busy in {}, so repeat when it is idle", share(busy, doubts.measured_runs)));
  if (doubts.drift && doubts.drift->beyond_noise)
    facts.push_back(
        fmt::format("the throughput of the control runs changed by {} during the study", percent_change(doubts.drift->change)));
  return facts;
}

void print_doubts(Context& context, const store::Doubts& doubts)
{
  for (const auto& line : doubt_lines(doubts))
    context.out.field("", line.label, text_cell(line.text, line.is_warning ? Style::warning : Style::plain));
  if (doubts.drift) context.out.data("drift", json_of(*doubts.drift));
  context.out.data("outliers", list_of(doubts.outliers));
  context.out.data("not_finite", {{"of_runs", doubts.measured_runs}, {"runs", list_of(doubts.not_finite)}});
  context.out.data("busy", {{"of_runs", doubts.measured_runs}, {"runs", list_of(doubts.busy)}});
  if (!doubts.throttled.empty()) context.out.data("throttled", list_of(doubts.throttled));
  if (doubts.too_short.runs > 0)
    context.out.data("short_runs", {{"runs", doubts.too_short.runs}, {"shortest_s", doubts.too_short.shortest_s}});
  if (!doubts.caveats.empty()) context.out.data("caveats", list_of(doubts.caveats));
  if (!doubts.simulated_runs.empty()) context.out.data("simulated_runs", simulated_count(doubts));
  if (!doubts.batches.empty()) context.out.data("batches", list_of(doubts.batches));
  if (!doubts.mixed.empty()) context.out.data("mixed", list_of(doubts.mixed));
  if (doubts.not_as_submitted > 0) context.out.data("not_as_submitted", doubts.not_as_submitted);
  if (doubts.unused_changes > 0)
    context.out.data("unused_changes", {{"runs", doubts.unused_changes}, {"first", doubts.unused_text}});
  if (doubts.modelled_runs > 0) context.out.data("modelled_runs", doubts.modelled_runs);
}

} // namespace dt::cli
