// Two threads count, one of them made by the library; with LOCKED, under the library's lock.
// Shows: libraries without bitcode: a call is one step; threads and locks that they use are the runtime's, too
// library: workers.c
// options: --cflags=-DLOCKED --assume-pure workers_start --assume-pure workers_wait --assume-pure workers_enter --assume-pure workers_leave
int workers_start(void (*function)(void));
void workers_wait(void);
void workers_enter(void);
void workers_leave(void);

static int count;

static void work(void) {
#ifdef LOCKED
    workers_enter();
#endif
    count++;
#ifdef LOCKED
    workers_leave();
#endif
}

int main(void) {
    if (workers_start(work) != 0) return 1;
    work();
    workers_wait();
    return count == 2 ? 0 : 1;
}
