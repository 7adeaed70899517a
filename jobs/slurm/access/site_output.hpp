// The site as scontrol and sacctmgr print it. Pure functions.
#pragma once

#include "jobs/slurm/access/api.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dt::jobs::slurm {

// A machine that controls Slurm.
struct Controller {
  std::string name;    // for people
  std::string address; // to connect to
};

// Of `SlurmctldHost=name(address)`, or of its lines "SlurmctldHost[0] = …". Without them, of the older ControlMachine.
std::vector<Controller> controllers_of(const std::map<std::string, std::string>& settings);
std::string controller_port(const std::map<std::string, std::string>& settings);

// Of `scontrol show config`; without mpi_plugins.
SlurmSite read_site(std::string_view text);
// Of `scontrol --oneliner show partition`, `… node` and `… reservation`.
std::vector<SlurmPartition> read_partitions(std::string_view text);
std::vector<SlurmNode> read_nodes(std::string_view text);
std::vector<SlurmReservation> read_reservations(std::string_view text);
// Of `sacctmgr --parsable2 --noheader show user … withassoc format=DefaultAccount,Account,Cluster`: the accounts on this cluster,
// the default one first.
std::vector<std::string> read_accounts(std::string_view text, const std::string& cluster);
// Whether a controller is up, of `scontrol ping`.
bool read_ping(std::string_view text);
// "22.05" of "slurm-wlm 22.05.8", as `scontrol --version` prints; empty if there is no such number.
std::string read_release(std::string_view text);

} // namespace dt::jobs::slurm
