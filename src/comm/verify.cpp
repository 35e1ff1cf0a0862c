// The same call without compression, to see what compression made of its result.
#include <algorithm>
#include <vector>

#include "collective/reduce.h"
#include "comm/communicator.h"
#include "comm/workspace.h"
#include "device/copy.h"

namespace thinwire::comm {

// Runs on copies of the caller's buffers, which may be overwritten, and keeps the exact result.
Status Communicator::run_raw(const Call& call, std::vector<std::byte>& result) {
  const Regions regions = call.unable ? Regions{} : regions_of(call, rank(), size());
  const std::uint64_t value_bytes = dtype_size(call.dtype);
  std::vector<std::byte> sent(regions.send * value_bytes);
  result.resize(regions.receive * value_bytes);
  Status status = device::copy(sent.data(), call.send, sent.size());
  if (status.ok()) status = device::copy(result.data(), call.receive, result.size());
  Call raw = call;
  raw.spec = {};
  raw.unable = call.unable || !status.ok();
  if (call.send != nullptr) raw.send = sent.data();
  if (call.receive != nullptr) raw.receive = result.data();
  const auto choice = choose(raw);
  if (!choice.ok()) return choice.status();
  Report ignored;
  ignored.choice = *choice;
  const Status ran = run_chosen(raw, ignored);
  return status.ok() ? ran : status;
}

// Block by block of what the last run wrote to the caller's memory.
Result<double> Communicator::largest_error(const Call& call,
                                           const std::vector<std::byte>& exact) const {
  const std::uint64_t value_bytes = dtype_size(call.dtype);
  const auto blocks = binding_.blocks();
  const auto output = binding_.arrays().output;
  double largest = 0;
  std::vector<std::byte> block;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const std::uint64_t bytes = blocks[at].values() * value_bytes;
    if (output[at] == nullptr || bytes == 0) continue;
    // A root's own block of Scatter may have stayed where it was.
    if (output[at] < call.receive || output[at] + bytes > call.receive + exact.size()) continue;
    const auto offset = static_cast<std::uint64_t>(output[at] - call.receive);
    block.resize(bytes);
    if (Status status = device::copy(block.data(), output[at], bytes); !status.ok()) return status;
    largest =
        std::max(largest, collective::largest_difference(call.dtype, blocks[at].values(),
                                                         exact.data() + offset, block.data()));
  }
  return largest;
}

Status Communicator::run_verified(const Call& call, Report& report) {
  std::vector<std::byte> exact;
  const Status first = run_raw(call, exact);
  if (executor_.transport_failed()) return first;
  // Others may have had all that they needed, and wait for the second run.
  Call own = call;
  own.unable = call.unable || !first.ok();
  const Status second = run_chosen(own, report);
  if (!first.ok()) return first;
  if (!second.ok()) return second;
  const auto error = largest_error(call, exact);
  if (error.ok()) report.max_error = *error;
  return error.status();
}

}  // namespace thinwire::comm
