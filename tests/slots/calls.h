// One collective in slots between ranks in threads, and what it must come to.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "streams.h"
#include "thinwire/thinwire.h"

namespace thinwire::slots {

using Bytes = std::vector<std::byte>;

struct Codec {
  explicit Codec(const std::string& spec);
  std::unique_ptr<tw_codec, decltype(&tw_codec_destroy)> handle;
  bool takes(std::uint32_t dtype) const;
};

using Comm = std::unique_ptr<tw_stream_comm, decltype(&tw_stream_comm_destroy)>;
using Plan = std::unique_ptr<tw_stream_plan, decltype(&tw_stream_plan_destroy)>;

Comm make_comm(World& world, int rank, bool collectives = true,
               const std::vector<std::uint32_t>& nodes = {});
tw_stream_plan_options options_of(std::uint32_t operation, std::uint32_t dtype, std::uint64_t count,
                                  const tw_codec* codec);
Plan make_plan(const Comm& comm, const tw_stream_plan_options& options);
tw_stream_plan_info describe(const Plan& plan);
tw_stream_report check(const Plan& plan, const void* record, tw_status expected = TW_OK);

// Memory of any size and alignment.
class Memory {
 public:
  explicit Memory(std::uint64_t bytes, std::uint64_t alignment = 512, std::uint64_t offset = 0);
  Memory(Memory&&) = default;
  std::byte* get() const { return at_; }
  operator void*() const { return at_; }

 private:
  Bytes bytes_;
  std::byte* at_;
};

// Memory that a call is lent, of a plan's sizes.
struct Lent {
  explicit Lent(const Plan& plan);
  void lend(tw_stream_call& call) const;
  // Expects the zeros that calls leave in the workspace.
  void expect_zeros() const;

  Memory device, record, workspace;
  std::uint64_t workspace_bytes;
};

struct Mailbox {
  explicit Mailbox(std::uint64_t bytes = 2048 + 1024);
  Memory memory;
};

std::uint64_t value_bytes(std::uint32_t dtype);

// Values of which codecs make less; such that are as large as the type takes; or none: any finite
// values.
enum class Data { kSmooth, kLarge, kNoise };
Bytes values_of(std::uint32_t dtype, std::uint64_t count, int seed, Data data);

// Returns what others get of these values by a slot of that size: exactly what a message would
// decode to, or the values if its frame does not fit.
Bytes through_slot(const Codec& codec, std::uint32_t dtype, const Bytes& values,
                   std::uint64_t slot_bytes);

// A rank's factor of pre-multiplied sums: a value of any type, which keeps values finite.
double factor_of(int rank);

// The sum in the order of ranks; `factors`: each rank's values times its own. `ranks`: whose they
// are; else all ranks'.
Bytes sum_of(std::uint32_t dtype, const std::vector<Bytes>& arrays, double scale,
             bool factors = false, const std::vector<int>& ranks = {});

// The exact sum of products that are rounded, and of one over the number of ranks the mean.
Bytes exact_sum_of(std::uint32_t dtype, const std::vector<Bytes>& arrays, double scale,
                   bool factors);

enum class Factors { kNone, kNumbers, kInMemory };

struct Case {
  std::uint32_t operation = TW_STREAM_ALLGATHER;
  std::uint32_t dtype = TW_F32;
  std::string spec = "mpc";
  int ranks = 2;
  std::uint64_t count = 1000;
  std::uint32_t capacity = 512;
  std::uint32_t way = TW_STREAM_PLANNED;
  double scale = 0;
  int root = 0;  // of Bcast; Send goes from rank 0 to the last one
  bool in_place = false;
  std::uint64_t offset = 0;  // of all buffers, in bytes
  std::set<int> noisy = {};  // ranks whose values do not get smaller
  bool large = false;        // the others' are of fp16, and large
  bool collectives = true;   // the transport has all_gather and broadcast
  int seed = 0;              // of the values
  Factors factors = Factors::kNone;
  std::set<int> in_rounds = {};           // ranks whose messages go in rounds
  bool as_is = false;                     // of Send
  std::vector<std::uint32_t> nodes = {};  // of ranks; none: each has its own

  // Whether values go between them as they are, and whether the call has two levels.
  bool are_together(int one, int other) const;
  bool has_levels() const;
  int nodes_count() const { return static_cast<int>(std::set(nodes.begin(), nodes.end()).size()); }
  // Ranks of the smallest and of the largest node; the place of a rank among those of its node.
  std::pair<int, int> node_sizes() const;
  int local_of(int rank) const;
  bool is_direct() const;
  bool is_exact() const { return spec.ends_with("reductions=exact"); }
  bool is_in_order() const;
  // The sum of all ranks' arrays, in one level.
  Bytes sum(const std::vector<Bytes>& arrays) const;

  std::string text() const;
};

bool takes_part(const Case& given, int rank);

// Returns what each rank sends.
std::vector<Bytes> arrays_of(const Case& given);

// Returns what it leaves in `receive` on a rank that has one.
Bytes expected_of(const Case& given, const std::vector<Bytes>& sent, int rank);

// A case on one rank that takes part, with memory of its own for all but the mailbox.
class CaseOnRank {
 public:
  CaseOnRank(const Case& given, int rank, const Comm& comm, const std::vector<Bytes>& sent);

  tw_stream_call call(std::uint64_t number, const Mailbox& mailbox, Stream& stream) const;

  // After the stream has come past: the result, and that nothing else was written.
  tw_stream_report expect() const;

 private:
  // Between bytes that must stay.
  struct Buffers {
    static constexpr std::uint64_t kAround = 64;
    Buffers(const Case& given, int rank, const Bytes& sent, std::uint64_t receive_bytes);
    Memory send, receive;
    std::byte *send_at, *receive_at;
  };

  Case case_;
  int rank_;
  Bytes own_, expected_;
  Codec codec_;
  Plan plan_;
  Lent lent_;
  Buffers buffers_;
  Memory factor_;  // a value of the type, as the stream reads it
};

// Runs it and expects every rank's result, reports, and that nothing else was written. Returns the
// reports, one a rank.
std::vector<tw_stream_report> expect_case(const Case& given);

}  // namespace thinwire::slots
