#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/machine/process.hpp"
#include "core/maths/allreduce_cost.hpp"
#include "core/maths/statistics.hpp"
#include "core/text.hpp"
#include "engine/bench/bench.hpp"
#include "engine/bench/comm/gloo_allreduce.hpp"
#include "engine/comm/allreduce/gloo_allreduce.hpp"
#include "engine/comm/choice/cost_shape.hpp"
#include "engine/comm/choice/paired_rounds.hpp"
#include "engine/comm/choice/time_allreduces.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/mpi_world.hpp"
#include "engine/comm/placement.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace dt::bench {
namespace {

// The results of `dtbench comm`, as a table or as JSON.

// One algorithm at one size. Times are per call, from a barrier to the slowest rank's end.
struct CommRow {
  std::string algorithm;
  std::int64_t bytes = 0;
  std::int64_t repeats = 0, calls = 0;        // calls: consecutive calls in a repetition; their mean counts
  double median_s = 0, low_s = 0, high_s = 0; // quartiles
  double against_mpi = 0; // median over repetitions of mpi's time ÷ this algorithm's time; 0: mpi was not measured
  double bound_s = 0;     // lower bound for any algorithm on these links; 0: unknown
  std::int64_t sent_bytes = 0, messages = 0; // per call over all ranks; 0 for those of Gloo's that only dtbench has
};

// `dynamic` at one size, compared with plain MPI and with the best of our other algorithms (lowest median). Ratios are the
// other's time ÷ dynamic's time in the same repetition: the median, and an interval whose two ends are each wrong in at most one
// case of ten.
struct DynamicRow {
  std::int64_t bytes = 0, repeats = 0;
  double median_s = 0, mpi_s = 0, best_s = 0;
  std::string best;
  comm::PairedRatio against_mpi, against_best;
};

struct CommReport {
  int ranks = 0, nodes = 0, supernodes = 0;
  std::string warning; // why the figures are less reliable; empty: no reason
  std::vector<CommRow> rows;
  std::vector<DynamicRow> dynamic_rows;                     // only if dynamic, mpi and another of ours are measured
  double dynamic_start_s = 0;                               // time that dynamic took to select
  std::optional<CostModel> network;                         // fitted to the rows of our schedules; without them none
  std::vector<std::pair<std::string, std::string>> choices; // of the algorithms that select by themselves
};

std::string size_text(std::int64_t bytes)
{
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string row_text(const CommRow& row, int ranks)
{
  const double gbyte_per_s = 2e-9 * static_cast<double>(row.bytes) * (ranks - 1) / ranks / row.median_s;
  auto line = fmt::format("{:>9}  {:<24} {:>12.1f} {:>12.1f} {:>12.1f} {:>7} {:>9.3f}", size_text(row.bytes), row.algorithm,
                          1e6 * row.median_s, 1e6 * row.low_s, 1e6 * row.high_s, row.repeats, gbyte_per_s);
  line += row.against_mpi > 0 ? fmt::format(" {:>7.2f}x", row.against_mpi) : fmt::format(" {:>8}", "");
  if (row.bound_s > 0) line += fmt::format(" {:>7.1f}%", 100 * row.bound_s / row.median_s);
  return line + '\n';
}

std::string time_text(double seconds)
{
  return seconds < 1e-3 ? fmt::format("{:.0f} us", 1e6 * seconds)
         : seconds < 1  ? fmt::format("{:.3g} ms", 1e3 * seconds)
                        : fmt::format("{:.2f} s", seconds);
}

std::string ratio_text(const comm::PairedRatio& ratio)
{
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", ratio.median, ratio.least, ratio.most);
}

std::string row_text(const DynamicRow& row)
{
  return fmt::format("dynamic at {}: {}, {} as fast as mpi ({}), {} as fast as {} ({}), {} rounds\n", size_text(row.bytes),
                     time_text(row.median_s), ratio_text(row.against_mpi), time_text(row.mpi_s), ratio_text(row.against_best),
                     row.best, time_text(row.best_s), row.repeats);
}

nlohmann::ordered_json json_of(const comm::PairedRatio& ratio)
{
  return {{"median", ratio.median}, {"low", ratio.least}, {"high", ratio.most}};
}

nlohmann::ordered_json json_of(const DynamicRow& row)
{
  return {{"bytes", row.bytes},
          {"repeats", row.repeats},
          {"us_median", 1e6 * row.median_s},
          {"us_mpi", 1e6 * row.mpi_s},
          {"best", row.best},
          {"us_best", 1e6 * row.best_s},
          {"against_mpi", json_of(row.against_mpi)},
          {"against_best", json_of(row.against_best)}};
}

nlohmann::ordered_json json_of(const CommRow& row)
{
  nlohmann::ordered_json object{
      {"algorithm", row.algorithm},      {"bytes", row.bytes},        {"repeats", row.repeats},     {"calls", row.calls},
      {"us_median", 1e6 * row.median_s}, {"us_low", 1e6 * row.low_s}, {"us_high", 1e6 * row.high_s}};
  if (row.against_mpi > 0) object["against_mpi"] = row.against_mpi;
  if (row.bound_s > 0) {
    object["us_bound"] = 1e6 * row.bound_s;
    object["share_of_bound"] = row.bound_s / row.median_s;
  }
  if (row.messages > 0) {
    object["sent_bytes"] = row.sent_bytes;
    object["messages"] = row.messages;
  }
  return object;
}

std::string text_of(const CommReport& report)
{
  auto text =
      fmt::format("{} ranks on {} nodes in {} supernodes; times of one call, slowest rank's, median and quartiles; GB/s is "
                  "2 n (P-1)/P over the median\n",
                  report.ranks, report.nodes, report.supernodes);
  if (!report.warning.empty()) text += "warning: " + report.warning + '\n';
  text +=
      fmt::format("{:>9}  {:<24} {:>12} {:>12} {:>12} {:>7} {:>9} {:>8} {:>8}\n", "size", "algorithm", "us median", "us lower",
                  "us upper", "repeats", "GB/s", "mpi/own", report.rows.empty() || report.rows[0].bound_s == 0 ? "" : "of bound");
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    if (i > 0 && report.rows[i].bytes != report.rows[i - 1].bytes) text += '\n';
    text += row_text(report.rows[i], report.ranks);
  }
  for (const auto& row : report.dynamic_rows) text += row_text(row);
  if (report.dynamic_start_s > 0) text += fmt::format("dynamic took {} to choose\n", time_text(report.dynamic_start_s));
  for (const auto& [algorithm, choice] : report.choices) text += fmt::format("{}: {}\n", algorithm, choice);
  if (report.network)
    text += fmt::format("{}\nfor a machine profile (dtctl predict --profile):\n{}", in_words(*report.network),
                        network_block(*report.network));
  return text;
}

std::string json_of(const CommReport& report, const CommBench& options)
{
  nlohmann::ordered_json object{{"ranks", report.ranks}, {"nodes", report.nodes}, {"supernodes", report.supernodes}};
  if (!report.warning.empty()) object["warning"] = report.warning;
  if (options.link_gbit > 0) object["link_gbit"] = options.link_gbit;
  if (options.trunk_gbit > 0) object["trunk_gbit"] = options.trunk_gbit;
  object["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : report.rows) object["rows"].push_back(json_of(row));
  if (report.network)
    object["network"] = {{"latency_s", report.network->alpha_s},
                         {"bandwidth_bytes_per_s", report.network->link_bytes_per_s()},
                         {"reduce_s_per_byte", report.network->gamma_s},
                         {"spread", report.network->spread},
                         {"profile", network_block(*report.network)}};
  for (const auto& row : report.dynamic_rows) object["dynamic"].push_back(json_of(row));
  if (report.dynamic_start_s > 0) object["dynamic_start_s"] = report.dynamic_start_s;
  for (const auto& [algorithm, choice] : report.choices) object["choices"][algorithm] = choice;
  return object.dump(2) + '\n';
}

constexpr double long_enough_s = 0.25; // if a sum takes longer, one warm-up call is enough

struct Contender {
  std::string name;
  std::unique_ptr<comm::Allreduce> allreduce;
  std::int64_t calls = 1;
  std::vector<double> times{}; // per call, by repetition
  comm::Traffic traffic{};     // per call, over all ranks
  bool left_out = false;       // too slow at this size
  bool is_ours() const { return name != "mpi" && name != "dynamic" && !name.starts_with("gloo"); }
};

// The slowest rank's mean time of `calls` consecutive calls after a barrier. The same on every rank.
double time_calls(comm::Allreduce& allreduce, std::span<float> values, std::int64_t calls, comm::Communicator& comm)
{
  comm.barrier();
  const double begin = comm::monotonic_s();
  for (std::int64_t i = 0; i < calls; ++i) allreduce.sum(values);
  double seconds = (comm::monotonic_s() - begin) / static_cast<double>(calls);
  comm::check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.handle()), "MPI_Allreduce");
  return seconds;
}

