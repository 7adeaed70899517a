// `hierarchical`: two-level allreduce. The ranks of a node sum in shared memory, one slice per rank; slices are then summed
// across nodes, and every rank reads the result from shared memory. This follows the two-level parameter synchronisation of
// [Wang2020]; slices and blocks are our own choice.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/allreduce/slice_board.hpp"
#include "engine/comm/machine/ranks/shared_window.hpp"

#include <deque>

namespace dt::comm {

// traffic() counts only the bytes between nodes, as the inner allreduce counts them. With N nodes and `owners` slices in a block,
// the rank that owns slice i on each node takes part in an allreduce of that slice over N ranks; the other ranks send nothing.
// SliceBoard documents the traffic in shared memory.
class HierarchicalAllreduce : public Allreduce {
 public:
  // options.topology must not be empty (make_allreduce fills it by host name). The ranks of a node must share memory.
  HierarchicalAllreduce(const AllreduceOptions& options, Communicator& comm);
  ~HierarchicalAllreduce() override;
  void sum(std::span<float> values) override;
  void sum(std::span<const float> values, std::span<float> result) override;
  // Sums pass through the node's memory in order: waiting for a sum also completes the sums begun before it.
  std::unique_ptr<PendingSum> begin(std::span<float> values) override;

 private:
  class Pending;
  // A sum between begin and end.
  struct Task {
    std::span<const float> values;
    std::span<float> result;
    std::size_t block; // length of its blocks, in numbers
    std::size_t put = 0, taken = 0;
    bool done() const { return taken == values.size(); }
  };
  enum class Stage { put, crossing, published };
  // A block between put and take.
  struct Block {
    Task* task;
    std::int64_t number;
    Range part; // the part of the task's values in this block
    int slices;
    double begin_s;
    Stage stage = Stage::put;
    std::unique_ptr<PendingSum> crossing{}; // the sum of this rank's slice over the nodes; null: nothing to wait for
  };

  void enqueue(Task& task);
  void move_on();
  bool put_next();
  void reduce(Block& block);
  bool has_crossed(Block& block);
  void publish(Block& block);
  bool take_first();
  void wait_for_first();
  void wait_for(const Task& task);
  int slices_of(std::size_t length) const;
  Allreduce& over_nodes(std::size_t length);

  Communicator& comm_;
  std::unique_ptr<Communicator> node_;    // the ranks of this rank's node
  std::unique_ptr<Communicator> peers_;   // the ranks with this rank's place on the other nodes; null: some node has no such rank
  std::unique_ptr<Allreduce> over_nodes_; // over peers_; null: one node only, or no peers_
  std::unique_ptr<Allreduce> long_over_nodes_; // an algorithm for long slices; null: over_nodes_ serves all lengths
  int owners_;                                 // ranks per node that own slices: the number of ranks of the smallest node
  std::size_t usual_block_ = 0;                // numbers in a block of a real machine; a simulation's may be longer
  std::unique_ptr<SharedWindow> window_;
  std::unique_ptr<SliceBoard> board_;
  std::int64_t blocks_ = 0;      // number of blocks put so far, over all sums
  std::deque<Task*> unfinished_; // sums with blocks that are not put yet
  std::deque<Block> under_way_;  // in the order of their numbers
};

} // namespace dt::comm
