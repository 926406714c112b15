#include "allocator.h"

#include <c10/util/Exception.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "options.h"
#include "runtime.h"

namespace standin {
namespace {

using c10::CachingDeviceAllocator::DeviceStats;
constexpr size_t kAlignment = 64;
constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

class Ledger {
 public:
  void take(void* address, size_t size, c10::Device device) {
    std::lock_guard<std::mutex> guard(mutex_);
    auto& stats = stats_[device.index()];
    const auto used = stats.allocated_bytes[kAll].current;
    if (used + static_cast<int64_t>(size) > options().memory_bytes) {
      stats.num_ooms++;
      TORCH_CHECK_WITH(OutOfMemoryError, false, "standin: out of memory on ", device, ": ", used,
                       " bytes in use, ", size, " more asked, limit ", options().memory_bytes);
    }
    for (auto* counter : {&stats.allocation, &stats.active, &stats.segment}) {
      (*counter)[kAll].increase(1);
    }
    for (auto* bytes : {&stats.allocated_bytes, &stats.active_bytes, &stats.reserved_bytes,
                        &stats.requested_bytes}) {
      (*bytes)[kAll].increase(size);
    }
    stats.num_device_alloc++;
    report(address, static_cast<int64_t>(size), stats, device);
  }

  void give_back(void* address, size_t size, c10::Device device) {
    std::lock_guard<std::mutex> guard(mutex_);
    auto& stats = stats_[device.index()];
    for (auto* counter : {&stats.allocation, &stats.active, &stats.segment}) {
      (*counter)[kAll].decrease(1);
    }
    for (auto* bytes : {&stats.allocated_bytes, &stats.active_bytes, &stats.reserved_bytes,
                        &stats.requested_bytes}) {
      (*bytes)[kAll].decrease(size);
    }
    stats.num_device_free++;
    report(address, -static_cast<int64_t>(size), stats, device);
  }

  template <typename Action>
  auto with(c10::DeviceIndex device, Action action) {
    std::lock_guard<std::mutex> guard(mutex_);
    return action(stats_.at(device < 0 ? current_device() : device));
  }

 private:
  static void report(void* address, int64_t change, const DeviceStats& stats, c10::Device device) {
    c10::reportMemoryUsageToProfiler(address, change, stats.allocated_bytes[kAll].current,
                                     stats.reserved_bytes[kAll].current, device);
  }

  std::mutex mutex_;
  std::array<DeviceStats, 128> stats_{};
};

Ledger& ledger() {
  static auto* value = new Ledger();  // outlives every tensor that static destructors still free
  return *value;
}

struct Block {
  void* address;
  size_t size;
  c10::Device device;
  c10::Storage host;  // set when the memory is a host result that was taken over
};

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  ledger().give_back(block->address, block->size, block->device);
  if (!block->host) std::free(block->address);
  delete block;
}

class NeuronAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    ensure_ready();
    const c10::Device device(kNeuron, current_device());
    if (size == 0) return {nullptr, nullptr, &c10::detail::deleteNothing, device};
    void* address = nullptr;
    ledger().take(nullptr, size, device);
    TORCH_CHECK(posix_memalign(&address, kAlignment, size) == 0, "standin: host memory exhausted");
    return {address, new Block{address, size, device, {}}, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* target, const void* source, size_t count) const override {
    std::memcpy(target, source, count);
  }
  bool initialized() override { return is_ready(); }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}

  DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    return ledger().with(device, [](DeviceStats& stats) { return stats; });
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    ledger().with(device, [](DeviceStats& stats) {
      for (auto* counter : counters(stats)) (*counter)[kAll].reset_accumulated();
      stats.num_ooms = stats.num_device_alloc = stats.num_device_free = 0;
    });
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    ledger().with(device, [](DeviceStats& stats) {
      for (auto* counter : counters(stats)) (*counter)[kAll].reset_peak();
    });
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    const auto total = options().memory_bytes;
    const auto used = getDeviceStats(device).allocated_bytes[kAll].current;
    return {static_cast<size_t>(total - used), static_cast<size_t>(total)};
  }

 private:
  static std::array<c10::CachingAllocator::StatArray*, 7> counters(DeviceStats& stats) {
    return {&stats.allocation,      &stats.active,         &stats.segment,
            &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes,
            &stats.requested_bytes};
  }
};

}  // namespace

c10::DeviceAllocator* allocator() {
  static auto* value = new NeuronAllocator();
  return value;
}

c10::DataPtr adopt_storage(const c10::Storage& host, c10::Device device) {
  auto* address = host.mutable_data();
  const auto size = host.nbytes();
  ledger().take(address, size, device);
  return {address, new Block{address, size, device, host}, &release, device};
}

static c10::AllocatorRegisterer<kNeuron> register_allocator(allocator());

}  // namespace standin
