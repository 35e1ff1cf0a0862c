// A ring Allgather of zfp frames, captured in a graph and replayed with other data.
#include <limits>

#include "message/message.h"
#include "nccl_collective.h"

namespace thinwire::nccl_test {
namespace {

// What the CPU's codec makes of a contribution, piece by piece.
std::vector<float> coded_by_cpu(const RingCollective& work, const std::vector<float>& values) {
  const collective::Block& block = work.blocks()[0];
  std::vector<float> result(values.size());
  for (std::uint32_t piece = 0; piece < block.pieces; ++piece) {
    const codec::Chunk array{.dtype = Dtype::kF32, .shape = block.piece_shape(piece)};
    const std::uint64_t first = block.piece_offset(piece);
    const message::Coder coder{work.spec().codec, work.spec().parameter};
    const auto most = message::bound(coder, array);
    good(most.status(), "bound");
    std::vector<std::byte> frame(*most);
    const auto length = message::encode(
        coder, array, reinterpret_cast<const std::byte*>(values.data() + first), frame, {});
    good(length.status(), "encode on the CPU");
    const auto info =
        message::decode({frame.data(), *length},
                        {reinterpret_cast<std::byte*>(result.data() + first), array.raw_bytes()},
                        frame::file_mark());
    good(info.status(), "decode on the CPU");
  }
  return result;
}

void expect_result(const Rank& rank, RingCollective& work, int round, std::size_t count) {
  good(work.check(), "outcomes of round " + std::to_string(round));
  const auto found = work.out->read(rank.stream);
  for (int source = 0; source < kRanks; ++source) {
    const auto expected = coded_by_cpu(work, smooth(source, round, count));
    expect(
        same_bits(found.data() + static_cast<std::size_t>(source) * count, expected.data(), count),
        "rank " + std::to_string(rank.number) + ", round " + std::to_string(round) +
            ": the block of rank " + std::to_string(source) + " has other bits than the CPU's");
  }
}

// Data that the codec declines: everybody learns of it, and nobody takes old data for it.
void expect_decline(const Rank& rank, RingCollective& work, std::size_t count) {
  auto values = smooth(rank.number, 9, count);
  if (rank.number == 1) values[count / 2] = std::numeric_limits<float>::quiet_NaN();
  work.in->write(values, rank.stream);
  work.forget();
  work.replay();
  rank.finish();
  const StatusCode expected = rank.number == 1 ? StatusCode::kDeclined : StatusCode::kDamaged;
  expect(work.check().code() == expected, "NaN is not reported: " + work.check().message());
  const auto found = work.out->read(rank.stream);
  expect(std::isnan(found[count + count / 2]), "NaN has become a number");
  const auto sound = coded_by_cpu(work, smooth(0, 9, count));
  expect(same_bits(found.data(), sound.data(), count), "the other block has suffered");
}

// Enqueued as it is, before it is captured: NCCL connects its ranks then.
void run_once(const Rank& rank, RingCollective& work, std::size_t count) {
  work.in->write(smooth(rank.number, 0, count), rank.stream);
  work.forget();
  work.enqueue();
  rank.finish();
  expect_result(rank, work, 0, count);
  rank.meet();
  work.capture();
}

void replay_rounds(const Rank& rank, RingCollective& work, std::size_t count) {
  for (int round = 1; round <= 3; ++round) {
    work.in->write(smooth(rank.number, round, count), rank.stream);
    work.forget();
    work.replay();
    rank.finish();
    expect_result(rank, work, round, count);
  }
}

// Milliseconds of one of `times` that are enqueued behind one another.
template <typename Enqueue>
float time_of(const Rank& rank, int times, Enqueue&& enqueue) {
  cudaEvent_t begin = nullptr, end = nullptr;
  cuda(cudaEventCreate(&begin), "cudaEventCreate");
  cuda(cudaEventCreate(&end), "cudaEventCreate");
  enqueue();
  rank.finish();
  rank.meet();
  cuda(cudaEventRecord(begin, rank.stream), "cudaEventRecord");
  for (int time = 0; time < times; ++time) enqueue();
  cuda(cudaEventRecord(end, rank.stream), "cudaEventRecord");
  rank.finish();
  float milliseconds = 0;
  cuda(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  cuda(cudaEventDestroy(begin), "cudaEventDestroy");
  cuda(cudaEventDestroy(end), "cudaEventDestroy");
  rank.meet();
  return milliseconds / static_cast<float>(times);
}

void tell_times(const Rank& rank, RingCollective& work, std::size_t count) {
  constexpr int kTimes = 20;
  work.in->write(smooth(rank.number, 1, count), rank.stream);
  work.forget();
  const float coded = time_of(rank, kTimes, [&] { work.replay(); });
  expect_result(rank, work, 1, count);
  const float native = time_of(rank, kTimes, [&] {
    rank.nccl->check(rank.nccl->all_gather(work.in->data(), work.out->data(), count, ncclFloat,
                                           rank.communicator, rank.stream),
                     "ncclAllGather");
  });
  if (!rank.speaks()) return;
  std::printf(
      "allgather of %zu bytes a rank: %s captured %.3f ms, sends %llu bytes; "
      "ncclAllGather raw %.3f ms\n",
      count * sizeof(float), work.spec().text().c_str(), coded,
      static_cast<unsigned long long>(work.wire_bytes()), native);
}

}  // namespace

void test_allgather(const Rank& rank) {
  {
    const std::size_t count = 300007;
    RingCollective work(rank,
                        {.operation = plan::Operation::kAllgather,
                         .spec = "zfp:rate=8",
                         .piece_bytes = 256 << 10,
                         .window = 2},
                        count);
    run_once(rank, work, count);
    replay_rounds(rank, work, count);
    expect_decline(rank, work, count);
    rank.meet();
  }
  const std::size_t count = std::size_t{16} << 20;
  RingCollective work(rank, {.operation = plan::Operation::kAllgather, .spec = "zfp:rate=8"},
                      count);
  run_once(rank, work, count);
  tell_times(rank, work, count);
  rank.meet();
  if (rank.speaks()) std::printf("ok allgather\n");
}

}  // namespace thinwire::nccl_test
