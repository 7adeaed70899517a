// The address at which the ranks of other hosts reach this one over TCP. Gloo needs it, while MPI finds its own.
#pragma once

#include <string>
#include <vector>

namespace dt::comm {

// Network interface that is up, with one of its IPv4 addresses ("10.0.0.3").
struct NetworkInterface {
  std::string name, address;
};

struct HostNetwork {
  std::string host;
  std::string resolved; // IPv4 address that the host's name resolves to; empty: none
  std::vector<NetworkInterface> interfaces;
};

// The network of this host, as the kernel and the name service describe it. Throws an environment error when the kernel refuses.
HostNetwork own_network();

// Chooses the address. `named`: the interface to take, as in GLOO_SOCKET_IFNAME; empty: none is named, and the address is
//   127.0.0.1 when all ranks are on one host (`several_hosts` is false),
//   that of the host's name when it is an address of this host and no loopback address,
//   that of the only interface beside the loopback one.
// Throws an environment error which says what to set when none of these holds, or when other hosts cannot reach the interface.
std::string choose_address(const HostNetwork& network, const std::string& named, bool several_hosts);

} // namespace dt::comm
