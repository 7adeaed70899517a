#include "engine/comm/allreduce/hierarchical.hpp"

#include "core/error.hpp"
#include "core/maths/hierarchical_blocks.hpp"
#include "core/spec/names.hpp"
#include "core/text.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/message.hpp"
#include "engine/comm/machine/pause.hpp"

#include <algorithm>
#include <map>

namespace dt::comm {
namespace {

// Smaller slices cost more in waiting than they save in summing.
constexpr std::size_t smallest_slice_bytes = 2 << 10;

// The smallest and the largest number of ranks on a node.
std::pair<int, int> ranks_a_node(const Topology& topology)
{
  std::map<int, int> ranks;
  for (const int node : topology.node) ++ranks[node];
  const auto [least, most] =
      std::minmax_element(ranks.begin(), ranks.end(), [](auto& a, auto& b) { return a.second < b.second; });
  return {least->second, most->second};
}

// How many times as long as usual a block may be.
std::size_t block_growth(const Topology& topology) { return topology.nodes() == 1 ? 1 : longest_block_growth(); }

// Blocks have the same length on all nodes, whatever their number of ranks.
SliceBoard::Shape shape_for(const Communicator& node, const Topology& topology)
{
  const bool alone = topology.nodes() == 1;
  const auto most_ranks = static_cast<std::size_t>(ranks_a_node(topology).second);
  return {.ranks = node.size(),
          .rooms = alone ? 1 : hierarchical_blocks_at_once,
          .block = block_growth(topology) * usual_hierarchical_block(alone, most_ranks)};
}

// Topology of the ranks with the same place on each node; these ranks are ordered by node.
Topology topology_of_peers(const Topology& topology)
{
  std::vector<int> nodes(static_cast<std::size_t>(topology.nodes())), supernodes(nodes.size());
  for (std::size_t rank = 0; rank < topology.node.size(); ++rank) {
    const auto node = static_cast<std::size_t>(topology.node[rank]);
    nodes[node] = topology.node[rank];
    supernodes[node] = topology.supernode[rank];
  }
  return {std::move(nodes), std::move(supernodes)};
}

} // namespace

class HierarchicalAllreduce::Pending : public PendingSum {
 public:
  Pending(HierarchicalAllreduce& allreduce, std::span<float> values)
      : allreduce_(allreduce), task_{.values = values, .result = values, .block = 0}
  {
    allreduce_.enqueue(task_);
  }
  bool advance() override
  {
    allreduce_.move_on();
    return task_.done();
  }
  void wait() override { allreduce_.wait_for(task_); }

