// MPC: groups of W words by one thread, as the core has it, and by a warp, as the kernels do.
#include "codec/mpc/core.h"
#include "codec/mpc/group.cuh"
#include "stages.cuh"

namespace thinwire::stages {
namespace {

using namespace codec::mpc;

template <typename Word>
struct Words {
  Word word[kWordBits<Word>];
};

template <typename Word>
struct Transpose {
  using In = Words<Word>;
  using Out = Words<Word>;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    out = in;
    codec::mpc::transpose(out.word);
  }
};

// Words that one warp takes at once: groups one behind the other.
template <typename Word>
inline constexpr int kBatchCount = 32 * kBatchWords<Word>;

template <typename Word>
struct Batch {
  Word word[kBatchCount<Word>];
};

// A batch after transposing its groups and taking differences, which words are not zero, what
// stands before the next batch, and the batch as undoing it all gives it back.
template <typename Word>
struct Coded {
  Batch<Word> differences;
  Batch<Word> restored;
  Word present[kBatch<Word>];
  Word last;
  Word last_restored;
};

template <typename Word>
Coded<Word> code_on_host(const Batch<Word>& in, Word before) {
  Batch<Word> planes = in;
  for (int group = 0; group < kBatch<Word>; ++group) {
    codec::mpc::transpose(planes.word + group * kWordBits<Word>);
  }
  Coded<Word> out{{}, in, {}, before, before};
  for (int at = 0; at < kBatchCount<Word>; ++at) {
    out.differences.word[at] = planes.word[at] - out.last;
    out.last = out.last_restored = planes.word[at];
    out.present[at / kWordBits<Word>] |= static_cast<Word>(out.differences.word[at] != 0)
                                         << at % kWordBits<Word>;
  }
  return out;
}

// One warp a batch; every lane takes part in every step.
template <typename Word>
__global__ void code_by_warps(const Batch<Word>* in, Coded<Word>* out, Word before) {
  const unsigned lane = threadIdx.x;
  Coded<Word>& to = out[blockIdx.x];
  Word words[kBatchWords<Word>];
  for (int at = 0; at < kBatchWords<Word>; ++at) words[at] = in[blockIdx.x].word[32 * at + lane];
  Word first = before, second = before;
  codec::mpc::transpose(words, lane);
  subtract_neighbours(words, lane, first);
  for (int at = 0; at < kBatchWords<Word>; ++at) to.differences.word[32 * at + lane] = words[at];
  for (int group = 0; group < kBatch<Word>; ++group) {
    to.present[group] = presence(words + group * kLaneWords<Word>);
  }
  add_up(words, lane, second);
  codec::mpc::transpose(words, lane);
  for (int at = 0; at < kBatchWords<Word>; ++at) to.restored.word[32 * at + lane] = words[at];
  to.last = first;
  to.last_restored = second;
}

template <typename Word>
std::vector<Words<Word>> make_groups() {
  std::mt19937_64 random(7);
  std::vector<Words<Word>> groups(4000);
  for (std::size_t at = 0; at < groups.size(); ++at) {
    // Random bits, few bits, one bit, smooth, zeros, ones.
    for (int i = 0; i < kWordBits<Word>; ++i) {
      const auto bits = static_cast<Word>(random());
      const Word kinds[] = {bits,
                            static_cast<Word>(bits & 0xFF),
                            static_cast<Word>(Word{1} << random() % kWordBits<Word>),
                            static_cast<Word>(Word(at) * 1000 + Word(i)),
                            0,
                            static_cast<Word>(~Word{0})};
      groups[at].word[i] = kinds[at % 6];
    }
  }
  return groups;
}

template <typename Word>
std::vector<Batch<Word>> make_batches(const std::vector<Words<Word>>& groups) {
  std::vector<Batch<Word>> batches(groups.size() / kBatch<Word>);
  std::memcpy(batches.data(), groups.data(), batches.size() * sizeof(Batch<Word>));
  return batches;
}

template <typename Word>
void compare_warps(Report& report, const std::string& name,
                   const std::vector<Batch<Word>>& batches) {
  for (const Word before : {Word{0}, static_cast<Word>(0x9E3779B97F4A7C15u)}) {
    std::vector<Coded<Word>> expected;
    for (const Batch<Word>& batch : batches) expected.push_back(code_on_host(batch, before));
    const DeviceVector<Batch<Word>> in(batches);
    const DeviceVector<Coded<Word>> out(batches.size());
    code_by_warps<<<static_cast<unsigned>(batches.size()), 32>>>(in.data(), out.data(), before);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    report.add(name, count_differences(expected, out.to_host()), batches.size());
  }
}

template <typename Word>
void compare_words(Report& report, const std::string& bits) {
  const auto groups = make_groups<Word>();
  compare<Transpose<Word>>(report, "mpc transpose, " + bits + " bits", groups);
  compare_warps<Word>(report, "mpc transpose, differences, presence by a warp, " + bits + " bits",
                      make_batches(groups));
}

}  // namespace

void compare_mpc(Report& report) {
  compare_words<std::uint32_t>(report, "32");
  compare_words<std::uint64_t>(report, "64");
}

}  // namespace thinwire::stages
