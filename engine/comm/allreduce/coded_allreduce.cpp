// The allreduce over numbers of 8 or 4 bits (sync.wire: int8, int4): each rank sums one slice of the vector.
#include "core/maths/range.hpp"
#include "engine/comm/allreduce/allreduce.hpp"
#include "engine/comm/block_codes.hpp"
#include "engine/comm/machine/buffer.hpp"
#include "engine/comm/machine/clock.hpp"

#include <algorithm>

namespace dt::comm {
namespace {

// Rank r owns slice r of P slices of whole blocks (block_codes.hpp):
//   1. Every rank sends its numbers of slice r, coded, to rank r.
//   2. Rank r adds what it received, in the order of the ranks and in float32, to its own numbers, which it has not rounded.
//   3. Rank r codes the sum and sends it to all others; all ranks, r included, take the decoded sum. So all end with equal bits.
// A rank sends 2 (P-1) messages and, if slices are equal, 2 n (P-1)/P coded numbers. The error of a sum is at most half the sum
// of the scales of the P-1 summands that were sent, and half the scale of the sum.
class CodedAllreduce : public Allreduce {
 public:
  // options.wire is int8 or int4; options.algorithm has no meaning. comm must outlive it.
  CodedAllreduce(const AllreduceOptions& options, Communicator& comm) : wire_(options.wire), comm_(comm) {}
  using Allreduce::sum;
  void sum(std::span<float> values) override { begin(values)->wait(); }
  std::unique_ptr<PendingSum> begin(std::span<float> values) override;

 private:
  class Sum;
  Wire wire_;
  Communicator& comm_;
  std::vector<Sum*> under_way_; // in the order of begin()
};

std::size_t blocks_of(std::size_t length) { return (length + coded_block - 1) / coded_block; }

// Slice `slice` of `slices` of a vector of `length` numbers, in whole blocks. It may be empty.
Range slice_of(std::size_t length, std::size_t slice, std::size_t slices)
{
  const auto cut = [&](std::size_t s) { return std::min(length, blocks_of(length) * s / slices * coded_block); };
  return {cut(slice), cut(slice + 1)};
}

} // namespace

// One sum in progress. Its phases: the slices are on their way to their owners, the sums are on their way to all, done.
class CodedAllreduce::Sum : public PendingSum {
 public:
  Sum(CodedAllreduce& home, std::span<float> values);
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;
  ~Sum() override { std::erase(home_.under_way_, this); }
  bool advance() override
  {
    while (phase_ != Phase::done && std::ranges::all_of(transfers_, [](Transfer& transfer) { return transfer.test(); }))
      end_phase();
    return phase_ == Phase::done;
  }
  // Another rank may be waiting for an earlier sum that needs this rank. So all ranks complete sums in the order of begin().
  void wait() override
  {
    for (auto* sum : home_.under_way_) {
      sum->wait_alone();
      if (sum == this) return;
    }
  }

 private:
  enum class Phase { to_owners, to_all, done };
  std::size_t ranks() const { return static_cast<std::size_t>(home_.comm_.size()); }
  std::size_t own() const { return static_cast<std::size_t>(home_.comm_.rank()); }
  Range slice(std::size_t rank) const { return slice_of(values_.size(), rank, ranks()); }
  std::span<float> values_of(std::size_t rank) const { return values_at(values_, slice(rank)); }
  std::span<std::byte> codes_of(std::size_t rank);
  std::span<std::byte> arrival_of(std::size_t rank);
  void begin_to_owners();
  void begin_to_all();
  void end_phase();
  void wait_alone();

  CodedAllreduce& home_;
  std::span<float> values_;
  int tag_;
  double begin_s_;
  std::size_t room_;                   // bytes for the codes of the longest slice
  Buffer<std::byte> codes_, arrivals_; // for each rank: the codes of its slice; its codes of this rank's slice
  std::vector<Transfer> transfers_;    // of the phase
  Phase phase_ = Phase::to_owners;
};

CodedAllreduce::Sum::Sum(CodedAllreduce& home, std::span<float> values)
    : home_(home), values_(values), tag_(home.comm_.fresh_tag()), begin_s_(home.comm_.trace() != nullptr ? monotonic_s() : 0),
      room_(coded_bytes(home.wire_, (blocks_of(values.size()) + ranks() - 1) / ranks() * coded_block)), codes_(room_ * ranks()),
      arrivals_(room_ * ranks())
{
  home_.under_way_.push_back(this);
  if (ranks() == 1)
    phase_ = Phase::done;
  else
    begin_to_owners();
}

std::span<std::byte> CodedAllreduce::Sum::codes_of(std::size_t rank)
{
  return std::span(codes_).subspan(rank * room_, coded_bytes(home_.wire_, slice(rank).size()));
}

std::span<std::byte> CodedAllreduce::Sum::arrival_of(std::size_t rank)
{
  return std::span(arrivals_).subspan(rank * room_, coded_bytes(home_.wire_, slice(own()).size()));
}

// Every rank begins with its next neighbour, so that not all send to the same rank at the same time.
void CodedAllreduce::Sum::begin_to_owners()
{
  for (std::size_t k = 1; k < ranks(); ++k) {
    const std::size_t to = (own() + k) % ranks(), from = (own() + ranks() - k) % ranks();
    if (!slice(own()).empty()) transfers_.push_back(home_.comm_.receive_begin(arrival_of(from), static_cast<int>(from), tag_));
    if (slice(to).empty()) continue;
    encode(home_.wire_, values_of(to), codes_of(to));
    transfers_.push_back(home_.comm_.send_begin(std::span<const std::byte>(codes_of(to)), static_cast<int>(to), tag_));
  }
}

void CodedAllreduce::Sum::begin_to_all()
{
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    if (rank != own()) add_decoded_arrival(home_.wire_, arrival_of(rank), values_of(own()));
  encode(home_.wire_, values_of(own()), codes_of(own()));
  decode(home_.wire_, codes_of(own()), values_of(own()));
  for (std::size_t k = 1; k < ranks(); ++k) {
    const std::size_t to = (own() + k) % ranks(), from = (own() + ranks() - k) % ranks();
    if (!slice(from).empty()) transfers_.push_back(home_.comm_.receive_begin(codes_of(from), static_cast<int>(from), tag_));
    if (slice(own()).empty()) continue;
    transfers_.push_back(home_.comm_.send_begin(std::span<const std::byte>(codes_of(own())), static_cast<int>(to), tag_));
  }
}

void CodedAllreduce::Sum::end_phase()
{
  transfers_.clear();
  if (phase_ == Phase::to_owners) {
    begin_to_all();
    phase_ = Phase::to_all;
    return;
  }
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    if (rank != own()) decode(home_.wire_, codes_of(rank), values_of(rank));
  phase_ = Phase::done;
  if (auto* trace = home_.comm_.trace())
    trace->add({"allreduce", "sums", begin_s_, monotonic_s(), static_cast<std::int64_t>(values_.size_bytes())});
}

void CodedAllreduce::Sum::wait_alone()
{
  while (phase_ != Phase::done) {
    home_.comm_.activity().enter(Doing::waits, "waits for the parts of a sum");
    wait_all(transfers_);
    end_phase();
  }
}

std::unique_ptr<PendingSum> CodedAllreduce::begin(std::span<float> values) { return std::make_unique<Sum>(*this, values); }

std::unique_ptr<Allreduce> make_coded(const AllreduceOptions& options, Communicator& comm)
{
  return std::make_unique<CodedAllreduce>(options, comm);
}

} // namespace dt::comm
