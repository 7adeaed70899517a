#include "engine/bindings/training.hpp"

#include "core/error.hpp"
#include "core/record/field.hpp"
#include "core/spec/strategy_table.hpp"
#include "core/text.hpp"
#include "engine/bindings/report.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/sync/exchange/elastic.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dt::bindings {

void SyncClock::begin_communication() { mark_s_ = comm::monotonic_s(); }

void SyncClock::draw(const char* name, double end_s) const
{
  if (auto* trace = comm_.trace()) trace->add({.name = name, .track = "training", .begin_s = mark_s_, .end_s = end_s});
}

void SyncClock::end_communication()
{
  const double now_s = comm::monotonic_s(), seconds = now_s - mark_s_;
  draw("communication", now_s);
  times_.communication_s += seconds;
  if (in_compute_) times_.in_compute_s += seconds;
}

void SyncClock::begin_update() { mark_s_ = comm::monotonic_s(); }

void SyncClock::end_update()
{
  const double now_s = comm::monotonic_s();
  draw("optimizer", now_s);
  times_.update_s += now_s - mark_s_;
}

Training::Training(Settings settings, MPI_Comm world)
    : settings_(std::move(settings)), comm_(world), parts_(sync::make_parts(settings_.spec, comm_, settings_.cache)),
      clock_(comm_), timeline_(comm_)
{
  set_default_alpha();
}

// Sets the default elastic rate, as the recipe reader does for a recipe: only now the number of workers is known.
void Training::set_default_alpha()
{
  auto& sync = parts_.sync;
  const bool has_rate = sync.alpha > 0 || sync.rho > 0;
  if (!has_rate && is_elastic(sync.strategy)) sync.alpha = default_alpha(static_cast<std::int64_t>(parts_.roles.workers.size()));
  settings_.spec.sync.alpha = sync.alpha;
}

dtctl_sync_place Training::place() const
{
  const auto& node = parts_.topology.node;
  const auto rank = static_cast<std::size_t>(comm_.rank());
  return {.rank = comm_.rank(),
          .ranks = comm_.size(),
          .local_rank = static_cast<int>(std::count(node.begin(), node.begin() + comm_.rank(), node[rank])),
          .worker = parts_.roles.is_server ? -1 : parts_.roles.index,
          .workers = static_cast<int>(parts_.roles.workers.size())};
}

const Layout& Training::lay_out_tensors(std::span<const std::size_t> lengths)
{
  if (replica_) throw Error(ErrorKind::run, "the layout was asked for after the start of the training");
  if (lengths.empty()) throw Error(ErrorKind::run, "the model has no tensors to train");
  return layout_ = lay_out(lengths);
}

ProgramReplica& Training::replica()
{
  if (!replica_) throw Error(ErrorKind::run, "the training was not started");
  return *replica_;
}

void Training::require_equal_models(const std::string& model)
{
  std::string text = model;
  for (const auto& tensor : layout_.tensors) text += fmt::format("\n{} numbers", tensor.size() - 1);
  if (comm_.all_equal(text)) return;
  const auto texts = comm_.gather_texts(text);
  const auto other = std::find_if(texts.begin(), texts.end(), [&](const auto& each) { return each != texts.front(); });
  const auto ours = split(texts.front(), '\n'), theirs = split(*other, '\n');
  const auto [first, second] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
  const auto word = [](auto at, const auto& lines) { return at == lines.end() ? std::string("nothing more") : printable(*at); };
  throw Error(ErrorKind::run,
              fmt::format("The ranks have different models: rank 0 has \"{}\", rank {} has \"{}\" there. Build the same "
                          "model on every rank.",
                          word(first, ours), other - texts.begin(), word(second, theirs)));
}

// The rule of strategies whose servers update the weights; its momentum and decay are settings.
std::unique_ptr<optim::Optimizer> Training::server_rule() const
{
  const auto& row = strategy_row(settings_.spec.sync.strategy);
  if (!row.has_servers || row.is_elastic) return nullptr;
  auto spec = settings_.spec.optimizer;
  spec.name = row.rule == UpdateRule::plain ? "sgd" : "momentum";
  std::vector<optim::Segment> segments;
  for (const auto& tensor : layout_.tensors) segments.push_back({{tensor.begin, tensor.end - 1}, true});
  return optim::make_optimizer(spec, layout_.floats, segments, optim::velocity_of(settings_.spec.sync.strategy));
}

