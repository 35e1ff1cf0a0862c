// wire: the input is a threshold, sizes, and a frame under a job's mark; its message on the wire is
// recognised, and says the same with its padding as without.
#include "fuzz/all_targets.h"

#include "fuzz/input.h"
#include "shim/mpi/message/length.h"
#include "thinwire/thinwire.h"

namespace thinwire::fuzz {
namespace {

constexpr std::size_t kNumbersBytes = 24;
constexpr std::uint64_t kMostRawBytes = 64 << 10;
constexpr std::string_view kJob = "job-17@node";

tw_message_options job_options(std::string_view job) {
  tw_message_options options{};
  options.size = sizeof options;
  options.job = job.data();
  options.job_bytes = job.size();
  return options;
}

tw_status inspect(ByteView wire, std::string_view job, tw_message_info* info) {
  *info = {};
  info->size = sizeof *info;
  const tw_message_options options = job_options(job);
  return tw_message_inspect(wire.data(), wire.size(), &options, info);
}

// Checks any three numbers.
void check_length(std::uint64_t frame, std::uint64_t raw, std::uint64_t shortest) {
  const std::uint64_t length = mpi::wire_length(frame, raw, shortest);
  const std::uint64_t least = std::max(frame, shortest);
  THINWIRE_FUZZ_CHECK(length >= least);
  THINWIRE_FUZZ_CHECK(length - least < mpi::length_modulus(raw));
  // Frames have headers: the wire length is more than 1, and is sent only if it is shorter.
  if (frame >= 56 && length < raw) THINWIRE_FUZZ_CHECK(mpi::is_suspicious(length));
}

void check_padded(ByteView frame, const tw_message_info& info, std::uint64_t shortest) {
  const std::uint64_t length = mpi::wire_length(info.frame_bytes, info.raw_bytes, shortest);
  const WatchedBuffer wire(length, std::byte{0}, 1);
  std::copy_n(frame.begin(), info.frame_bytes, wire.data());
  tw_message_info padded{};
  THINWIRE_FUZZ_CHECK(inspect(wire.view(), kJob, &padded) == TW_OK);
  THINWIRE_FUZZ_CHECK(std::memcmp(&padded, &info, sizeof info) == 0);
  THINWIRE_FUZZ_CHECK(inspect(wire.view(), "job-18@node", &padded) == TW_NOT_A_FRAME);
  if (info.raw_bytes > kMostRawBytes) return;
  const WatchedBuffer one(info.raw_bytes, std::byte{0xA5}, 1);
  const WatchedBuffer two(info.raw_bytes, std::byte{0x5A});
  const tw_message_options options = job_options(kJob);
  const tw_status alone = tw_message_decode(frame.data(), info.frame_bytes, one.data(),
                                            info.raw_bytes, &options, nullptr);
  const tw_status both =
      tw_message_decode(wire.data(), length, two.data(), info.raw_bytes, &options, nullptr);
  THINWIRE_FUZZ_CHECK(alone == both);
  if (alone == TW_OK) THINWIRE_FUZZ_CHECK(same(one.view(), two.view()));
}

}  // namespace

void run_wire(const Target&, ByteView input) {
  Reader reader(input);
  const auto threshold = reader.take<std::uint64_t>();
  const auto raw = reader.take<std::uint64_t>();
  const auto frame_bytes = reader.take<std::uint64_t>();
  check_length(frame_bytes, raw, threshold);
  const WatchedBuffer frame(reader.rest());
  tw_message_info info{};
  const tw_status status = inspect(frame.view(), kJob, &info);
  if (status == TW_OK) {
    check_padded(frame.view(), info, threshold % 20000);
    // Cut anywhere, it is refused.
    const std::size_t cut = raw % info.frame_bytes;
    tw_message_info part{};
    THINWIRE_FUZZ_CHECK(inspect(frame.view().first(cut), kJob, &part) != TW_OK);
  }
  // No message of the job is a frame in a file.
  tw_message_info file{};
  file.size = sizeof file;
  if (status != TW_NOT_A_FRAME) {
    THINWIRE_FUZZ_CHECK(tw_message_inspect(frame.data(), frame.view().size(), nullptr, &file) ==
                        TW_NOT_A_FRAME);
  }
}

std::size_t mend_wire(const Target&, MutableByteView input, std::size_t length, unsigned seed) {
  if (seed % 8 == 0 || length < kNumbersBytes) return length;
  const frame::Mark mark = frame::job_mark(std::as_bytes(std::span(kJob)));
  reseal(input.first(length).subspan(kNumbersBytes), mark, seed % 8 < 3);
  return length;
}

std::vector<Bytes> wire_seeds(const Target&) {
  std::vector<Bytes> seeds;
  std::size_t number = 0;
  for (const Bytes& frame : sample_frames(frame::job_mark(std::as_bytes(std::span(kJob))))) {
    if (++number % 5 != 0) continue;
    Bytes seed(kNumbersBytes);
    store(seed.data(), std::uint64_t{number * 331 % 16384});
    store(seed.data() + 8, std::uint64_t{number * 9001});
    store(seed.data() + 16, std::uint64_t{number * 577});
    seed.insert(seed.end(), frame.begin(), frame.end());
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

}  // namespace thinwire::fuzz
