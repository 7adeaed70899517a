// Operation: one thing that a step does, with its arguments bound, ready to run without allocating.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace dt::engine {

// What an operation is told as in a profile.
struct OperationLabel {
  std::string layer;
  const char* what = "";
  double flops = 0;     // of multiplications and additions in convolutions and inner products
  bool reorder = false; // only copies, into another layout or precision
};

class Operation {
 public:
  using Arguments = std::initializer_list<std::pair<int, dnnl::memory>>;
  // A primitive of oneDNN; it exists after create(). Arguments with an empty descriptor are left out.
  Operation(OperationLabel label, const dnnl::primitive_desc_base& primitive, Arguments arguments);
  Operation(OperationLabel label, const dnnl::primitive_desc_base& primitive, const std::vector<std::pair<int, dnnl::memory>>& arguments);
  // A kernel of our own, and all the memories that it reads or writes.
  Operation(OperationLabel label, std::vector<dnnl::memory> uses, std::function<void()> kernel);

  // Makes the primitive: slow, and safe to call for several operations at a time.
  void create();
  void run(const dnnl::stream& stream) const
  {
    if (!primitive_) return kernel_();
    execute(stream);
  }

  // The memories get their data later than their operations.
  const std::vector<dnnl::memory>& memories() const { return memories_; }
  const OperationLabel& label() const { return label_; }
  // oneDNN's name for what it runs, "jit:avx512_core"; empty for a kernel of our own.
  const std::string& implementation() const { return implementation_; }

 private:
  void execute(const dnnl::stream& stream) const;
  OperationLabel label_;
  std::string implementation_;
  dnnl::primitive_desc_base descriptor_;
  dnnl::primitive primitive_;
  std::function<void()> kernel_;
  std::vector<dnnl::memory> memories_;     // kept alive for
  std::vector<dnnl_exec_arg_t> arguments_; // these; the C++ interface would build this list anew at every call
};

} // namespace dt::engine
