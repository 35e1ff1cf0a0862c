#include "shim/mpi/native/world.h"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "shim/mpi/native/mpi_symbols.h"
#include "shim/mpi/native/real.h"

namespace thinwire::mpi {
namespace {

// Two headers of the standard ABI exchange the numbers of the handlers that return and abort: that
// of MPICH 5.0.2, and that of Intel MPI 2021.19, whose libraries go by them.
#ifdef THINWIRE_MPI_ABI
bool is_intels() { return library_version().find("Intel(R) MPI") != std::string::npos; }
#endif

bool enter_by_session(World& world) {
  if (!real().Session_init.is_there() ||
      real().Session_init(MPI_INFO_NULL, errors_return(), &world.session) != MPI_SUCCESS) {
    return false;
  }
  if (real().Group_from_session_pset(world.session, "mpi://WORLD", &world.group) != MPI_SUCCESS) {
    real().Session_finalize(&world.session);
    return false;
  }
  real().Group_rank(world.group, &world.rank);
  real().Group_size(world.group, &world.size);
  return true;
}

}  // namespace

MPI_Errhandler errors_return() {
#ifdef THINWIRE_MPI_ABI
  static const std::uintptr_t number = is_intels() ? 0x142 : 0x143;
  return reinterpret_cast<MPI_Errhandler>(number);
#else
  return MPI_ERRORS_RETURN;
#endif
}

bool enter_world(World& world, bool by_session) {
  world.by_session = by_session;
  if (by_session) return enter_by_session(world);
  real().Comm_rank(MPI_COMM_WORLD, &world.rank);
  real().Comm_size(MPI_COMM_WORLD, &world.size);
  real().Comm_group(MPI_COMM_WORLD, &world.group);
  return true;
}

void leave_world(World world) {
  real().Group_free(&world.group);
  if (world.by_session) real().Session_finalize(&world.session);
}

MPI_Comm make_private_communicator(const World& world) {
  MPI_Comm made = MPI_COMM_NULL;
  if (world.by_session) {
    MPI_Group self{};
    real().Group_from_session_pset(world.session, "mpi://SELF", &self);
    real().Comm_create_from_group(self, "thinwire", MPI_INFO_NULL, errors_return(), &made);
    real().Group_free(&self);
    return made;
  }
  // A duplicate would call the program's attribute functions; and what goes wrong here is raised on
  // the communicator of the message, by the caller.
  real().Comm_split(MPI_COMM_SELF, 0, 0, &made);
  real().Comm_set_errhandler(made, errors_return());
  return made;
}

namespace {

std::mutex g_mutex;
std::atomic<bool> g_made{false};
MPI_Comm g_self;
const World kByInit;
const World* g_world = &kByInit;
std::atomic<unsigned> g_next_tag{0};

MPI_Comm self() {
  if (g_made.load(std::memory_order_acquire)) return g_self;
  const std::lock_guard lock(g_mutex);
  if (!g_made.load(std::memory_order_relaxed)) {
    g_self = make_private_communicator(*g_world);
    g_made.store(true, std::memory_order_release);
  }
  return g_self;
}

// MPI guarantees tags up to 32767; one tag a call keeps concurrent threads apart.
int next_tag() { return static_cast<int>(g_next_tag.fetch_add(1) & 0x7FFF); }

}  // namespace

void place_self_in(const World& world) { g_world = &world; }

void make_self() { self(); }

MPI_Comm new_self() { return make_private_communicator(*g_world); }

bool has_free_communicator() {
  static std::mutex mutex;  // one collective at a time on a communicator
  const std::lock_guard lock(mutex);
  MPI_Comm made = MPI_COMM_NULL;
  if (real().Comm_split(self(), 0, 0, &made) != MPI_SUCCESS || made == MPI_COMM_NULL) return false;
  real().Comm_free(&made);
  return true;
}

// A message to nobody makes the MPI look at its arguments and at nothing else.
bool is_committed(MPI_Datatype type) {
  char nothing = 0;
  return real().Send(&nothing, 1, type, MPI_PROC_NULL, 0, self()) == MPI_SUCCESS;
}

int self_copy(const void* from, MPI_Count from_count, MPI_Datatype from_type, void* to,
              MPI_Count to_count, MPI_Datatype to_type) {
  const int tag = next_tag();
  return real().Sendrecv(from, from_count, from_type, 0, tag, to, to_count, to_type, 0, tag, self(),
                         MPI_STATUS_IGNORE);
}

Token make_token() {
  const int tag = next_tag();
  Token token{};
  real().Isend(nullptr, 0, MPI_BYTE, 0, tag, self(), &token.send);
  real().Mprobe(0, tag, self(), &token.message, MPI_STATUS_IGNORE);
  return token;
}

void spend_token(Token token) {
  real().Mrecv(nullptr, 0, MPI_BYTE, &token.message, MPI_STATUS_IGNORE);
  real().Wait(&token.send, MPI_STATUS_IGNORE);
}

void release_self() {
  if (g_made.exchange(false)) real().Comm_free(&g_self);
}

}  // namespace thinwire::mpi
