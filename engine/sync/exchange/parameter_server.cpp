#include "engine/sync/exchange/parameter_server.hpp"

#include "engine/comm/machine/message.hpp"

#include <algorithm>

namespace dt::sync {
namespace {

// One cache line: two servers' parts in a window must never share a line.
constexpr std::size_t floats_of_line = 16;

std::span<std::byte> bytes_of(Request& head) { return std::as_writable_bytes(std::span(&head, 1)); }
std::span<const std::byte> bytes_of(const Request& head) { return std::as_bytes(std::span(&head, 1)); }

// The allowed position nearest to the ideal one.
std::size_t nearest_cut(std::span<const Range> tensors, std::size_t size, std::size_t ideal, Cut cut)
{
  if (cut == Cut::floats) return std::min(size, (ideal + floats_of_line / 2) / floats_of_line * floats_of_line);
  const auto above = std::find_if(tensors.begin(), tensors.end(), [&](Range tensor) { return tensor.begin >= ideal; });
  const std::size_t high = above == tensors.end() ? size : above->begin;
  const std::size_t low = above == tensors.begin() ? 0 : std::prev(above)->begin;
  return high - ideal < ideal - low ? high : low;
}

} // namespace

std::vector<Range> parts_for_servers(std::span<const Range> tensors, std::size_t size, std::size_t servers, Cut cut)
{
  std::vector<Range> parts;
  std::size_t begin = 0;
  for (std::size_t s = 1; s <= servers; ++s) {
    const auto end = s == servers ? size : std::max(begin, nearest_cut(tensors, size, size * s / servers, cut));
    parts.push_back({begin, end});
    begin = end;
  }
  return parts;
}

std::vector<Range> messages_of(Range part, std::span<const Range> tensors, bool pack)
{
  std::vector<Range> messages;
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; begin = messages.back().end) messages.push_back({begin, std::min(end, begin + comm::longest_message())});
  };
  if (pack) add(part.begin, part.end);
  for (const auto& tensor : tensors)
    if (!pack) add(std::max(part.begin, tensor.begin), std::min(part.end, tensor.end));
  return messages;
}

ParameterServers::ParameterServers(const StrategyParts& parts, Replica& replica, Cut cut)
    : comm_(parts.comm), roles_(parts.roles), own_(static_cast<std::size_t>(roles_.index)), head_tag_(comm_.lasting_tag()),
      values_tag_(comm_.lasting_tag()), answer_tag_(comm_.lasting_tag()),
      parts_(parts_for_servers(replica.tensors(), replica.weights().size(), roles_.servers.size(), cut))
{
  for (const auto& part : parts_) messages_.push_back(messages_of(part, replica.tensors(), parts.sync.pack));
}

void ParameterServers::exchange(const Request& request, std::span<const float> sent, std::span<float> received)
{
  std::vector<std::vector<comm::Transfer>> answers(parts_.size());
  std::vector<comm::Transfer> requests;
  for (std::size_t s = 0; s < parts_.size(); ++s)
    for (const auto& message : messages_[s])
      answers[s].push_back(comm_.receive_begin(values_at(received, message), roles_.servers[s], answer_tag_));
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    requests.push_back(comm_.send_begin(bytes_of(request), roles_.servers[s], head_tag_));
    for (const auto& message : messages_[s])
      requests.push_back(comm_.send_begin(values_at(sent, message), roles_.servers[s], values_tag_));
  }
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    comm_.activity().enter(comm::Doing::waits, "waits for the answer of a parameter server", roles_.servers[s]);
    comm::wait_all(answers[s]);
  }
  comm::wait_all(requests);
}

Request ParameterServers::next()
{
  Request head;
  auto arrival = next_begin(head);
  await(arrival);
  return head;
}

void ParameterServers::await(comm::Transfer& arrival)
{
  comm_.activity().enter(comm::Doing::waits, "waits for any worker's request");
  arrival.wait();
}

Request ParameterServers::next_of(std::int64_t worker)
{
  Request head{.worker = worker};
  comm_.activity().enter(comm::Doing::waits, "waits for a worker's request, whose turn it is", rank_of(head));
  comm_.receive_begin(bytes_of(head), rank_of(head), head_tag_).wait();
  return head;
}

comm::Transfer ParameterServers::next_begin(Request& head)
{
  return comm_.receive_begin(bytes_of(head), MPI_ANY_SOURCE, head_tag_);
}

void ParameterServers::receive(const Request& request, std::span<float> values)
{
  comm_.activity().enter(comm::Doing::waits, "waits for a worker's values", rank_of(request));
  std::vector<comm::Transfer> transfers;
  for (const auto& message : messages_[own_])
    transfers.push_back(comm_.receive_begin(values_at(values, message), rank_of(request), values_tag_));
  comm::wait_all(transfers);
}

void ParameterServers::answer(const Request& request, std::span<const float> values)
{
  comm_.activity().enter(comm::Doing::waits, "waits until a worker has its answer", rank_of(request));
  std::vector<comm::Transfer> transfers;
  for (const auto& message : messages_[own_])
    transfers.push_back(comm_.send_begin(values_at(values, message), rank_of(request), answer_tag_));
  comm::wait_all(transfers);
}

void UpdateLog::add(const Request& request)
{
  auto& read = read_[static_cast<std::size_t>(request.worker)];
  const auto before = static_cast<std::int64_t>(updates_.size());
  updates_.push_back({static_cast<std::int32_t>(request.worker), static_cast<std::int32_t>(before - read), request.step});
  read = before + 1;
}

} // namespace dt::sync
