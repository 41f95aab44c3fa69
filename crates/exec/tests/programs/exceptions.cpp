// Two threads throw and catch with switches in between.
extern "C" {
#include "rp.h"
}
#undef main
#include <pthread.h>
#include <stdexcept>
#include <string>

int shared;

static int thrower(int n) {
    STORE(shared, LOAD(shared) + 1);
    throw std::runtime_error("number " + std::to_string(n));
}

static void *work(void *arg) {
    long n = (long)arg;
    for (int i = 0; i < 3; i++) {
        try {
            thrower(int(n));
        } catch (const std::exception &e) {
            STORE(shared, LOAD(shared) + 1);
            try {
                thrower(int(n) + 10);
            } catch (const std::exception &inner) {
                STORE(shared, LOAD(shared) + 1);
                if (inner.what() != "number " + std::to_string(n + 10))
                    return (void *)1;
            }
            if (e.what() != "number " + std::to_string(n))
                return (void *)1;
        }
    }
    return nullptr;
}

extern "C" int __rp_user_main() {
    pthread_t threads[2];
    void *wrong, *any = nullptr;
    for (long i = 0; i < 2; i++)
        AT(pthread_create(&threads[i], nullptr, work, (void *)i));
    for (auto thread : threads) {
        AT(pthread_join(thread, &wrong));
        any = wrong ? wrong : any;
    }
    return any != nullptr;
}
