// A ring Allreduce: what codecs add as they decode, what a kernel adds, and what stays raw.
#include <algorithm>

#include "collective/reduce.h"
#include "nccl_collective.h"

namespace thinwire::nccl_test {
namespace {

std::vector<float> exact(plan::Reduction reduction, std::size_t count) {
  auto result = smooth(0, 0, count);
  const auto second = smooth(1, 0, count);
  collective::combine(reduction, Dtype::kF32, count, reinterpret_cast<std::byte*>(result.data()),
                      reinterpret_cast<const std::byte*>(second.data()));
  return result;
}

// The result of the other rank, over NCCL itself.
std::vector<float> result_of_peer(const Rank& rank, RingCollective& work, std::size_t count) {
  const DeviceMemory both(kRanks * count * sizeof(float));
  rank.meet();
  rank.nccl->check(rank.nccl->all_gather(work.out->data(), both.data(), count, ncclFloat,
                                         rank.communicator, rank.stream),
                   "ncclAllGather");
  const auto values = both.read(rank.stream);
  rank.meet();
  const auto first = values.begin() +
                     static_cast<std::ptrdiff_t>(static_cast<std::size_t>(1 - rank.number) * count);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

void reduce(const Rank& rank, const Kind& kind, std::size_t count, double tolerance) {
  RingCollective work(rank, kind, count);
  work.in->write(smooth(rank.number, 0, count), rank.stream);
  work.forget();
  work.enqueue();
  rank.finish();
  work.capture();
  work.forget();
  work.replay();
  rank.finish();
  const std::string name = "allreduce under " + kind.spec;
  good(work.check(), name);
  const auto found = work.out->read(rank.stream);
  const auto peers = result_of_peer(rank, work, count);
  expect(same_bits(found.data(), peers.data(), count), name + ": ranks hold other bits");
  const auto expected = exact(kind.reduction, count);
  const double apart = collective::largest_difference(
      Dtype::kF32, count, reinterpret_cast<const std::byte*>(found.data()),
      reinterpret_cast<const std::byte*>(expected.data()));
  expect(apart <= tolerance, name + ": off by " + std::to_string(apart));
}

}  // namespace

void test_allreduce(const Rank& rank) {
  const std::size_t count = 500009;
  const auto allreduce = plan::Operation::kAllreduce;
  reduce(rank, {.operation = allreduce, .spec = "zfp:rate=16"}, count, 0.1);
  reduce(rank,
         {.operation = allreduce,
          .spec = "zfp:rate=16",
          .reduction = plan::Reduction::kMaximum,
          .piece_bytes = 128 << 10,
          .window = 3},
         count, 0.1);
  reduce(rank, {.operation = allreduce, .spec = "off"}, count, 0);
  reduce(rank, {.operation = allreduce, .spec = "off", .reduction = plan::Reduction::kMinimum},
         count, 0);
  if (rank.speaks()) std::printf("ok allreduce\n");
}

}  // namespace thinwire::nccl_test
