// What the programs of the dependence test have in common; see calls.txt. `DEP` begins the names of its files.
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <locale.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <spawn.h>
static int timer, fd, spare, ends[2], sock[2], server, client, counter, interests;
static struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = 1234};
static char name[] = DEP "file", second[] = DEP "other";
static pthread_key_t key;
static FILE *stream;
static pthread_t main_thread;
static int size_by_name(void) { struct stat s; return stat(name, &s) ? -1 : (int)s.st_size; }
static int size_of(int f) { struct stat s; return fstat(f, &s) ? -1 : (int)s.st_size; }
static int mode_of(int f) { struct stat s; return fstat(f, &s) ? -1 : (int)(s.st_mode & 0777); }
static long soft(int w) { struct rlimit l; getrlimit(w, &l); return (long)l.rlim_cur; }
static int lower(int w, long to) { struct rlimit l; getrlimit(w, &l); l.rlim_cur = to; return setrlimit(w, &l); }
static int first_byte(int f) { char c = 0; return pread(f, &c, 1, 0) == 1 ? c : -1; }
static int next_byte(int f) { char c = 0; return read(f, &c, 1) == 1 ? c : -1; }
static int mapped(void) { char *m = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0); return m == MAP_FAILED ? -1 : m[0]; }
static int named_bytes(void) { int f = open(name, O_RDONLY); int b = first_byte(f); close(f); return b; }
static int is_root(void) { char b[256]; return getcwd(b, sizeof b) && !strcmp(b, "/"); }
static mode_t mask(void) { mode_t m = umask(0); umask(m); return m; }
static int selected(int f) { fd_set s; FD_ZERO(&s); FD_SET(f, &s); return select(f + 1, &s, 0, 0, &(struct timeval){0}); }
static int own_port(int f) { struct sockaddr_in a = {0}; socklen_t l = sizeof a; getsockname(f, (struct sockaddr *)&a, &l); return a.sin_port; }
static int my_name(void) { char b[16] = ""; pthread_getname_np(main_thread, b, 16); return b[0]; }

static int listed(const char *folder) { DIR *d = opendir(folder); int n = 0; struct dirent *e; while (d && (e = readdir(d))) n += !strncmp(e->d_name, strrchr(DEP, '/') + 1, strlen(strrchr(DEP, '/')) - 1); if (d) closedir(d); return n; }

static int forked(void) { pid_t p = fork(); if (!p) { execl("/bin/true", "true", (char *)0); _exit(1); } return p % 1000; }
static int spawned(void) { pid_t p = 0; char *argv[] = {"true", 0}; posix_spawn(&p, "/bin/true", 0, 0, argv, argv + 1); return p % 1000; }
static int commanded(void) { FILE *f = popen("echo 5", "r"); int n = 0; if (f && fscanf(f, "%d", &n) == 1) pclose(f); return n; }

static int one, two;
static void *first(void *arg);
static void *other(void *arg);

static void prepare(void) {
    fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
    if (write(fd, "abc", 3) != 3)
        abort();
    lseek(fd, 0, SEEK_SET);
    spare = open("/dev/null", O_RDWR);
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, sock))
        abort();
    server = socket(AF_INET, SOCK_STREAM, 0);
    client = socket(AF_INET, SOCK_STREAM, 0);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(server, (struct sockaddr *)&place, sizeof place))
        abort();
    counter = eventfd(1, EFD_NONBLOCK);
    interests = epoll_create1(0);
    pthread_key_create(&key, 0);
    stream = fopen(DEP "stream", "w+");
    main_thread = pthread_self();
    srand(3);
    hcreate(4);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
}

