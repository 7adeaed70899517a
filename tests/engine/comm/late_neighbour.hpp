// Two nodes of two ranks in one program, where rank 0 pauses between its looks at two blocks of `hierarchical` until rank 1, the
// other rank of its node, has put its numbers: an unlucky moment, made certain.
#pragma once

#include "engine/comm/allreduce/allreduce.hpp"

#include <utility>

namespace dt::comm::test {

inline Topology two_nodes_of_two() { return {.node = {0, 0, 1, 1}, .supernode = {0, 0, 0, 0}}; }

class LateNeighbour {
 public:
  explicit LateNeighbour(Communicator& comm) : comm_(comm) {}
  LateNeighbour(const LateNeighbour&) = delete;
  LateNeighbour& operator=(const LateNeighbour&) = delete;

  // AllreduceOptions::found_incomplete, of every rank. Rank 0 pauses once, after its first look at block 0 since arm().
  std::function<void(std::int64_t)> found_incomplete()
  {
    if (comm_.rank() != 0) return {};
    return [this](std::int64_t block) {
      if (block == 0 && std::exchange(is_armed_, false)) pause();
    };
  }
  // Rank 0, when it has several blocks under way, or will have before its next look.
  void arm() { is_armed_ = true; }
  // Rank 0: whether it has been in that moment.
  bool has_paused() const { return has_paused_; }
  // Rank 1, before it puts anything: waits for that moment.
  void wait_for_pause() { receive(0); }
  // Rank 1, after it has put all that it can: rank 0 goes on.
  void end_pause() { send(0); }

 private:
  static constexpr int tag = 7;
  void pause()
  {
    has_paused_ = true;
    send(1);
    receive(1);
  }
  void send(int to) { comm_.send_begin(std::span<const float>(&word_, 1), to, tag).wait(); }
  void receive(int from) { comm_.receive_begin(std::span<float>(&word_, 1), from, tag).wait(); }

  Communicator& comm_;
  float word_ = 0;
  bool is_armed_ = false, has_paused_ = false;
};

} // namespace dt::comm::test
