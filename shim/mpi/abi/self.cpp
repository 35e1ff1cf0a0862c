#include "abi/self.h"

#include <atomic>
#include <mutex>

#include "abi/real.h"

namespace thinwire::mpi {
namespace {

std::once_flag g_once;
MPI_Comm g_self;
bool g_made = false;
std::atomic<unsigned> g_next_tag{0};

MPI_Comm self() {
  std::call_once(g_once, [] {
    // A duplicate would call the program's attribute functions; and what goes wrong here is raised
    // on the communicator of the message, by the caller.
    real().Comm_split(MPI_COMM_SELF, 0, 0, &g_self);
    real().Comm_set_errhandler(g_self, MPI_ERRORS_RETURN);
    g_made = true;
  });
  return g_self;
}

// MPI guarantees tags up to 32767; one tag a call keeps concurrent threads apart.
int next_tag() { return static_cast<int>(g_next_tag.fetch_add(1) & 0x7FFF); }

}  // namespace

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
  if (g_made) real().Comm_free(&g_self);
  g_made = false;
}

}  // namespace thinwire::mpi
