// Runs any operator's CPU kernel on host views of device tensors, without copying them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>

namespace standin {

// A CPU tensor on the same memory; other tensors are returned as they are.
at::Tensor host_view(const at::Tensor& tensor);

// A device tensor that takes over the memory of a host result.
at::Tensor adopt(const at::Tensor& host, c10::Device device);

struct HostRun {
  int64_t bytes = 0;         // of every device tensor argument and of every new result
  int64_t scalar_bytes = 0;  // of zero-dimensional CPU tensors, which a device must be sent
  std::string signature;     // "<op>--_[shape]:dtype:S(C)..." of the arguments
  c10::DeviceIndex device = 0;
};

// Whether all results are new tensors or written arguments (views are not).
bool owns_results(const c10::FunctionSchema& schema);

// Replace the arguments on the stack by the operator's results; needs owns_results().
HostRun run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace standin
