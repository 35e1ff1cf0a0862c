// The calls of NCCL and CUDA that counted_calls.cpp has counted, by name.
#pragma once

#include <map>
#include <string>

using CountedCalls = std::map<std::string, int>;

// Those of this thread since it asked last.
extern "C" void take_counted_calls(CountedCalls& to);
