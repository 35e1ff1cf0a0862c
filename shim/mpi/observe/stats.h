// Figures of the program's MPI calls for tw_stats_read().
#pragma once

#include "thinwire/thinwire.h"

namespace thinwire::mpi {

tw_stats stats_now();

}  // namespace thinwire::mpi
