// In which time, on which hosts and with which software the two sides of a comparison were measured. Pure functions.
#pragma once

#include "core/record/field.hpp"
#include "store/analysis/statistics/confounding.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace dt::store {

// When and where a run was measured. Empty texts and NaN: not known.
struct Measured {
  std::string run{}; // its key
  std::string study; // id of the study that asked for the run
  double begin_unix_s = not_measured, end_unix_s = not_measured;
  std::set<std::string> hosts;
  std::string block{}; // Occasion::block
  // What the run depended on, by the names of fact_names(): "processors" -> "AMD EPYC 7763".
  std::map<std::string, std::string> facts{};
  double busy_share = not_measured; // of the cores that its ranks needed: taken by other processes and other virtual machines
};

// In the order in which differences are told: processors, kernels, MPI libraries, …
const std::vector<std::string>& fact_names();

// Something that differs between the sides, as text: {"hosts", "node[1-4]", "node[5-8]"}.
struct SeparateFact {
  std::string name, a, b;
};

struct Separation {
  bool is_together =
      false; // the sides may be compared as they are: nothing confounds their difference, and their times are known
  Confounded by = Confounded::no;
  bool is_one_study = false; // all runs are of one study
  double apart_s = 0;        // from the end of the earlier side to the begin of the later one; 0: they overlap. NaN: not known
  bool a_is_later = false;
  bool other_hosts = false;          // the sides have no host in common
  bool other_processors = false;     // their processors are known and differ
  bool is_same_kind = false;         // the processors are known and equal, or the hosts are the same
  std::vector<SeparateFact> facts{}; // without the times
};

// `a` and `b`: the succeeded runs of two points.
Separation separation_of(std::span<const Measured> a, std::span<const Measured> b);

} // namespace dt::store
