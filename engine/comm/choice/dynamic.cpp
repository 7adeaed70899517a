#include "engine/comm/choice/dynamic.hpp"

#include "core/error.hpp"
#include "core/files/file.hpp"
#include "core/hash.hpp"
#include "core/maths/statistics.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "engine/comm/choice/paired_rounds.hpp"
#include "engine/comm/choice/time_allreduces.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/placement.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace dt::comm {
namespace {

constexpr int more_sums = 4; // further sums when the first one does not confirm

// Cache key: hash of MPI library, wire format, algorithms, and each rank's host, cores and topology.
std::string key_of(const AllreduceOptions& options, Communicator& comm)
{
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> library{};
  int length = 0;
  check_mpi(MPI_Get_library_version(library.data(), &length), "MPI_Get_library_version");
  std::string text = fmt::format("{}\n{}\n{}\n", library.data(), name_of(options.wire), join(registered_allreduces(), " "));
  const auto places = gather_places(comm);
  for (std::size_t r = 0; r < places.size(); ++r)
    text += fmt::format("{} {} {} {}\n", places[r].host, mask_text(places[r].cores), options.topology.node[r],
                        options.topology.supernode[r]);
  return hash_hex(text);
}

std::filesystem::path file_of(const std::filesystem::path& cache, const std::string& key) { return cache / ("allreduce-" + key); }

// On rank 0. An unreadable cache counts as empty.
std::string read_cache(const AllreduceOptions& options, const std::string& key)
{
  if (options.cache.empty()) return {};
  try {
    return read_file_if_exists(file_of(options.cache, key)).value_or("");
  } catch (const Error&) {
    return {};
  }
}

// On rank 0.
void write_cache(const AllreduceOptions& options, const std::string& key, const AllreduceTimings& timings)
{
  if (!options.cache.empty()) keep_file(file_of(options.cache, key), to_text(timings, key));
}

// The cached timings, if they can be used. Makes no sum. Collective.
std::optional<AllreduceTimings> kept_timings(const AllreduceOptions& options, const std::string& key, Communicator& comm)
{
  auto kept = parse_timings(comm.broadcast_text(comm.is_root() ? read_cache(options, key) : ""), key);
  if (!kept || !could_be_timed(kept->algorithms, options, comm)) return std::nullopt;
  kept->shape = cost_shape(options.topology);
  const bool reaches = 2 * kept->bytes.back() >= sizes_to_time(options.largest_bytes).back();
  return reaches ? kept : std::nullopt;
}

// The slowest rank's seconds, on every rank. Collective.
double fresh_sum_s(Allreduce& allreduce, const std::string& name, std::span<float> values, const AllreduceOptions& options,
                   Communicator& comm)
{
  double seconds = time_sum(allreduce, name, values, 1, options, comm);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm.handle()), "MPI_Allreduce");
  return seconds;
}

// Times one sum after a short warm-up sum, and more sums if the first one does not confirm. Collective.
double confirming_s(const ConfirmingSum& sum, const std::string& name, const AllreduceOptions& options, Communicator& comm)
{
  const auto traffic = comm.traffic();
  const auto allreduce = make_allreduce(with_algorithm(options, name), comm);
  Floats values(std::max<std::size_t>(sum.bytes / sizeof(float), 1));
  allreduce->sum(std::span(values).first(1));
  std::vector<double> seconds{fresh_sum_s(*allreduce, name, values, options, comm)};
  for (int more = 0; more < more_sums && !is_confirmed(sum, seconds.front()); ++more)
    seconds.push_back(fresh_sum_s(*allreduce, name, values, options, comm));
  comm.traffic() = traffic;
  return median(seconds);
}

std::string mbyte_per_s(double bytes_per_s) { return fmt::format("{:.3g} MB/s", 1e-6 * bytes_per_s); }

} // namespace

KnownTimings kept_or_fresh_timings(const AllreduceOptions& options, Communicator& comm)
{
  std::string origin = "timed at this start";
  if (options.cache.empty()) return {time_allreduces(options, comm), origin};
  const auto key = key_of(options, comm);
  if (const auto kept = kept_timings(options, key, comm)) {
    const auto sum = confirming_sum(*kept, choose(*kept));
    const auto& name = kept->algorithms[sum.algorithm];
    if (comm.size() == 1) return {*kept, "of an earlier run"};
    const double fresh_s = confirming_s(sum, name, options, comm);
    const double kept_rate = kept->model.link_bytes_per_s();
    const auto words =
        fmt::format("a sum of {} by {} took {}, {} when they were timed (links of {}, {} then)",
                    format_bytes(static_cast<double>(sum.bytes)), name, format_seconds(fresh_s), format_seconds(sum.seconds),
                    mbyte_per_s(kept_rate * sum.seconds / fresh_s), mbyte_per_s(kept_rate));
    if (is_confirmed(sum, fresh_s)) return {*kept, "of an earlier run, confirmed: " + words};
    origin += ", since those of an earlier run do not hold: " + words;
  }
  auto timings = time_allreduces(options, comm);
  if (comm.is_root()) write_cache(options, key, timings);
  return {std::move(timings), origin};
}

