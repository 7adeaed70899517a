// How fast this node's processor computes at most, by which the model FLOPs utilisation of runs is computed. It is measured once
// for each kind of processor and number of cores, and kept in the home: runs that are compared are held against one figure.
#pragma once

#include "core/home/home.hpp"

#include <cstdint>
#include <string>

namespace dt::jobs {

struct ProcessorPeak {
  double core_flops = 0; // of one of the cores while all of them compute, FLOP/s in fp32 (core/maths/multiply_adds.hpp)
  std::int64_t cores = 0;
  std::string words; // "AMD EPYC 9654, measured on node3 on 2026-11-29"
};

// "model name" of /proc/cpuinfo; empty if there is none.
std::string cpu_model();

// The peak of the cores that this process may use: the file <home>/peaks/HASH.json, else measured now in a third of a second and
// written there. NaN on a processor whose peak cannot be measured. A home that cannot be written keeps nothing.
ProcessorPeak processor_peak(const Home& home);

} // namespace dt::jobs
