// Counts of a communicator in the preload library's report.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace thinwire::bench::nccl {

// Counts of one operation (as the report calls it) on this rank.
struct Counts {
  std::int64_t calls = 0, compressed_calls = 0;
  std::int64_t bytes = 0, wire_bytes = 0;
  std::int64_t spilled_blocks = 0;
  std::map<std::string, std::int64_t> raw_by_reason;

  // The counts since then.
  Counts since(const Counts& earlier) const;
  // Without the calls that were raw for this reason, each of so many bytes.
  void leave_out(const std::string& reason, std::int64_t bytes_of_each);
  // Why most of the raw calls were; empty if none was.
  std::string reason() const;
};

// Counts of the communicator that the report has last; all 0 if it has no such operation.
Counts newest_counts(const std::string& report, const std::string& operation);
std::string newest_presence(const std::string& report);

}  // namespace thinwire::bench::nccl
