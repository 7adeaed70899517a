// The address that Gloo's ranks listen at, on hosts of many kinds.
#include "engine/comm/allreduce/gloo_address.hpp"

#include "core/machine/process.hpp"

#include <catch2/catch.hpp>

using namespace dt;
using namespace dt::comm;

namespace {

// Debian writes the host's own name with 127.0.1.1 into /etc/hosts.
HostNetwork host_with(std::vector<NetworkInterface> interfaces, const std::string& resolved = "127.0.1.1")
{
  interfaces.insert(interfaces.begin(), {"lo", "127.0.0.1"});
  return {"n1", resolved, std::move(interfaces)};
}

const NetworkInterface ethernet{"eth0", "10.0.0.3"}, infiniband{"ib0", "10.1.0.3"};

} // namespace

TEST_CASE("ranks of one host meet at the loopback address, whatever the host's name resolves to")
{
  CHECK(choose_address(host_with({ethernet, infiniband}), "", false) == "127.0.0.1");
  CHECK(choose_address(host_with({}, ""), "", false) == "127.0.0.1");
}

TEST_CASE("ranks of several hosts meet where the host's name points, or at the only interface")
{
  CHECK(choose_address(host_with({ethernet, infiniband}, "10.1.0.3"), "", true) == "10.1.0.3");
  CHECK(choose_address(host_with({ethernet}), "", true) == "10.0.0.3");
  CHECK(choose_address(host_with({ethernet}, "192.0.2.7"), "", true) == "10.0.0.3"); // an address of another host
}

TEST_CASE("an interface that is named is taken, on one host too")
{
  CHECK(choose_address(host_with({ethernet, infiniband}, "10.0.0.3"), "ib0", true) == "10.1.0.3");
  CHECK(choose_address(host_with({ethernet, infiniband}), "ib0", false) == "10.1.0.3");
  CHECK(choose_address(host_with({ethernet}), "lo", false) == "127.0.0.1");
}

TEST_CASE("an address that other hosts cannot reach is refused with what to set")
{
  CHECK_THROWS_WITH(choose_address(host_with({ethernet, infiniband}), "", true),
                    "The name of host n1 resolves to 127.0.1.1, where other hosts cannot reach it, and which of its network "
                    "interfaces they reach is unknown: eth0 10.0.0.3, ib0 10.1.0.3. Name one, as in `resources.env: "
                    "{GLOO_SOCKET_IFNAME: eth0}`.");
  CHECK_THROWS_WITH(choose_address(host_with({}, ""), "", true),
                    Catch::StartsWith("The name of host n1 resolves to no IPv4 address, where") &&
                        Catch::Contains("unknown: none."));
  CHECK_THROWS_WITH(
      choose_address(host_with({ethernet}), "eth7", true),
      "GLOO_SOCKET_IFNAME names the network interface eth7, but n1 has none of that name that is up and has an IPv4 "
      "address; it has: lo 127.0.0.1, eth0 10.0.0.3.");
  CHECK_THROWS_WITH(choose_address(host_with({ethernet}), "lo", true),
                    "GLOO_SOCKET_IFNAME names the interface lo, which other hosts cannot reach; name another one of n1: eth0 "
                    "10.0.0.3.");
}

TEST_CASE("this host has its name and its interfaces")
{
  const auto network = own_network();
  CHECK(network.host == host_name());
  for (const auto& each : network.interfaces) CHECK(choose_address(network, each.name, false) == each.address);
}
