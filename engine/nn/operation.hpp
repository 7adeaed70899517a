// Operation: a primitive with its arguments bound, ready to run without allocating.
#pragma once

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::engine {

class Operation {
 public:
  // The memories may get their data handles later. Arguments with an empty descriptor are left out.
  Operation(const dnnl::primitive& primitive, std::initializer_list<std::pair<int, dnnl::memory>> arguments);
  void run(const dnnl::stream& stream) const;

 private:
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;     // kept alive for
  std::vector<dnnl_exec_arg_t> arguments_; // these; the C++ interface would build this list anew at every call
};

inline void run(std::span<const Operation> operations, const dnnl::stream& stream)
{
  for (const auto& operation : operations) operation.run(stream);
}

} // namespace dt::engine
