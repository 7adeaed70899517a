// The links of a testbed (tests/cluster/testbed): carries frames from each host's port to the port of the host that they are for,
// in the time that links with a bandwidth and a latency take. It stands where a switch would, in the network namespace with the
// ports host0, host1, ….
//
//   links HOSTS SUPERNODES RATE TRUNK LATENCY COUNTS
//
// RATE and TRUNK are bits per second of a host's link and of a supernode's trunk in each direction, 0: unlimited; LATENCY is in
// ns, from one host to another. COUNTS is a file to which two 64-bit counts of bytes for each supernode are written, sent and
// received over its trunk.
//
// A link carries one bit after the other, and a switch passes a frame on while it still arrives (cut-through). So a frame from an
// idle host to another idle one takes its bits once, and the latency. Links drop no frame, as on networks with flow control.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

namespace {

using Time = std::int64_t; // ns

Time now()
{
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Time{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int check(int result, const char* what)
{
  if (result >= 0) return result;
  std::fprintf(stderr, "links: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

// Before each frame of a packet socket with PACKET_VNET_HDR: struct virtio_net_hdr, whose own file is no C++.
struct OffloadHeader {
  std::uint8_t flags, segmentation;
  std::uint16_t header_length, segment_length, checksum_start, checksum_offset;
};

struct Link {
  std::int64_t bits_per_s = 0;
  Time free = 0; // when its last bit has passed

  Time duration(std::int64_t bytes) const { return bits_per_s == 0 ? 0 : bytes * 8 * 1'000'000'000 / bits_per_s; }
};

// A frame, or several of one connection that the kernel handed over as one (segmentation offload).
struct Frame {
  Time arrival = 0;
  std::uint64_t number = 0; // in the order in which they came
  int port = 0;             // where it goes
  std::vector<char> bytes;  // with the offload header that says what is still to be done to it

  bool operator>(const Frame& other) const { return arrival != other.arrival ? arrival > other.arrival : number > other.number; }
};

// Bytes on the wire: each segment has headers.
std::int64_t wire_bytes(std::span<const char> frame)
{
  OffloadHeader header{};
  std::memcpy(&header, frame.data(), sizeof header);
  const auto length = std::int64_t(frame.size() - sizeof header);
  if (header.segmentation == 0 || header.segment_length == 0) return length;
  const std::int64_t payload = length - header.header_length,
                     segments = (payload + header.segment_length - 1) / header.segment_length;
  return length + (segments - 1) * header.header_length;
}

int open_port(int host)
{
  const auto name = "host" + std::to_string(host);
  const int port = check(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  const int on = 1, bytes = 64 << 20;
  check(setsockopt(port, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on), "PACKET_VNET_HDR");
  check(setsockopt(port, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on), "PACKET_QDISC_BYPASS");
  check(setsockopt(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on), "PACKET_IGNORE_OUTGOING");
  check(setsockopt(port, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes), "SO_RCVBUFFORCE");
  check(setsockopt(port, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes), "SO_SNDBUFFORCE");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = __builtin_bswap16(ETH_P_ALL);
  address.sll_ifindex = int(if_nametoindex(name.c_str()));
  check(address.sll_ifindex == 0 ? -1 : bind(port, reinterpret_cast<sockaddr*>(&address), sizeof address), name.c_str());
  return port;
}

std::uint64_t* map_counts(const char* path, int supernodes)
{
  const int file = check(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), path);
  const auto bytes = std::size_t(supernodes) * 2 * sizeof(std::uint64_t);
  check(ftruncate(file, off_t(bytes)), path);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  check(memory == MAP_FAILED ? -1 : 0, path);
  return static_cast<std::uint64_t*>(memory);
}

class Switch {
 public:
  Switch(int hosts, int supernodes, std::int64_t rate, std::int64_t trunk, Time latency, const char* counts)
      : hosts_per_supernode_(hosts / supernodes), latency_(latency), up_(std::size_t(hosts), Link{rate}), down_(up_),
        trunk_up_(std::size_t(supernodes), Link{trunk}), trunk_down_(trunk_up_)
  {
    for (int host = 0; host < hosts; ++host) ports_.push_back(pollfd{open_port(host), POLLIN, 0});
    trunk_counts_ = map_counts(counts, supernodes); // last, because whoever waits for the links waits for this file
  }

  void carry()
  {
    for (;;) {
      deliver(now());
      const Time wait = frames_.empty() ? 1'000'000'000 : std::max(Time{0}, frames_.top().arrival - now());
      const timespec time{wait / 1'000'000'000, wait % 1'000'000'000};
      if (ppoll(ports_.data(), ports_.size(), &time, nullptr) <= 0) continue;
      for (int port = 0; port < int(ports_.size()); ++port)
        if (ports_[std::size_t(port)].revents != 0) take(port);
    }
  }

 private:
  void take(int from)
  {
    ssize_t length;
    while ((length = recv(ports_[std::size_t(from)].fd, buffer_, sizeof buffer_, 0)) >
           ssize_t(sizeof(OffloadHeader) + ETH_HLEN)) {
      const std::span<const char> bytes(buffer_, std::size_t(length));
      const char* ethernet = buffer_ + sizeof(OffloadHeader);
      places_[std::string(ethernet + ETH_ALEN, ETH_ALEN)] = from;
      const auto place = places_.find(std::string(ethernet, ETH_ALEN));
      const auto time = now();
      for (int to = 0; to < int(ports_.size()); ++to)
        if (to != from && (place == places_.end() || place->second == to)) send(time, from, to, bytes);
    }
  }

  void send(Time time, int from, int to, std::span<const char> bytes)
  {
    std::vector<Link*> path{&up_[std::size_t(from)]};
    const auto here = std::size_t(from / hosts_per_supernode_), there = std::size_t(to / hosts_per_supernode_);
    if (here != there) path.insert(path.end(), {&trunk_up_[here], &trunk_down_[there]});
    path.push_back(&down_[std::size_t(to)]);
    const auto wire = wire_bytes(bytes);
    Time head = time, tail = time;
    for (auto* link : path) {
      head = std::max(head, link->free);
      tail = std::max(tail, head + link->duration(wire));
      link->free = tail;
    }
    if (here != there) {
      trunk_counts_[2 * here] += std::uint64_t(wire);
      trunk_counts_[2 * there + 1] += std::uint64_t(wire);
    }
    frames_.push(Frame{tail + latency_, frame_count_++, to, {bytes.begin(), bytes.end()}});
  }

  void deliver(Time time)
  {
    for (; !frames_.empty() && frames_.top().arrival <= time; frames_.pop()) {
      const auto& frame = frames_.top();
      // The kernel refuses a frame when it has no room for it (ENOBUFS, EAGAIN). The frame is lost, and the sender's TCP sends it
      // again.
      if (::send(ports_[std::size_t(frame.port)].fd, frame.bytes.data(), frame.bytes.size(), 0) < 0 && errno != ENOBUFS &&
          errno != EAGAIN)
        check(-1, "send");
    }
  }

  int hosts_per_supernode_;
  Time latency_;
  std::vector<Link> up_, down_, trunk_up_, trunk_down_;
  std::uint64_t* trunk_counts_ = nullptr;
  std::vector<pollfd> ports_;
  std::map<std::string, int> places_; // by Ethernet address, learned from what they send
  std::priority_queue<Frame, std::vector<Frame>, std::greater<>> frames_;
  std::uint64_t frame_count_ = 0;
  char buffer_[sizeof(OffloadHeader) + (1 << 17)];
};

} // namespace

int main(int argc, char** argv)
{
  if (argc != 7) return std::fprintf(stderr, "links: needs HOSTS SUPERNODES RATE TRUNK LATENCY COUNTS\n"), 2;
  // The kernel runs this program before the ranks, which keep all cores busy because they poll for messages.
  const sched_param priority{.sched_priority = 10};
  check(sched_setscheduler(0, SCHED_FIFO, &priority), "SCHED_FIFO");
  const int hosts = std::atoi(argv[1]), supernodes = std::atoi(argv[2]);
  static Switch all(hosts, supernodes, std::atoll(argv[3]), std::atoll(argv[4]), std::atoll(argv[5]), argv[6]);
  all.carry();
}
