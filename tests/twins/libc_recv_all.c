// A reader that waits for all bytes has the writer's data; one that takes what is there may come too early.
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef RACY
#define HOW 0
#else
#define HOW MSG_WAITALL
#endif

static int ends[2];
static int data;

static void *writer(void *arg) {
    if (send(ends[1], "a", 1, 0) != 1)
        return NULL;
    data = 1; // RACE!
    return send(ends[1], "b", 1, 0) == 1 ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    char inbox[2] = {0, 0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    pthread_create(&thread, NULL, writer, NULL);
    ssize_t n = recv(ends[0], inbox, 2, HOW);
    int seen = data; // RACE!
    pthread_join(thread, NULL);
#ifdef RACY
    return n < 1 || seen > 1;
#else
    return n != 2 || inbox[0] != 'a' || inbox[1] != 'b' || seen != 1;
#endif
}
