// RAPL's counters, in a folder with the kernel's layout.
#include "jobs/machine/powercap.hpp"

#include "tests/support/fake_powercap.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace dt::jobs;
using dt::test::FakePowercap;

TEST_CASE("joules are those that all packages and their memory have counted since the first call")
{
  const FakePowercap fake;
  fake.zone("intel-rapl:0", "package-0", 5'000'000);
  fake.zone("intel-rapl:0/intel-rapl:0:0", "core", 1'000'000);
  fake.zone("intel-rapl:0/intel-rapl:0:1", "dram", 7'000'000);
  fake.zone("intel-rapl:1", "package-1", 9'000'000);
  fake.zone("intel-rapl:2", "psys", 1);
  fake.zone("intel-rapl-mmio:0", "package-0", 5'000'000);
  Powercap powercap(fake.folder());
  CHECK(powercap.why().empty());
  CHECK(powercap.domains() == "package-0, dram, package-1");
  CHECK(powercap.joules() == 0);
  fake.set("intel-rapl:0", 6'000'000);
  fake.set("intel-rapl:0/intel-rapl:0:0", 50'000'000); // a part of the package
  fake.set("intel-rapl:0/intel-rapl:0:1", 7'500'000);
  fake.set("intel-rapl:1", 11'000'000);
  CHECK(powercap.joules() == Approx(3.5));
}

TEST_CASE("a counter that begins again at 0 loses nothing")
{
  const FakePowercap fake;
  fake.zone("intel-rapl:0", "package-0", 8'000'000, 10'000'000);
  Powercap powercap(fake.folder());
  CHECK(powercap.joules() == 0);
  fake.set("intel-rapl:0", 1'000'000);
  CHECK(powercap.joules() == Approx(3));
  fake.set("intel-rapl:0", 9'000'000);
  CHECK(powercap.joules() == Approx(11));
  fake.set("intel-rapl:0", 500'000);
  CHECK(powercap.joules() == Approx(12.5));
}

TEST_CASE("without counters the reason is told, and joules are not a number")
{
  const FakePowercap fake;
  Powercap none(fake.folder());
  CHECK(none.why() == "no processor's energy counter in " + fake.folder().string());
  CHECK(std::isnan(none.joules()));
  fake.zone("intel-rapl:0", "package-0", 0);
  std::filesystem::remove(fake.folder() / "intel-rapl:0" / "energy_uj"); // a test as root may read every file
  Powercap unreadable(fake.folder());
  CHECK(unreadable.why() == "powercap is not readable: " + (fake.folder() / "intel-rapl:0" / "energy_uj").string());
  CHECK(std::isnan(unreadable.joules()));
}
