// Who chooses the transports of a job on one node.
#include "jobs/launch/transports.hpp"

#include <catch2/catch.hpp>

using namespace dt::jobs;

namespace {

using Words = std::vector<std::string>;

bool nothing_is_set(const std::string&) { return false; }

} // namespace

TEST_CASE("the user chooses transports with mpirun's options, a file of parameters or a variable, and with no other parameters")
{
  for (const auto& words : {Words{"mpirun", "--mca", "btl", "self,tcp"}, Words{"mpirun", "-mca", "pml", "ucx"},
                            Words{"mpirun", "--mca", "mtl", "psm2"}, Words{"mpirun", "--tune", "site.conf"}})
    CHECK(user_chooses_transports(words, nothing_is_set));
  for (const std::string chosen : {"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl"})
    CHECK(user_chooses_transports({"mpirun"}, [&](const std::string& name) { return name == chosen; }));
  CHECK(!user_chooses_transports({"mpirun", "-np", "2", "--mca", "btl_tcp_if_include", "ib0"}, nothing_is_set));
  CHECK(!user_chooses_transports({"mpirun"}, [](const std::string& name) { return name == "OMPI_MCA_btl_vader_eager_limit"; }));
}
