// Topology: which ranks share a host, and which hosts share a switch (a supernode).
#pragma once

#include "engine/comm/communicator.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace dt::comm {

// A number for each rank. Copies share the numbers: each rank of a simulation keeps those of all ranks, several times.
class RankNumbers {
 public:
  RankNumbers() = default;
  RankNumbers(std::initializer_list<int> numbers) : RankNumbers(std::vector<int>(numbers)) {}
  RankNumbers(std::vector<int> numbers) : numbers_(std::make_shared<const std::vector<int>>(std::move(numbers))) {}

  const std::vector<int>& vector() const { return *numbers_; }
  int operator[](std::size_t rank) const { return (*numbers_)[rank]; }
  std::size_t size() const { return numbers_->size(); }
  bool empty() const { return numbers_->empty(); }
  auto begin() const { return numbers_->begin(); }
  auto end() const { return numbers_->end(); }
  friend bool operator==(const RankNumbers& one, const RankNumbers& other) { return *one.numbers_ == *other.numbers_; }

 private:
  std::shared_ptr<const std::vector<int>> numbers_ = std::make_shared<const std::vector<int>>();
};

struct Topology {
  RankNumbers node;      // node of each rank, numbered 0, 1, … by first rank
  RankNumbers supernode; // supernode of each rank, numbered likewise; all 0 if unknown
  int nodes() const;
  int supernodes() const;
};

// Finds nodes by host name; in a simulation, by its platform (machine/ranks/places.cpp). nodes_per_supernode consecutive nodes
// form a supernode (0: all nodes form one). Collective.
Topology topology_of_hosts(Communicator& comm, std::int64_t nodes_per_supernode);

} // namespace dt::comm
