// Collectives in slots on a GPU against the same ones on the host, bit by bit: results, and what
// each rank's record says. All ranks are on one GPU. Exit code 0 where all agree, 1 where one does
// not, 77 where there is no GPU. With the argument "host" both sides are the host; with "small"
// there are few cases, for tools under which kernels run slowly; with a codec's spec it alone is
// run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "codec/reduce.h"
#include "codec/spec.h"
#include "collective/slots/device_slots.h"
#include "collective/slots/host_slots.h"
#include "slots_ranks.h"

namespace thinwire::collective {
namespace {

constexpr std::uint64_t kMailboxBytes = 64 * 1024;
constexpr std::uint64_t kKeptBytes = 1 << 20;

// A rank's workspace for all cases, zeros once: each leaves it to the next one.
std::byte* kept_for(Where where, int rank, std::uint64_t bytes) {
  static std::map<std::pair<Where, int>, Room> rooms;
  if (bytes > kKeptBytes) throw std::runtime_error("a workspace is larger than that");
  const auto [found, is_new] = rooms.try_emplace({where, rank}, where, kKeptBytes);
  std::byte* const at = found->second.get();
  if (is_new && where == Where::kGpu) {
    check(cudaMemset(at, 0, kKeptBytes));
    check(cudaStreamSynchronize(cudaStreamLegacy));
  }
  if (is_new && where == Where::kHost) std::memset(at, 0, kKeptBytes);
  return at;
}

struct Case {
  SlotCall call;
  std::uint64_t offset = 0;  // of the users' buffers
  bool noisy = false;        // the last rank's values do not get smaller
  bool in_place = false;
  int step = 0;  // how often few values have changed by little
  // Of each rank, the host's and those of the other side; none: calls have no references.
  const std::vector<Room>* host_references = nullptr;
  const std::vector<Room>* other_references = nullptr;
};

struct Found {
  std::vector<std::byte> values;
  SlotReport report;
};

std::vector<std::byte> values_of(const Case& given, int rank, std::uint64_t count) {
  const bool noise = given.noisy && rank == given.call.ranks - 1;
  std::mt19937 random(static_cast<unsigned>(rank + 1));
  std::vector<std::byte> values(given.call.bytes_of(count));
  const auto number = [&](std::uint64_t at) {
    const double smooth = 1.5 + std::sin(0.002 * static_cast<double>(at) + rank);
    const double rough = std::ldexp(1 + random() * 0x1p-32, static_cast<int>(random() % 12));
    return noise ? rough : smooth;
  };
  if (!is_added(given.call.dtype)) {  // the upper bytes of fp16
    for (std::byte& value : values) {
      const auto at = static_cast<std::uint64_t>(&value - values.data());
      value = static_cast<std::byte>(f16_of(static_cast<float>(number(at))) >> 8);
    }
    return values;
  }
  with_float_dtype(given.call.dtype, [&](auto kDtype) {
    using Number = codec::NumberOf<kDtype>;
    for (std::uint64_t at = 0; at < count; ++at) {
      const auto word = codec::word_of<kDtype>(static_cast<Number>(number(at)));
      store(values.data() + at * sizeof word, word);
    }
  });
  const std::uint64_t size = dtype_size(given.call.dtype);
  for (std::uint64_t at = 0; given.step > 0 && at < count; at += 37) {
    values[at * size] ^= static_cast<std::byte>(given.step);
  }
  return values;
}

// The buffers of one rank. Reduce-scatter reads a block for each rank, Allgather writes one.
struct Buffers {
  Buffers(Where where, const Case& given, int rank)
      : sent(given.call.count * blocks(given, {SlotOperation::kReduceScatter,
                                               SlotOperation::kAlltoall, SlotOperation::kScatter})),
        received(given.call.count *
                 blocks(given, {SlotOperation::kAllgather, SlotOperation::kAlltoall,
                                SlotOperation::kGather})),
        room(where, given.call.bytes_of(sent + received) + 1024) {
    send = room.get() + given.offset;
    receive = send + (given.call.bytes_of(sent) + 511) / 256 * 256;
    const std::uint64_t block = given.call.bytes_of(given.call.count) * static_cast<unsigned>(rank);
    if (given.in_place) {
      const bool together = sent == received;
      if (sent > received) receive = send + block;
      if (sent <= received) send = receive + (together ? 0 : block);
    }
    const auto values = values_of(given, rank, sent);
    move(where, send, values.data(), values.size());
  }
  static std::uint64_t blocks(const Case& given, std::initializer_list<SlotOperation> of) {
    const bool many = std::find(of.begin(), of.end(), given.call.operation) != of.end();
    return many ? static_cast<std::uint64_t>(given.call.ranks) : 1;
  }
  static void move(Where where, std::byte* to, const std::byte* from, std::uint64_t bytes) {
    if (where == Where::kGpu) {
      check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
      // It may return while a short array is still on its way, which the runs' streams do not wait
      // for.
      check(cudaStreamSynchronize(cudaStreamLegacy));
    } else {
      std::memcpy(to, from, bytes);
    }
  }

