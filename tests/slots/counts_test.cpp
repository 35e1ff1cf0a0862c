// The steps, messages and peers of a call as plans count them, against what its stages do: at the
// sizes of real jobs.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "codec/expack/core.h"
#include "codec/job.h"
#include "codec/registry.h"
#include "collective/slots/groups.h"
#include "collective/slots/host_slots.h"
#include "collective/slots/prepare.h"
#include "collective/slots/run.h"

namespace thinwire::counts {
namespace {

using namespace collective;

// Steps of a run, of which nothing is done.
class Counted : public SlotWork {
 public:
  explicit Counted(bool seals) : seals_(seals) {}
  std::uint64_t steps = 0;

  Status begin(MutableByteView, std::span<device::Outcome>, std::uint64_t) override { return {}; }
  Status tell(const RangeStep&) override { return one(); }
  Status resolve(const std::byte*, int, BoundRecord&) override { return one(); }
  Status differ(const DifferStep&) override { return one(); }
  Status match(const RestoreStep&) override { return one(); }
  Status restore(const RestoreStep&) override { return one(); }
  Status write_factor(std::byte*, const SlotFactor&) override { return one(); }
  bool seals() const override { return seals_; }
  Status encode(const std::byte*, const Shape&, MutableByteView, device::Outcome*,
                const BoundRecord*, const ToSeal*) override {
    return one();
  }
  Status encode_blocks(std::span<const SealStep>, const Shape&,
                       std::span<const device::Outcome>) override {
    return one();
  }
  Status seal(std::span<const SealStep>, std::span<const device::Outcome>) override {
    return one();
  }
  Status open(const SlotPlace&, const Shape&, std::byte*) override { return one(); }
  Status open_blocks(std::span<const FinishStep>) override { return one(); }
  Status finish(std::span<const FinishStep>, const RunEnd*) override { return one(); }
  Status sum(const SumStep&, std::span<const FinishStep>, const RunEnd*) override { return one(); }
  Status clear(std::byte*, std::uint64_t) override { return one(); }
  Status copy(std::byte*, const std::byte*, std::uint64_t) override { return one(); }
  Status copy_rows(const RowsStep&) override { return one(); }
  Status report(const RunEnd&) override { return one(); }

 private:
  Status one() {
    ++steps;
    return {};
  }
  bool seals_;
};

// Messages of its exchanges, of which nothing is sent.
class Posted final : public transport::StreamTransport {
 public:
  Posted(int rank, int size) : rank_(rank), size_(size) {}
  std::uint64_t messages = 0;
  std::set<int> peers;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool on_host() const override { return true; }
  Status begin_group() override { return {}; }
  Status end_group() override { return {}; }
  Status send(int peer, ByteView, device::StreamHandle) override { return one(peer); }
  Status receive(int peer, MutableByteView, device::StreamHandle) override { return one(peer); }
  Status all_gather(MutableByteView, device::StreamHandle) override { return {}; }
  Status broadcast(int, MutableByteView, device::StreamHandle) override { return {}; }
  Status call(void (*)(void*), void*, device::StreamHandle) override { return {}; }
  Status check() override { return {}; }

