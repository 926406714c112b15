// Host memory that the device may write to while the program runs on.
#pragma once

#include <c10/core/Allocator.h>

namespace standin {

c10::Allocator* pinned_allocator();
bool is_pinned(const void* address);

}  // namespace standin
