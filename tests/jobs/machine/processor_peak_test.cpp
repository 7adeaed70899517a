// The peak of this node's processor, as it is measured and kept.
#include "jobs/machine/processor_peak.hpp"

#include "core/files/file.hpp"
#include "core/machine/cpu_allowance.hpp"
#include "core/maths/multiply_adds.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>

#include <nlohmann/json.hpp>

using namespace dt;
using namespace dt::jobs;

TEST_CASE("the peak of a processor is measured once and kept with its date, and a damaged file is measured again")
{
  if (multiply_add_kernel(MultiplyAdd::fp32).run == nullptr) return; // an unknown processor
  const test::TemporaryFolder folder;
  const Home home(folder.path());
  const auto first = processor_peak(home);
  CHECK(first.core_flops > 1e9);
  CHECK(first.cores == static_cast<std::int64_t>(cpu_allowance().cores.size()));
  CHECK(first.words.find(", measured on ") != std::string::npos);
  const auto names = names_in(folder.path() / "peaks");
  REQUIRE(names.size() == 1);
  const auto file = folder.path() / "peaks" / names.front();
  auto kept = nlohmann::json::parse(read_file(file));
  CHECK(kept.at("core_flops") == first.core_flops);
  kept["core_flops"] = 123e9;
  kept["host"] = "elsewhere";
  write_file_atomic(file, kept.dump());
  CHECK(processor_peak(home).core_flops == 123e9);
  CHECK(processor_peak(home).words.find("measured on elsewhere on 20") != std::string::npos);
  write_file_atomic(file, "{");
  CHECK(processor_peak(home).core_flops != 123e9);
}

TEST_CASE("a home that cannot be made keeps no peak, which is known all the same")
{
  const auto peak = processor_peak(Home("/proc/no/home"));
  CHECK((std::isnan(peak.core_flops) || peak.core_flops > 1e9));
}