void Training::start(const std::string& model, float* weights, float* gradients, const dtctl_sync_callbacks& callbacks)
{
  if (replica_) throw Error(ErrorKind::run, "the training was started twice");
  require_equal_models(model);
  const bool is_alone = comm_.size() == 1 && strategy_row(settings_.spec.sync.strategy).keeps_equal;
  const auto wire = settings_.spec.sync.wire;
  replica_.emplace(ProgramReplica::Parts{.layout = layout_,
                                         .weights = {weights, layout_.floats},
                                         .gradients = {gradients, layout_.floats},
                                         .callbacks = callbacks,
                                         .server_rule = server_rule(),
                                         .is_alone = is_alone,
                                         .tells_absent = wire == Wire::float32 || wire == Wire::bfloat16});
  parts_.packed_bytes = layout_.floats * sizeof(float);
  strategy_ = sync::make_strategy(parts_);
  strategy_->start(*replica_);
  replica_->hand_back();
  report_begin(parts_.roles, steps_between_meetings(parts_.sync));
  if (settings_.spec.train.trace && settings_.attempt) timeline_.begin();
  begin_measuring();
}

void Training::begin_measuring()
{
  if (step_ - first_step_ != settings_.spec.train.warmup_steps) return;
  strategy_->begin_measuring();
  before_ = comm_.traffic();
}

double Training::step(double learning_rate, double epoch)
{
  if (is_broken_) throw Error(ErrorKind::run, "an earlier step of this rank has failed, so the training cannot go on");
  replica().begin_step({.number = step_ + 1, .learning_rate = learning_rate, .epoch = epoch});
  comm_.activity().set_step(step_ + 1);
  if (auto* trace = comm_.trace()) trace->begin_step(step_ + 1);
  clock_.begin_step();
  is_broken_ = true;
  const double loss = strategy_->step(*replica_, clock_);
  replica_->hand_back();
  is_broken_ = false;
  ++step_;
  begin_measuring();
  return loss;
}

void Training::average(std::span<float> values)
{
  if (!strategy_row(settings_.spec.sync.strategy).keeps_equal)
    throw Error(ErrorKind::recipe, fmt::format("sync.strategy: {} is more than a sum of gradients, so it cannot be a hook of "
                                               "DistributedDataParallel. Take sync-sgd or hsgd, or dtctl_sync's own step.",
                                               settings_.spec.sync.strategy));
  if (!average_) average_ = comm::make_allreduce(parts_.allreduce(), comm_);
  average_->sum(values);
  average_->end_step();
  sync::scale(values, 1.0F / static_cast<float>(comm_.size()));
}

bool Training::keeps_equal() const
{
  return strategy_row(settings_.spec.sync.strategy).keeps_equal && strategy_ && strategy_->replicated();
}

void Training::take_mean_of_workers(std::span<float> values)
{
  if (parts_.roles.is_server) std::ranges::fill(values, 0.0F);
  comm_.sum_record(values);
  for (auto& value : values) value /= static_cast<float>(parts_.roles.workers.size());
}

void Training::copy_evaluated(std::span<float> weights)
{
  const auto own = replica().weights();
  std::ranges::copy(own, weights.begin());
  if (strategy_->has_centre()) return strategy_->read_centre(*replica_, weights);
  if (!strategy_->replicated()) return take_mean_of_workers(weights);
  if (!parts_.roles.servers.empty()) comm_.broadcast_record(weights);
}

void Training::resume(std::int64_t step)
{
  step_ = first_step_ = step;
  replica().forget_copies();
  begin_measuring();
}

void Training::add_span(std::string_view name, std::int64_t step, double begin_s, double end_s)
{
  if (comm_.trace() == nullptr) return;
  auto known = span_names_.find(name);
  if (known == span_names_.end()) known = span_names_.emplace(printable(name)).first;
  comm_.trace()->add({.name = known->c_str(), .track = "training", .begin_s = begin_s, .end_s = end_s, .step = step});
}

void Training::finish()
{
  report_end(*strategy_, replica(), comm_, before_);
  timeline_.end();
  keep_timeline();
}

// A write error loses the timeline, not the training.
void Training::keep_timeline() const
{
  try {
    if (settings_.attempt) timeline_.write(*settings_.attempt, parts_.roles.is_server ? "server" : "worker");
  } catch (const Error& error) {
    fmt::print(stderr, "dtctl_sync: rank {}: its timeline could not be kept: {}\n", comm_.rank(), error.what());
  }
}

} // namespace dt::bindings
