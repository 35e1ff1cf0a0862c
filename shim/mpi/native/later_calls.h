// Calls of MPI 4 and later that the mpi.h at hand may not declare: an object that is built with an
// older header serves newer libraries of its ABI as well, if it finds them at run time.
#pragma once

// Open MPI 5 has sessions and these calls, and says that it is MPI 3.1.
#if MPI_VERSION < 4 && !(defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define THINWIRE_DECLARE_SESSIONS
#endif

extern "C" {
#ifdef THINWIRE_DECLARE_SESSIONS
typedef struct ompi_instance_t* MPI_Session;
int PMPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session);
int PMPI_Session_finalize(MPI_Session* session);
int PMPI_Group_from_session_pset(MPI_Session session, const char* name, MPI_Group* group);
int PMPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info,
                                MPI_Errhandler handler, MPI_Comm* comm);
int PMPI_Isendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Request* request);
int PMPI_Isendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Request* request);
#endif
#if MPI_VERSION < 4
int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers,
                             MPI_Count* num_addresses, MPI_Count* num_large_counts,
                             MPI_Count* num_datatypes, int* combiner);
int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes, int integers[],
                             MPI_Aint addresses[], MPI_Count large_counts[],
                             MPI_Datatype datatypes[]);
#endif
#if MPI_VERSION < 4 || (MPI_VERSION == 4 && MPI_SUBVERSION == 0)
int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                MPI_Status* status);
int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                MPI_Status statuses[]);
int PMPI_Request_get_status_some(int incount, const MPI_Request requests[], int* outcount,
                                 int indices[], MPI_Status statuses[]);
#endif
}

#undef THINWIRE_DECLARE_SESSIONS
