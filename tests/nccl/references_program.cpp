// Steps of a training that gathers weights and gives others to all, of which few change from step
// to step; on two streams by turns, some in groups. Prints "ok" if results are right.
//
// references_program STEPS [noise]   noise: nothing stays from step to step
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "ranks.h"

namespace {

constexpr int kLayers = 5;
constexpr std::size_t kCount = 60'000;
constexpr std::size_t kBytes = 2 * kCount;

// The bf16 weights of a rank's part of a layer, normally distributed, about.
struct Weights {
  explicit Weights(int layer, int rank) : random(static_cast<unsigned>(100 * layer + rank)) {
    renew();
  }

  void renew() {
    words.resize(kCount);
    for (std::uint16_t& word : words) {
      float sum = 0;
      for (int at = 0; at < 4; ++at) sum += static_cast<float>(random() % 2048) - 1023.5F;
      std::uint32_t bits = 0;
      std::memcpy(&bits, &sum, sizeof bits);
      word = static_cast<std::uint16_t>(bits >> 16);
    }
  }

  void step(bool noise) {
    if (noise) return renew();
    for (std::size_t at = 0; at < kCount / 50; ++at) {
      std::uint16_t& word = words[random() % kCount];
      word = static_cast<std::uint16_t>(word + (random() % 2 == 0 ? 1 : -1));
    }
  }

  world::Bytes bytes() const {
    world::Bytes all(kBytes);
    std::memcpy(all.data(), words.data(), kBytes);
    return all;
  }

  std::mt19937 random;
  std::vector<std::uint16_t> words;
};

struct Layer {
  std::vector<Weights> of;  // of each rank
  world::Bytes own;         // this rank's, as its stream reads them
  std::byte *send = nullptr, *gathered = nullptr, *given = nullptr;
};

// All layers, each with its gather, and the root's part to all: grouped in every third.
void enqueue(ranks::Rank& self, std::vector<Layer>& layers, const cudaStream_t (&streams)[2]) {
  for (int at = 0; at < kLayers; ++at) {
    Layer& layer = layers[static_cast<std::size_t>(at)];
    const cudaStream_t stream = streams[at % 2];
    const int root = at % self.ranks;
    layer.own = layer.of[static_cast<std::size_t>(self.rank)].bytes();
    world::write_in_order(layer.send, layer.own, stream);
    if (at % 3 == 0) ncclGroupStart();
    ranks::final_result(
        ncclAllGather(layer.send, layer.gathered, kCount, ncclBfloat16, self.comm, stream));
    ranks::final_result(
        ncclBroadcast(layer.send, layer.given, kCount, ncclBfloat16, root, self.comm, stream));
    if (at % 3 == 0) ranks::final_result(ncclGroupEnd());
  }
}

bool is_right(const ranks::Rank& self, const std::vector<Layer>& layers) {
  for (int at = 0; at < kLayers; ++at) {
    const Layer& layer = layers[static_cast<std::size_t>(at)];
    for (std::size_t rank = 0; rank < layer.of.size(); ++rank) {
      if (world::read(layer.gathered + rank * kBytes, kBytes) != layer.of[rank].bytes())
        return false;
    }
    const auto root = static_cast<std::size_t>(at % self.ranks);
    if (world::read(layer.given, kBytes) != layer.of[root].bytes()) return false;
  }
  return true;
}

bool g_right = true;

void work(ranks::Rank& self, int steps, bool noise) {
  world::Arena arena;
  std::vector<Layer> layers(kLayers);
  const auto ranks = static_cast<std::size_t>(self.ranks);
  for (int at = 0; at < kLayers; ++at) {
    Layer& layer = layers[static_cast<std::size_t>(at)];
    for (int rank = 0; rank < self.ranks; ++rank) layer.of.emplace_back(at, rank);
    layer.send = arena.take(kBytes);
    layer.gathered = arena.take(ranks * kBytes);
    layer.given = arena.take(kBytes);
  }
  cudaStream_t streams[2] = {self.stream, nullptr};
  cudaStreamCreate(&streams[1]);
  for (int step = 0; step < steps; ++step) {
    enqueue(self, layers, streams);
    for (const cudaStream_t stream : streams) cudaStreamSynchronize(stream);
    if (!is_right(self, layers)) {
      std::fprintf(stderr, "wrong at step %d\n", step);
      g_right = false;
      break;
    }
    for (Layer& layer : layers) {
      for (Weights& each : layer.of) each.step(noise);
    }
  }
  cudaStreamDestroy(streams[1]);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  const bool noise = count > 2 && words[2] == std::string("noise");
  ranks::run(ranks::count(3), [&](ranks::Rank& self) { work(self, std::atoi(words[1]), noise); });
  std::puts(g_right ? "ok" : "failed");
  return g_right ? 0 : 1;
}