 private:
  HierarchicalAllreduce& allreduce_;
  Task task_;
};

HierarchicalAllreduce::HierarchicalAllreduce(const AllreduceOptions& options, Communicator& comm) : comm_(comm)
{
  const auto& topology = options.topology;
  const int node = topology.node[static_cast<std::size_t>(comm.rank())];
  owners_ = ranks_a_node(topology).first;
  node_ = comm.split(node, comm.rank());
  peers_ = comm.split(node_->rank() < owners_ ? node_->rank() : -1, node);
  if (topology.nodes() > 1 && peers_) {
    const auto make = [&](const char* algorithm) {
      return make_allreduce({.algorithm = algorithm, .wire = options.wire, .topology = topology_of_peers(topology)}, *peers_);
    };
    const bool is_flat = topology.supernodes() == 1;
    over_nodes_ = make(is_flat ? "halving-doubling" : "topology-aware");
    if (is_flat) long_over_nodes_ = make("ring");
  }
  const auto shape = shape_for(*node_, topology);
  usual_block_ = shape.block / block_growth(topology);
  window_ = std::make_unique<SharedWindow>(*node_, SliceBoard::part_bytes(shape));
  board_ = std::make_unique<SliceBoard>(shape, node_->rank(), window_->parts(), options.found_incomplete);
}

HierarchicalAllreduce::~HierarchicalAllreduce() = default;

void HierarchicalAllreduce::sum(std::span<float> values) { sum(values, values); }

void HierarchicalAllreduce::sum(std::span<const float> values, std::span<float> result)
{
  Task task{.values = values, .result = result, .block = 0};
  enqueue(task);
  wait_for(task);
}

std::unique_ptr<PendingSum> HierarchicalAllreduce::begin(std::span<float> values)
{
  return std::make_unique<Pending>(*this, values);
}

// Uses blocks of about equal length: a short last block would cost as many waits as a long one.
void HierarchicalAllreduce::enqueue(Task& task)
{
  const auto length = task.values.size();
  if (length == 0) return;
  const auto blocks = hierarchical_blocks(length, usual_block_, board_->shape().block);
  task.block = (length + blocks - 1) / blocks;
  unfinished_.push_back(&task);
}

void HierarchicalAllreduce::wait_for(const Task& task)
{
  for (move_on(); !task.done(); move_on()) wait_for_first();
}

// Moves every block as far as possible without waiting. Blocks must be reduced and published in the order of their numbers:
// reduce() begins the sum over the nodes, and all nodes must begin these sums in the same order (Communicator::fresh_tag). The
// board does not guarantee this order: other ranks may complete both of two blocks between our checks of them, and then only the
// second is seen complete.
void HierarchicalAllreduce::move_on()
{
  do {
    while (put_next()) {
    }
    bool all_reduced = true, all_published = true; // of the blocks before this one
    for (auto& block : under_way_) {
      if (block.stage == Stage::put && all_reduced && board_->all_put(block.number)) reduce(block);
      if (block.stage == Stage::crossing && has_crossed(block) && all_published) publish(block);
      all_reduced = all_reduced && block.stage != Stage::put;
      all_published = all_published && block.stage == Stage::published;
    }
  } while (take_first());
}

bool HierarchicalAllreduce::put_next()
{
  if (unfinished_.empty() || under_way_.size() == static_cast<std::size_t>(board_->shape().rooms)) return false;
  auto& task = *unfinished_.front();
  const Range part{task.put, std::min(task.put + task.block, task.values.size())};
  under_way_.push_back(
      {.task = &task, .number = blocks_++, .part = part, .slices = slices_of(part.size()), .begin_s = monotonic_s()});
  board_->put(under_way_.back().number, values_at(task.values, part), under_way_.back().slices);
  task.put = part.end;
  if (task.put == task.values.size()) unfinished_.pop_front();
  return true;
}

void HierarchicalAllreduce::reduce(Block& block)
{
  board_->reduce(block.number, values_at(block.task->values, block.part), block.slices);
  const auto mine = board_->sum_slice(block.number, block.part.size(), block.slices);
  if (over_nodes_ && !mine.empty()) block.crossing = over_nodes(mine.size()).begin(mine);
  block.stage = Stage::crossing;
}

bool HierarchicalAllreduce::has_crossed(Block& block) { return !block.crossing || block.crossing->advance(); }

void HierarchicalAllreduce::publish(Block& block)
{
  board_->publish(block.number);
  block.stage = Stage::published;
}

bool HierarchicalAllreduce::take_first()
{
  if (under_way_.empty()) return false;
  const auto& block = under_way_.front();
  if (block.stage != Stage::published || !board_->all_published(block.number, block.slices)) return false;
  board_->take(block.number, values_at(block.task->result, block.part), block.slices);
  block.task->taken = block.part.end;
  if (auto* trace = comm_.trace())
    trace->add({.name = "sum over the node",
                .track = "communication",
                .begin_s = block.begin_s,
                .end_s = monotonic_s(),
                .bytes = static_cast<std::int64_t>(block.part.size() * sizeof(float))});
  under_way_.pop_front();
  return true;
}

// Blocks until the first block can make progress.
void HierarchicalAllreduce::wait_for_first()
{
  auto& first = under_way_.front();
  if (first.stage == Stage::put) {
    comm_.activity().enter(Doing::waits, "waits for the numbers of its node's ranks");
    wait_until([&] { return board_->all_put(first.number); });
  } else if (first.stage == Stage::crossing) {
    comm_.activity().enter(Doing::waits, "waits for the sum over the nodes");
    first.crossing->wait();
  } else {
    comm_.activity().enter(Doing::waits, "waits for the sums of its node's ranks");
    wait_until([&] { return board_->all_published(first.number, first.slices); });
  }
}

// Depends only on the length, so all ranks that share a slice select the same algorithm. It is that of a slice of a usual block.
Allreduce& HierarchicalAllreduce::over_nodes(std::size_t length)
{
  const auto usual_slice = std::min(length, usual_block_ / static_cast<std::size_t>(owners_));
  const bool is_long = crosses_in_ring(usual_slice, static_cast<std::size_t>(peers_->size()));
  return long_over_nodes_ && is_long ? *long_over_nodes_ : *over_nodes_;
}

// Depends only on the length, so it is equal on all ranks and nodes.
int HierarchicalAllreduce::slices_of(std::size_t length) const
{
  const auto worthwhile = length * sizeof(float) / smallest_slice_bytes;
  return static_cast<int>(std::clamp<std::size_t>(worthwhile, 1, static_cast<std::size_t>(owners_)));
}

} // namespace dt::comm
