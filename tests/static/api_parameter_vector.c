// Library functions touch what the parts of a vector point to.
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static char head[4], body[4];

static void *receive(void *arg) {
    struct iovec parts[2] = {{head, 1}, {body, 1}};
    pthread_mutex_lock(&lock);
    ssize_t n = readv(ends[0], parts, 2); // RACE!
    struct msghdr message = {.msg_iov = &parts[1], .msg_iovlen = 1};
    n += recvmsg(ends[0], &message, 0); // RACE!
    pthread_mutex_unlock(&lock);
    return n == 3 ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || send(ends[1], "abc", 3, 0) != 3)
        return 1;
    pthread_create(&thread, NULL, receive, NULL);
#ifdef RACY
    int seen = body[0]; // RACE!
#else
    pthread_mutex_lock(&lock);
    int seen = body[0]; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return seen > 'c' || head[0] != 'a' || body[0] != 'c'; // NORACE
}
