/* The library's counters among the MPI's performance variables: all are found by number and by
 * name, the MPI's own stay what they were, and the figures are those of what was sent. Prints "ok".
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kCount = 1 << 16, kMessages = 5 };

static float sent[kCount], received[kCount];
static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

static int index_of(const char* name, int var_class) {
  int index = -1;
  expect(MPI_T_pvar_get_index(name, var_class, &index) == MPI_SUCCESS, name);
  return index;
}

static long long read_variable(MPI_T_pvar_session session, const char* name, int var_class) {
  MPI_T_pvar_handle handle;
  int count = 0;
  long long value = -1;
  expect(MPI_T_pvar_handle_alloc(session, index_of(name, var_class), NULL, &handle, &count) ==
             MPI_SUCCESS,
         "a handle is made");
  expect(count == 1, "it has one value");
  expect(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS, "it is read");
  expect(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP, "it runs always");
  expect(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE, "nobody writes it");
  expect(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS, "a handle is freed");
  expect(handle == MPI_T_PVAR_HANDLE_NULL, "it is none then");
  return value;
}

/* Every number has a name of its own, and the MPI's own variables, which the name begins with
 * something else, come back to their number. */
static int own_variables(void) {
  int all = 0, own = 0;
  expect(MPI_T_pvar_get_num(&all) == MPI_SUCCESS, "their number");
  for (int index = 0; index < all; ++index) {
    char name[256], text[256];
    int name_length = sizeof name, text_length = sizeof text, verbosity, var_class, bind, read_only,
        continuous, atomic, back = -1;
    MPI_Datatype type;
    MPI_T_enum values;
    const int error =
        MPI_T_pvar_get_info(index, name, &name_length, &verbosity, &var_class, &type, &values, text,
                            &text_length, &bind, &read_only, &continuous, &atomic);
    if (error != MPI_SUCCESS) continue; /* of a part of the MPI that is not there */
    if (strncmp(name, "thinwire_", 9) == 0) {
      int size = 8, started = 0;
      MPI_Initialized(&started); /* before that nobody may ask for a type's size */
      if (started) MPI_Type_size(type, &size);
      expect(size == 8 && read_only && continuous, name);
      expect(name_length == (int)strlen(name) + 1, "the name's length");
      ++own;
    }
    if (MPI_T_pvar_get_index(name, var_class, &back) == MPI_SUCCESS) expect(back == index, name);
  }
  /* A text is cut to its room, and its whole length is told. */
  const int first = index_of("thinwire_messages", MPI_T_PVAR_CLASS_COUNTER);
  char few[5] = "....";
  int length = sizeof few;
  MPI_T_pvar_get_info(first, few, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                      NULL);
  expect(strcmp(few, "thin") == 0 && length == (int)sizeof "thinwire_messages", "a cut name");
  expect(MPI_T_pvar_get_info(all, few, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                             NULL, NULL) != MPI_SUCCESS,
         "there are no more");
  return own;
}

/* Checks that the variables of categories are the MPI's own. */
static void look_at_categories(void) {
  int categories = 0;
  MPI_T_category_get_num(&categories);
  for (int category = 0; category < categories; ++category) {
    char name[256], text[256];
    int name_length = sizeof name, text_length = sizeof text, cvars, pvars, inner, indices[512];
    if (MPI_T_category_get_info(category, name, &name_length, text, &text_length, &cvars, &pvars,
                                &inner) != MPI_SUCCESS ||
        pvars > 512) {
      continue;
    }
    expect(MPI_T_category_get_pvars(category, 512, indices) == MPI_SUCCESS, "a category is read");
    for (int at = 0; at < pvars; ++at) {
      char of[256] = "";
      int length = sizeof of;
      MPI_T_pvar_get_info(indices[at], of, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                          NULL, NULL);
      expect(strncmp(of, "thinwire_", 9) != 0, "a category has none of the library's");
    }
  }
}

int main(int argc, char** argv) {
  int provided, rank;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  const int before = own_variables();
  expect(before >= 20, "the library's are there before MPI_Init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int at = 0; at < kCount; ++at) sent[at] = (float)(at / 16);
  for (int round = 0; round < kMessages; ++round) {
    MPI_Sendrecv(sent, kCount, MPI_FLOAT, 1 - rank, 0, received, kCount, MPI_FLOAT, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  expect(memcmp(sent, received, sizeof sent) == 0, "the messages come as they were sent");
  expect(own_variables() == before, "their number stays");
  look_at_categories();
  MPI_T_pvar_session session;
  MPI_T_pvar_session_create(&session);
  const int counter = MPI_T_PVAR_CLASS_COUNTER;
  expect(read_variable(session, "thinwire_messages", counter) == kMessages, "messages");
  expect(read_variable(session, "thinwire_compressed_messages", counter) == kMessages,
         "compressed ones");
  expect(read_variable(session, "thinwire_compressed_bytes", counter) ==
             (long long)kMessages * (long long)sizeof sent,
         "their bytes");
  const long long wire = read_variable(session, "thinwire_compressed_wire_bytes", counter);
  expect(wire > 0 && wire < (long long)kMessages * (long long)sizeof sent, "as sent");
  /* Over a link of 10 Mbit/s as stated. */
  expect(
      read_variable(session, "thinwire_predicted_saved_nanoseconds", MPI_T_PVAR_CLASS_GENERIC) > 0,
      "time is saved");
  expect(read_variable(session, "thinwire_pool_peak_bytes", MPI_T_PVAR_CLASS_HIGHWATERMARK) > 0,
         "memory is used");
  int index;
  expect(MPI_T_pvar_get_index("thinwire_messages", MPI_T_PVAR_CLASS_GENERIC, &index) != MPI_SUCCESS,
         "a name is of one class");
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  MPI_Finalize();
  if (failures == 0) puts("ok");
  return failures != 0;
}