  std::uint64_t sent, received;
  Room room;
  std::byte *send = nullptr, *receive = nullptr;
};

class Runs : public SlotRuns {
 public:
  Runs(Where where, const Case& given, const std::vector<Room>* references, cudaStream_t stream)
      : where_(where), board_{where, {}, {}} {
    std::vector<Mailbox*> mailboxes;
    links_.resize(static_cast<std::size_t>(given.call.ranks));
    for (int rank = 0; rank < given.call.ranks; ++rank) {
      SlotCall call = given.call;
      call.rank = rank;
      const bool pair = call.operation == SlotOperation::kSend;
      if (pair && rank == 1) call.operation = SlotOperation::kReceive;
      if (pair) call.peer = 1 - rank;
      auto plan = SlotPlan::make(call, where == Where::kGpu ? device_needs : host_needs);
      check(plan.status());
      plans_.push_back(std::move(*plan));
      buffers_.emplace_back(where, given, rank);
      lent_.emplace_back(where, plans_.back()->device_bytes());
      pinned_.emplace_back(where, record_bytes(*plans_.back()), true);
      mailboxes_.emplace_back(where, kMailboxBytes, true);
      check(open_mailbox(mailboxes_.back().get(), kMailboxBytes));
      mailboxes.push_back(&mailbox_at(mailboxes_.back().get()));
      factors_.emplace_back(where, 8);
      std::byte* const kept = kept_for(where, rank, plans_.back()->kept_bytes());
      auto& link = links_[static_cast<std::size_t>(rank)];
      link.transport = std::make_unique<BoardEnd>(board_, rank, call.ranks);
      runs_.push_back(
          {.plan = plans_.back().get(),
           .number = 9,
           .send = buffers_.back().send,
           .receive = buffers_.back().receive,
           .lent = lent_.back().get(),
           .kept = kept,
           .clears = false,
           .mailbox = mailboxes.back(),
           .record = pinned_.back().get(),
           .references = references == nullptr ? nullptr : (*references)[index_of(rank)].get(),
           .forgets = given.step == 0,
           .stream = stream,
           .factor = factor_of(given, rank)});
    }
    server_ = std::make_unique<Server>(std::move(mailboxes));
  }

  std::uint32_t count() const override { return static_cast<std::uint32_t>(runs_.size()); }
  SlotRun run(std::uint32_t at) const override { return runs_[at]; }
  SlotLink& link(std::uint32_t at) const override { return links_[at]; }

  std::vector<Found> found() const {
    std::vector<Found> all;
    for (std::size_t rank = 0; rank < runs_.size(); ++rank) {
      Found one{{}, check_record(*plans_[rank], runs_[rank].record)};
      one.values.resize(plans_[rank]->call().bytes_of(buffers_[rank].received));
      Buffers::move(where_, one.values.data(), buffers_[rank].receive, one.values.size());
      all.push_back(std::move(one));
    }
    return all;
  }

