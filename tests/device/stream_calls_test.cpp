// The calls of CUDA and of the transport that one compressed call in stream order makes on a GPU,
// by name: what the host's time of such a call goes into.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collective/slots/device_slots.h"
#include "collective/slots/enqueue.h"
#include "fake_cuda/fake_cuda.h"

namespace thinwire {
namespace {

using namespace collective;
using Calls = std::map<std::string, int>;

// Counts as NCCL's functions what the preload library makes them of.
class Counting final : public transport::StreamTransport {
 public:
  Counting(Calls& calls, int rank, int size) : calls_(calls), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Status begin_group() override { return one("ncclGroupStart"); }
  Status end_group() override { return one("ncclGroupEnd"); }
  Status send(int, ByteView, device::StreamHandle) override { return one("ncclSend"); }
  Status receive(int, MutableByteView, device::StreamHandle) override { return one("ncclRecv"); }
  Status all_gather(MutableByteView, device::StreamHandle) override { return one("ncclAllGather"); }
  Status broadcast(int, MutableByteView, device::StreamHandle) override {
    return one("ncclBroadcast");
  }
  Status check() override { return {}; }

 private:
  Status one(const char* name) {
    ++calls_[name];
    return {};
  }
  Calls& calls_;
  int rank_, size_;
};

class One final : public SlotRuns {
 public:
  One(const SlotRun& run, std::unique_ptr<transport::StreamTransport> transport) : run_(run) {
    link_.transport = std::move(transport);
  }
  std::uint32_t count() const override { return 1; }
  SlotRun run(std::uint32_t) const override { return run_; }
  SlotLink& link(std::uint32_t) const override { return link_; }

 private:
  SlotRun run_;
  mutable SlotLink link_;
};

const std::vector<std::uint32_t> kFourHosts{0, 1, 2, 3}, kTwoByTwo{0, 0, 1, 1};
constexpr std::uint64_t kBlock = 1 << 16;  // values

SlotCall call_of(SlotOperation operation, const std::vector<std::uint32_t>& nodes) {
  SlotCall call;
  call.operation = operation;
  call.dtype = Dtype::kF32;
  call.count = operation == SlotOperation::kAllreduce ? 4 * kBlock : kBlock;
  call.capacity = {400, 400};
  call.spec = *codec::parse_spec("lorenzo");
  call.rank = 1;
  call.ranks = 4;
  call.nodes = std::make_shared<const SlotNodes>(nodes);
  return call;
}

// Those of the second of two equal calls: the first may ask for what stays.
Calls made_by(const SlotCall& call) {
  fake_cuda::make_alike();
  fake_cuda::use(0);
  const auto plan = SlotPlan::make(call, device_needs);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  const std::uint64_t bytes = call.bytes_of(4 * kBlock);
  void *pinned = nullptr, *record = nullptr;
  cudaHostAlloc(&pinned, Mailbox::kLeastBytes, 0);
  cudaHostAlloc(&record, record_bytes(**plan), 0);
  EXPECT_TRUE(open_mailbox(pinned, Mailbox::kLeastBytes).ok());
  Calls calls;
  const One runs({.plan = plan->get(),
                  .number = 7,
                  .send = fake_cuda::allocate(0, bytes),
                  .receive = fake_cuda::allocate(0, bytes),
                  .lent = fake_cuda::allocate(0, (*plan)->device_bytes()),
                  .kept = fake_cuda::allocate(0, (*plan)->kept_bytes()),
                  .mailbox = &mailbox_at(pinned),
                  .record = static_cast<std::byte*>(record),
                  .stream = fake_cuda::make_stream(0)},
                 std::make_unique<Counting>(calls, call.rank, call.ranks));
  for (int time = 0; time < 2; ++time) {
    calls.clear();
    fake_cuda::take_calls();
    const Status status = enqueue_slots(runs);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  calls.merge(fake_cuda::take_calls());
  return calls;
}

// Every stage makes its device current, and allows what another's capture forbids; between two of
// them is a group of NCCL's.
Calls in_stages(int stages, Calls rest) {
  rest["cuCtxGetCurrent"] = stages;
  rest["cudaThreadExchangeStreamCaptureMode"] = 2 * stages;
  rest["ncclGroupStart"] = rest["ncclGroupEnd"] = stages - 1;
  return rest;
}

// So many messages each way.
Calls with_messages(int messages, Calls rest) {
  rest["ncclSend"] = rest["ncclRecv"] = messages;
  return rest;
}

TEST(StreamCalls, OfAnAllgather) {
  EXPECT_EQ(made_by(call_of(SlotOperation::kAllgather, kFourHosts)),
            in_stages(2, {{"encode_variable", 1},
                          {"ncclAllGather", 1},
                          {"decode_variable_blocks", 1},
                          {"finish_kernel", 1}}));
  EXPECT_EQ(made_by(call_of(SlotOperation::kAllgather, kTwoByTwo)),
            in_stages(3, with_messages(3, {{"encode_variable", 1},
                                           {"decode_variable", 1},
                                           {"finish_kernel", 1},
                                           {"report_kernel", 1}})));
}

TEST(StreamCalls, OfAReduceScatter) {
  EXPECT_EQ(made_by(call_of(SlotOperation::kReduceScatter, kFourHosts)),
            in_stages(2, with_messages(3, {{"encode_variable_blocks", 1},
                                           {"decode_variable_blocks", 1},
                                           {"sum_kernel", 1}})));
  EXPECT_EQ(
      made_by(call_of(SlotOperation::kReduceScatter, kTwoByTwo)),
      in_stages(3, with_messages(
                       3, {{"encode_variable", 1}, {"decode_variable", 1}, {"sum_kernel", 3}})));
}

TEST(StreamCalls, OfAnAllreduce) {
  EXPECT_EQ(made_by(call_of(SlotOperation::kAllreduce, kFourHosts)),
            in_stages(3, with_messages(3, {{"encode_variable_blocks", 1},
                                           {"decode_variable_blocks", 2},
                                           {"sum_kernel", 1},
                                           {"encode_variable", 1},
                                           {"ncclAllGather", 1},
                                           {"finish_kernel", 1}})));
  EXPECT_EQ(made_by(call_of(SlotOperation::kAllreduce, kTwoByTwo)),
            in_stages(5, with_messages(4, {{"encode_variable", 2},
                                           {"decode_variable", 2},
                                           {"sum_kernel", 2},
                                           {"finish_kernel", 1},
                                           {"report_kernel", 1}})));
}

}  // namespace
}  // namespace thinwire
