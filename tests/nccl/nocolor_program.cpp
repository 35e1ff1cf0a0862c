// A split in which one rank takes part without a color: it gets no communicator, and uses the place
// that it named for its handle for something else. Prints "ok".
#include <cstdint>
#include <cstdio>

#include "ranks.h"

int main() {
  constexpr int kRanks = 2, kNoColor = -1;
  ranks::run(kRanks, [](ranks::Rank& self) {
    auto* const place = new ncclComm_t(nullptr);
    const bool takes_part = self.rank == 0;
    const ncclResult_t split =
        ncclCommSplit(self.comm, takes_part ? 0 : kNoColor, 0, place, nullptr);
    if (!takes_part) *place = reinterpret_cast<ncclComm_t>(std::uintptr_t{16});
    const ncclResult_t state = ranks::final_result(split == ncclSuccess ? ncclInProgress : split);
    if (state != ncclSuccess) std::printf("rank %d: %d\n", self.rank, state);
    // So that it is counted.
    ncclAllGather(nullptr, nullptr, 0, ncclFloat32, self.comm, self.stream);
    if (takes_part && *place != nullptr) {
      ranks::state_of(*place);
      ncclCommDestroy(*place);
    }
    delete place;
  });
  std::puts("ok");
}
