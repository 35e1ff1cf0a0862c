#include "collective/slots/prepare.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "collective/slots/device_slots.h"
#include "collective/slots/enqueue.h"
#include "device/enqueue.h"
#include "device/pool.h"
#include "device/work_stream.h"

namespace thinwire::collective {
namespace {

// The transport of one of two ranks, whose other one has nothing to say.
class Silent : public transport::StreamTransport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  Status begin_group() override { return {}; }
  Status end_group() override { return {}; }
  Status send(int, ByteView, device::StreamHandle) override { return {}; }
  Status receive(int, MutableByteView, device::StreamHandle) override { return {}; }
  Status all_gather(MutableByteView, device::StreamHandle) override { return {}; }
  Status broadcast(int, MutableByteView, device::StreamHandle) override { return {}; }
  Status check() override { return {}; }
};

class One : public SlotRuns {
 public:
  explicit One(const SlotRun& run) : run_(run) { link_.transport = std::make_unique<Silent>(); }
  std::uint32_t count() const override { return 1; }
  SlotRun run(std::uint32_t) const override { return run_; }
  SlotLink& link(std::uint32_t) const override { return link_; }

 private:
  SlotRun run_;
  mutable SlotLink link_;
};

// All exchanges, a sum if there is one, an encode and a decode of each; what it has "received"
// is no slot, so that nothing is decoded and nothing taken from the mailbox, which is aborted to be
// sure.
Status launch_all(const SlotCall& call, device::WorkStream& stream, int device) {
  const auto plan = SlotPlan::make(call, device_needs);
  if (!plan.ok()) return plan.status();
  const bool for_each = call.operation == SlotOperation::kAlltoall;
  const std::uint64_t blocks = for_each ? static_cast<std::uint64_t>(call.ranks) : 1;
  const std::uint64_t values = aligned(call.bytes_of(partition_of(call).total * blocks));
  const std::uint64_t lent = aligned((*plan)->device_bytes());
  const std::uint64_t room = 2 * values + lent + call.reference_bytes;
  const auto memory = device::acquire_device(device, room, false);
  if (!memory.ok()) return memory.status();
  const std::uint64_t record = aligned(record_bytes(**plan));
  const auto pinned = device::acquire_pinned(record + Mailbox::kLeastBytes);
  if (!pinned.ok()) return pinned.status();
  std::byte* const mailbox = pinned->data() + record;
  if (Status status = open_mailbox(mailbox, Mailbox::kLeastBytes); !status.ok()) return status;
  abort_mailbox(mailbox_at(mailbox));
  const One runs({.plan = plan->get(),
                  .number = 0,
                  .send = memory->data(),
                  .receive = memory->data() + values,
                  .lent = memory->data() + 2 * values,
                  .mailbox = &mailbox_at(mailbox),
                  .record = pinned->data(),
                  .references = memory->data() + 2 * values + lent,
                  .forgets = true,
                  .stream = stream.stream()});
  const Status enqueued = enqueue_slots(runs);
  const Status ended = stream.finish();
  return enqueued.ok() ? ended : enqueued;
}

Status launch_time(device::WorkStream& stream) {
  const auto pinned = device::acquire_pinned(sizeof(std::uint64_t));
  if (!pinned.ok()) return pinned.status();
  auto* const at = reinterpret_cast<std::uint64_t*>(pinned->data());
  const Status enqueued = device::enqueue_time(at, stream.stream());
  const Status ended = stream.finish();
  return enqueued.ok() ? ended : enqueued;
}

// The same call of two ranks, with memory for one result.
SlotCall call_with_references(SlotCall call) {
  call.operation = SlotOperation::kAllgather;
  call.premultiplied = false;
  call.count = 5000;
  call.reference_bytes =
      kReferenceTableBytes +
      ReferenceKey{.block_bytes = call.bytes_of(call.count), .blocks = 2}.bytes();
  return call;
}

// Rank 0 of as many nodes as make slots go to more ranks than are sealed at once, and to some more:
// encodes that seal their slots do that for the first rank alone.
SlotCall call_in_levels(SlotCall call) {
  constexpr std::uint32_t kNodes = kMostSteps + 4;
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < 2 * kNodes; ++rank) nodes.push_back(rank / 2);
  call.ranks = static_cast<int>(nodes.size());
  call.nodes = std::make_shared<const SlotNodes>(nodes);
  call.premultiplied = call.reduces();
  call.count = 5000;
  if (!call.reduces()) call.operation = SlotOperation::kAllgather;
  return call;
}

