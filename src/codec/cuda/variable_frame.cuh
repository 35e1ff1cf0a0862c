// Kernels for codecs whose chunks have sizes that depend on the data: a thread block a chunk at a
// time, one pass from the array to the finished frame (variable_encode.cuh) and back
// (variable_decode.cuh).
//
// A coder has
//   kDtype            of the values
//   kThreads          threads of a thread block, a multiple of kChecksumLanes
//   kResident         optional: thread blocks whose registers a multiprocessor should hold
//   kDecodeResident   optional: the same for decoding, if it is another number
//   kEncodePayloads   optional: 1 if a thread block that encodes has memory for one payload only
//   kDecodePayloads   optional: the same for decoding
//   kBringsNear       optional: the values of a chunk lie together, and the next one's are fetched
//                     ahead while one is encoded
//   kBringsTargetNear optional: whether the values that a chunk's are added to lie in short rows,
//                     which are then fetched ahead while the chunk before is decoded
//   kPayloadBytes     most bytes of an encoded chunk, and of a raw one; a multiple of 16
//   State             its own shared memory
//   DecodeState       optional: the same for decoding, if it is another type
//   encode(piece, payload, parameter, state)   turns the values of the piece into the chunk's
//                     payload in `payload`, and returns its size
//   Prepared          optional: what prepare() returns and encode() takes after the piece
//   prepare(piece, parameter, state)   if there is Prepared: what comes before encode() and needs
//                     no payload; the state is not looked at between encode() and it
//   EncodeShared      optional: all of the shared memory of a thread block that encodes, if the
//                     coder has a loop of its own; with `offset` and `sums` as VariableShared has
//                     them
//   encode_chunks(job, at, shared)   that loop, in the place of the one of variable_encode.cuh
//   kLooksBack        optional: thread blocks add up the sizes before their chunks themselves
//   met_integers(state)   optional: whether the chunk encoded last has values that read as
//                     integers; for one thread, after encode()
//   decode(payload, bytes, target, parameter, state, sink)   false if the payload is damaged
// encode() and decode() are for whole thread blocks and give every thread the same answer.
// `payload` is shared memory of kPayloadBytes, aligned to 16 bytes, complete for all threads when
// decode begins and when encode returns; others may read it until decode's first barrier.
#pragma once

#include "codec/cuda/checksum.cuh"
#include "codec/cuda/frame_end.cuh"
#include "codec/cuda/piece.cuh"
#include "codec/cuda/resident.h"
#include "codec/cuda/size_scan.cuh"
#include "codec/job.h"

