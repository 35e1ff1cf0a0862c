// The processes of the job, through MPI_Init or, in a program of sessions alone, through a session
// of the shim's own.
#pragma once

#include "shim/mpi/native/mpi_abi.h"

namespace thinwire::mpi {

struct World {
  int rank = 0;
  int size = 1;
  MPI_Group group{};        // of all of them
  bool by_session = false;  // there is no MPI_COMM_WORLD
  MPI_Session session{};    // by_session: the shim's own
};

// After the MPI started. False: the MPI does not say who is there.
bool enter_world(World& world, bool by_session);
void leave_world(World world);

// The handler that returns errors, for communicators of the shim's own.
MPI_Errhandler errors_return();

// A communicator of this process alone, which nobody else knows of; errors on it are returned.
MPI_Comm make_private_communicator(const World& world);

// A private communicator of this process alone: type conversion, message tokens and errors.

// How the MPI was started: the caller's, who keeps it and may change it while there is no
// communicator. That is made at its first use; without this call, of what MPI_Init started.
void place_self_in(const World& world);

// Makes it now: before several threads call the MPI, which may then have to wait for each other.
void make_self();

// Another such communicator, for the caller to free.
MPI_Comm new_self();

// Whether this process' MPI has a communicator to give. An error is the program's to see nowhere.
bool has_free_communicator();

// Whether the MPI takes the type in a call that communicates.
bool is_committed(MPI_Datatype type);

// Copies between two buffers of any datatypes; returns an MPI error code.
int self_copy(const void* from, MPI_Count from_count, MPI_Datatype from_type, void* to,
              MPI_Count to_count, MPI_Datatype to_type);

// A real, matched MPI_Message of zero bytes, for a message that was received ahead of its
// MPI_Mrecv; `spend_token` ends it.
struct Token {
  MPI_Message message;
  MPI_Request send;
};
Token make_token();
void spend_token(Token token);

void release_self();

}  // namespace thinwire::mpi