 private:
  Status one(int peer) {
    ++messages;
    peers.insert(peer);
    return {};
  }
  int rank_, size_;
};

struct Layout {
  std::string name;
  std::vector<std::uint32_t> nodes;
};

Layout even(std::uint32_t nodes, std::uint32_t each) {
  Layout made{std::to_string(nodes) + "x" + std::to_string(each), {}};
  for (std::uint32_t rank = 0; rank < nodes * each; ++rank) made.nodes.push_back(rank / each);
  return made;
}

// As a job has it of which one GPU is lost.
Layout uneven() {
  Layout made = even(128, 8);
  made.nodes.pop_back();
  made.name = "127x8+7";
  return made;
}

constexpr std::uint64_t kCount = 4096;

std::unique_ptr<SlotPlan> plan_of(SlotOperation operation, const Layout& layout, int rank,
                                  const char* spec, std::uint64_t references = 0) {
  SlotCall call;
  call.operation = operation;
  call.dtype = Dtype::kF32;
  const auto ranks = static_cast<std::uint64_t>(layout.nodes.size());
  // As each rank gets a part of it, which is whole chunks of the codec.
  const bool is_shared =
      operation == SlotOperation::kAllreduce || operation == SlotOperation::kReduce;
  call.count = is_shared ? kCount * ranks : kCount;
  call.capacity = {400, 400};
  call.way = operation == SlotOperation::kAllreduce ? SlotWay::kDirect : SlotWay::kPlanned;
  call.spec = *codec::parse_spec(spec);
  call.rank = rank;
  const bool is_message = operation == SlotOperation::kSend || operation == SlotOperation::kReceive;
  call.peer = is_message ? (rank + 1) % static_cast<int>(ranks) : 0;
  call.ranks = static_cast<int>(ranks);
  call.nodes = std::make_shared<const SlotNodes>(layout.nodes);
  call.reference_bytes = references;
  auto made = SlotPlan::make(call, host_needs);
  return made.ok() ? std::move(*made) : nullptr;
}

std::uint64_t memory_of(SlotOperation operation, const Layout& layout, std::uint64_t count) {
  const auto made = plan_of(operation, layout, 0, "mpc");
  SlotCall call = made->call();
  call.count = count;
  const auto plan = SlotPlan::make(call, host_needs);
  return plan.ok() ? (*plan)->device_bytes() : 0;
}

// Memory is lent as the largest call of a kind needs it.
TEST(Counts, NoCallOfAnOctaveNeedsMoreThanItsLargest) {
  for (const Layout& layout : {even(12, 2), even(16, 8), even(64, 8), uneven()}) {
    for (const auto operation : {SlotOperation::kAllgather, SlotOperation::kReduceScatter}) {
      for (std::uint64_t octave = 1 << 12; octave <= 1 << 18; octave *= 2) {
        const std::uint64_t most = memory_of(operation, layout, 2 * octave - 1);
        for (const std::uint64_t count : {octave, octave + octave / 3, octave + octave * 2 / 3}) {
          EXPECT_LE(memory_of(operation, layout, count), most) << layout.name << ", " << count;
        }
      }
    }
  }
}

// On nodes that differ in size a mean of 16-bit numbers would be rounded before it is weighed.
TEST(Counts, MeansOfUnevenNodesAreRoundedOnce) {
  const auto made = plan_of(SlotOperation::kAllreduce, uneven(), 0, "expack");
  SlotCall call = made->call();
  const auto in_levels = [&](Dtype dtype, double scale) {
    call.dtype = dtype;
    call.scale = scale;
    const auto plan = SlotPlan::make(call, host_needs);
    return plan.ok() && (*plan)->in_levels();
  };
  EXPECT_TRUE(in_levels(Dtype::kF32, 1.0 / 1023));
  EXPECT_TRUE(in_levels(Dtype::kBf16, 1));
  EXPECT_FALSE(in_levels(Dtype::kBf16, 1.0 / 1023));
  EXPECT_FALSE(in_levels(Dtype::kF16, 1.0 / 1023));
}

struct Counts {
  std::uint64_t launches = 0, messages = 0, peers = 0;
  bool operator==(const Counts&) const = default;
};

// As the stages and exchanges of a run have it.
Counts done_by(const SlotPlan& plan) {
  const std::uint64_t values = 4 * kCount * static_cast<std::uint64_t>(plan.call().ranks);
  std::vector<std::byte> send(values), receive(values);
  std::vector<std::byte> lent(plan.device_bytes() + 4096), record(record_bytes(plan) + 64);
  std::vector<std::byte> references(plan.call().reference_bytes + 4096);
  SlotRun run;
  run.plan = &plan;
  run.send = send.data();
  run.receive = receive.data();
  run.lent = lent.data();
  run.record = record.data();
  run.references = references.data();
  const auto* const codec = plan.settings().spec.codec;
  Counted work(codec != nullptr && codec->device != nullptr && codec->device->seals);
  Posted posted(plan.call().rank, plan.call().ranks);
  std::uint64_t exchanges = 0;
  for (int stage = 0; stage < plan.stages(); ++stage) {
    EXPECT_TRUE(do_stage(run, stage, work).ok());
    if (stage == plan.stages() - 1) break;
    EXPECT_TRUE(post_exchange(run, stage, posted).ok());
    exchanges += static_cast<std::uint64_t>(plan.rounds(stage));
  }
  return {work.steps + exchanges, posted.messages, posted.peers.size()};
}

Counts counted(const SlotPlan& plan) { return {plan.launches(), plan.messages(), plan.peers()}; }

std::ostream& operator<<(std::ostream& out, const Counts& of) {
  return out << "{" << of.launches << ", " << of.messages << ", " << of.peers << "}";
}

constexpr SlotOperation kOperations[] = {SlotOperation::kAllreduce, SlotOperation::kReduceScatter,
                                         SlotOperation::kAllgather};

TEST(Counts, AreThoseOfTheStages) {
  int plans = 0;
  for (const Layout& layout : {even(2, 2), even(3, 1), even(1, 3), even(5, 4), even(40, 1)}) {
    for (std::uint32_t operation = 0; operation < kSlotOperationCount; ++operation) {
      for (const char* const spec : {"mpc", "lorenzo", "szp:abs=1e-3", "szp:allreduce-abs=1e-3"}) {
        for (const int rank : {0, static_cast<int>(layout.nodes.size()) - 1}) {
          const auto of = static_cast<SlotOperation>(operation);
          const auto plan = plan_of(of, layout, rank, spec);
          if (plan == nullptr) continue;  // bounds of sums are for nothing else
          ++plans;
          EXPECT_EQ(counted(*plan), done_by(*plan))
              << layout.name << ", operation " << operation << ", " << spec << ", rank " << rank;
        }
      }
    }
  }
  EXPECT_GE(plans, 5 * 2 * (3 * 10 + 2));
}

TEST(Counts, OfReferencesToo) {
  for (const Layout& layout : {even(2, 2), even(20, 1), even(20, 2)}) {
    const auto plan = plan_of(SlotOperation::kAllgather, layout, 1, "lorenzo", 1 << 20);
    ASSERT_TRUE(plan->difference().exists);
    EXPECT_EQ(counted(*plan), done_by(*plan)) << layout.name;
  }
}

// Whether a plan codes a block by itself, and several in one step.
struct Steps {
  bool one = false, several = false;
  void note(TaskGroup group) { (group.size() == 1 ? one : several) = true; }
};

void note_groups(const SlotPlan& plan, std::uint64_t bytes, Steps& out, Steps& in) {
  const auto both = [&](const std::vector<SlotTask>& tasks, Steps& steps) {
    (void)for_each_group(tasks, plan.blocks_at_once(), is_encoded, [&](TaskGroup group) {
      if (group.front()->raw_bytes == bytes) steps.note(group);
      return Status();
    });
  };
  for (int number = 0; number < kMostExchanges; ++number) {
    both(plan.exchange(number).out, out);
    both(plan.exchange(number).in, in);
  }
}

// Sums, and what is written or copied besides, by how their kernels differ: with factors or not,
// exact or not, and by how many slots they finish.
class Kernels final : public Counted {
 public:
  Kernels() : Counted(true) {}
  std::set<std::tuple<bool, bool, int>> sums;
  bool factors = false, rows = false;

