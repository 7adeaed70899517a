#include "engine/comm/dynamic.hpp"

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/comm/clock.hpp"
#include "engine/comm/placement.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

namespace dt::engine {
namespace {

constexpr std::array<std::size_t, 9> sizes{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20};
constexpr double share_a_size = 0.025; // of the time there is; large sizes take more, and are left out when it is over
constexpr std::size_t short_bytes = 64 << 10;
constexpr int calls_of_short = 8;
constexpr std::size_t fewest_rounds = 5, most_rounds = 101;

AllreduceOptions with(AllreduceOptions options, const std::string& algorithm)
{
  options.algorithm = algorithm;
  return options;
}

// `hierarchical` and `topology-aware` are halving-doubling where no node has two ranks and no supernode is known.
bool is_worth_timing(const std::string& algorithm, const Topology& topology)
{
  if (algorithm == "dynamic") return false;
  if (algorithm == "topology-aware") return topology.supernodes() > 1;
  if (algorithm == "hierarchical") return static_cast<std::size_t>(topology.nodes()) < topology.node.size();
  return true;
}

// Nothing for one that does not have the wire format, which all ranks find alike.
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
    if (auto made = make_if_possible(with(options, name), comm)) {
      all.names.push_back(name);
      all.allreduces.push_back(std::move(made));
    }
    if (comm.size() == 1 && !all.names.empty()) break; // nothing to choose
  }
  return all;
}

// One sum by each in turn, so that what else the machine does meets all alike. Times on rank 0, the slowest rank's each. Short
// ones are timed many in a row: a link that lets a burst pass would flatter one that sends more, and charge it to the next.
std::vector<double> round_of(const Candidates& all, std::span<float> values, Communicator& comm)
{
  const int calls = values.size_bytes() <= short_bytes ? calls_of_short : 1;
  std::vector<double> mine;
  for (const auto& allreduce : all.allreduces) {
    comm.barrier();
    const double begin = monotonic_s();
    for (int call = 0; call < calls; ++call) allreduce->sum(values);
    mine.push_back((monotonic_s() - begin) / calls);
  }
  const auto everyones = comm.gather_numbers(mine);
  for (std::size_t i = 0; i < everyones.size(); ++i) mine[i % mine.size()] = std::max(mine[i % mine.size()], everyones[i]);
  return mine;
}

// What is exceeded by three of four: what else the machine does only ever adds to a time.
double lower_quartile(std::vector<double> values)
{
  const auto quarter = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), quarter, values.end());
  return *quarter;
}

// Rank 0's number, on every rank.
std::size_t agree(std::size_t number, Communicator& comm) { return std::stoul(comm.broadcast_text(std::to_string(number))); }

// Usual times on rank 0. The first round wakes connections and touches memory; it tells how many more fit into the time.
std::vector<double> time_at(std::size_t bytes, double budget_s, const Candidates& all, Communicator& comm)
{
  std::vector<float> values(bytes / sizeof(float)); // zeros stay zeros, however often summed
  const double begin = monotonic_s();
  round_of(all, values, comm);
  const double wanted = budget_s / (monotonic_s() - begin);
  const auto rounds = agree(static_cast<std::size_t>(std::clamp<double>(wanted, fewest_rounds, most_rounds)), comm);
  std::vector<std::vector<double>> times(all.names.size());
  for (std::size_t r = 0; r < rounds; ++r) {
    const auto round = round_of(all, values, comm);
    for (std::size_t a = 0; a < times.size(); ++a) times[a].push_back(round[a]);
  }
  std::vector<double> usual;
  for (const auto& of_one : times) usual.push_back(lower_quartile(of_one));
  return usual;
}

// What timings hold for: who runs where on which cores, over which library, with what.
std::string key_of(const AllreduceOptions& options, Communicator& comm)
{
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  int length = 0;
  check_mpi(MPI_Get_library_version(library.data(), &length), "MPI_Get_library_version");
  std::string text = fmt::format("{}\n{}\n{}\n", library.data(), options.wire, join(registered_allreduces(), " "));
  const auto places = gather_places(comm);
  for (std::size_t r = 0; r < places.size(); ++r)
    text += fmt::format("{} {} {} {}\n", places[r].host, mask_text(places[r].cores), options.topology.node[r], options.topology.supernode[r]);
  return hash_hex(text);
}

std::filesystem::path file_of(const std::filesystem::path& cache, const std::string& key) { return cache / ("allreduce-" + key); }

// On rank 0. A cache that cannot be read is none.
std::string read_cache(const AllreduceOptions& options, const std::string& key)
{
  if (options.cache.empty()) return {};
  try {
    return read_file_if_exists(file_of(options.cache, key)).value_or("");
  } catch (const Error&) {
    return {};
  }
}

// On rank 0. A cache that cannot be written costs the next run a few seconds, not this one its life.
void write_cache(const AllreduceOptions& options, const std::string& key, const AllreduceTimings& timings)
{
  if (options.cache.empty()) return;
  try {
    make_folders(options.cache);
    write_file_atomic(file_of(options.cache, key), to_text(timings, key));
  } catch (const Error&) {
    return;
  }
}

AllreduceTimings known_or_timed(const AllreduceOptions& options, Communicator& comm)
{
  const auto key = key_of(options, comm);
  if (const auto known = parse_timings(comm.broadcast_text(comm.is_root() ? read_cache(options, key) : ""), key)) return *known;
  auto timings = time_allreduces(options, comm);
  if (comm.is_root()) write_cache(options, key, timings);
  return timings;
}

} // namespace

AllreduceTimings time_allreduces(const AllreduceOptions& options, Communicator& comm)
{
  const auto traffic = comm.traffic();
  comm.activity().enter("times the allreduces");
  const auto all = candidates(options, comm);
  AllreduceTimings timings{.algorithms = all.names, .bytes = {}, .seconds = {}};
  const double begin = monotonic_s();
  double expected_s = 0; // of the next size, which has four times the bytes and takes at most four times as long
  for (const auto bytes : sizes) {
    if (agree(monotonic_s() - begin + expected_s < options.timing_s ? 1 : 0, comm) == 0) break;
    timings.bytes.push_back(bytes);
    timings.seconds.push_back(time_at(bytes, share_a_size * options.timing_s, all, comm));
    const auto& round = timings.seconds.back();
    expected_s = 4 * static_cast<double>(fewest_rounds + 1) * std::accumulate(round.begin(), round.end(), 0.0);
  }
  comm.traffic() = traffic;
  return *parse_timings(comm.broadcast_text(to_text(timings, "")), "");
}

DynamicAllreduce::DynamicAllreduce(const AllreduceOptions& options, Communicator& comm)
    : DynamicAllreduce(known_or_timed(options, comm), options, comm)
{
}

DynamicAllreduce::DynamicAllreduce(const AllreduceTimings& timings, const AllreduceOptions& options, Communicator& comm)
    : algorithms_(timings.algorithms), choices_(choose(timings)), bucket_bytes_(best_bucket_bytes(timings, choices_)),
      allreduces_(algorithms_.size())
{
  for (const auto& choice : choices_)
    if (auto& made = allreduces_[choice.algorithm]; !made) made = make_allreduce(with(options, algorithms_[choice.algorithm]), comm);
}

std::string DynamicAllreduce::choice() const
{
  return fmt::format("{}; buckets of {}", in_words(choices_, algorithms_), format_bytes(static_cast<double>(bucket_bytes_)));
}

} // namespace dt::engine
