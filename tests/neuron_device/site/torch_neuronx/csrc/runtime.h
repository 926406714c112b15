// Life of the pretended Neuron runtime in this process: lazy start, core ownership, fork, current device.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

namespace standin {

constexpr auto kNeuron = c10::DeviceType::PrivateUse1;

// Start the runtime on first use; throws in a forked child, on a core in use, on bad core variables.
void ensure_ready();
bool is_ready();
bool in_bad_fork();

c10::DeviceIndex device_count();
c10::DeviceIndex current_device();
void set_current_device(c10::DeviceIndex device);

c10::Stream current_stream(c10::DeviceIndex device);
void set_current_stream(c10::Stream stream);
c10::Stream new_stream(c10::DeviceIndex device);

}  // namespace standin
