#include "boxed.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/from_blob.h>
#include <ATen/record_function.h>

#include <optional>
#include <vector>

#include "allocator.h"
#include "runtime.h"

namespace standin {
namespace {

using c10::IValue;
using torch::jit::Stack;

bool on_device(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kNeuron;
}

int64_t size_of(const at::Tensor& tensor) { return static_cast<int64_t>(tensor.nbytes()); }

// float64 has no hardware: its values keep float32's precision.
void round_to_hardware(const at::Tensor& host) {
  if (host.defined() && host.scalar_type() == at::kDouble) host.copy_(host.to(at::kFloat));
}

// One operator call: its arguments swapped for host views, its results for device tensors.
class Call {
 public:
  Call(const c10::FunctionSchema& schema, Stack* stack)
      : schema_(schema), stack_(*stack), first_(stack->size() - schema.arguments().size()),
        arguments_(schema.arguments().size()), views_(schema.arguments().size()) {
    const auto& name = schema.name();
    run_.signature = name.substr(name.rfind(':') + 1) + "--";
  }

  void swap_in() {
    for (size_t i = 0; i < arguments_.size(); i++) swap_argument(stack_[first_ + i], i);
    run_.device = device_ ? device_->index() : current_device();
    for (size_t i = 0; i < arguments_.size(); i++) fill_generator(stack_[first_ + i], i);
  }

  HostRun swap_out() {
    for (size_t i = 0; i < arguments_.size(); i++) write_back(i);
    const auto count = schema_.returns().size();
    for (size_t i = 0; i < count; i++) {
      swap_result(stack_[stack_.size() - count + i], schema_.returns()[i].alias_info());
    }
    return run_;
  }

 private:
  // Without a generator the device's own is meant, where the CPU kernel would take the CPU's.
  void fill_generator(IValue& value, size_t index) {
    const auto& type = *schema_.arguments()[index].type();
    if (!value.isNone() || type.kind() != c10::TypeKind::OptionalType) return;
    if (type.containedType(0)->kind() != c10::TypeKind::GeneratorType) return;
    value = at::detail::getPrivateUse1Hooks().getDefaultGenerator(run_.device);
  }

  void swap_argument(IValue& value, size_t index) {
    if (value.isTensor()) {
      arguments_[index] = value.toTensor();
      views_[index] = note(arguments_[index]);
      value = views_[index];
    } else if (value.isTensorList()) {
      auto list = value.toTensorList().copy();
      for (size_t k = 0; k < list.size(); k++) list.set(k, note(list.get(k)));
      value = list;
    } else if (value.isOptionalTensorList()) {
      auto list = value.toOptionalTensorList().copy();
      for (size_t k = 0; k < list.size(); k++) {
        const std::optional<at::Tensor> item = list.get(k);
        if (item) list.set(k, std::optional<at::Tensor>(note(*item)));
      }
      value = list;
    } else {
      note_plain(value);
    }
  }

  at::Tensor note(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (!on_device(tensor)) {
      if (tensor.dim() == 0) run_.scalar_bytes += size_of(tensor);
      run_.signature += "_s";
      return tensor;
    }
    if (!device_) device_ = tensor.device();
    run_.bytes += size_of(tensor);
    run_.signature += "_[";
    for (auto extent : tensor.sizes()) run_.signature += std::to_string(extent) + ",";
    if (tensor.dim() > 0) run_.signature.pop_back();
    run_.signature += "]:" + std::string(c10::toString(tensor.scalar_type())) + ":S(C)";
    return host_view(tensor);
  }

  void note_plain(IValue& value) {
    if (value.isInt()) run_.signature += "_i" + std::to_string(value.toInt());
    if (value.isDouble()) run_.signature += "_f";
    if (value.isDevice()) {
      if (!device_ && value.toDevice().type() == kNeuron) {
        const auto index = value.toDevice().index();
        device_ = c10::Device(kNeuron, index < 0 ? current_device() : index);
      }
      value = c10::Device(at::kCPU);
    }
  }

  bool written(size_t index) const {
    const auto* alias = schema_.arguments()[index].alias_info();
    return alias && alias->isWrite() && on_device(arguments_[index]);
  }

  // An out= argument that the CPU kernel resized lives in new memory: bring it home.
  void write_back(size_t index) {
    if (!written(index)) return;
    const auto& view = views_[index];
    round_to_hardware(view);
    if (view.sizes() == arguments_[index].sizes() && view.data_ptr() == arguments_[index].data_ptr()) return;
    arguments_[index].resize_(view.sizes());
    host_view(arguments_[index]).copy_(view);
  }

  void swap_result(IValue& value, const c10::AliasInfo* alias) {
    if (alias) {
      for (size_t i = 0; i < arguments_.size(); i++) {
        const auto* of_argument = schema_.arguments()[i].alias_info();
        if (of_argument && *of_argument == *alias) value = arguments_[i];
      }
    } else if (value.isTensor()) {
      value = take(value.toTensor());
    } else if (value.isTensorList()) {
      auto list = value.toTensorList().copy();
      for (size_t k = 0; k < list.size(); k++) list.set(k, take(list.get(k)));
      value = list;
    }
  }

  at::Tensor take(const at::Tensor& host) {
    if (!host.defined()) return host;
    round_to_hardware(host);
    run_.bytes += size_of(host);
    return adopt(host, c10::Device(kNeuron, run_.device));
  }

  const c10::FunctionSchema& schema_;
  Stack& stack_;
  size_t first_;
  std::vector<at::Tensor> arguments_, views_;
  std::optional<c10::Device> device_;
  HostRun run_;
};

}  // namespace

at::Tensor host_view(const at::Tensor& tensor) {
  if (!on_device(tensor)) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), [tensor](void*) {},
                       tensor.options().device(at::kCPU).requires_grad(false));
}

at::Tensor adopt(const at::Tensor& host, c10::Device device) {
  const auto dense = host.is_non_overlapping_and_dense() ? host : host.contiguous();
  c10::Storage storage(c10::Storage::use_byte_size_t(), dense.storage().nbytes(),
                       adopt_storage(dense.storage(), device), allocator(), /*resizable=*/true);
  auto result = at::detail::make_tensor<at::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), dense.dtype());
  result.unsafeGetTensorImpl()->set_sizes_and_strides(dense.sizes(), dense.strides(),
                                                      dense.storage_offset());
  return result;
}

bool owns_results(const c10::FunctionSchema& schema) {
  const auto reads = [](const c10::AliasInfo* alias) { return alias && !alias->isWrite(); };
  for (const auto& argument : schema.arguments()) {
    if (reads(argument.alias_info())) return false;
  }
  for (const auto& result : schema.returns()) {
    if (reads(result.alias_info())) return false;
  }
  return true;
}

HostRun run_on_host(const c10::OperatorHandle& op, Stack* stack) {
  ensure_ready();
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  at::DisableRecordFunctionGuard no_rows_of_its_own;
  Call call(op.schema(), stack);
  call.swap_in();
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  return call.swap_out();
}

}  // namespace standin