std::vector<std::string> names_of(const CommBench& options)
{
  if (!options.algorithms.empty()) return options.algorithms;
  auto names = comm::registered_allreduces();
  if (!comm::has_gloo()) std::erase(names, "gloo");
  for (auto& name : gloo_allreduces()) names.push_back(std::move(name));
  return names;
}

std::vector<std::size_t> sizes_of(const CommBench& options)
{
  if (!options.sizes.empty()) {
    std::vector<std::size_t> sizes;
    for (const auto bytes : options.sizes) sizes.push_back(static_cast<std::size_t>(bytes));
    return sizes;
  }
  if (options.least_bytes > options.most_bytes)
    throw Error(ErrorKind::usage, fmt::format("--least {} is more than --most {}.", options.least_bytes, options.most_bytes));
  std::vector<std::size_t> sizes;
  for (auto bytes = options.least_bytes; bytes <= options.most_bytes; bytes *= options.factor)
    sizes.push_back(static_cast<std::size_t>(bytes));
  return sizes;
}

std::unique_ptr<comm::Allreduce> make_contender(const std::string& name, const CommBench& options, const comm::Topology& topology,
                                                comm::Communicator& comm)
{
  if (name.starts_with("gloo-")) return make_gloo_allreduce(name, comm);
  const auto words = split(name, ':');
  return comm::make_allreduce({.algorithm = words[0],
                               .wire = words.size() > 1 ? choice_of<Wire>(words[1]) : Wire::float32,
                               .topology = topology,
                               .cache = options.cache,
                               .largest_bytes = std::ranges::max(sizes_of(options))},
                              comm);
}

