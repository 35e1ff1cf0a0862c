// MPI_Init, MPI_Finalize and sessions: where the shim starts and ends.
//
// It runs from the first of them to the last, because a message may meet a frame on a communicator
// of either kind. Only one thread may be in MPI_Init or MPI_Finalize; sessions are for any.
#include <mutex>

#include "abi/real.h"
#include "peers/launcher.h"
#include "process/process.h"

using namespace thinwire::mpi;

namespace {

std::mutex g_init_mutex;
bool g_initialized = false;
int g_sessions = 0;

bool nothing_runs() { return !g_initialized && g_sessions == 0; }

template <typename Call>
int initialize(Call&& call) {
  const std::lock_guard lock(g_init_mutex);
  if (nothing_runs()) before_start();
  const int error = call();
  if (error != MPI_SUCCESS) return error;
  if (nothing_runs()) after_start(false);
  g_initialized = true;
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

extern "C" int MPI_Finalize() {
  {
    const std::lock_guard lock(g_init_mutex);
    g_initialized = false;
    if (nothing_runs()) {
      before_end(true);
    } else {
      before_world_ends();
    }
  }
  return real().Finalize();
}
THINWIRE_ALSO_PMPI(Finalize);

extern "C" int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const std::lock_guard lock(g_init_mutex);
  if (nothing_runs()) before_start();
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
  const LauncherCall call;
  return real().Session_finalize(session);
}
THINWIRE_ALSO_PMPI(Session_finalize);
