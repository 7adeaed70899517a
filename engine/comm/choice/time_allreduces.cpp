#include "engine/comm/choice/time_allreduces.hpp"

#include "core/error.hpp"
#include "engine/comm/choice/race.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/library.hpp"
#include "engine/comm/vectors.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

namespace dt::comm {
namespace {

constexpr std::size_t least_size = 1 << 10, largest_ladder = 64 << 20, usual_largest = 16 << 20;
constexpr double too_near = 1.5;              // a size of the ladder is left out if it is within this factor of the largest size
constexpr double most_of_budget = 3;          // factor on options.timing_s: limit for the minimum rounds of all sizes
constexpr double open_of_budget = 2;          // the same for further rounds of undecided races
constexpr std::size_t short_bytes = 64 << 10; // sums up to this length are timed several in a row
constexpr std::size_t row_bytes = 256 << 10, most_calls = 64; // upper limits of bytes and calls in a row
constexpr double row_s = 0.02; // a row is long enough if the fastest algorithm takes this long for it
constexpr std::size_t fewest_rounds = 3, most_rounds = 96;
constexpr double wake_up_s = 0.3; // warm-up ends after the first size that exceeds this total time
// On a machine whose times scatter, the cost model excludes hopeless algorithms only at sums of at least model_from_bytes, and
// only when model_from_sizes smaller sizes have been timed.
constexpr std::size_t model_from_bytes = 256 << 10, model_from_sizes = 3;
constexpr double hopeless = 2; // a prediction above this multiple of the best one excludes the algorithm
constexpr std::size_t local_add_floats = 64 << 10;
constexpr int local_adds = 9;
constexpr double least_s = 1e-9; // resolution of the clock

// `gloo` would cost each rank connections and a thread of its own, so a run has them only when its recipe names gloo. Without a
// known supernode, `topology-aware` equals halving-doubling; so does `hierarchical` if every node has one rank.
bool is_worth_timing(const std::string& algorithm, const Topology& topology)
{
  if (algorithm == "dynamic" || algorithm == "gloo") return false;
  if (algorithm == "mpi") return has_library_allreduce();
  if (algorithm == "topology-aware") return topology.supernodes() > 1;
  if (algorithm == "hierarchical") return static_cast<std::size_t>(topology.nodes()) < topology.node.size();
  return true;
}

// Null if the algorithm does not support the wire format. All ranks get the same answer.
std::unique_ptr<Allreduce> make_if_possible(const AllreduceOptions& options, Communicator& comm)
{
  try {
    return make_allreduce(options, comm);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::recipe) throw;
    return nullptr;
  }
}

struct Candidates {
  std::vector<std::string> names;
  std::vector<std::unique_ptr<Allreduce>> allreduces;
};

Candidates candidates(const AllreduceOptions& options, Communicator& comm)
{
  Candidates all;
  for (const auto& name : registered_allreduces()) {
    if (!is_worth_timing(name, options.topology)) continue;
    if (auto made = make_if_possible(with_algorithm(options, name), comm)) {
      all.names.push_back(name);
      all.allreduces.push_back(std::move(made));
    }
    if (comm.size() == 1 && !all.names.empty()) break; // with one rank there is nothing to select
  }
  return all;
}

// Rank 0's numbers, on every rank. Collective.
std::vector<std::size_t> agree(const std::vector<std::size_t>& numbers, Communicator& comm)
{
  std::string text;
  for (const auto number : numbers) text += std::to_string(number) + " ";
  std::istringstream words(comm.broadcast_text(text));
  return {std::istream_iterator<std::size_t>(words), {}};
}

// The race at one size.
struct Heat {
  std::size_t bytes;
  Race race;
  int calls = 1; // sums timed in a row
  double spent_s = 0, round_s = 0;
  bool open = true; // valid on rank 0
};

class Timer {
 public:
  Timer(const AllreduceOptions& options, Communicator& comm)
      : options_(options), comm_(comm), all_(candidates(options, comm)), begin_s_(monotonic_s())
  {
  }
  AllreduceTimings run();