// Checks the result of a sum and returns its seconds. Every rank's vector holds its rank plus one: small integers, which every
// format and order of addition must sum exactly.
double require_right_sum(Contender& contender, std::span<float> values, comm::Communicator& comm)
{
  std::ranges::fill(values, static_cast<float>(comm.rank() + 1));
  const auto before = comm.traffic();
  const double seconds = time_calls(*contender.allreduce, values, 1, comm);
  const auto sum = static_cast<float>(comm.size() * (comm.size() + 1) / 2);
  if (!std::ranges::all_of(values, [&](float value) { return value == sum; }))
    throw Error(ErrorKind::internal,
                fmt::format("{} gives a wrong sum of {} numbers on rank {}.", contender.name, values.size(), comm.rank()));
  std::array counted{static_cast<double>(comm.traffic().bytes - before.bytes),
                     static_cast<double>(comm.traffic().messages - before.messages)};
  comm.sum_record(counted);
  contender.traffic = {static_cast<std::int64_t>(counted[0]), static_cast<std::int64_t>(counted[1])};
  return seconds;
}

// Makes warm-up calls on zeros, which stay zeros, and returns the seconds that one repetition of all contenders takes. Contenders
// that exceed `leave_out` keep their one measured time and are not measured further.
double warm_up(std::vector<Contender>& contenders, std::span<float> values, double leave_out, comm::Communicator& comm)
{
  double fastest_s = std::numeric_limits<double>::infinity();
  for (auto& contender : contenders) {
    double seconds = require_right_sum(contender, values, comm);
    std::ranges::fill(values, 0.0F);
    if (seconds < long_enough_s) seconds = time_calls(*contender.allreduce, values, 1, comm);
    contender.times = {seconds};
    fastest_s = std::min(fastest_s, seconds);
  }
  for (auto& contender : contenders) contender.calls = comm::calls_in_a_row(values.size_bytes(), fastest_s);
  double all_s = 0;
  for (auto& contender : contenders) {
    contender.left_out =
        leave_out > 0 && contender.is_ours() && contender.times.front() > std::max(long_enough_s, leave_out * fastest_s);
    if (contender.left_out) continue;
    all_s += contender.times.front() * static_cast<double>(contender.calls);
    contender.times.clear();
  }
  return all_s;
}