 private:
  static std::size_t index_of(int rank) { return static_cast<std::size_t>(rank); }

  // A number on rank 0, on the others a value that the stream reads.
  SlotFactor factor_of(const Case& given, int rank) const {
    SlotFactor factor{given.call.premultiplied, given.call.dtype, 0.75, nullptr};
    if (!factor.exists || rank == 0) return factor;
    factor.at = factors_.back().get();
    with_float_dtype(given.call.dtype, [&](auto kDtype) {
      using Number = codec::NumberOf<kDtype>;
      const auto word = codec::word_of<kDtype>(static_cast<Number>(0.5 / rank));
      Buffers::move(where_, factors_.back().get(), reinterpret_cast<const std::byte*>(&word),
                    sizeof word);
    });
    return factor;
  }

  Where where_;
  Board board_;
  mutable std::vector<SlotLink> links_;
  std::vector<std::unique_ptr<SlotPlan>> plans_;
  std::vector<Buffers> buffers_;
  std::vector<Room> lent_, pinned_, mailboxes_, factors_;
  std::vector<SlotRun> runs_;
  std::unique_ptr<Server> server_;
};

std::vector<Found> run_on(Where where, const Case& given, const std::vector<Room>* references) {
  cudaStream_t stream = nullptr;
  if (where == Where::kGpu) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Runs runs(where, given, references, stream);
  check(enqueue_slots(runs));
  if (where == Where::kGpu) check(cudaStreamSynchronize(stream));
  auto found = runs.found();
  if (where == Where::kGpu) check(cudaStreamDestroy(stream));
  return found;
}

bool agree(const Found& one, const Found& other, bool receives) {
  const SlotReport &a = one.report, &b = other.report;
  return a.complete && b.complete && a.status.code() == b.status.code() &&
         a.spilled_in == b.spilled_in && a.spilled_out == b.spilled_out &&
         a.frame_bytes == b.frame_bytes && a.needed == b.needed &&
         a.difference_bytes == b.difference_bytes && (!receives || one.values == other.values);
}

// What of a rank does not agree.
void tell(int rank, const Found& one, const Found& other) {
  const SlotReport &a = one.report, &b = other.report;
  const auto print = [](const char* what, auto host, auto gpu) {
    if (host == gpu) return;
    std::printf("    %s: %lld, %lld\n", what, static_cast<long long>(host),
                static_cast<long long>(gpu));
  };
  std::printf("  rank %d, host and GPU:\n", rank);
  print("complete", a.complete, b.complete);
  print("status", a.status.code(), b.status.code());
  print("blocks that came spilled", a.spilled_in, b.spilled_in);
  print("blocks that went spilled", a.spilled_out, b.spilled_out);
  print("bytes of frames", a.frame_bytes, b.frame_bytes);
  print("bytes as differences", a.difference_bytes, b.difference_bytes);
  print("capacity needed, of the first exchange", a.needed[0], b.needed[0]);
  print("capacity needed, of the second exchange", a.needed[1], b.needed[1]);
  const auto [at, found] = std::ranges::mismatch(one.values, other.values);
  print("first byte that differs, of as many", at - one.values.begin(),
        static_cast<std::ptrdiff_t>(one.values.size()));
}

struct Tally {
  int same = 0, different = 0;
  std::uint64_t spilled = 0, difference_bytes = 0;

