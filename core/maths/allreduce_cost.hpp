// Cost formulas of the allreduces: α seconds per message, β seconds per byte on a node's link, γ seconds per byte added. Pure
// functions. [Thakur2005, section 4]
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dt {

// The properties of the ranks that the formulas use. The engine takes them from its topology (engine/comm/choice/cost_shape.hpp).
struct CostShape {
  int ranks = 1;
  int nodes = 1;
  int ranks_a_node = 1; // in the largest node
  int supernodes = 1;
  friend bool operator==(const CostShape&, const CostShape&) = default;
};

// A sum of n bytes takes messages · α + n (link · β + added · γ) seconds.
struct CostTerms {
  double messages = 0; // sequential messages on the longest path
  double link = 0;     // bytes that pass the busiest node's link one after another, per byte of the vector
  double added = 0;    // bytes that the busiest rank adds, per byte of the vector
};

// With P ranks, r on each of N nodes, L(P) = ceil(log2 P), and M(P) = the sum of f - 1 over the prime factors f of P, the terms
// messages, link and added are:
//   ring, gloo        2 (P-1),        2 (P-1)/P,      (P-1)/P
//   halving-doubling  2 M(P),         2 r (N-1)/N,    (P-1)/P       (r = 1: 2 (P-1)/P)
//   tree              2 L(P),         2 L(N),         L(P)
//   topology-aware    2 M(P/S) + 2 M(S), and the rest as halving-doubling, with S supernodes
//   hierarchical      2 M(N) + 2,     2 (N-1)/N,      (r-1)/r + (N-1)/(N r)
//   anything else     2 L(P),         2 (N-1)/N,      (P-1)/P       the minimum for any schedule; plain MPI's is unknown
// On one node every rank counts as a node, and hierarchical moves each byte twice through memory. The formulas ignore trunks and
// ranks that share a core; both appear in the factor between an algorithm's measured time and its formula.
CostTerms cost_terms(std::string_view algorithm, const CostShape& shape);

struct CostModel {
  double alpha_s = 0, beta_s = 0, gamma_s = 0;
  double spread = 0; // typical relative error of the model: 0.1 is 10%
  // 1 / β; 0 where β is 0.
  double link_bytes_per_s() const { return beta_s > 0 ? 1 / beta_s : 0; }
};

double cost_s(const CostModel& model, const CostTerms& terms, std::size_t bytes);

struct CostSample {
  CostTerms terms;
  std::size_t bytes = 0;
  double seconds = 0;
};

// Fits α, β, γ >= 0 by least relative errors; outliers get less weight. Needs at least one sample.
CostModel fit_costs(std::span<const CostSample> samples);

// The three lines of a machine profile's `network:` block, each with two blanks in front: latency (α), bandwidth (1/β) and, if γ
// is known, reduce (1/γ). dtctl reads them again (recipes/reading/network.hpp).
std::string network_block(const CostModel& model);

// "α 52 µs, β 8.1 ns/byte (124 MB/s), γ 0.05 ns/byte, half of the timings within 8 %".
std::string in_words(const CostModel& model);

} // namespace dt
