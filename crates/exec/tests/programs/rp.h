// What the instrumentation inserts, written by hand: the interface of docs/runtime-abi.md as macros.
#pragma once
#include <stdint.h>

void __rp_read(const void *p, uint32_t size, uint32_t site);
void __rp_write(void *p, uint32_t size, uint32_t site);
void __rp_atomic(void *p, uint32_t size, uint32_t kind_order, uint32_t site);
void __rp_cas_result(uint32_t success);
void __rp_fence(uint32_t order, uint32_t site);
void __rp_copy(void *to, const void *from, uint64_t len, uint32_t site);
void __rp_set(void *to, uint64_t len, uint32_t site);
void __rp_call_begin(uint32_t site);
void __rp_add(uint32_t kind, const void *p, uint64_t len);
void __rp_add_string(uint32_t kind, const void *p, uint64_t max);
void __rp_add_state(uint32_t index);
void __rp_call_end(void);
void __rp_stack(void *p, uint64_t size, uint32_t site);
extern uint32_t __rp_site;
extern char *__rp_tls_base;

// The program's image. A program with constructors or thread-locals defines its own first.
#ifndef RP_CTORS
void __rp_user_ctors(void) {}
#endif
void __rp_user_dtors(void) {}
#ifndef RP_TLS
extern const char __rp_tls_image[1];
extern const uint64_t __rp_tls_size;
const char __rp_tls_image[1] = {0};
const uint64_t __rp_tls_size = 0;
#endif
extern uint8_t __rp_quiet[1];
uint8_t __rp_quiet[1];
extern const uint64_t __rp_sites;
const uint64_t __rp_sites = 0;
extern const uint64_t __rp_serial_events;
const uint64_t __rp_serial_events = 10000;
extern const uint32_t __rp_interrupts;
const uint32_t __rp_interrupts = 0;
extern const uint32_t __rp_volatile[1];
const uint32_t __rp_volatile[1] = {0};
extern const uint64_t __rp_volatiles;
const uint64_t __rp_volatiles = 0;
extern const uint64_t __rp_tls_align;
const uint64_t __rp_tls_align = 8;
#define main __rp_user_main

// A load, a store and a call; the site is the line.
#define LOAD(x) (__rp_read(&(x), sizeof(x), __LINE__), (x))
#define STORE(x, v)                             \
    do {                                        \
        __typeof__(x) value_ = (v);             \
        __rp_write(&(x), sizeof(x), __LINE__);  \
        (x) = value_;                           \
    } while (0)
#define AT(call) (__rp_site = __LINE__, (call))
