#include "engine/comm/communicator.hpp"

#include "core/error.hpp"
#include "engine/comm/machine/clock.hpp"
#include "engine/comm/machine/message.hpp"
#include "engine/comm/machine/pause.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace dt::comm {
namespace {

// MPI guarantees tags up to 32767. Tags below 1000 are for callers with fixed tags.
constexpr int first_fresh_tag = 1000, fresh_tags = 31000;
constexpr int first_lasting_tag = first_fresh_tag + fresh_tags, lasting_tags = 32767 - first_lasting_tag + 1;

int int_of(std::size_t count)
{
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error(ErrorKind::usage, "One message of " + std::to_string(count) +
                                      " elements is more than MPI can count. Take more ranks, or sync.wire: float32.");
  return static_cast<int>(count);
}

} // namespace

void Transfer::wait()
{
  MPI_Status status;
  check_mpi(MPI_Wait(&request_, &status), "MPI_Wait");
  tell(status);
}

bool Transfer::test()
{
  int done = 0;
  MPI_Status status;
  check_mpi(MPI_Test(&request_, &done, &status), "MPI_Test");
  if (done != 0) tell(status);
  return done != 0;
}

// Records the message in the trace, the first time it is called.
void Transfer::tell(const MPI_Status& status)
{
  if (note_.comm == nullptr) return;
  auto& comm = *std::exchange(note_.comm, nullptr);
  const int peer = comm.world_rank(note_.peer == MPI_ANY_SOURCE ? status.MPI_SOURCE : note_.peer);
  comm.trace()->add({.name = note_.name,
                     .track = "messages",
                     .begin_s = note_.begin_s,
                     .end_s = monotonic_s(),
                     .bytes = static_cast<std::int64_t>(note_.bytes),
                     .peer = peer,
                     .tag = note_.tag});
}

void wait_all(std::span<Transfer> transfers)
{
  for (auto& transfer : transfers) transfer.wait();
}

void check_mpi(int code, const char* call)
{
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(ErrorKind::internal, std::string(call) + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)));
}

Communicator::Communicator(MPI_Comm comm) : comm_(comm)
{
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator()
{
  if (owned_) MPI_Comm_free(&comm_);
}

std::unique_ptr<Communicator> Communicator::split(int color, int key)
{
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &part), "MPI_Comm_split");
  ++splits_;
  if (part == MPI_COMM_NULL) return nullptr;
  auto made = std::make_unique<Communicator>(part);
  made->owned_ = true;
  made->name_ = name_ + "/" + std::to_string(splits_) + "." + std::to_string(color);
  made->ledger_ = ledger_;
  made->world_.resize(static_cast<std::size_t>(made->size_));
  const int mine = world_rank(rank_);
  check_mpi(MPI_Allgather(&mine, 1, MPI_INT, made->world_.data(), 1, MPI_INT, part), "MPI_Allgather");
  return made;
}

Transfer Communicator::noted(const char* name, std::size_t bytes, int peer, int tag)
{
  Transfer transfer;
  if (trace() != nullptr)
    transfer.note_ = {.comm = this, .name = name, .begin_s = monotonic_s(), .bytes = bytes, .peer = peer, .tag = tag};
  return transfer;
}

Transfer Communicator::send_begin(std::span<const float> values, int to, int tag)
{
  count_sent(values.size_bytes());
  auto transfer = noted("send", values.size_bytes(), to, tag);
  check_mpi(MPI_Isend(values.data(), int_of(values.size()), MPI_FLOAT, to, machine_tag(tag, values.size_bytes()), comm_,
                      transfer.request()),
            "MPI_Isend");
  return transfer;
}

Transfer Communicator::send_begin(std::span<const std::byte> bytes, int to, int tag)
{
  count_sent(bytes.size());
  auto transfer = noted("send", bytes.size(), to, tag);
  check_mpi(
      MPI_Isend(bytes.data(), int_of(bytes.size()), MPI_BYTE, to, machine_tag(tag, bytes.size()), comm_, transfer.request()),
      "MPI_Isend");
  return transfer;
}

Transfer Communicator::receive_begin(std::span<float> values, int from, int tag)
{
  auto transfer = noted("receive", values.size_bytes(), from, tag);
  check_mpi(MPI_Irecv(values.data(), int_of(values.size()), MPI_FLOAT, from, machine_tag(tag, values.size_bytes()), comm_,
                      transfer.request()),
            "MPI_Irecv");
  return transfer;
}

