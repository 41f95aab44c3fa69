//! Functions of the program with names that we use as well.

mod common;

use common::Folder;

/// Definitions with names of the C library that the runtime models or calls itself.
const OWN: &str = "
#include <pthread.h>
#include <stddef.h>
static int shared;
static char room[4096];
static size_t used;
void *malloc(size_t size) { void *at = room + used; used += (size + 15) / 16 * 16; return at; }
void free(void *at) {}
int send(int x) { shared += x; return x; }
int accept(int x) { return send(x); }
int poll(int x) { return x; }
void *memcpy(void *to, const void *from, size_t len) {
    for (size_t i = 0; i < len; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
size_t strlen(const char *text) { size_t len = 0; while (text[len]) len++; return len; }
";

const MAIN: &str = "
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *arg) {
    char *own = malloc(8);
    LOCK(&lock);
    memcpy(own, \"text\", strlen(\"text\") + 1);
    accept(own[0] == 't');
    UNLOCK(&lock);
    free(own);
    return arg;
}
int main(void) {
    pthread_t thread;
    used = 0;
    void *first = malloc(16);
    if (first != room) return 3;
    pthread_create(&thread, 0, run, 0);
    LOCK(&lock);
    send(poll(1));
    UNLOCK(&lock);
    pthread_join(thread, 0);
    return shared != 2;
}
";

#[test]
fn the_program_s_own_functions_count() {
    let folder = Folder::empty();
    std::fs::write(folder.path().join("own.c"), format!("{OWN}{MAIN}")).unwrap();
    let locked = "--cflags=-DLOCK=pthread_mutex_lock -DUNLOCK=pthread_mutex_unlock";
    for command in ["explore", "check"] {
        let run = folder.raceproof(&[command, "own.c", locked]);
        assert_eq!(run.status, 0, "{command}: {}{}", run.stdout, run.stderr);
        let run = folder.raceproof(&[command, "own.c", "--cflags=-DLOCK=(void) -DUNLOCK=(void)"]);
        assert!(run.stdout.contains("data race on `shared`"), "{command}: {}{}", run.stdout, run.stderr);
    }
}
