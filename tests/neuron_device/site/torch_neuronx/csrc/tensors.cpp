// Memory operators: creation, copies between host and device, views, and reading one value.
#include <ATen/EmptyTensor.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/record_function.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "allocator.h"
#include "boxed.h"
#include "queue.h"
#include "runtime.h"

namespace standin {
namespace {

const c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

c10::Device target(std::optional<at::Device> device) {
  if (device && device->index() >= 0) return *device;
  return c10::Device(kNeuron, current_device());
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(target(device));
  return at::detail::empty_generic(size, allocator(), kKeys, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  const c10::DeviceGuard guard(target(device));
  return at::detail::empty_strided_generic(size, stride, allocator(), kKeys,
                                           c10::dtype_or_default(dtype));
}

void copy_values(const at::Tensor& source, const at::Tensor& result) {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  at::DisableRecordFunctionGuard no_rows_of_its_own;
  host_view(result).copy_(host_view(source));
}

void copy_to_host(const at::Tensor& source, const at::Tensor& result, bool non_blocking) {
  const auto device = source.device().index();
  const auto bytes = static_cast<int64_t>(source.nbytes());
  if (non_blocking) {
    // The values are those of now, but the host memory gets them only when the copy has ended.
    const auto values = host_view(source).clone();
    const auto memory = result.detach();
    submit(Work::to_host, "memcpy_d2h", "", bytes, device,
           [values, memory] { copy_values(values, memory); });
    return;
  }
  submit(Work::to_host, "memcpy_d2h", "", bytes, device);
  if (!inside_graph()) wait_stream(current_stream(device));
  copy_values(source, result);
}

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& result, bool non_blocking) {
  ensure_ready();
  const auto bytes = static_cast<int64_t>(source.nbytes());
  if (result.device().is_cpu()) {
    copy_to_host(source, result, non_blocking);
    return result;
  }
  copy_values(source, result);
  const auto device = result.device().index();
  if (source.device().is_cpu()) {
    submit(Work::to_device, "memcpy_h2d", "", bytes, device);
  } else if (source.scalar_type() == result.scalar_type()) {
    submit(Work::on_device, "memcpy_d2d", "", bytes, device);
  } else {
    const auto signature = std::string("cast--_") + c10::toString(source.scalar_type()) + "_" +
                           c10::toString(result.scalar_type()) + "_" + std::to_string(bytes);
    const auto total = bytes + static_cast<int64_t>(result.nbytes());
    submit(Work::kernel, "aten::copy_", signature, total, device);
  }
  return result;
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& result) {
  if (source.sizes() != result.sizes()) result.resize_(source.sizes());
  return copy_from(source, result, false);
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  submit(Work::to_host, "memcpy_d2h", "", static_cast<int64_t>(self.nbytes()),
         self.device().index());
  wait_stream(current_stream(self.device().index()));
  return at::native::_local_scalar_dense_cpu(host_view(self));
}

at::Tensor& set_source(at::Tensor& self, at::Storage source, int64_t offset, at::IntArrayRef size,
                       at::IntArrayRef stride) {
  return at::native::set_storage_cpu_(self, source, offset, size, stride);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("_local_scalar_dense", local_scalar_dense);
  library.impl("as_strided", [](const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                                std::optional<int64_t> offset) {
    return at::native::as_strided_tensorimpl(self, size, stride, offset);
  });
  library.impl("view", [](const at::Tensor& self, at::IntArrayRef size) {
    return at::native::view(self, size);
  });
  library.impl("_reshape_alias", [](const at::Tensor& self, at::IntArrayRef size,
                                    at::IntArrayRef stride) {
    return at::native::_reshape_alias(self, size, stride);
  });
  library.impl("unfold", [](const at::Tensor& self, int64_t dimension, int64_t size, int64_t step) {
    return at::native::unfold(self, dimension, size, step);
  });
  library.impl("resize_", at::native::resize_);
  library.impl("set_.source_Storage", [](at::Tensor& self, at::Storage source) -> at::Tensor& {
    return at::native::set_(self, source);
  });
  library.impl("set_.source_Storage_storage_offset", set_source);
  library.impl("set_.source_Tensor", at::native::set_tensor_);
}

}  // namespace standin