 private:
  void wake_up();
  void time_local_adds();
  bool next_size_fits(std::size_t bytes);
  void begin_heat(std::size_t bytes, double budget_s);
  void go_on();
  std::size_t next_open_heat() const;
  void run_rounds(Heat& heat, std::size_t rounds);
  std::size_t more_rounds(const Heat& heat, double left_s) const;
  std::vector<bool> entries(std::size_t bytes) const;
  std::vector<double> round(const std::vector<bool>& running, std::span<float> values, int calls);
  int calls_for(const std::vector<bool>& running, std::span<float> values);
  void keep_results();
  double expected_round_s(std::size_t bytes) const;
  double left_s(double times) const { return times * options_.timing_s - (monotonic_s() - begin_s_); }

  const AllreduceOptions& options_;
  Communicator& comm_;
  Candidates all_;
  double begin_s_;
  double local_add_s_ = 0;
  bool exact_ = timing_repeats().exact(); // one time of each algorithm is enough
  std::vector<Heat> heats_;               // one for each size so far
  AllreduceTimings timings_;              // results of the heats; valid on rank 0
};

AllreduceTimings Timer::run()
{
  if (!exact_) wake_up();
  time_local_adds();
  const auto sizes = sizes_to_time(options_.largest_bytes);
  for (const auto bytes : sizes) {
    if (!exact_ && !next_size_fits(bytes)) break;
    begin_heat(bytes, options_.timing_s / static_cast<double>(sizes.size()));
  }
  if (!exact_) go_on();
  auto everyones = parse_timings(comm_.broadcast_text(comm_.is_root() ? to_text(timings_, "") : ""), "");
  if (!everyones) throw Error(ErrorKind::internal, "the timings of the allreduces are no numbers that can be used");
  return *everyones;
}

// Warms up the connections. MPI opens a connection at its first use, and TCP widens its window with traffic, so short sums take
// another time on a connection that has carried long messages, as it has during training.
void Timer::wake_up()
{
  const double begin = monotonic_s();
  for (std::size_t bytes = least_size; bytes <= usual_largest;) {
    Floats values(bytes / sizeof(float));
    round(std::vector<bool>(all_.names.size(), true), values, 1);
    const double spent_s = monotonic_s() - begin;
    bytes = agree({spent_s < wake_up_s ? 4 * bytes : 2 * usual_largest}, comm_).front();
  }
}

// Seconds of an addition in memory: the minimum of several on each rank, the maximum over the ranks.
void Timer::time_local_adds()
{
  Floats into(local_add_floats);
  const Floats from(local_add_floats);
  std::array<double, local_adds> times{};
  for (auto& time : times) {
    const double begin = monotonic_s();
    add_to(into, from);
    time = std::max(monotonic_s() - begin, least_s);
  }
  const auto everyones = comm_.gather_numbers(std::array{*std::ranges::min_element(times)});
  for (const double time : everyones) local_add_s_ = std::max(local_add_s_, time);
}

bool Timer::next_size_fits(std::size_t bytes)
{
  const bool is_first = heats_.empty();
  const double expected_s = is_first || !comm_.is_root() ? 0 : static_cast<double>(fewest_rounds) * expected_round_s(bytes);
  return agree({is_first || expected_s < left_s(most_of_budget) ? 1U : 0U}, comm_).front() == 1;
}

double Timer::expected_round_s(std::size_t bytes) const
{
  const auto entered = entries(bytes);
  double sum_s = 0;
  for (std::size_t a = 0; a < entered.size(); ++a)
    if (entered[a]) sum_s += predicted_s(timings_, a, bytes);
  return sum_s;
}

// On rank 0: the algorithms to time at this size. Where times scatter, the first one always enters, because the others are
// compared with it. Exact times need no comparison, and the model may exclude algorithms from the second size on.
std::vector<bool> Timer::entries(std::size_t bytes) const
{
  std::vector<bool> entered(all_.names.size(), true);
  const bool has_model =
      exact_ ? !timings_.bytes.empty() : bytes >= model_from_bytes && timings_.bytes.size() >= model_from_sizes;
  if (!has_model) return entered;
  // One timed size tells little: of a prime number of ranks the formula counts a latency for each of many messages that travel at
  // once. So without own models an algorithm must be hopeless by its formula too, and the best one is no better than by its own.
  std::vector<double> least, most;
  for (std::size_t a = 0; a < entered.size(); ++a) {
    const double predicted = predicted_s(timings_, a, bytes), formula = exact_ ? modelled_s(timings_, a, bytes) : predicted;
    least.push_back(std::min(predicted, formula));
    most.push_back(std::max(predicted, formula));
  }
  const double best = *std::ranges::min_element(most);
  for (std::size_t a = exact_ ? 0 : 1; a < entered.size(); ++a) entered[a] = least[a] <= hopeless * best;
  return entered;
}

// Runs the minimum number of rounds, and more while the race is open and the budget lasts.
void Timer::begin_heat(std::size_t bytes, double budget_s)
{
  const auto mask = comm_.is_root() ? entries(bytes) : std::vector<bool>();
  const auto entered = agree(std::vector<std::size_t>(mask.begin(), mask.end()), comm_);
  auto& heat = heats_.emplace_back(Heat{bytes, Race(std::vector<bool>(entered.begin(), entered.end()))});
  for (std::size_t rounds = exact_ ? 1 : fewest_rounds; rounds > 0;) {
    run_rounds(heat, rounds);
    rounds = exact_ ? 0 : agree({comm_.is_root() ? more_rounds(heat, budget_s - heat.spent_s) : 0}, comm_).front();
  }
  if (comm_.is_root()) keep_results();
}

// Continues open races, as they occur on a busy machine; the race with the least time so far comes first.
void Timer::go_on()
{
  for (;;) {
    const auto heat = comm_.is_root() ? next_open_heat() : 0;
    const auto rounds = comm_.is_root() && heat < heats_.size() ? more_rounds(heats_[heat], left_s(open_of_budget)) : 0;
    const auto plan = agree({heat, rounds}, comm_);
    if (plan.back() == 0) break;
    run_rounds(heats_[plan.front()], plan.back());
  }
  if (comm_.is_root()) keep_results();
}

// Returns the number of heats if none is open.
std::size_t Timer::next_open_heat() const
{
  std::size_t next = heats_.size();
  for (std::size_t h = 0; h < heats_.size(); ++h)
    if (more_rounds(heats_[h], left_s(open_of_budget)) > 0 && (next == heats_.size() || heats_[h].spent_s < heats_[next].spent_s))
      next = h;
  return next;
}

// Runs rounds; afterwards all ranks agree on the algorithms that are still running.
void Timer::run_rounds(Heat& heat, std::size_t rounds)
{
  const double begin = monotonic_s();
  Floats values(heat.bytes / sizeof(float)); // zeros stay zeros, however often they are summed
  if (heat.race.rounds() == 0 && !exact_) heat.calls = calls_for(heat.race.running(), values);
  const double rounds_begin = monotonic_s();
  for (std::size_t r = 0; r < rounds; ++r) heat.race.add_round(round(heat.race.running(), values, heat.calls));
  heat.round_s = (monotonic_s() - rounds_begin) / static_cast<double>(rounds);
  if (comm_.is_root()) heat.race.drop_slow();
  if (comm_.is_root()) heat.open = heat.race.is_open();
  const auto running = agree(std::vector<std::size_t>(heat.race.running().begin(), heat.race.running().end()), comm_);
  heat.race.keep(std::vector<bool>(running.begin(), running.end()));
  heat.spent_s += monotonic_s() - begin;
}

// At most as many rounds as there were so far, and as fit into the remaining time; 0: no more.
std::size_t Timer::more_rounds(const Heat& heat, double left_s) const
{
  const auto rounds = heat.race.rounds();
  if (!heat.open || rounds >= most_rounds || left_s <= 0) return 0;
  return std::min({rounds, most_rounds - rounds, static_cast<std::size_t>(left_s / heat.round_s)});
}

// After this call the model includes the new sizes.
void Timer::keep_results()
{
  timings_ = {.algorithms = all_.names, .bytes = {}, .seconds = {}, .shape = cost_shape(options_.topology)};
  for (const auto& heat : heats_) {
    timings_.bytes.push_back(heat.bytes);
    timings_.seconds.push_back(heat.race.seconds());
    if (!exact_) timings_.ratio_limits.push_back(heat.race.ratio_limits());
  }
  fit_models(timings_, local_add_floats * sizeof(float), local_add_s_);
}

// Short sums are timed several in a row, with more bytes than the burst that a link passes after a pause (about 50 KiB).
// Otherwise the burst would favour an algorithm that sends more at once, and the next algorithm would pay for it.
int Timer::calls_for(const std::vector<bool>& running, std::span<float> values)
{
  if (values.size_bytes() > short_bytes) return 1;
  const auto seconds = round(running, values, 1);
  const int calls = comm_.is_root() ? calls_in_a_row(values.size_bytes(), *std::ranges::min_element(seconds)) : 1;
  return static_cast<int>(agree({static_cast<std::size_t>(calls)}, comm_).front());
}

// One timing of each running algorithm in turn, so that other load on the machine affects all alike. On rank 0 the result is the
// slowest rank's seconds per call for each algorithm.
std::vector<double> Timer::round(const std::vector<bool>& running, std::span<float> values, int calls)
{
  std::vector<double> seconds;
  for (std::size_t a = 0; a < running.size(); ++a)
    if (running[a]) seconds.push_back(time_sum(*all_.allreduces[a], all_.names[a], values, calls, options_, comm_));
  const auto everyones = comm_.gather_numbers(seconds);
  for (std::size_t i = 0; i < everyones.size(); ++i)
    seconds[i % seconds.size()] = std::max(seconds[i % seconds.size()], everyones[i]);
  return seconds;
}

} // namespace

