#include "collective/calls.h"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <stdexcept>

#include "collective/data.h"

namespace thinwire::bench {
namespace {

std::string sentence(tw_status status) {
  return std::string(tw_status_text(status)) + ": " + tw_last_error();
}

void check(tw_status status) {
  if (status != TW_OK) throw std::runtime_error(sentence(status));
}

// The library is loaded beside the MPI and not in front of it, so that the MPI's own calls stay
// native.
tw_transport make_transport(const std::string& path) {
  using Entry = tw_status (*)(const void*, tw_transport*);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "tw_mpi_transport"));
  if (entry == nullptr) throw std::runtime_error(path + " has no tw_mpi_transport()");
  tw_transport transport{};
  transport.size = sizeof transport;
  const MPI_Comm world = MPI_COMM_WORLD;
  if (entry(&world, &transport) != TW_OK) {
    throw std::runtime_error(path + " makes no transport over MPI_COMM_WORLD");
  }
  return transport;
}

}  // namespace

Codec::Codec(const std::string& spec) { check(tw_codec_create(spec.c_str(), &codec_)); }

bool Codec::is_lossless() const {
  const std::int32_t id = tw_codec_id(codec_);
  for (std::uint32_t i = 0; i < tw_codec_count(); ++i) {
    tw_codec_info info{};
    info.size = sizeof info;
    check(tw_codec_describe(i, &info));
    if (static_cast<std::int32_t>(info.id) == id) return info.lossless != 0;
  }
  return true;  // "off" and "auto"
}

Communicator::Communicator(const Options& options, const std::vector<std::int32_t>& nodes) {
  const tw_transport transport = make_transport(options.transport);
  tw_comm_options asked{};
  asked.size = sizeof asked;
  asked.threshold = static_cast<std::uint64_t>(options.threshold);
  asked.piece_bytes = static_cast<std::uint64_t>(options.piece);
  asked.link_bytes_per_second = options.link;
  asked.nodes = options.apart ? nullptr : nodes.data();
  check(tw_comm_create(&transport, &asked, &comm_));
}

std::string Communicator::refusal(const tw_collective& call) const {
  tw_collective_report report{};
  report.size = sizeof report;
  const tw_status status = tw_comm_plan(comm_, &call, &report);
  return status == TW_OK ? "" : sentence(status);
}

tw_collective_report Communicator::run(const tw_collective& call) {
  tw_collective_report report{};
  report.size = sizeof report;
  check(tw_comm_run(comm_, &call, &report));
  return report;
}

tw_collective make_call(const Options& options, tw_operation operation, const Case& one,
                        const Codec& codec, std::int64_t count) {
  tw_collective call{};
  call.size = sizeof call;
  call.operation = operation;
  call.dtype = options.dtype;
  call.reduction = TW_SUM;
  call.root = options.root;
  call.algorithm = one.algorithm;
  call.coding = one.coding;
  call.count = static_cast<std::uint64_t>(count);
  call.codec = codec.get();
  return call;
}

namespace {

// 16-bit floats are words to MPI.
MPI_Datatype mpi_type(tw_dtype dtype) {
  if (dtype == TW_F32) return MPI_FLOAT;
  return dtype == TW_F64 ? MPI_DOUBLE : MPI_UINT16_T;
}

// Adds in fp32 and rounds once, as the library does (decision 0014).
template <tw_dtype kDtype>
void add_narrow(void* from, void* into, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const char*>(from);
  auto* right = static_cast<char*>(into);
  for (int at = 0; at < *count; ++at, left += 2, right += 2) {
    const auto sum = static_cast<float>(number_at(kDtype, left) + number_at(kDtype, right));
    put_number(kDtype, sum, right);
  }
}

// MPI has no sums of 16-bit floats: an operation of the program's own is its native way.
MPI_Op sum_of(tw_dtype dtype) {
  if (dtype == TW_F32 || dtype == TW_F64) return MPI_SUM;
  static MPI_Op made[2] = {MPI_OP_NULL, MPI_OP_NULL};
  MPI_Op& op = made[dtype == TW_F16 ? 0 : 1];
  if (op == MPI_OP_NULL) {
    MPI_Op_create(dtype == TW_F16 ? add_narrow<TW_F16> : add_narrow<TW_BF16>, 1, &op);
  }
  return op;
}

}  // namespace

void run_native(tw_operation operation, tw_dtype dtype, const Group& group, std::int64_t count,
                const void* send, void* receive) {
  const MPI_Datatype type = mpi_type(dtype);
  const int n = static_cast<int>(count);
  const MPI_Comm world = MPI_COMM_WORLD;
  switch (operation) {
    case TW_BCAST:
      MPI_Bcast(receive, n, type, group.root, world);
      return;
    case TW_ALLGATHER:
      MPI_Allgather(send, n, type, receive, n, type, world);
      return;
    case TW_GATHER:
      MPI_Gather(send, n, type, receive, n, type, group.root, world);
      return;
    case TW_SCATTER:
      MPI_Scatter(send, n, type, receive, n, type, group.root, world);
      return;
    case TW_ALLTOALL:
      MPI_Alltoall(send, n, type, receive, n, type, world);
      return;
    case TW_REDUCE:
      MPI_Reduce(send, receive, n, type, sum_of(dtype), group.root, world);
      return;
    case TW_ALLREDUCE:
      MPI_Allreduce(send, receive, n, type, sum_of(dtype), world);
      return;
    case TW_REDUCE_SCATTER:
      MPI_Reduce_scatter_block(send, receive, n, type, sum_of(dtype), world);
      return;
  }
}

Nodes::Nodes(std::int64_t filler)
    : sent_(static_cast<std::size_t>(filler)), received_(static_cast<std::size_t>(filler)) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local_rank_);
  std::int32_t leader = rank;
  MPI_Bcast(&leader, 1, MPI_INT32_T, 0, node);
  MPI_Comm_free(&node);
  of_ranks_.resize(static_cast<std::size_t>(size));
  MPI_Allgather(&leader, 1, MPI_INT32_T, of_ranks_.data(), 1, MPI_INT32_T, MPI_COMM_WORLD);
  count_ = 0;
  for (int i = 0; i < size; ++i) count_ += of_ranks_[i] == i ? 1 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, leader == rank ? 0 : MPI_UNDEFINED, rank, &leaders_);
}

Nodes::~Nodes() {
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
}

void Nodes::fill() {
  if (leaders_ != MPI_COMM_NULL && count_ > 1 && !sent_.empty()) {
    int place = 0;
    MPI_Comm_rank(leaders_, &place);
    const auto bytes = static_cast<int>(sent_.size());
    MPI_Sendrecv(sent_.data(), bytes, MPI_BYTE, (place + 1) % count_, 0, received_.data(), bytes,
                 MPI_BYTE, (place + count_ - 1) % count_, 0, leaders_, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace thinwire::bench