  void compare(Where where, const Case& given, std::string_view spec) {
    const auto expected = run_on(Where::kHost, given, given.host_references);
    const auto found = run_on(where, given, given.other_references);
    bool all = true;
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
      const bool at_root = given.call.operation == SlotOperation::kGather ||
                           given.call.operation == SlotOperation::kReduce;
      const bool receives = given.call.operation == SlotOperation::kSend ? rank == 1
                            : at_root                                    ? rank == 0
                                                                         : true;
      all = all && agree(expected[rank], found[rank], receives);
      spilled += found[rank].report.spilled_out;
      difference_bytes += found[rank].report.difference_bytes;
    }
    (all ? same : different) += 1;
    if (all || different > 20) return;
    std::printf(
        "FAILED operation %u of %s, %.*s, %d ranks, %llu values, capacity %u, offset %llu\n",
        static_cast<unsigned>(given.call.operation), dtype_name(given.call.dtype),
        static_cast<int>(spec.size()), spec.data(), given.call.ranks,
        static_cast<unsigned long long>(given.call.count), given.call.capacity[0],
        static_cast<unsigned long long>(given.offset));
    for (std::size_t rank = 0; rank < expected.size(); ++rank) {
      tell(static_cast<int>(rank), expected[rank], found[rank]);
    }
  }
};

struct Extent {
  std::vector<const char*> specs{"mpc",
                                 "expack",
                                 "lorenzo",
                                 "szp:abs=1e-3",
                                 "zfp:rate=12",
                                 "szp:allreduce-abs=1e-2",
                                 "szp:allreduce-rel=1e-3"};
  std::vector<int> ranks{2, 3};
  std::vector<std::uint64_t> counts{1, 999, 40'003};
};

void compare_all(Where where, std::string_view spec, const Extent& extent, Tally& tally) {
  Case given;
  given.call.spec = *codec::parse_spec(spec);
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16, Dtype::kE4m3, Dtype::kE5m2}) {
    if (!given.call.spec.codec->takes(dtype)) continue;
    given.call.dtype = dtype;
    for (std::uint32_t operation = 0; operation < kSlotOperationCount; ++operation) {
      given.call.operation = static_cast<SlotOperation>(operation);
      if (given.call.operation == SlotOperation::kReceive) continue;  // with Send
      if (given.call.spec.reductions_alone && !given.call.reduces()) continue;
      if (given.call.reduces() && !is_added(dtype)) continue;
      const bool pair = given.call.operation == SlotOperation::kSend;
      for (const int ranks : extent.ranks) {
        if (pair && ranks != extent.ranks.front()) continue;
        given.call.ranks = pair ? 2 : ranks;
        given.call.scale = 1.0 / given.call.ranks;
        for (const std::uint64_t count : extent.counts) {
          given.call.count = count;
          const bool bounded = given.call.spec.result_bound.exists();
          given.call.premultiplied = given.call.reduces() && count != 1 && !bounded;
          for (const std::uint32_t capacity : {512, 400, 1}) {
            given.call.capacity = {capacity, 0};
            given.noisy = capacity == 400;
            given.offset = count % 5;
            given.in_place = !pair && capacity == 400;
            tally.compare(where, given, spec);
          }
        }
      }
    }
  }
}

// Ranks that share nodes: in two levels, and where nodes are uneven in one.
void compare_nodes(Where where, std::string_view spec, const Extent& extent, Tally& tally) {
  using Layout = std::vector<std::uint32_t>;
  Case given;
  given.call.spec = *codec::parse_spec(spec);
  for (const Layout& layout : {Layout{0, 0, 1, 1}, {0, 1, 2, 0, 1, 2}, {0, 0, 1}}) {
    given.call.nodes = std::make_shared<const Nodes>(layout);
    given.call.ranks = given.call.nodes->ranks();
    given.call.scale = 1.0 / given.call.ranks;
    for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16, Dtype::kE4m3}) {
      if (!given.call.spec.codec->takes(dtype)) continue;
      given.call.dtype = dtype;
      for (std::uint32_t operation = 0; operation < kSlotOperationCount; ++operation) {
        given.call.operation = static_cast<SlotOperation>(operation);
        const bool pair = given.call.operation == SlotOperation::kSend;
        if (pair || given.call.operation == SlotOperation::kReceive) continue;
        if (given.call.spec.reductions_alone && !given.call.reduces()) continue;
        if (given.call.reduces() && !is_added(dtype)) continue;
        for (const std::uint64_t count : extent.counts) {
          given.call.count = count;
          given.call.way = given.call.sums_whole_arrays() ? SlotWay::kDirect : SlotWay::kPlanned;
          for (const std::uint32_t capacity : {512, 400, 1}) {
            given.call.capacity = {capacity, 0};
            given.noisy = capacity == 400;
            given.offset = count % 5;
            given.in_place = capacity == 400;
            tally.compare(where, given, spec);
          }
        }
      }
    }
  }
}