Transfer Communicator::receive_begin(std::span<std::byte> bytes, int from, int tag)
{
  auto transfer = noted("receive", bytes.size(), from, tag);
  check_mpi(
      MPI_Irecv(bytes.data(), int_of(bytes.size()), MPI_BYTE, from, machine_tag(tag, bytes.size()), comm_, transfer.request()),
      "MPI_Irecv");
  return transfer;
}

int Communicator::fresh_tag()
{
  const int tag = first_fresh_tag + next_fresh_;
  skip_fresh_tags(1);
  return tag;
}

void Communicator::skip_fresh_tags(std::int64_t count) { next_fresh_ = static_cast<int>((next_fresh_ + count) % fresh_tags); }

int Communicator::lasting_tag()
{
  if (next_lasting_ == lasting_tags)
    throw Error(ErrorKind::internal, "all " + std::to_string(lasting_tags) + " lasting tags of a communicator are taken");
  return first_lasting_tag + next_lasting_++;
}

void Communicator::count_sent(std::size_t bytes)
{
  traffic().bytes += static_cast<std::int64_t>(bytes);
  ++traffic().messages;
}

void Communicator::broadcast(std::span<float> values, int root)
{
  if (rank_ == root && size_ > 1 && !values.empty()) {
    traffic().bytes += static_cast<std::int64_t>(values.size_bytes()) * (size_ - 1);
    traffic().messages += 1;
  }
  broadcast_record(values, root);
}

void Communicator::broadcast_record(std::span<float> values, int root)
{
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), longest_message()));
    check_mpi(MPI_Bcast(piece.data(), static_cast<int>(piece.size()), MPI_FLOAT, root, comm_), "MPI_Bcast");
    values = values.subspan(piece.size());
  }
}

void Communicator::sum_record(std::span<double> values) { reduce_record(values, MPI_SUM); }
void Communicator::max_record(std::span<double> values) { reduce_record(values, MPI_MAX); }

Transfer Communicator::sum_record_begin(std::span<const double> values, std::span<double> sums)
{
  Transfer transfer;
  check_mpi(MPI_Iallreduce(values.data(), sums.data(), int_of(values.size()), MPI_DOUBLE, MPI_SUM, comm_, transfer.request()),
            "MPI_Iallreduce");
  return transfer;
}

void Communicator::sum_record(std::span<float> values)
{
  for (auto rest = values; !rest.empty(); rest = rest.subspan(std::min(rest.size(), longest_message()))) {
    const auto piece = rest.first(std::min(rest.size(), longest_message()));
    check_mpi(MPI_Reduce(is_root() ? MPI_IN_PLACE : piece.data(), piece.data(), static_cast<int>(piece.size()), MPI_FLOAT,
                         MPI_SUM, 0, comm_),
              "MPI_Reduce");
  }
  broadcast_record(values);
}

void Communicator::bring_to_root(std::span<float> values, int from) { transfer(values, from, 0); }
void Communicator::send_from_root(std::span<float> values, int to) { transfer(values, 0, to); }

void Communicator::transfer(std::span<float> values, int from, int to)
{
  if (from == to) return;
  while (!values.empty()) {
    const auto piece = values.first(std::min(values.size(), longest_message()));
    const int count = static_cast<int>(piece.size());
    const int tag = machine_tag(1, piece.size_bytes());
    if (rank_ == from) check_mpi(MPI_Send(piece.data(), count, MPI_FLOAT, to, tag, comm_), "MPI_Send");
    if (rank_ == to) check_mpi(MPI_Recv(piece.data(), count, MPI_FLOAT, from, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    values = values.subspan(piece.size());
  }
}

std::string Communicator::broadcast_text(const std::string& text, int root)
{
  std::string received = text;
  auto length = static_cast<std::int64_t>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT64_T, root, comm_), "MPI_Bcast");
  received.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(received.data(), static_cast<int>(length), MPI_CHAR, root, comm_), "MPI_Bcast");
  return received;
}

bool Communicator::all_equal(const std::string& text)
{
  int same = broadcast_text(text) == text ? 1 : 0;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce");
  return same == 1;
}

void Communicator::sleeping_barrier()
{
  Transfer others;
  check_mpi(MPI_Ibarrier(comm_, others.request()), "MPI_Ibarrier");
  while (!others.test()) pause_s(500e-6);
}

} // namespace dt::comm
