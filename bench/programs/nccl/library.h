// NCCL as it is found when the program runs: its own functions, and the names that programs call,
// which a preload library may have taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "native/nccl_abi.h"

namespace thinwire::bench::nccl {

// Counts of a communicator in the preload library's report.

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

// The calls that move data, by one kind of name.
struct Calls {
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclReduceScatter) reduce_scatter;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclAlltoAll) all_to_all;  // null if this NCCL is older than 2.28
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
};

class Library {
 public:
  // Throws std::runtime_error if there is no such library, or no NCCL in it.
  explicit Library(const std::string& path);

  const Calls& raw() const { return raw_; }      // pncclAllGather and so on
  const Calls& plain() const { return plain_; }  // ncclAllGather and so on

  int version() const;
  ncclUniqueId make_id() const;
  ncclComm_t make(int ranks, const ncclUniqueId& id, int rank) const;
  void end(ncclComm_t comm) const;
  // Throws if an error came up after calls that had succeeded.
  void check(ncclComm_t comm) const;

  // Whether buffers lie in host memory, as those of the libnccl of tests do.
  bool is_on_host() const { return on_host_; }
  // A function of this NCCL's file, null if it has none of that name.
  void* function(const char* name) const;

  // Whether the preload library is there and counts.
  bool counts_calls() const;
  // The figures of the newest communicator; all 0 without the preload library.
  Counts counts(const char* operation) const;
  // Who has the library, in its words.
  std::string presence() const;

 private:
  Calls calls_named(const std::string& prefix, void* where) const;
  std::string report() const;

  void* handle_;
  bool on_host_;
  Calls raw_, plain_;
};

// Throws std::runtime_error with the call's name.
void check(ncclResult_t result, const char* call);

}  // namespace thinwire::bench::nccl
