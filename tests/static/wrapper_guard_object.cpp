// Wrappers: a guard object of one's own locks in its constructor and unlocks in its destructor.
#include <pthread.h>

class Guard {
  public:
    explicit Guard(pthread_mutex_t &m) : mutex(m) { pthread_mutex_lock(&mutex); }
    ~Guard() { pthread_mutex_unlock(&mutex); }

  private:
    pthread_mutex_t &mutex;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int events;

static void *worker(void *arg) {
    {
        Guard guard(mutex);
        events++; // RACE!
    }
    return arg;
}

int main() {
    pthread_t thread;
    pthread_create(&thread, nullptr, worker, nullptr);
    {
#ifndef RACY
        Guard guard(mutex);
#endif
        events--; // RACE!
    }
    pthread_join(thread, nullptr);
    return events; // NORACE
}
