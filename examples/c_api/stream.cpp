// A compressed Allgather in stream order: calls that only enqueue, over a transport that the
// program brings (stream_transport.h). Here ranks are threads and a stream is a queue of host
// functions.
//
// Blocks travel in slots of a size that all ranks know beforehand. The last rank's values do not
// get smaller, so its blocks fit no slot: they are spilled, and come by way of mailboxes, which a
// thread of the program serves (Carrier).
#include <thinwire/thinwire.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <vector>

#include "stream_transport.h"

namespace {

constexpr int kNoisy = kRanks - 1;
constexpr std::uint64_t kCount = 1 << 16;  // of each rank
constexpr std::uint64_t kCalls = 4;
constexpr std::uint32_t kCapacity = 256;  // slots have 256/512 of the values' bytes
constexpr std::uint64_t kMailboxBytes = 513 << 10;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

// Aligned as all that is lent has to be. For a CUDA stream: of the GPU, or pinned.
Memory zeros(std::uint64_t bytes) {
  const std::uint64_t whole = (bytes / 256 + 1) * 256;
  Memory memory(std::aligned_alloc(256, whole));
  if (memory == nullptr) std::abort();
  std::memset(memory.get(), 0, whole);
  return memory;
}

std::vector<float> values_of(int rank) {
  std::vector<float> values(kCount);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i) / 500) + static_cast<float>(rank + 2);
    if (rank == kNoisy) values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  }
  return values;
}

bool holds_all(const std::vector<float>& received) {
  std::vector<float> expected;
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<float> sent = values_of(rank);
    expected.insert(expected.end(), sent.begin(), sent.end());
  }
  return std::memcmp(received.data(), expected.data(), expected.size() * sizeof(float)) == 0;
}

// Plans one call; all ranks say the same.
tw_stream_plan* planned(tw_stream_comm* comm) {
  tw_stream_plan_options options{};
  options.size = sizeof options;
  options.operation = TW_STREAM_ALLGATHER;
  options.dtype = TW_F32;
  options.count = kCount;
  options.capacity[0] = kCapacity;
  tw_stream_plan* plan = nullptr;
  good(tw_stream_plan_create(comm, &options, &plan));
  return plan;
}

// Checks calls that the stream has come past.
bool checked(int rank, const tw_stream_plan* plan, const tw_stream_plan_info& info,
             const std::vector<Memory>& records) {
  std::uint32_t out = 0, in = 0, needed = 0;
  for (const Memory& record : records) {
    tw_stream_report report{};
    report.size = sizeof report;
    good(tw_stream_check(plan, record.get(), &report));
    if (report.complete == 0) return false;
    out += report.spilled_out;
    in += report.spilled_in;
    needed = report.needed[0];
  }
  char enough[40] = "no capacity is enough";
  if (needed <= 512) std::snprintf(enough, sizeof enough, "a capacity of %u is enough", needed);
  std::printf("rank %d: %llu bytes in slots of %llu a call; %s; spilled %u blocks, got %u\n", rank,
              static_cast<unsigned long long>(info.raw_bytes),
              static_cast<unsigned long long>(info.wire_bytes), enough, out, in);
  return out == (rank == kNoisy ? kCalls : 0) && in == (rank == kNoisy ? 0 : kCalls);
}

// One rank: enqueues all its calls before it looks at any result.
bool work(int rank, Ways& ways, void* mailbox) {
  Stream stream;
  End end{rank, &ways, &stream};
  tw_stream_comm_options options{};
  options.size = sizeof options;
  tw_codec* codec = nullptr;
  good(tw_codec_create("mpc", &codec));
  options.codec = codec;
  const tw_stream_transport transport = end.table();
  tw_stream_comm* comm = nullptr;
  good(tw_stream_comm_create(&transport, &options, &comm));  // then, on a GPU, _prepare()
  tw_stream_plan* const plan = planned(comm);
  tw_stream_plan_info needs{};
  needs.size = sizeof needs;
  good(tw_stream_plan_describe(plan, &needs));

  // Calls on one stream share what they are lent but the record, which the host reads later.
  const Memory device = zeros(needs.device_bytes), workspace = zeros(needs.workspace_bytes);
  std::vector<Memory> records;
  const std::vector<float> mine = values_of(rank);
  std::vector<std::vector<float>> received(kCalls, std::vector<float>(kRanks * kCount));
  for (std::uint64_t number = 0; number < kCalls; ++number) {
    records.push_back(zeros(needs.record_bytes));
    tw_stream_call call{};
    call.size = sizeof call;
    call.plan = plan;
    call.number = number;
    call.send = mine.data();
    call.receive = received[number].data();
    call.device = device.get();
    call.workspace = workspace.get();
    call.mailbox = mailbox;
    call.record = records.back().get();
    call.stream = &stream;
    good(tw_stream_enqueue(&call, 1));
  }
  stream.finish();
  bool is_good = checked(rank, plan, needs, records);
  for (const auto& each : received) is_good = holds_all(each) && is_good;
  tw_stream_plan_destroy(plan);
  tw_stream_comm_destroy(comm);
  tw_codec_destroy(codec);
  return is_good;
}

}  // namespace

int main() {
  std::array<Memory, kRanks> memory;
  Mailboxes mailboxes;
  for (int rank = 0; rank < kRanks; ++rank) {
    memory[rank] = zeros(kMailboxBytes);
    mailboxes[rank] = memory[rank].get();
    good(tw_mailbox_open(mailboxes[rank], kMailboxBytes));
  }
  Ways ways;
  const Carrier carrier(mailboxes);
  std::array<std::future<bool>, kRanks> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks[rank] = std::async(std::launch::async, work, rank, std::ref(ways), mailboxes[rank]);
  }
  bool is_good = true;
  for (std::future<bool>& rank : ranks) is_good = rank.get() && is_good;
  return is_good ? 0 : 1;
}
