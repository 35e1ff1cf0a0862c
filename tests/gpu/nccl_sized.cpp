// Messages of lengths that depend on their data, one way and both ways at once.
#include <chrono>
#include <thread>

#include "codec/spec.h"
#include "collective/enqueued/sized_exchange.h"
#include "nccl_rank.h"

namespace thinwire::nccl_test {
namespace {

using Make = std::vector<float> (*)(int rank, std::size_t count);

std::vector<float> smooth_values(int rank, std::size_t count) { return smooth(rank, 0, count); }

struct Case {
  const char* name;
  std::size_t counts[kRanks];  // that each rank sends
  Make make[kRanks];
};

struct Exchanged {
  std::uint64_t sent, received;
  double milliseconds;
};

// Enqueues, and polls as a progress thread would.
Exchanged exchange(const Rank& rank, collective::SizedExchange& work, const DeviceMemory& memory,
                   const PinnedWords& words) {
  rank.meet();
  const auto begin = std::chrono::steady_clock::now();
  good(work.start(memory.data(), words.data(), *rank.transport, rank.stream), "start");
  while (true) {
    const auto over = work.advance();
    good(over.status(), "advance");
    if (*over) break;
    std::this_thread::yield();
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  return {work.sent_bytes(), work.received_bytes(), took.count()};
}

void try_case(const Rank& rank, const Case& one, const message::Coder& coder) {
  const int peer = 1 - rank.number;
  const auto array_of = [&](int sender) {
    return codec::Chunk{.dtype = Dtype::kF32, .shape = Shape::line(one.counts[sender])};
  };
  const auto own = one.make[rank.number](rank.number, one.counts[rank.number]);
  const auto peers = one.make[peer](peer, one.counts[peer]);
  const DeviceMemory source(own.size() * sizeof(float)), target(peers.size() * sizeof(float));
  collective::SizedExchange work;
  good(work.prepare(coder, frame::file_mark(), {peer, array_of(rank.number), source.data()},
                    {peer, array_of(peer), target.data()}),
       "prepare");
  const DeviceMemory memory(work.device_bytes());
  const PinnedWords words(collective::SizedExchange::kOutcomes);
  source.write(own, rank.stream);
  Exchanged done{};
  for (int round = 0; round < 3; ++round) {
    target.write(std::vector<float>(peers.size(), -1), rank.stream);
    done = exchange(rank, work, memory, words);
    const auto found = target.read(rank.stream);
    expect(same_bits(found.data(), peers.data(), peers.size()),
           std::string(one.name) + ": what arrived at rank " + std::to_string(rank.number) +
               " differs");
  }
  rank.finish();
  rank.meet();
  if (rank.speaks()) {
    std::printf("sized %s: sent %llu of %zu bytes, received %llu of %zu, %.3f ms\n", one.name,
                static_cast<unsigned long long>(done.sent), own.size() * sizeof(float),
                static_cast<unsigned long long>(done.received), peers.size() * sizeof(float),
                done.milliseconds);
  }
  const std::uint64_t raw = own.size() * sizeof(float);
  const bool shrinks = one.make[rank.number] == smooth_values && raw > 65536;
  expect(shrinks ? done.sent < raw : done.sent == raw, std::string(one.name) + ": bytes sent");
}

}  // namespace

void test_sized_messages(const Rank& rank) {
  const auto spec = codec::parse_spec("mpc");
  good(spec.status(), "mpc");
  const message::Coder coder{spec->codec, spec->parameter};
  const std::size_t large = std::size_t{16} << 20;
  const Case cases[] = {
      {"one float", {1, 1}, {smooth_values, smooth_values}},
      {"a hundred", {100, 37}, {noise, noise}},
      {"both ways", {70001, 70001}, {smooth_values, smooth_values}},
      {"incompressible", {70001, 70001}, {noise, noise}},
      {"one of them incompressible", {70001, 1000003}, {smooth_values, noise}},
      {"there", {1000003, 0}, {smooth_values, smooth_values}},
      {"back", {0, 1000003}, {noise, smooth_values}},
      {"nothing", {0, 0}, {noise, noise}},
      {"64 MiB", {large, large}, {smooth_values, smooth_values}},
  };
  for (const Case& one : cases) try_case(rank, one, coder);
  if (rank.speaks()) std::printf("ok sized messages\n");
}

}  // namespace thinwire::nccl_test