AllreduceTimings time_allreduces(const AllreduceOptions& options, Communicator& comm)
{
  const auto traffic = comm.traffic();
  comm.activity().enter(Doing::works, "times the allreduces");
  auto timings = Timer(options, comm).run();
  comm.traffic() = traffic;
  return timings;
}

int calls_in_a_row(std::size_t bytes, double fastest_s)
{
  const auto most = std::clamp(row_bytes / std::max(bytes, std::size_t{1}), std::size_t{1}, most_calls);
  return static_cast<int>(std::clamp(row_s / fastest_s, 1.0, static_cast<double>(most)));
}

bool could_be_timed(const std::vector<std::string>& names, const AllreduceOptions& options, Communicator& comm)
{
  const auto registered = registered_allreduces();
  return std::ranges::all_of(names, [&](const auto& name) {
    return std::ranges::count(names, name) == 1 && std::ranges::count(registered, name) == 1 &&
           is_worth_timing(name, options.topology) && make_if_possible(with_algorithm(options, name), comm);
  });
}

std::vector<std::size_t> sizes_to_time(std::size_t largest_bytes)
{
  const auto largest =
      std::clamp(largest_bytes == 0 ? usual_largest : largest_bytes / sizeof(float) * sizeof(float), least_size, largest_ladder);
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = least_size; too_near * static_cast<double>(bytes) <= static_cast<double>(largest); bytes *= 4)
    sizes.push_back(bytes);
  sizes.push_back(largest);
  return sizes;
}

double time_sum(Allreduce& allreduce, const std::string& name, std::span<float> values, int calls,
                const AllreduceOptions& options, Communicator& comm)
{
  comm.barrier();
  const double begin = monotonic_s();
  for (int call = 0; call < calls; ++call) allreduce.sum(values);
  const double seconds = std::max((monotonic_s() - begin) / calls, least_s);
  return options.seen_s ? options.seen_s(name, values.size_bytes(), seconds) : seconds;
}

AllreduceOptions with_algorithm(AllreduceOptions options, const std::string& algorithm)
{
  options.algorithm = algorithm;
  return options;
}

} // namespace dt::comm
