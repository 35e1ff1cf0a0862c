// One collective of a program, as every rank draws it, and this rank's side of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "buffer.h"
#include "program.h"

namespace legality {

// Open MPI 5 says that it is of MPI 3.1, and has them.
#if defined(OMPI_MAJOR_VERSION)
constexpr bool kHasPersistentCollectives = OMPI_MAJOR_VERSION >= 5;
#else
constexpr bool kHasPersistentCollectives = MPI_VERSION >= 4;
#endif

enum class CollectiveKind {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan
};
constexpr int kCollectiveKinds = static_cast<int>(CollectiveKind::kExscan) + 1;

enum class Flavour { kBlocking, kStarted, kPersistent };

struct Drawn {
  CollectiveKind kind = CollectiveKind::kBarrier;
  Flavour flavour = Flavour::kBlocking;
  int root = 0;
  Signature signature;     // of a block, or of one step of a block of any length
  std::vector<int> steps;  // by sender and receiver: how long the block between them is
  bool in_place = false, read_only = false, counts_freed = false, types_freed = false;
  Content content;
  std::uint64_t key = 0;
  bool same_layouts = false;  // on all ranks
  int units_of_item = 0;      // the same on all ranks; 0: as each likes
  int operation = 0;          // of a reduction: SUM, PROD, MIN, MAX, of the program's own
  int round = 0;

  bool reduces() const { return kind >= CollectiveKind::kReduce; }
  Content content_of(int rank, int block) const;
};

Drawn draw_collective(const Group& group, Random random);

// A buffer of blocks: counts and displacements as MPI takes them.
struct Blocks {
  std::unique_ptr<Buffer> buffer;
  std::vector<int> counts, places;
  std::vector<MPI_Datatype> types;
  std::vector<std::shared_ptr<Type>> owned;

  void* address() const { return buffer ? buffer->address() : nullptr; }
  int count() const { return counts.empty() ? 0 : counts.front(); }
  MPI_Datatype type() const { return types.empty() ? MPI_BYTE : types.front(); }
};

enum class Placing { kPlain, kPacked, kSpread, kTyped };  // base types; the last for Alltoallw
Blocks make_blocks(Random random, const Signature& signature, const std::vector<int>& steps,
                   Placing placing, std::uint64_t key, int units_of_item = 0);

struct Arguments {
  const void* from = nullptr;  // MPI_IN_PLACE, or the address of `sends`
  bool to_in_place = false;    // at the root of a scatter
  Blocks sends, receives;
  MPI_Op op = MPI_OP_NULL;
  int root = 0;

  void* to() const { return to_in_place ? MPI_IN_PLACE : receives.address(); }
};

// Calls MPI for the drawn collective.
int call_collective(const Drawn& drawn, Arguments& arguments, MPI_Comm comm, MPI_Request* request);

// The buffer begins with these elements of the reduction of the first ranks.
void expect_reduced(const Drawn& drawn, Buffer& buffer, int elements, int first, int ranks);
MPI_Op operation_of(const Drawn& drawn);  // to be freed if it is the program's own
void free_operation(const Drawn& drawn, MPI_Op& op);

// A collective under way on this rank.
class Operation {
 public:
  Operation(const Group& group, const Drawn& drawn, Random own);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  const Drawn& drawn() const { return drawn_; }
  MPI_Request& request() { return request_; }
  void renew(int round);  // the buffers, for the next call
  void call();            // blocking to its end; persistent its initialisation
  void check(Record& record);

 private:
  std::string name_of(const char* what) const;
  int steps(int sender, int receiver) const;
  std::vector<int> from_all(int receiver) const;
  std::vector<int> to_all(int sender) const;
  void prepare_moves(Random& own);
  void prepare_reduction(Random& own);
  void fill_moves();
  void fill_reduction();
  void give_back_early();
  void compare_ranks();
  bool is_root() const { return group_.rank == drawn_.root; }

  Group group_;
  Drawn drawn_;
  Arguments with_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace legality
