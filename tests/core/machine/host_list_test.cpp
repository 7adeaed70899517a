#include "core/machine/host_list.hpp"

#include <catch2/catch.hpp>

#include <vector>

using dt::compact_hosts;
using Hosts = std::vector<std::string>;

TEST_CASE(
    "hosts with following numbers are put together, a host stands once, and numbers that are written differently are kept apart")
{
  CHECK(compact_hosts(Hosts{"node1", "node2", "node3", "node7", "login"}) == "node[1-3,7],login");
  CHECK(compact_hosts(Hosts{"n9", "n10", "n11"}) == "n[9-11]");
  CHECK(compact_hosts(Hosts{"n008", "n009", "n010"}) == "n[008-010]");
  CHECK(compact_hosts(Hosts{"gpu-3", "cpu-4"}) == "gpu-3,cpu-4");
  CHECK(compact_hosts(Hosts{"a1", "a1", "a2", "a2"}) == "a[1-2]");
  CHECK(compact_hosts(Hosts{"vm", "vm"}) == "vm");
  CHECK(compact_hosts(Hosts{"n09", "n10", "n011"}) == "n[09-10,011]");
  CHECK(compact_hosts(Hosts{"n99", "n100"}) == "n[99-100]");
  CHECK(compact_hosts(Hosts{"n099", "n0100"}) == "n[099,0100]");
  CHECK(compact_hosts(Hosts{"i-0123456789012", "i-0123456789013"}) == "i-0123456789012,i-0123456789013");
  CHECK(compact_hosts(Hosts{"7", "8"}) == "[7-8]");
}
