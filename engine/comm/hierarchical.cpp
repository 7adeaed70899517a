#include "engine/comm/hierarchical.hpp"

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "engine/comm/clock.hpp"

#include <algorithm>
#include <map>

namespace dt::engine {
namespace {

// Blocks of one node alone stay in the second-level cache of their core, all together in the third-level one; shorter ones cost more
// waits. Between nodes messages must be long.
constexpr std::size_t block_bytes_alone = 1 << 20, block_bytes_with_others = 2 << 20;
constexpr std::size_t all_blocks_bytes_alone = 8 << 20, all_blocks_bytes_with_others = 32 << 20;
// Blocks under way at once: while one crosses to other nodes, the next is summed inside the node.
constexpr int rooms_alone = 1, rooms_with_others = 3;
// From here on a ring keeps links busier than halving and doubling: its parts follow one another without a pause.
constexpr std::size_t ring_part_bytes = 64 << 10;
// Smaller slices cost more in waiting for one another than they save in summing.
constexpr std::size_t smallest_slice_bytes = 2 << 10;

// The least and the most ranks that a node has.
std::pair<int, int> ranks_a_node(const Topology& topology)
{
  std::map<int, int> ranks;
  for (const int node : topology.node) ++ranks[node];
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end(), [](auto& a, auto& b) { return a.second < b.second; });
  return {least->second, most->second};
}

// Equal blocks on all nodes, however many ranks they have.
SliceBoard::Shape shape_for(const Communicator& node, const Topology& topology)
{
  const bool alone = topology.nodes() == 1;
  const auto most_ranks = static_cast<std::size_t>(ranks_a_node(topology).second);
  const auto bytes = alone ? std::min(block_bytes_alone, all_blocks_bytes_alone / most_ranks)
                           : std::min(block_bytes_with_others, all_blocks_bytes_with_others / most_ranks);
  return {.ranks = node.size(), .rooms = alone ? rooms_alone : rooms_with_others, .block = bytes / sizeof(float)};
}

// Supernodes of the ranks of one place a node, which are ordered by node.
Topology topology_of_peers(const Topology& topology)
{
  Topology peers;
  peers.node.resize(static_cast<std::size_t>(topology.nodes()));
  peers.supernode.resize(peers.node.size());
  for (std::size_t rank = 0; rank < topology.node.size(); ++rank) {
    const auto node = static_cast<std::size_t>(topology.node[rank]);
    peers.node[node] = topology.node[rank];
    peers.supernode[node] = topology.supernode[rank];
  }
  return peers;
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

std::unique_ptr<PendingSum> HierarchicalAllreduce::begin(std::span<float> values) { return std::make_unique<Pending>(*this, values); }

// In blocks of about equal lengths: a short last one would cost as many waits as a long one.
void HierarchicalAllreduce::enqueue(Task& task)
{
  const auto length = task.values.size();
  if (length == 0) return;
  const auto blocks = (length + board_->shape().block - 1) / board_->shape().block;
  task.block = (length + blocks - 1) / blocks;
  unfinished_.push_back(&task);
}

void HierarchicalAllreduce::wait_for(const Task& task)
{
  for (move_on(); !task.done(); move_on()) wait_for_first();
}

// Every block as far as it goes without waiting. Blocks are reduced in the order of their numbers, and published so: the sums over the
// nodes are begun with reduce(), and on all nodes they must begin in one order (Communicator::fresh_tag). The board alone does not
// bring that about: between the looks at two blocks the other ranks may complete both, and then only the second one is seen complete.
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
  const Slice part{task.put, std::min(task.put + task.block, task.values.size())};
  under_way_.push_back({.task = &task, .number = blocks_++, .part = part, .slices = slices_of(part.size()), .begin_s = monotonic_s()});
  board_->put(under_way_.back().number, task.values.subspan(part.begin, part.size()), under_way_.back().slices);
  task.put = part.end;
  if (task.put == task.values.size()) unfinished_.pop_front();
  return true;
}

void HierarchicalAllreduce::reduce(Block& block)
{
  board_->reduce(block.number, block.task->values.subspan(block.part.begin, block.part.size()), block.slices);
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
  board_->take(block.number, block.task->result.subspan(block.part.begin, block.part.size()), block.slices);
  block.task->taken = block.part.end;
  if (auto* trace = comm_.trace())
    trace->add({.name = "sum over the node", .track = "communication", .begin_s = block.begin_s, .end_s = monotonic_s(),
                .bytes = static_cast<std::int64_t>(block.part.size() * sizeof(float))});
  under_way_.pop_front();
  return true;
}

// Blocks until the first block has something to do.
void HierarchicalAllreduce::wait_for_first()
{
  auto& first = under_way_.front();
  if (first.stage == Stage::put) {
    comm_.activity().enter("waits for the numbers of its node's ranks");
    wait_until([&] { return board_->all_put(first.number); });
  } else if (first.stage == Stage::crossing) {
    comm_.activity().enter("waits for the sum over the nodes");
    first.crossing->wait();
  } else {
    comm_.activity().enter("waits for the sums of its node's ranks");
    wait_until([&] { return board_->all_published(first.number, first.slices); });
  }
}

// Equal on all ranks that share a slice.
Allreduce& HierarchicalAllreduce::over_nodes(std::size_t length)
{
  const auto part_bytes = length * sizeof(float) / static_cast<std::size_t>(peers_->size());
  return long_over_nodes_ && part_bytes >= ring_part_bytes ? *long_over_nodes_ : *over_nodes_;
}

// A function of the length alone: equal on all ranks and nodes.
int HierarchicalAllreduce::slices_of(std::size_t length) const
{
  const auto worthwhile = length * sizeof(float) / smallest_slice_bytes;
  return static_cast<int>(std::clamp<std::size_t>(worthwhile, 1, static_cast<std::size_t>(owners_)));
}

} // namespace dt::engine