// Times all contenders once per repetition, in a new random order each time, so that drift of the machine affects all alike.
void measure(std::vector<Contender>& contenders, std::span<float> values, std::int64_t repeats, comm::Communicator& comm)
{
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 generator(static_cast<unsigned>(values.size())); // same seed on every rank
  for (std::int64_t r = 0; r < repeats; ++r) {
    std::shuffle(order.begin(), order.end(), generator);
    for (const auto k : order)
      if (!contenders[k].left_out)
        contenders[k].times.push_back(time_calls(*contenders[k].allreduce, values, contenders[k].calls, comm));
  }
}

double median_ratio(const std::vector<double>& above, const std::vector<double>& below)
{
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(above.size(), below.size()); ++i) ratios.push_back(above[i] / below[i]);
  return median(ratios);
}

// The fastest of our other algorithms that were not left out; null if there is none.
const Contender* best_of_ours(const std::vector<Contender>& contenders)
{
  const Contender* best = nullptr;
  for (const auto& contender : contenders)
    if (contender.is_ours() && !contender.left_out &&
        (best == nullptr || quantile(contender.times, 0.5) < quantile(best->times, 0.5)))
      best = &contender;
  return best;
}

void add_dynamic_row(CommReport& report, const std::vector<Contender>& contenders, std::size_t bytes)
{
  const auto dynamic = std::ranges::find(contenders, "dynamic", &Contender::name),
             mpi = std::ranges::find(contenders, "mpi", &Contender::name);
  const auto* best = best_of_ours(contenders);
  if (dynamic == contenders.end() || mpi == contenders.end() || best == nullptr) return;
  report.dynamic_rows.push_back({static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(dynamic->times.size()),
                                 quantile(dynamic->times, 0.5), quantile(mpi->times, 0.5), quantile(best->times, 0.5), best->name,
                                 comm::paired_ratio(mpi->times, dynamic->times),
                                 comm::paired_ratio(best->times, dynamic->times)});
}

// A node must send 2 n (N-1)/N bytes over its link, for any division of work among its ranks, and a supernode 2 n (S-1)/S bytes
// over its trunk. This is for float32; bfloat16 needs half of it.
double bound_s(const CommBench& options, const comm::Topology& topology, std::size_t bytes)
{
  const auto seconds = [&](int groups, double gbit) {
    return groups < 2 || gbit == 0 ? 0.0 : 2.0 * static_cast<double>(bytes) * (groups - 1) / groups / (gbit * 1e9 / 8);
  };
  return std::max(seconds(topology.nodes(), options.link_gbit), seconds(topology.supernodes(), options.trunk_gbit));
}

