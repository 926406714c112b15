#include "pinned.h"

#include <c10/util/Exception.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace standin {
namespace {

struct Blocks {
  std::mutex mutex;
  std::map<const char*, size_t> sizes;
};

Blocks& blocks() {
  static auto* value = new Blocks();  // outlives every tensor that static destructors still free
  return *value;
}

void release(void* address) {
  {
    std::lock_guard<std::mutex> guard(blocks().mutex);
    blocks().sizes.erase(static_cast<const char*>(address));
  }
  std::free(address);
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    void* address = nullptr;
    if (size > 0) {
      TORCH_CHECK(posix_memalign(&address, 64, size) == 0, "standin: host memory exhausted");
      std::lock_guard<std::mutex> guard(blocks().mutex);
      blocks().sizes[static_cast<const char*>(address)] = size;
    }
    return {address, address, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* target, const void* source, size_t count) const override {
    std::memcpy(target, source, count);
  }
};

}  // namespace

c10::Allocator* pinned_allocator() {
  static auto* value = new PinnedAllocator();
  return value;
}

bool is_pinned(const void* address) {
  std::lock_guard<std::mutex> guard(blocks().mutex);
  auto after = blocks().sizes.upper_bound(static_cast<const char*>(address));
  if (after == blocks().sizes.begin()) return false;
  const auto& [begin, size] = *--after;
  return static_cast<const char*>(address) < begin + size;
}

}  // namespace standin
