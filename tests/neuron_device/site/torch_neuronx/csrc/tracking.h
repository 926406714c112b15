// What torch_neuronx reports as op tracking: names with repeats, in order.
#pragma once

#include <string>
#include <vector>

namespace standin {

struct OpLog {
  std::vector<std::string> executed;
  std::vector<std::string> fallback;
};

void track_executed(const std::string& name);
bool track_fallback(const std::string& name);  // true the first time that this operator falls back
OpLog op_log();
void clear_op_log();

}  // namespace standin