namespace thinwire::codec::cuda {

// The memory of the block that a thread block works on: the job's own, or one of several.
struct BlockPlace {
  const std::byte* from;
  std::byte* to;
  std::byte* workspace;
  device::Outcome* outcome;
  std::uint64_t room;  // of an encode, see Blocks
};

__device__ inline BlockPlace place_of(const EncodeJob& job) {
  return {job.source, job.frame, job.workspace, job.outcome, UINT64_MAX};
}
__device__ inline BlockPlace place_of(const DecodeJob& job) {
  return {job.frame, job.destination, job.workspace, job.outcome, UINT64_MAX};
}
// The place of the block that a layer of the grid codes.
template <typename Job>
__device__ BlockPlace place_of(const Job& job, const Blocks& blocks) {
  const Block& block = blocks.at[blockIdx.y];
  return {block.from, block.to, job.workspace + blockIdx.y * blocks.workspace_stride,
          job.outcome + blockIdx.y, blocks.room};
}

// The workspace: this, then a ScanWord for each chunk. Kernels leave all of it zeros, but for the
// parameter.
struct VariableState {
  unsigned arrived;
  unsigned statuses;           // a bit for each that a thread block met; 1 for integers
  std::uint64_t parameter;     // what an open one was resolved to, by a kernel before this one
  unsigned long long ticket;   // the next chunk that nobody has taken
  unsigned long long encoded;  // chunks and their bytes, if each block has one chunk
  unsigned layers;             // of several blocks, those that are done; the first one's
  unsigned unused;
};

// As DeviceCodec has it, for any parameter.
inline std::uint64_t variable_workspace_bytes(const Layout& layout, std::uint64_t) {
  return sizeof(VariableState) + layout.chunks * sizeof(ScanWord);
}

__device__ inline VariableState* state_of(std::byte* workspace) {
  return reinterpret_cast<VariableState*>(workspace);
}

__device__ inline ScanWord* words_of(std::byte* workspace) {
  return reinterpret_cast<ScanWord*>(workspace + sizeof(VariableState));
}

// How many payloads a thread block has: one on its way between memory and here while the other is
// coded. GPUs below compute capability 8.0 have no room for two, and no copies that go on
// meanwhile.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int kPayloadsHere = 1;
#else
inline constexpr int kPayloadsHere = 2;
#endif

template <typename Coder, int kPayloads = kPayloadsHere, typename State = typename Coder::State>
struct VariableShared {
  static_assert(Coder::kPayloadBytes % 16 == 0 && Coder::kThreads % kChecksumLanes == 0);
  alignas(16) std::uint64_t payload[kPayloads][Coder::kPayloadBytes / 8];
  State state;
  std::uint64_t sums[Coder::kThreads / 32];
  std::uint64_t offset;
  std::uint64_t next;
};

// Payloads of a thread block that encodes, if there is room for so many.
template <typename Coder>
constexpr int encode_payloads(int payloads) {
  if constexpr (requires { Coder::kEncodePayloads; }) return Coder::kEncodePayloads;
  return payloads;
}

template <typename Coder, int kPayloads>
struct EncodeSharedOf {
  using Type = VariableShared<Coder, encode_payloads<Coder>(kPayloads)>;
};

template <typename Coder, int kPayloads>
  requires requires { typename Coder::EncodeShared; }
struct EncodeSharedOf<Coder, kPayloads> {
  using Type = typename Coder::EncodeShared;
};

template <typename Coder, int kPayloads = kPayloadsHere>
using EncodeShared = typename EncodeSharedOf<Coder, kPayloads>::Type;

template <typename Coder>
constexpr int resident_blocks() {
  if constexpr (requires { Coder::kResident; }) return resident(Coder::kThreads, Coder::kResident);
  return 1;
}

template <typename Coder>
constexpr int resident_decode_blocks() {
  if constexpr (requires { Coder::kDecodeResident; }) {
    return resident(Coder::kThreads, Coder::kDecodeResident);
  }
  return resident_blocks<Coder>();
}

template <typename Coder>
struct DecodeStateOf {
  using Type = typename Coder::State;
};

template <typename Coder>
  requires requires { typename Coder::DecodeState; }
struct DecodeStateOf<Coder> {
  using Type = typename Coder::DecodeState;
};

// Payloads of a thread block that decodes, if there is room for so many.
template <typename Coder>
constexpr int decode_payloads(int payloads) {
  if constexpr (requires { Coder::kDecodePayloads; }) return Coder::kDecodePayloads;
  return payloads;
}

template <typename Coder, int kPayloads = kPayloadsHere>
using DecodeShared =
    VariableShared<Coder, decode_payloads<Coder>(kPayloads), typename DecodeStateOf<Coder>::Type>;

template <typename Coder>
using CoderWord = WordOf<Coder::kDtype>;

// Who codes which chunk. Thread blocks take them in order, by ticket, so that those that others
// wait for are being worked on, whatever else runs on the GPU. If there is a block for each, the
// order in which blocks are dispatched does as well, and nobody waits for a ticket.
class Tickets {
 public:
  __device__ Tickets(std::byte* workspace, std::uint64_t chunks)
      : ticket_(&state_of(workspace)->ticket),
        chunks_(chunks),
        one_each_(chunks <= std::uint64_t{gridDim.x} - 1) {}

  // For whole thread blocks; `shared` is shared memory of theirs.
  __device__ std::uint64_t first(std::uint64_t& shared) const {
    return one_each_ ? std::uint64_t{blockIdx.x} - 1 : taken_for_all(shared);
  }
  __device__ std::uint64_t next_for_all(std::uint64_t& shared) const {
    return one_each_ ? chunks_ : taken_for_all(shared);
  }

  // Whether every block codes one chunk at most.
  __device__ bool one_each() const { return one_each_; }

  // For one thread of a block.
  __device__ std::uint64_t next() const { return one_each_ ? chunks_ : atomicAdd(ticket_, 1ull); }

  // The same in two steps for a thread that goes on between them; the first one is left out if
  // there is a block for each chunk. The compiler joins the additions of a warp, which then waits
  // for the answer at once, but not these; no GPU has memory for 2^32 chunks.
  __device__ unsigned ask_for_next() const {
    return atomicInc(reinterpret_cast<unsigned*>(ticket_), ~0u - 1);
  }
  __device__ std::uint64_t asked_for(unsigned ticket) const { return one_each_ ? chunks_ : ticket; }

 private:
  __device__ std::uint64_t taken_for_all(std::uint64_t& shared) const {
    if (threadIdx.x == 0) shared = atomicAdd(ticket_, 1ull);
    __syncthreads();
    return shared;
  }

  unsigned long long* ticket_;
  std::uint64_t chunks_;
  bool one_each_;
};

// The end of a thread block's part, with all of its writes; true for all threads of the last one,
// which leaves the workspace as it was found. For whole thread blocks.
__device__ inline bool ends_grid(std::byte* workspace, std::uint64_t chunks) {
  VariableState* const state = state_of(workspace);
  if (!arrives_last(&state->arrived, gridDim.x)) return false;
  ScanWord* const words = words_of(workspace);
  for (std::uint64_t at = threadIdx.x; at < chunks; at += blockDim.x) words[at] = 0;
  if (threadIdx.x == 0) state->ticket = 0;
  return true;
}

}  // namespace thinwire::codec::cuda