// A sum in progress by one of the algorithms. Another rank may be waiting for an earlier sum that needs this rank, so all ranks
// complete sums in the order of begin().
class DynamicAllreduce::Pending : public PendingSum {
 public:
  Pending(DynamicAllreduce& home, std::size_t algorithm, std::span<float> values)
      : home_(home), algorithm_(algorithm), bytes_(values.size_bytes()), sum_(home.made(algorithm).begin(values))
  {
    home_.under_way_.push_back(this);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() override { std::erase(home_.under_way_, this); }
  bool advance() override
  {
    done_ = done_ || sum_->advance();
    return done_;
  }
  void wait() override
  {
    for (auto* pending : home_.under_way_) {
      pending->wait_alone();
      if (pending == this) return;
    }
  }
  void wait_alone()
  {
    if (!std::exchange(done_, true)) home_.timed(algorithm_, bytes_, [this] { sum_->wait(); });
  }

 private:
  DynamicAllreduce& home_;
  std::size_t algorithm_, bytes_;
  std::unique_ptr<PendingSum> sum_;
  bool done_ = false;
};

DynamicAllreduce::DynamicAllreduce(const AllreduceOptions& options, Communicator& comm)
    : DynamicAllreduce(kept_or_fresh_timings(options, comm), options, comm)
{
}

DynamicAllreduce::DynamicAllreduce(KnownTimings known, const AllreduceOptions& options, Communicator& comm)
    : DynamicAllreduce(std::move(known.timings), options, comm, std::move(known.origin))
{
}

DynamicAllreduce::DynamicAllreduce(AllreduceTimings timings, const AllreduceOptions& options, Communicator& comm,
                                   std::string origin)
    : options_(options), comm_(comm), origin_(std::move(origin)), watch_(timings, choose(timings)),
      bucket_bytes_(best_bucket_bytes(timings, watch_.choices())), allreduces_(timings.algorithms.size())
{
  for (const auto& choice : watch_.choices()) made(choice.algorithm);
}

DynamicAllreduce::~DynamicAllreduce() = default;

// Collective at the first use of an algorithm.
Allreduce& DynamicAllreduce::made(std::size_t algorithm)
{
  auto& allreduce = allreduces_[algorithm];
  if (!allreduce) allreduce = make_allreduce(with_algorithm(options_, watch_.timings().algorithms[algorithm]), comm_);
  return *allreduce;
}

std::size_t DynamicAllreduce::next(std::size_t bytes)
{
  const auto algorithm = watch_.algorithm_for(bytes);
  watch_.expect_sum(bytes);
  return algorithm;
}

void DynamicAllreduce::timed(std::size_t algorithm, std::size_t bytes, const std::function<void()>& call)
{
  const double begin_s = monotonic_s();
  call();
  const double seconds = monotonic_s() - begin_s;
  watch_.waited(bytes, options_.seen_s ? options_.seen_s(watch_.timings().algorithms[algorithm], bytes, seconds) : seconds);
}

void DynamicAllreduce::finish_begun()
{
  if (!under_way_.empty()) under_way_.back()->wait();
}

void DynamicAllreduce::sum(std::span<float> values)
{
  finish_begun();
  const auto algorithm = next(values.size_bytes());
  auto& allreduce = made(algorithm);
  timed(algorithm, values.size_bytes(), [&] { allreduce.sum(values); });
}

void DynamicAllreduce::sum(std::span<const float> values, std::span<float> result)
{
  finish_begun();
  const auto algorithm = next(values.size_bytes());
  auto& allreduce = made(algorithm);
  timed(algorithm, values.size_bytes(), [&] { allreduce.sum(values, result); });
}

std::unique_ptr<PendingSum> DynamicAllreduce::begin(std::span<float> values)
{
  return std::make_unique<Pending>(*this, next(values.size_bytes()), values);
}

// No rank has a sum in progress that another rank waits for, so this exchange cannot block.
void DynamicAllreduce::end_step()
{
  if (comm_.size() == 1 || !watch_.end_step()) return;
  const auto seen = watch_.seen();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, seen.data(), static_cast<int>(seen.size()), MPI_DOUBLE, MPI_MIN, comm_.handle()),
            "MPI_Allreduce");
  watch_.look();
  for (const auto algorithm : watch_.contenders()) made(algorithm);
}

std::string DynamicAllreduce::choice() const
{
  return fmt::format("{}; buckets of {}", in_words(watch_.choices(), watch_.timings().algorithms),
                     format_bytes(static_cast<double>(bucket_bytes_)));
}

std::vector<std::pair<std::string, std::string>> DynamicAllreduce::facts() const
{
  std::vector<std::pair<std::string, std::string>> facts{{"allreduce", choice()}, {"allreduce timings", origin_}};
  if (comm_.size() == 1) return facts;
  facts.emplace_back("allreduce model", in_words(watch_.timings().model));
  if (!watch_.last_look().empty()) facts.emplace_back("allreduce seen", watch_.last_look());
  if (!watch_.changes().empty()) facts.emplace_back("allreduce reconsidered", join(watch_.changes(), "; "));
  return facts;
}

} // namespace dt::comm
