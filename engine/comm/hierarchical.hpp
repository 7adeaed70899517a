// `hierarchical`: two levels. Inside a node the ranks sum in memory that they share, each a slice; slice by slice the sum goes
// on over the nodes; every rank reads the result from the shared memory. (The hsgd paper's two-level parameter synchronisation,
// with our own choice of slices and blocks.)
#pragma once

#include "engine/comm/allreduce.hpp"
#include "engine/comm/shared_window.hpp"
#include "engine/comm/slice_board.hpp"

#include <deque>

namespace dt::engine {

// Counted in traffic() is what crosses nodes, by the allreduce that does it: with N nodes, and `owners` slices of a block, slice
// owner i of every node takes part in an allreduce of its slice over N ranks; the other ranks send nothing. What shared memory
// carries is told at SliceBoard.
class HierarchicalAllreduce : public Allreduce {
public:
  // Without a topology, ranks of one host are a node. The ranks of a node must share memory.
  HierarchicalAllreduce(const AllreduceOptions& options, Communicator& comm);
  ~HierarchicalAllreduce() override;
  void sum(std::span<float> values) override;
  void sum(std::span<const float> values, std::span<float> result) override;
  // Sums go through the node's memory one after another: waiting for one also ends those begun before it.
  std::unique_ptr<PendingSum> begin(std::span<float> values) override;

private:
  class Pending;
  // A sum from its begin to its end.
  struct Task {
    std::span<const float> values;
    std::span<float> result;
    std::size_t block; // length of its blocks
    std::size_t put = 0, taken = 0;
    bool done() const { return taken == values.size(); }
  };
  enum class Stage { put, crossing, published };
  // A block between put and take.
  struct Block {
    Task* task;
    std::int64_t number;
    Slice part; // of the task's values
    int slices;
    double begin_s;
    Stage stage = Stage::put;
    std::unique_ptr<PendingSum> crossing{}; // my slice's sum over the nodes; null: none to wait for
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
  std::unique_ptr<Communicator> node_;      // the ranks of my node
  std::unique_ptr<Communicator> peers_;     // the ranks of my place in the other nodes; null: some node has no such rank
  std::unique_ptr<Allreduce> over_nodes_;   // over peers_; null: there is one node, or no peers_
  std::unique_ptr<Allreduce> long_over_nodes_; // the same for long slices; null: over_nodes_ is as good
  int owners_;                              // ranks of each node that own slices: as many as the smallest node has
  std::unique_ptr<SharedWindow> window_;
  std::unique_ptr<SliceBoard> board_;
  std::int64_t blocks_ = 0;        // put so far, over all sums
  std::deque<Task*> unfinished_;   // with blocks that are not yet put
  std::deque<Block> under_way_;    // in the order of their numbers
};

} // namespace dt::engine
