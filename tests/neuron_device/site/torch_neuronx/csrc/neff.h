// The pretended compiler: one opaque .neff per operator signature or graph, cached in folders.
#pragma once

#include <cstdint>
#include <string>

namespace standin {

struct Neff {
  uint64_t model_id = 0;
  std::string cache_key;  // "<op>--_[shape]:dtype:S(C)_...:<hash>"
};

struct CompileCounts {
  int64_t compiled = 0;
  int64_t cache_hits = 0;
  int64_t compile_ns = 0;
};

// Look a signature up, compiling (and taking the configured time) when no folder holds it.
Neff neff_for(const std::string& signature);
CompileCounts compile_counts();
void reset_compile_counts();

}  // namespace standin