// A sum of more arrays than come from few slots.
SlotCall call_of_many(SlotCall call, bool premultiplied) {
  call.ranks = static_cast<int>(kMostSteps);
  call.premultiplied = premultiplied;
  call.count = 5000;
  return call;
}

// Blocks that are packed for the ranks of a node. CUDA's copies of rows may be kernels, too.
SlotCall call_that_packs(SlotCall call) {
  call.operation = SlotOperation::kReduceScatter;
  call.way = SlotWay::kPlanned;
  call.nodes = std::make_shared<const SlotNodes>(std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2});
  call.ranks = call.nodes->ranks();
  call.premultiplied = false;
  call.count = 5000;
  return call;
}

// Bytes of each rank's block: some kernels are of small arrays, some of large ones.
constexpr std::uint64_t kSmallBlock = 16 * 1024, kLargeBlock = 2 * 1024 * 1024;

bool is_named(const codec::Spec& spec) { return spec.kind == codec::Spec::Kind::kCodec; }

// Calls in slots of that capacity.
std::vector<SlotCall> calls_of(const codec::Spec& spec, Dtype dtype, std::uint32_t capacity) {
  SlotCall call;
  call.operation = is_added(dtype) ? SlotOperation::kAllreduce : SlotOperation::kAlltoall;
  call.way = is_added(dtype) ? SlotWay::kDirect : SlotWay::kPlanned;
  call.dtype = dtype;
  call.capacity = {capacity, capacity};
  call.spec = spec;
  std::vector<SlotCall> calls;
  // One block each way is coded by itself, several are coded together.
  for (const int ranks : {2, 3}) {
    for (const std::uint64_t bytes : {kSmallBlock, kLargeBlock}) {
      const std::uint64_t block = bytes / dtype_size(dtype);
      call.ranks = ranks;
      call.count = call.reduces() ? block * static_cast<std::uint64_t>(ranks) : block;
      call.premultiplied = call.reduces() && bytes == kLargeBlock;
      calls.push_back(call);
    }
  }
  calls.push_back(call_in_levels(call));
  if (call.reduces()) {
    calls.push_back(call_of_many(call, false));
    calls.push_back(call_of_many(call, true));
    calls.push_back(call_that_packs(call));
  }
  call.ranks = 2;
  if (!is_named(spec) || spec.codec->lossless) calls.push_back(call_with_references(call));
  return calls;
}

}  // namespace

// Sums that keep an order go without slots if those would be whole, and never in levels, as other
// calls do.
std::vector<SlotCall> calls_to_load(const codec::Spec& spec, Dtype dtype) {
  if (is_named(spec) && !spec.codec->takes(dtype, spec.parameter)) return {};
  std::vector<SlotCall> calls = calls_of(spec, dtype, kWholeCapacity);
  if (!spec.orders_reductions()) return calls;
  codec::Spec other = spec;
  other.reductions = codec::Spec::Reductions::kCoded;
  for (const auto& more :
       {calls_of(spec, dtype, kWholeCapacity - 1), calls_of(other, dtype, kWholeCapacity)}) {
    calls.insert(calls.end(), more.begin(), more.end());
  }
  return calls;
}

Status load_kernels(const codec::Spec& spec, int device) {
  auto stream = device::acquire_work_stream(device, 0);
  if (!stream.ok()) return stream.status();
  if (Status status = launch_time(*stream); !status.ok()) return status;
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16, Dtype::kE4m3, Dtype::kE5m2}) {
    for (const SlotCall& call : calls_to_load(spec, dtype)) {
      const Status status = launch_all(call, *stream, device);
      // A shape that the spec names may not fit these.
      if (!status.ok() && status.code() == StatusCode::kDevice) return status;
    }
  }
  return {};
}

}  // namespace thinwire::collective
