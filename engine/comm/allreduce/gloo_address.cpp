#include "engine/comm/allreduce/gloo_address.hpp"

#include "core/error.hpp"
#include "core/machine/process.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

namespace dt::comm {
namespace {

bool is_loopback(const std::string& address) { return address.starts_with("127."); }

std::string text_of(const sockaddr* address)
{
  std::array<char, INET_ADDRSTRLEN> text{};
  const auto* internet = reinterpret_cast<const sockaddr_in*>(address);
  return ::inet_ntop(AF_INET, &internet->sin_addr, text.data(), text.size()) == nullptr ? "" : text.data();
}

std::vector<NetworkInterface> own_interfaces()
{
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) throw system_error("list the network interfaces", errno);
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, ::freeifaddrs);
  std::vector<NetworkInterface> interfaces;
  for (const auto* entry = first; entry != nullptr; entry = entry->ifa_next)
    if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET && (entry->ifa_flags & IFF_UP) != 0)
      interfaces.push_back({entry->ifa_name, text_of(entry->ifa_addr)});
  return interfaces;
}

std::string resolve(const std::string& host)
{
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &first) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(first, ::freeaddrinfo);
  return text_of(first->ai_addr);
}

std::vector<NetworkInterface> beside_loopback(std::vector<NetworkInterface> interfaces)
{
  std::erase_if(interfaces, [](const auto& each) { return is_loopback(each.address); });
  return interfaces;
}

std::string in_words(const std::vector<NetworkInterface>& interfaces)
{
  std::vector<std::string> words;
  for (const auto& each : interfaces) words.push_back(each.name + " " + each.address);
  return words.empty() ? "none" : join(words, ", ");
}

std::string address_of_named(const HostNetwork& network, const std::string& named, bool several_hosts)
{
  const auto found = std::ranges::find(network.interfaces, named, &NetworkInterface::name);
  if (found == network.interfaces.end())
    throw Error(ErrorKind::environment,
                fmt::format("GLOO_SOCKET_IFNAME names the network interface {}, but {} has none of that name that is up and has "
                            "an IPv4 address; it has: {}.",
                            printable(named), network.host, in_words(network.interfaces)));
  if (several_hosts && is_loopback(found->address))
    throw Error(ErrorKind::environment,
                fmt::format("GLOO_SOCKET_IFNAME names the interface {}, which other hosts cannot reach; "
                            "name another one of {}: {}.",
                            printable(named), network.host, in_words(beside_loopback(network.interfaces))));
  return found->address;
}

} // namespace

HostNetwork own_network() { return {host_name(), resolve(host_name()), own_interfaces()}; }

std::string choose_address(const HostNetwork& network, const std::string& named, bool several_hosts)
{
  if (!named.empty()) return address_of_named(network, named, several_hosts);
  if (!several_hosts) return "127.0.0.1";
  const auto reachable = beside_loopback(network.interfaces);
  if (std::ranges::find(reachable, network.resolved, &NetworkInterface::address) != reachable.end()) return network.resolved;
  if (reachable.size() == 1) return reachable.front().address;
  throw Error(ErrorKind::environment,
              fmt::format("The name of host {} resolves to {}, where other hosts cannot reach it, and which of its network "
                          "interfaces they reach is unknown: {}. Name one, as in `resources.env: {{GLOO_SOCKET_IFNAME: eth0}}`.",
                          network.host, network.resolved.empty() ? "no IPv4 address" : network.resolved, in_words(reachable)));
}

} // namespace dt::comm
