/* Target regions are executed on the host, where clang calls their code. There is no other device, so memory of a device is
   memory of the host. Allocators all give ordinary memory. */
#include <stdlib.h>
#include <string.h>

#include "openmp.h"

int omp_get_num_devices(void) {
    return 0;
}

int omp_get_default_device(void) {
    return 0;
}

void omp_set_default_device(int device) {
}

int omp_is_initial_device(void) {
    return 1;
}

int omp_get_initial_device(void) {
    return 0;
}

int omp_get_device_num(void) {
    return 0;
}

/* Inlined, so that what a program allocates and touches with these is its own. */
#define INLINE __attribute__((always_inline))

INLINE void *omp_target_alloc(size_t size, int device) {
    return malloc(size);
}

INLINE void omp_target_free(void *block, int device) {
    free(block);
}

int omp_target_is_present(const void *address, int device) {
    return 1;
}

int omp_target_is_accessible(const void *address, size_t size, int device) {
    return 1;
}

void *omp_get_mapped_ptr(const void *address, int device) {
    return (void *)address;
}

INLINE void *__kmpc_alloc(int number, size_t size, void *allocator) {
    return malloc(size);
}

INLINE void *__kmpc_aligned_alloc(int number, size_t alignment, size_t size, void *allocator) {
    void *block;
    size_t least = alignment < sizeof block ? sizeof block : alignment;
    return posix_memalign(&block, least, size) ? NULL : block;
}

INLINE void __kmpc_free(int number, void *block, void *allocator) {
    free(block);
}

INLINE void *omp_alloc(size_t size, uintptr_t allocator) {
    return malloc(size);
}

INLINE void *omp_calloc(size_t count, size_t size, uintptr_t allocator) {
    return calloc(count, size);
}

INLINE void *omp_aligned_alloc(size_t alignment, size_t size, uintptr_t allocator) {
    return __kmpc_aligned_alloc(0, alignment, size, NULL);
}

INLINE void *omp_realloc(void *block, size_t size, uintptr_t allocator, uintptr_t old) {
    return realloc(block, size);
}

INLINE void omp_free(void *block, uintptr_t allocator) {
    free(block);
}

uintptr_t omp_init_allocator(uintptr_t space, int count, const void *traits) {
    return 1;
}

void omp_destroy_allocator(uintptr_t allocator) {
}

void omp_set_default_allocator(uintptr_t allocator) {
}

uintptr_t omp_get_default_allocator(void) {
    return 1;
}

void *__kmpc_init_allocator(int number, void *space, int count, void *traits) {
    return (void *)1;
}

void __kmpc_destroy_allocator(int number, void *allocator) {
}

/* `error at(execution)`: 2 is fatal. */
void __kmpc_error(ident *place, int severity, const char *message) {
    if (severity == 2)
        abort();
}
