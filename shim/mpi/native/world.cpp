#include "shim/mpi/native/world.h"

#include "shim/mpi/native/real.h"

namespace thinwire::mpi {
namespace {

bool enter_by_session(World& world) {
  if (!real().Session_init.is_there() ||
      real().Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &world.session) != MPI_SUCCESS) {
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
    real().Comm_create_from_group(self, "thinwire", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    real().Group_free(&self);
    return made;
  }
  // A duplicate would call the program's attribute functions; and what goes wrong here is raised on
  // the communicator of the message, by the caller.
  real().Comm_split(MPI_COMM_SELF, 0, 0, &made);
  real().Comm_set_errhandler(made, MPI_ERRORS_RETURN);
  return made;
}

}  // namespace thinwire::mpi
