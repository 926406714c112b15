// Device memory: host memory with the statistics of a device allocator and a limit that can be reached.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Storage.h>

namespace standin {

c10::DeviceAllocator* allocator();

// Device memory that takes over the storage of a host result without copying it.
c10::DataPtr adopt_storage(const c10::Storage& host, c10::Device device);

}  // namespace standin
