#include "state/free_memory.h"

#include <sstream>

#include "state/communicators.h"

namespace thinwire::nccl {
void FreeMemories::add(const FreeMemory& of) {
  const std::lock_guard lock(mutex_);
  if (of_kinds_.size() < kMost) of_kinds_.push_back(of);
}

std::vector<FreeMemory> FreeMemories::all() const {
  const std::lock_guard lock(mutex_);
  return of_kinds_;
}

std::string free_memory_as_json(const Communicator& communicator) {
  std::ostringstream out;
  const char* separator = "";
  out << '[';
  for (const FreeMemory& each : communicator.free_memory.all()) {
    out << separator << "{\"operation\": \"" << operation_name(each.operation)
        << "\", \"dtype\": \"" << type_text(each.dtype)
        << "\", \"least_bytes\": " << each.least_bytes << ", \"before_bytes\": " << each.before
        << ", \"behind_bytes\": " << each.after << '}';
    separator = ", ";
  }
  out << ']';
  return out.str();
}

std::string free_memory_as_text(const Communicator& communicator) {
  std::ostringstream out;
  for (const FreeMemory& each : communicator.free_memory.all()) {
    out << "    the first compressed " << operation_name(each.operation) << " of "
        << type_text(each.dtype) << ", " << each.least_bytes << " to " << 2 * each.least_bytes - 1
        << " bytes: " << (each.before >> 20) << " MiB of the GPU were free before it, "
        << (each.after >> 20) << " after it\n";
  }
  return out.str();
}

}  // namespace thinwire::nccl
