// Allreduce algorithms: one file each, one line in make_allreduce (registry.cpp).
#pragma once

#include "engine/comm/communicator.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dt::engine {

class Allreduce {
public:
  virtual ~Allreduce() = default;
  // values <- sum over ranks of values, in place. Collective; equal lengths on all ranks.
  // Counts bytes and messages in comm.traffic(): exact for our own schedules; for the MPI library's call, whose schedule is
  // not visible, the bandwidth-optimal volume 2 n (P-1)/P a rank and one message.
  virtual void sum(std::span<float> values, Communicator& comm) = 0;
};

// The algorithm of that name (of allreduce_names()).
std::unique_ptr<Allreduce> make_allreduce(const std::string& name);

std::vector<std::string> registered_allreduces();

} // namespace dt::engine
