// Nobody reads what a call was lent after its record says that it is complete. A lossy gather in
// two levels copies this rank's own values out of lent memory as its last step: here that memory is
// the host's, which a GPU reads slowly, and a thread overwrites it as soon as it sees the end. Exit
// code 0 if results are those of the host, 1 if one is not, 77 if there is no GPU.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "codec/spec.h"
#include "slots_runs.h"

namespace thinwire::collective {
namespace {

constexpr std::uint64_t kValues = 4 << 20;
constexpr int kTimes = 5;

Case gather_on_two_nodes() {
  Case given;
  given.call.operation = SlotOperation::kAllgather;
  given.call.spec = *codec::parse_spec("szp:abs=1e-3");
  given.call.nodes = std::make_shared<const SlotNodes>(std::vector<std::uint32_t>{0, 0, 1, 1});
  given.call.ranks = given.call.nodes->ranks();
  given.call.count = kValues;
  given.call.capacity = {512, 0};
  given.lent_pinned = true;
  return given;
}

// From its end on, which is copied last.
void overwrite(std::byte* at, std::uint64_t bytes) {
  constexpr std::uint64_t kAtOnce = 64 << 10;
  while (bytes > 0) {
    const std::uint64_t part = std::min(bytes, kAtOnce);
    bytes -= part;
    std::memset(at + bytes, 0xFF, part);
  }
}

void overwrite_at_the_end(const SlotRun& run, const std::atomic<bool>& gives_up) {
  const SlotCopy& copy = run.plan->copy();
  const std::atomic_ref<device::Outcome> done(record_at(run.record).done);
  while (done.load(std::memory_order_acquire) != device::kKnown) {
    if (gives_up) return;
  }
  overwrite(run.lent + copy.from.offset, copy.bytes);
}

std::vector<Found> run_and_overwrite(const Case& given) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Runs runs(Where::kGpu, given, nullptr, stream);
  for (std::uint32_t rank = 0; rank < runs.count(); ++rank) {
    const SlotRun run = runs.run(rank);
    if (run.plan->copy().bytes == 0 || run.plan->copy().from.area != Values::Area::kLent) {
      throw std::runtime_error("the call copies nothing out of lent memory");
    }
    record_at(run.record).done = 0;
  }
  std::atomic<bool> gives_up{false};
  std::thread other([&] {  // they end one after the other, on one stream
    for (std::uint32_t rank = 0; rank < runs.count(); ++rank) {
      overwrite_at_the_end(runs.run(rank), gives_up);
    }
  });
  const Status enqueued = enqueue_slots(runs);
  const cudaError_t ended = cudaStreamSynchronize(stream);
  gives_up = !enqueued.ok() || ended != cudaSuccess;
  other.join();
  check(enqueued);
  check(ended);
  auto found = runs.found();
  check(cudaStreamDestroy(stream));
  return found;
}

int run() {
  const Case given = gather_on_two_nodes();
  const std::vector<Found> expected = run_on(Where::kHost, given, nullptr);
  int wrong = 0;
  for (int time = 0; time < kTimes; ++time) {
    const std::vector<Found> found = run_and_overwrite(given);
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      const bool same =
          found[rank].report.status.ok() && found[rank].values == expected[rank].values;
      wrong += same ? 0 : 1;
    }
  }
  std::printf("%d results of gathers are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace thinwire::collective

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("no GPU\n");
    return 77;
  }
  try {
    return thinwire::collective::run();
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
}