  Status write_factor(std::byte*, const SlotFactor&) override {
    factors = true;
    return {};
  }
  Status copy_rows(const RowsStep& step) override {
    rows = rows || step.rows > 1;
    return {};
  }
  Status sum(const SumStep& step, std::span<const FinishStep> slots, const RunEnd*) override {
    // As collective/gpu/steps.cuh has it.
    const int size = slots.size() <= 4 ? 4 : static_cast<int>(kMostSteps);
    sums.insert({step.arrays.factors.exist, step.arrays.is_exact, size});
    return {};
  }
};

void do_all(const SlotPlan& plan, SlotWork& work) {
  std::vector<std::byte> lent(plan.device_bytes() + 4096), record(record_bytes(plan) + 64);
  std::vector<std::byte> references(plan.call().reference_bytes + 4096), values(64);
  SlotRun run;
  run.plan = &plan;
  run.send = values.data();
  run.receive = values.data();
  run.lent = lent.data();
  run.record = record.data();
  run.references = references.data();
  for (int stage = 0; stage < plan.stages(); ++stage) EXPECT_TRUE(do_stage(run, stage, work).ok());
}

TEST(Counts, OfWhatIsLoadedHaveEverySum) {
  for (const auto& [text, dtype] : {std::pair{"mpc", Dtype::kF32},
                                    {"lorenzo", Dtype::kBf16},
                                    {"lossless:reductions=ordered", Dtype::kF64},
                                    {"lossless:reductions=exact", Dtype::kF16},
                                    {"expack", Dtype::kE4m3}}) {
    Kernels loaded;
    for (const SlotCall& call : calls_to_load(*codec::parse_spec(text), dtype)) {
      const auto plan = SlotPlan::make(call, host_needs);
      ASSERT_TRUE(plan.ok()) << plan.status().message();
      do_all(**plan, loaded);
    }
    const std::size_t each = is_added(dtype) ? 4 : 0;
    const bool is_exact = codec::parse_spec(text)->adds_exactly();
    EXPECT_EQ(loaded.sums.size(), is_exact ? 2 * each : each) << text;
    EXPECT_EQ(loaded.factors, is_added(dtype)) << text;
    EXPECT_TRUE(loaded.rows) << text;
  }
}

// A kernel that a call would load could make it wait for ever. expack has one for each size.
static_assert(codec::expack::has_small_chunks(16 << 10, 1) &&
              !codec::expack::has_small_chunks(2 << 20, 1));

TEST(Counts, OfWhatIsLoadedHaveEveryKernel) {
  for (const auto& [text, dtype] : {std::pair{"mpc", Dtype::kF32},
                                    {"lorenzo", Dtype::kBf16},
                                    {"szp:abs=1e-3", Dtype::kF64},
                                    {"lossless:reductions=exact", Dtype::kF32},
                                    {"expack", Dtype::kE4m3}}) {
    const codec::Spec spec = *codec::parse_spec(text);
    for (const std::uint64_t bytes : {16 << 10, 2 << 20}) {
      Steps out, in;
      const codec::Codec* codec = spec.codec;
      for (const SlotCall& call : calls_to_load(spec, dtype)) {
        const auto plan = SlotPlan::make(call, host_needs);
        ASSERT_TRUE(plan.ok()) << plan.status().message();
        note_groups(**plan, bytes, out, in);
        codec = (*plan)->settings().spec.codec;
      }
      EXPECT_TRUE(out.one && in.one) << text << ", " << bytes;
      const bool together = codec->device != nullptr && codec->device->takes_blocks;
      EXPECT_EQ(out.several, together) << text << ", " << bytes;
      EXPECT_EQ(in.several, together) << text << ", " << bytes;
    }
  }
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The table of docs/reference/nccl.md, of a rank.
TEST(Counts, OfJobsAreThoseOfThePage) {
  if (codec::find_codec("lorenzo")->device == nullptr) GTEST_SKIP() << "no GPU side in this build";
  const std::string page = read(THINWIRE_SOURCE_DIR "/docs/reference/nccl.md");
  for (const Layout& layout : {even(2, 2), even(8, 8), even(64, 8), uneven()}) {
    std::string row = "| " + layout.name + " |";
    for (const SlotOperation operation : kOperations) {
      const auto plan = plan_of(operation, layout, 1, "lorenzo");
      const Counts of = counted(*plan);
      EXPECT_EQ(of, done_by(*plan)) << layout.name;
      row += " " + std::to_string(of.launches) + ", " + std::to_string(of.messages) + ", " +
             std::to_string(of.peers) + " |";
    }
    EXPECT_NE(page.find(row + "\n"), std::string::npos) << "missing: " << row;
  }
}

}  // namespace
}  // namespace thinwire::counts
