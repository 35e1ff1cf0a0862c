// One-way times of messages from rank 0 to rank 1 whenever somebody asks, so that two jobs of this
// program can take turns. Rank 0 reads a message a line from its standard input, its bytes and
// optionally which file, and answers each with a JSON line; the end of the input ends the job. A
// plain MPI program: it asks a preload library that is there what it did and predicted, and does
// without.
//
// Between turns nobody spins, or the waiting job would take the processors from the other's
// message: rank 0 sleeps in a read, rank 1 looks for the next turn now and then.
//
// Messages are made of numbers in order, or of files' values, from another place at each turn. With
// --bcast each is a broadcast.
//
// A shaped link lets a burst through at full speed after a pause, so an untimed filler, sent as
// bytes and acknowledged, goes ahead of each timed message.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

using Values = std::vector<std::uint32_t>;  // as their bits

constexpr int kTurnTag = 1;
constexpr int kFillerTag = 2;
constexpr int kDataTag = 3;
constexpr int kAnswerTag = 4;
constexpr auto kLookEvery = std::chrono::milliseconds(2);
// Every whole number below it is a float.
constexpr std::uint32_t kValues = 1u << 24;
constexpr std::uint32_t kStride = 7919;

struct Turn {
  std::int64_t bytes;  // 0 ends the job
  std::int64_t number;
  std::int64_t file;
};

struct Buffers {
  Buffers(std::int64_t largest, std::int64_t filler, std::vector<Values> files, bool broadcasts)
      : broadcasts(broadcasts),
        values(static_cast<std::size_t>(largest) / sizeof(float)),
        filler(static_cast<std::size_t>(filler)),
        sources(std::move(files)) {}

  bool broadcasts;
  std::vector<float> values;
  std::vector<char> filler;
  std::vector<Values> sources;  // of the files; empty: there are none
};

Values read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  Values values(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(std::uint32_t));
  return values;
}

int count_of(const Turn& turn) { return static_cast<int>(turn.bytes / sizeof(float)); }

// A value of a turn. No value is the same in two turns in a row, so that what an earlier message
// left is found.
float value_of(const Turn& turn, int index) {
  const auto number = static_cast<std::uint32_t>(turn.number);
  return static_cast<float>((number * kStride + static_cast<std::uint32_t>(index)) % kValues);
}

// The message of a turn, as its bits: a file may hold NaN.
void make(const Turn& turn, const Buffers& buffers, Values& bits) {
  const auto count = static_cast<std::size_t>(count_of(turn));
  bits.resize(count);
  if (buffers.sources.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      const float value = value_of(turn, static_cast<int>(i));
      std::memcpy(&bits[i], &value, sizeof value);
    }
    return;
  }
  const Values& source = buffers.sources[static_cast<std::size_t>(turn.file)];
  std::size_t from = static_cast<std::uint64_t>(turn.number) * kStride % source.size();
  for (std::size_t at = 0; at < count;) {
    const std::size_t part = std::min(count - at, source.size() - from);
    std::copy_n(&source[from], part, &bits[at]);
    at += part;
    from = 0;
  }
}

void send_answer(int value, int rank) {
  MPI_Send(&value, 1, MPI_INT, rank, kAnswerTag, MPI_COMM_WORLD);
}

int wait_for_answer(int rank) {
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, rank, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return value;
}

// Counts of a preload library so far; zeros if there is none.
tw_stats stats_now() {
  using Read = tw_status (*)(tw_stats*, std::uint64_t*, std::uint32_t);
  static const auto read = reinterpret_cast<Read>(dlsym(RTLD_DEFAULT, "tw_preload_stats"));
  tw_stats stats{};
  stats.size = sizeof stats;
  if (read != nullptr) read(&stats, nullptr, 0);
  return stats;
}

struct Sent {
  double seconds = 0;  // from the send to rank 1's answer
  double predicted = 0;
  bool compressed = false;
  bool verified = false;
};

