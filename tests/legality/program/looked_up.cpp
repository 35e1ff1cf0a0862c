// Calls that a rank looks up in the MPI's own library, as ctypes and Julia do, where others are
// linked to them.
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "floats.h"

namespace legality {
namespace {

int note_library(dl_phdr_info* info, std::size_t, void* found) {
  const char* const slash = std::strrchr(info->dlpi_name, '/');
  if (slash == nullptr || std::strncmp(slash, "/libmpi", 7) != 0) return 0;
  void* const handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  const bool is_mpis = handle != nullptr && dlsym(handle, "PMPI_Init") != nullptr;
  if (is_mpis) *static_cast<void**>(found) = handle;
  return is_mpis ? 1 : 0;
}

void* library_of_mpi() {
  static void* const handle = [] {
    void* found = nullptr;
    dl_iterate_phdr(note_library, &found);
    return found;
  }();
  return handle;
}

// By a rank's own draw: the linked function, or one of two that are looked up.
template <typename Call>
Call one_of(Call linked, const char* name, Random& own) {
  const int way = own.below(3);
  if (way == 0 || library_of_mpi() == nullptr) return linked;
  void* const found = dlsym(way == 1 ? library_of_mpi() : RTLD_DEFAULT, name);
  mark(Feature::looked_up_);
  return found == nullptr ? linked : reinterpret_cast<Call>(found);
}

#define ONE_OF(name, own) one_of(&name, #name, own)

void pass_on(const Group& group, std::uint64_t key, int count, Random& own, Record& record) {
  const std::vector<float> out = floats_of(key + static_cast<std::uint64_t>(group.rank), count);
  std::vector<float> in(out.size());
  const int tag = group.phase * 64;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  const bool waits = own.chance(50);
  if (waits) {
    MUST(ONE_OF(MPI_Irecv, own)(in.data(), count, MPI_FLOAT, last_of(group), tag, group.comm,
                                &request));
    MUST(ONE_OF(MPI_Send, own)(out.data(), count, MPI_FLOAT, next_of(group), tag, group.comm));
    MUST(ONE_OF(MPI_Wait, own)(&request, &status));
  } else {
    MUST(ONE_OF(MPI_Isend, own)(out.data(), count, MPI_FLOAT, next_of(group), tag, group.comm,
                                &request));
    MUST(ONE_OF(MPI_Recv, own)(in.data(), count, MPI_FLOAT, last_of(group), tag, group.comm,
                               &status));
    MUST(ONE_OF(MPI_Wait, own)(&request, MPI_STATUS_IGNORE));
  }
  int got = 0;
  MUST(ONE_OF(MPI_Get_count, own)(&status, MPI_FLOAT, &got));
  if (got != count) complain("the count of a looked-up receive");
  check_floats(in.data(), key + static_cast<std::uint64_t>(last_of(group)), count,
               "a looked-up receive", record);
}

void spread_out(const Group& group, std::uint64_t key, int count, int root, Random& own,
                Record& record) {
  std::vector<float> values(static_cast<std::size_t>(count));
  if (group.rank == root) values = floats_of(key, count);
  MUST(ONE_OF(MPI_Bcast, own)(values.data(), count, MPI_FLOAT, root, group.comm));
  check_floats(values.data(), key, count, "a looked-up broadcast", record);
}

}  // namespace

Record run_looked_up(const Group& group, Random random) {
  Record record;
  const int turns = random.between(1, 3);
  Random own = random.part(1000 + static_cast<std::uint64_t>(group.rank));
  for (int turn = 0; turn < turns; ++turn) {
    const std::uint64_t key = random.next();
    const int count = random.between(16, 30000), root = random.below(group.size);
    const bool messages = random.chance(60);
    if (dropped(group.phase, turn)) continue;
    if (messages) pass_on(group, key, count, own, record);
    if (!messages) spread_out(group, key, count, root, own, record);
  }
  return record;
}

}  // namespace legality
