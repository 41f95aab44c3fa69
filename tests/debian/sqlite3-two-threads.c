/* Two threads write to and read from one database through one connection each, sharing its cache. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static const char name[] = "file:shared?mode=memory&cache=shared";

static void fail(sqlite3 *db, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static sqlite3 *opened(void) {
    sqlite3 *db;
    if (sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL)) fail(db, "open");
    return db;
}

/* Tries again while the other thread has the table. */
static void execute(sqlite3 *db, const char *statement) {
    int result;
    do {
        result = sqlite3_exec(db, statement, NULL, NULL, NULL);
    } while ((result & 0xff) == SQLITE_LOCKED || (result & 0xff) == SQLITE_BUSY);
    if (result) fail(db, statement);
}

static void *insert(void *statement) {
    sqlite3 *db = opened();
    execute(db, statement);
    sqlite3_close(db);
    return NULL;
}

static int print(void *unused, int columns, char **values, char **names) {
    (void)unused, (void)columns, (void)names;
    printf("%s\n", values[0]);
    return 0;
}

int main(void) {
    sqlite3 *db = opened();
    pthread_t threads[2];
    execute(db, "CREATE TABLE t(n)");
    pthread_create(&threads[0], NULL, insert, "INSERT INTO t VALUES (1)");
    pthread_create(&threads[1], NULL, insert, "INSERT INTO t VALUES (2)");
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (sqlite3_exec(db, "SELECT sum(n) FROM t", print, NULL, NULL)) fail(db, "sum");
    sqlite3_close(db);
    return 0;
}
