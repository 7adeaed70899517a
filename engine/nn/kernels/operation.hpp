// Operation: one operation of a step with bound arguments, ready to run without allocation.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::nn {

// Name and cost of an operation in a profile.
struct OperationLabel {
  std::string layer;
  const char* what = "";
  double flops = 0;     // floating-point operations of convolutions and inner products
  bool reorder = false; // only a copy into another layout or precision
};

class Operation {
 public:
  using Arguments = std::initializer_list<std::pair<int, dnnl::memory>>;
  // A oneDNN primitive, created by create(). Arguments with an empty descriptor are left out.
  Operation(OperationLabel label, const dnnl::primitive_desc_base& primitive, Arguments arguments);
  Operation(OperationLabel label, const dnnl::primitive_desc_base& primitive,
            const std::vector<std::pair<int, dnnl::memory>>& arguments);
  // One of our own kernels, with all memories that it reads or writes.
  Operation(OperationLabel label, std::vector<dnnl::memory> uses, std::function<void()> kernel);

  // Creates the primitive. Slow; may run concurrently for several operations.
  void create();
  void run(const dnnl::stream& stream) const
  {
    if (!primitive_) return kernel_();
    execute(stream);
  }

  // All memories of the operation; they get their data after the operation is made.
  const std::vector<dnnl::memory>& memories() const { return memories_; }
  const OperationLabel& label() const { return label_; }
  // oneDNN's name of the implementation, "jit:avx512_core"; empty for one of our own kernels.
  const std::string& implementation() const { return implementation_; }

 private:
  void execute(const dnnl::stream& stream) const;
  OperationLabel label_;
  std::string implementation_;
  dnnl::primitive_desc_base descriptor_;
  dnnl::primitive primitive_;
  std::function<void()> kernel_;
  std::vector<dnnl::memory> memories_;     // kept alive for arguments_
  std::vector<dnnl_exec_arg_t> arguments_; // built once; the C++ interface would build this list in every call
};

} // namespace dt::nn