void add_rows(CommReport& report, const std::vector<Contender>& contenders, std::size_t bytes, double bound)
{
  const auto mpi = std::ranges::find(contenders, "mpi", &Contender::name);
  for (const auto& contender : contenders)
    report.rows.push_back(
        {contender.name, static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(contender.times.size()), contender.calls,
         quantile(contender.times, 0.5), quantile(contender.times, 0.25), quantile(contender.times, 0.75),
         mpi == contenders.end() ? 0 : median_ratio(mpi->times, contender.times),
         contender.name.ends_with(":bfloat16") ? bound / 2 : bound, contender.traffic.bytes, contender.traffic.messages});
}

// Fits α, β and γ to the medians of the algorithms whose formulas are exact: ours, with float32.
std::optional<CostModel> fit_network(const std::vector<CommRow>& rows, const comm::Topology& topology)
{
  static const std::set<std::string> exact{"ring", "halving-doubling", "tree", "topology-aware", "hierarchical"};
  const auto shape = comm::cost_shape(topology);
  std::vector<CostSample> samples;
  for (const auto& row : rows)
    if (exact.contains(row.algorithm) && shape.ranks > 1)
      samples.push_back({cost_terms(row.algorithm, shape), static_cast<std::size_t>(row.bytes), row.median_s});
  if (samples.empty()) return std::nullopt;
  return fit_costs(samples);
}

// Compares boot ids instead of host names, because containers on one machine share its cores.
std::string warning_of(comm::Communicator& comm)
{
  const auto own = identify_process(getpid());
  const auto machines = comm.gather_texts(own ? own->boot_id : host_name());
  const auto places = comm::gather_places(comm);
  std::map<std::string, std::pair<std::size_t, std::set<int>>> ranks_and_cores;
  for (std::size_t r = 0; r < machines.size(); ++r) {
    auto& [ranks, cores] = ranks_and_cores[machines[r]];
    ++ranks;
    cores.insert(places[r].cores.begin(), places[r].cores.end());
  }
  for (const auto& [machine, both] : ranks_and_cores)
    if (both.first > both.second.size())
      return fmt::format("{} ranks share {} cores of one machine, so times hold waiting for a core too.", both.first,
                         both.second.size());
  return {};
}

} // namespace

int bench_comm(const CommBench& options)
{
  const comm::MpiWorld world;
  comm::Communicator comm(MPI_COMM_WORLD);
  const auto topology = comm::topology_of_hosts(comm, options.nodes_per_supernode);
  CommReport report{.ranks = comm.size(),
                    .nodes = topology.nodes(),
                    .supernodes = topology.supernodes(),
                    .warning = warning_of(comm),
                    .rows = {},
                    .dynamic_rows = {},
                    .network = {},
                    .choices = {}};
  std::vector<Contender> contenders;
  for (const auto& name : names_of(options)) {
    const double begin_s = comm::monotonic_s();
    contenders.push_back({name, make_contender(name, options, topology, comm)});
    if (name == "dynamic") report.dynamic_start_s = comm::monotonic_s() - begin_s;
  }
  for (const auto bytes : sizes_of(options)) {
    std::vector<float> values(bytes / sizeof(float));
    const double round_s = warm_up(contenders, values, options.leave_out, comm);
    const auto fitting = std::max(options.fewest, static_cast<std::int64_t>(options.seconds / round_s));
    measure(contenders, values, options.repeats > 0 ? options.repeats : fitting, comm);
    add_rows(report, contenders, bytes, bound_s(options, topology, bytes));
    add_dynamic_row(report, contenders, bytes);
  }
  report.network = fit_network(report.rows, topology);
  for (const auto& contender : contenders)
    for (const auto& [fact, words] : contender.allreduce->facts())
      report.choices.emplace_back(contender.name + fact.substr(std::min(fact.size(), std::string_view("allreduce").size())),
                                  words);
  if (comm.is_root() && !options.json_file.empty())
    write_file_atomic(options.json_file, json_of(report, options), Readers::everybody);
  if (comm.is_root()) fmt::print("{}", options.json ? json_of(report, options) : text_of(report));
  return 0;
}

} // namespace dt::bench