// Three calls of each kind whose values hardly change from one to the next.
void compare_steps(Where where, Case given, std::string_view spec, Tally& tally) {
  given.call.reference_bytes = 4 << 20;
  std::vector<Room> host, other;
  for (int rank = 0; rank < given.call.ranks; ++rank) {
    host.emplace_back(Where::kHost, given.call.reference_bytes);
    other.emplace_back(where, given.call.reference_bytes);
  }
  given.host_references = &host;
  given.other_references = &other;
  for (given.step = 0; given.step < 3; ++given.step) tally.compare(where, given, spec);
}

void compare_references(Where where, std::string_view spec, const Extent& extent, Tally& tally) {
  Case given;
  given.call.spec = *codec::parse_spec(spec);
  if (!given.call.spec.codec->lossless) return;
  for (const Dtype dtype :
       {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBf16, Dtype::kE4m3, Dtype::kE5m2}) {
    if (!given.call.spec.codec->takes(dtype)) continue;
    given.call.dtype = dtype;
    for (const auto operation : {SlotOperation::kAllgather, SlotOperation::kBcast}) {
      given.call.operation = operation;
      for (const std::uint64_t count : extent.counts) {
        given.call.count = count;
        given.offset = count % 5;
        for (const std::uint32_t capacity : {512, 400, 1}) {
          given.call.capacity = {capacity, 0};
          given.noisy = capacity == 400;
          given.in_place = capacity == 400;
          given.call.ranks = extent.ranks.back();
          given.call.nodes = nullptr;
          compare_steps(where, given, spec, tally);
          given.call.nodes = std::make_shared<const Nodes>(std::vector<std::uint32_t>{0, 0, 1, 1});
          given.call.ranks = given.call.nodes->ranks();
          compare_steps(where, given, spec, tally);
        }
      }
    }
  }
}

int run(Where where, const Extent& extent) {
  Tally tally;
  for (const char* const spec : extent.specs) {
    compare_all(where, spec, extent, tally);
    compare_nodes(where, spec, extent, tally);
    compare_references(where, spec, extent, tally);
  }
  std::printf(
      "%d collectives in slots agree, %d do not; %llu blocks were spilled, %llu bytes were "
      "differences\n",
      tally.same, tally.different, static_cast<unsigned long long>(tally.spilled),
      static_cast<unsigned long long>(tally.difference_bytes));
  const bool differs = extent.specs.size() == 1 || tally.difference_bytes > 0;
  const bool has_all = tally.same > 0 && tally.spilled > 0 && differs;
  return tally.different == 0 && has_all ? 0 : 1;
}

}  // namespace
}  // namespace thinwire::collective

int main(int count, char** arguments) {
  using thinwire::collective::Where;
  const std::string_view word = count > 1 ? arguments[1] : "";
  const bool on_host = word == "host";
  thinwire::collective::Extent extent;
  if (word == "small") extent = {{"mpc", "expack"}, {3}, {999, 5003}};
  if (std::ranges::count(extent.specs, word) > 0) extent.specs = {arguments[1]};
  int devices = 0;
  if (!on_host && (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)) {
    std::printf("no GPU\n");
    return 77;
  }
  try {
    return thinwire::collective::run(on_host ? Where::kHost : Where::kGpu, extent);
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
}
