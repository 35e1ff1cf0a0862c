// MPI_Init, MPI_Finalize and sessions: where the shim starts and ends.
//
// It runs from the first of them to the last, because a message may meet a frame on a communicator
// of either kind. Only one thread may be in MPI_Init or MPI_Finalize; sessions are for any.
#include <cstdlib>
#include <mutex>
#include <utility>

#include "shim/mpi/job/launcher.h"
#include "shim/mpi/native/real.h"
#include "shim/mpi/native/step_aside.h"
#include "shim/mpi/start.h"
#include "shim/mpi/state/fast_path.h"
#include "thinwire/thinwire.h"

using namespace thinwire::mpi;

namespace {

std::mutex g_init_mutex;
bool g_initialized = false;
int g_sessions = 0;

bool g_ends_last = false;  // MPI_Finalize itself ends what belongs to MPI_COMM_WORLD

bool nothing_runs() { return !g_initialized && g_sessions == 0; }

void end_world() {
  const std::lock_guard lock(g_init_mutex);
  if (!std::exchange(g_initialized, false)) return;
  if (nothing_runs()) {
    before_end(true);
  } else {
    before_world_ends();
  }
}

// MPI works until the delete callbacks of MPI_COMM_SELF's attributes have returned, which run in
// the inverse order of their setting (MPI 4.1, 11.2.4): that of the first one runs last.
extern "C" int thinwire_self_not_copied(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

extern "C" int thinwire_self_deleted(MPI_Comm, int, void*, void*) {
  end_world();
  return MPI_SUCCESS;
}

bool set_first_attribute() {
  int keyval = MPI_KEYVAL_INVALID;
  if (real().Comm_create_keyval(thinwire_self_not_copied, thinwire_self_deleted, &keyval,
                                nullptr) != MPI_SUCCESS) {
    return false;
  }
  const bool is_set = real().Comm_set_attr(MPI_COMM_SELF, keyval, nullptr) == MPI_SUCCESS;
  real().Comm_free_keyval(&keyval);  // gone with the attribute
  return is_set;
}

template <typename Call>
int initialize(Call&& call) {
  real();  // looks which MPI this is
  if (stands_aside()) return call();
  const std::lock_guard lock(g_init_mutex);
  if (nothing_runs()) before_start();
  const int error = call();
  if (error != MPI_SUCCESS) return error;
  if (nothing_runs()) after_start(false);
  g_initialized = true;
  g_ends_last = shim_is_active() && set_first_attribute();
  return error;
}

}  // namespace

extern "C" int MPI_Init(int* argc, char*** argv) {
  return initialize([&] { return real().Init(argc, argv); });
}
THINWIRE_ALSO_PMPI(Init);

extern "C" int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return initialize([&] { return real().Init_thread(argc, argv, required, provided); });
}
THINWIRE_ALSO_PMPI(Init_thread);

// If sessions go on, the MPI may let the callbacks wait for the last of them.
bool finalize_ends_it() {
  const std::lock_guard lock(g_init_mutex);
  return g_ends_last && g_sessions == 0;
}

extern "C" int MPI_Finalize() {
  if (!finalize_ends_it()) end_world();
  return real().Finalize();
}
THINWIRE_ALSO_PMPI(Finalize);

// Its arguments are handles, which this library cannot hand on.
[[noreturn]] void refuse_session() {
  tw_log(TW_LOG_ERROR, "a module's constructor opens a session of another MPI than this library's");
  std::abort();
}

extern "C" int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  real();
  if (stands_aside()) refuse_session();
  const std::lock_guard lock(g_init_mutex);
  nothing_runs() ? before_start() : learn_of_everybody();
  int error = MPI_SUCCESS;
  {
    const LauncherCall call;
    error = real().Session_init(info, handler, session);
  }
  if (error != MPI_SUCCESS) return error;
  if (nothing_runs()) after_start(true);
  ++g_sessions;
  return error;
}
THINWIRE_ALSO_PMPI(Session_init);

// The MPI may wait for other processes here, so no lock is held meanwhile.
extern "C" int MPI_Session_finalize(MPI_Session* session) {
  {
    const std::lock_guard lock(g_init_mutex);
    if (g_sessions > 0) --g_sessions;
    if (nothing_runs()) before_end(false);
  }
  learn_of_everybody();
  const LauncherCall call;
  return real().Session_finalize(session);
}
THINWIRE_ALSO_PMPI(Session_finalize);