Sent send_one(const Turn& turn, Buffers& buffers) {
  const int count = count_of(turn);
  Values bits;
  make(turn, buffers, bits);
  std::memcpy(buffers.values.data(), bits.data(), bits.size() * sizeof(float));
  MPI_Send(&turn, sizeof turn, MPI_BYTE, 1, kTurnTag, MPI_COMM_WORLD);
  wait_for_answer(1);  // Rank 1 is awake.
  MPI_Send(buffers.filler.data(), static_cast<int>(buffers.filler.size()), MPI_BYTE, 1, kFillerTag,
           MPI_COMM_WORLD);
  wait_for_answer(1);
  const tw_stats before = stats_now();
  Sent sent;
  const double start = MPI_Wtime();
  if (buffers.broadcasts) {
    MPI_Bcast(buffers.values.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  } else {
    MPI_Send(buffers.values.data(), count, MPI_FLOAT, 1, kDataTag, MPI_COMM_WORLD);
  }
  wait_for_answer(1);
  sent.seconds = MPI_Wtime() - start;
  sent.verified = wait_for_answer(1) == 1;
  const tw_stats after = stats_now();
  sent.compressed = after.compressed_messages > before.compressed_messages ||
                    after.collectives > before.collectives;
  const std::uint64_t predicted = after.predicted_nanoseconds - before.predicted_nanoseconds;
  sent.predicted = 1e-9 * static_cast<double>(predicted);
  return sent;
}

void receive_one(const Turn& turn, Buffers& buffers) {
  const int count = count_of(turn);
  send_answer(1, 0);
  MPI_Recv(buffers.filler.data(), static_cast<int>(buffers.filler.size()), MPI_BYTE, 0, kFillerTag,
           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (buffers.broadcasts) {
    send_answer(1, 0);
    MPI_Bcast(buffers.values.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    MPI_Irecv(buffers.values.data(), count, MPI_FLOAT, 0, kDataTag, MPI_COMM_WORLD, &request);
    send_answer(1, 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  send_answer(1, 0);
  Values bits;
  make(turn, buffers, bits);
  const bool same =
      std::memcmp(buffers.values.data(), bits.data(), bits.size() * sizeof(float)) == 0;
  send_answer(same ? 1 : 0, 0);
}

// Ends the job if the line asks for what there is not.
void read_turn(const char* line, const Buffers& buffers, Turn& turn) {
  const auto most = static_cast<std::int64_t>(buffers.values.size() * sizeof(float));
  const auto files = static_cast<std::int64_t>(buffers.sources.size());
  char* rest = nullptr;
  turn.bytes = std::strtoll(line, &rest, 10);
  turn.file = std::strtoll(rest, nullptr, 10);
  ++turn.number;
  if (turn.bytes < 4 || turn.bytes > most || turn.bytes % 4 != 0 || turn.file < 0 ||
      turn.file >= std::max<std::int64_t>(files, 1)) {
    std::fprintf(stderr,
                 "raw_turns: a size is 4 to %lld bytes and a multiple of 4, after it the number of "
                 "one of %lld files, from 0 on; not %s",
                 static_cast<long long>(most), static_cast<long long>(files), line);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
}

void print(const Turn& turn, const Sent& sent) {
  const auto text = [](bool value) { return value ? "true" : "false"; };
  std::printf(
      "{\"program\": \"raw_turns\", \"bytes\": %lld, \"seconds\": %.9f, "
      "\"predicted\": %.9f, \"compressed\": %s, \"verified\": %s}\n",
      static_cast<long long>(turn.bytes), sent.seconds, sent.predicted, text(sent.compressed),
      text(sent.verified));
  std::fflush(stdout);
}

bool lead(Buffers& buffers) {
  bool all_verified = true;
  char line[64];
  Turn turn{0, 0, 0};
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    read_turn(line, buffers, turn);
    const Sent sent = send_one(turn, buffers);
    all_verified = all_verified && sent.verified;
    print(turn, sent);
  }
  turn.bytes = 0;
  MPI_Send(&turn, sizeof turn, MPI_BYTE, 1, kTurnTag, MPI_COMM_WORLD);
  return all_verified;
}

void follow(Buffers& buffers) {
  while (true) {
    Turn turn{0, 0, 0};
    MPI_Request request;
    MPI_Irecv(&turn, sizeof turn, MPI_BYTE, 0, kTurnTag, MPI_COMM_WORLD, &request);
    for (int here = 0; here == 0;) {
      MPI_Test(&request, &here, MPI_STATUS_IGNORE);
      if (here == 0) std::this_thread::sleep_for(kLookEvery);
    }
    if (turn.bytes == 0) return;
    receive_one(turn, buffers);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool broadcasts = argc >= 2 && std::strcmp(argv[1], "--bcast") == 0;
  if (broadcasts) --argc, ++argv;
  const std::int64_t largest = argc >= 3 ? std::atoll(argv[1]) : 0;
  const std::int64_t filler = argc >= 3 ? std::atoll(argv[2]) : 0;
  std::vector<Values> files;
  for (int at = 3; at < argc; ++at) files.push_back(read_file(argv[at]));
  const bool reads_all = std::ranges::none_of(files, &Values::empty);
  if (size != 2 || largest < 4 || largest > INT32_MAX || filler < 0 || filler > INT32_MAX ||
      !reads_all) {
    if (rank == 0)
      std::fprintf(
          stderr,
          "usage, on 2 ranks: raw_turns [--bcast] LARGEST FILLER (bytes) [FILE of fp32]...\n");
    MPI_Finalize();
    return 2;
  }
  bool verified = true;
  {
    Buffers buffers(largest, filler, std::move(files), broadcasts);
    if (rank == 0) {
      verified = lead(buffers);
    } else {
      follow(buffers);
    }
  }
  MPI_Finalize();
  return verified ? 0 : 1;
}
