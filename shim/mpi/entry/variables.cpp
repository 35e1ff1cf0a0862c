// MPI_T_pvar_*: the library's counters among the MPI's performance variables. They run always and
// nobody writes them, so that no session has a state of theirs, and a handle is the variable.
#include "shim/mpi/observe/variables.h"

#include <atomic>
#include <cstring>
#include <string_view>

#include "shim/mpi/native/real.h"

using namespace thinwire::mpi;

namespace {

// How many variables the MPI had when the program first asked; -1: it has not.
std::atomic<int> g_of_mpi{-1};

// False if the tools interface is not initialised; `error` is the MPI's then.
bool asks(int& error) {
  if (g_of_mpi.load(std::memory_order_acquire) >= 0) return true;
  int now = 0, before = -1;
  error = real().T_pvar_get_num(&now);
  if (error != MPI_SUCCESS) return false;
  g_of_mpi.compare_exchange_strong(before, now);
  return true;
}

VariableNumbers numbers() { return VariableNumbers(g_of_mpi.load(std::memory_order_acquire)); }

MPI_T_pvar_handle handle_of(int own) {
  return reinterpret_cast<MPI_T_pvar_handle>(const_cast<Variable*>(&kVariables[own]));
}

// -1: the handle is the MPI's.
int own_of(MPI_T_pvar_handle handle) {
  for (int own = 0; own < kVariableCount; ++own) {
    if (handle == handle_of(own)) return own;
  }
  return -1;
}

// As MPI gives texts: as much as there is room for, and the whole length, with the zero byte.
void give_text(std::string_view text, char* to, int* length) {
  if (length == nullptr) return;
  if (to != nullptr && *length > 0) {
    const std::size_t room = static_cast<std::size_t>(*length) - 1;
    to[text.copy(to, room)] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

template <typename Value>
void give(Value value, Value* to) {
  if (to != nullptr) *to = value;
}

int class_of(const Variable& variable) {
  if (variable.kind == Variable::kPeak) return MPI_T_PVAR_CLASS_HIGHWATERMARK;
  return variable.kind == Variable::kSigned ? MPI_T_PVAR_CLASS_GENERIC : MPI_T_PVAR_CLASS_COUNTER;
}

}  // namespace

extern "C" int MPI_T_pvar_get_num(int* number) {
  int error = MPI_SUCCESS;
  if (!asks(error)) return error;
  error = real().T_pvar_get_num(number);
  if (error == MPI_SUCCESS) *number += kVariableCount;
  return error;
}
THINWIRE_ALSO_PMPI(T_pvar_get_num);

extern "C" int MPI_T_pvar_get_info(int index, char* name, int* name_length, int* verbosity,
                                   int* var_class, MPI_Datatype* type, MPI_T_enum* values,
                                   char* text, int* text_length, int* bind, int* is_read_only,
                                   int* is_continuous, int* is_atomic) {
  int error = MPI_SUCCESS;
  if (!asks(error)) return error;
  const int own = numbers().own(index);
  if (own < 0) {
    return real().T_pvar_get_info(numbers().to_mpi(index), name, name_length, verbosity, var_class,
                                  type, values, text, text_length, bind, is_read_only,
                                  is_continuous, is_atomic);
  }
  const Variable& variable = kVariables[own];
  give_text(variable.name, name, name_length);
  give_text(variable.description, text, text_length);
  give<int>(MPI_T_VERBOSITY_USER_BASIC, verbosity);
  give(class_of(variable), var_class);
  give<MPI_Datatype>(variable.kind == Variable::kSigned ? MPI_COUNT : MPI_UNSIGNED_LONG_LONG, type);
  give<MPI_T_enum>(MPI_T_ENUM_NULL, values);
  give<int>(MPI_T_BIND_NO_OBJECT, bind);
  give(1, is_read_only);
  give(1, is_continuous);
  give(0, is_atomic);
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(T_pvar_get_info);

extern "C" int MPI_T_pvar_get_index(const char* name, int var_class, int* index) {
  int error = MPI_SUCCESS;
  if (!asks(error)) return error;
  for (int own = 0; name != nullptr && index != nullptr && own < kVariableCount; ++own) {
    if (std::strcmp(name, kVariables[own].name) != 0) continue;
    if (var_class != class_of(kVariables[own])) return MPI_T_ERR_INVALID_NAME;
    *index = numbers().first_own() + own;
    return MPI_SUCCESS;
  }
  error = real().T_pvar_get_index(name, var_class, index);
  if (error == MPI_SUCCESS) *index = numbers().to_program(*index);
  return error;
}
THINWIRE_ALSO_PMPI(T_pvar_get_index);

extern "C" int MPI_T_category_get_pvars(int category, int length, int indices[]) {
  int error = MPI_SUCCESS;
  if (!asks(error)) return error;
  error = real().T_category_get_pvars(category, length, indices);
  if (error != MPI_SUCCESS) return error;
  int in_category = 0, no_room = 0, none = 0, cvars = 0, categories = 0;
  error = real().T_category_get_info(category, nullptr, &no_room, nullptr, &none, &cvars,
                                     &in_category, &categories);
  for (int at = 0; error == MPI_SUCCESS && at < length && at < in_category; ++at) {
    indices[at] = numbers().to_program(indices[at]);
  }
  return error;
}
THINWIRE_ALSO_PMPI(T_category_get_pvars);

extern "C" int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                                       MPI_T_pvar_handle* handle, int* count) {
  int error = MPI_SUCCESS;
  if (!asks(error)) return error;
  const int own = numbers().own(index);
  if (own < 0) {
    return real().T_pvar_handle_alloc(session, numbers().to_mpi(index), object, handle, count);
  }
  give(handle_of(own), handle);
  give(1, count);
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(T_pvar_handle_alloc);

extern "C" int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
  if (handle == nullptr || own_of(*handle) < 0) return real().T_pvar_handle_free(session, handle);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(T_pvar_handle_free);

extern "C" int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* value) {
  const int own = own_of(handle);
  if (own < 0) return real().T_pvar_read(session, handle, value);
  const std::uint64_t word = value_of(own);
  std::memcpy(value, &word, sizeof word);
  return MPI_SUCCESS;
}
THINWIRE_ALSO_PMPI(T_pvar_read);

extern "C" int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (own_of(handle) >= 0) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  return real().T_pvar_start(session, handle);
}
THINWIRE_ALSO_PMPI(T_pvar_start);

extern "C" int MPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (own_of(handle) >= 0) return MPI_T_ERR_PVAR_NO_STARTSTOP;
  return real().T_pvar_stop(session, handle);
}
THINWIRE_ALSO_PMPI(T_pvar_stop);

extern "C" int MPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                                const void* value) {
  if (own_of(handle) >= 0) return MPI_T_ERR_PVAR_NO_WRITE;
  return real().T_pvar_write(session, handle, const_cast<void*>(value));
}
THINWIRE_ALSO_PMPI(T_pvar_write);

extern "C" int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  if (own_of(handle) >= 0) return MPI_T_ERR_PVAR_NO_WRITE;
  return real().T_pvar_reset(session, handle);
}
THINWIRE_ALSO_PMPI(T_pvar_reset);

extern "C" int MPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                                    void* value) {
  if (own_of(handle) >= 0) return MPI_T_ERR_PVAR_NO_ATOMIC;
  return real().T_pvar_readreset(session, handle, value);
}
THINWIRE_ALSO_PMPI(T_pvar_readreset);
