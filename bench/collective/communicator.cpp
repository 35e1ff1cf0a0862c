#include "collective/communicator.h"

#include <dlfcn.h>
#include <mpi.h>

#include <stdexcept>

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

}  // namespace thinwire::bench
