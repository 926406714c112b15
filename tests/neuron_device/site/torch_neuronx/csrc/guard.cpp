// Makes torch.accelerator, torch.Event, torch.Stream and autograd see the device.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "allocator.h"
#include "options.h"
#include "pinned.h"
#include "queue.h"
#include "runtime.h"

namespace standin {
namespace {

struct Event {
  c10::DeviceIndex device;
  int64_t end_ns;
};

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kNeuron; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const auto previous = getDevice();
    if (device.index() >= 0) set_current_device(device.index());
    return previous;
  }
  c10::Device getDevice() const override { return {kNeuron, current_device()}; }
  void setDevice(c10::Device device) const override { set_current_device(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0 && device.index() < device_count()) set_current_device(device.index());
  }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }
  void synchronizeDevice(c10::DeviceIndex device) const override;

  c10::Stream getStream(c10::Device device) const override {
    return current_stream(device.index());
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return new_stream(device.index());
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    return new_stream(device.index());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const auto previous = current_stream(stream.device_index());
    set_current_stream(stream);
    return previous;
  }
  bool queryStream(const c10::Stream& stream) const override {
    return finished(stream_end_ns(stream));
  }
  void synchronizeStream(const c10::Stream& stream) const override { wait_stream(stream); }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    ensure_ready();
    delete static_cast<Event*>(*event);
    const auto end_ns = std::max(now_ns(), stream_end_ns(stream));
    *event = new Event{stream.device_index(), end_ns};
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event) delay_stream(stream, static_cast<Event*>(event)->end_ns);
  }
  bool queryEvent(void* event) const override {
    return !event || finished(static_cast<Event*>(event)->end_ns);
  }
  void synchronizeEvent(void* event) const override {
    if (!event) return;
    const auto* recorded = static_cast<Event*>(event);
    wait_until(recorded->device, recorded->end_ns);
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Event*>(event);
  }
  double elapsedTime(void* begin, void* end, const c10::DeviceIndex) const override {
    TORCH_CHECK(begin && end, "standin: both events must be recorded before their time is read");
    TORCH_CHECK(queryEvent(end), "standin: the second event has not been reached: synchronize first");
    const auto ns = static_cast<Event*>(end)->end_ns - static_cast<Event*>(begin)->end_ns;
    return static_cast<double>(ns) / 1e6;
  }
};

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  void init() const override { ensure_ready(); }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return is_ready(); }
  c10::DeviceIndex deviceCount() const override { return device_count(); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { set_current_device(device); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const auto previous = current_device();
    set_current_device(device);
    return previous;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? current_device() : exchangeDevice(device);
  }

  // Random kernels run on the host, so a device generator is a host generator, one for each core.
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    static std::mutex mutex;
    static auto* generators = new std::map<c10::DeviceIndex, at::Generator>();
    std::lock_guard<std::mutex> guard(mutex);
    auto& generator = (*generators)[device < 0 ? current_device() : device];
    if (!generator.defined()) generator = at::make_generator<at::CPUGeneratorImpl>();
    return generator;
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::make_generator<at::CPUGeneratorImpl>();
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  bool isPinnedPtr(const void* address) const override { return is_pinned(address); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t size) const override {
    auto target = allocator()->allocate(size);
    const auto kept = std::min(size, storage.nbytes());
    if (kept) std::memcpy(target.get(), storage.data(), kept);
    storage.set_data_ptr_noswap(std::move(target));
    storage.unsafeGetStorageImpl()->set_nbytes(size);
  }
};

void Guard::synchronizeDevice(c10::DeviceIndex device) const {
  ensure_ready();
  if (!options().has("no_sync")) wait_device(device);
}

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

const bool hooks_registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks());
  return true;
}();

}  // namespace
}  // namespace standin
