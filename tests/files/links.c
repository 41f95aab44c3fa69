// Symbolic links: each line says what a call gave. The output is the same natively.
// Shows: input: symbolic links, those on disk and those that the program makes
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAY(call) do { errno = 0; long result_ = (call); printf("%s: %ld, %s\n", #call, result_, result_ < 0 ? strerror(errno) : ""); } while (0)

static int make(const char *name, const char *text) {
    int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (file < 0)
        return -1;
    int len = (int)write(file, text, strlen(text));
    close(file);
    return len;
}

static int bytes(const char *name, int flags) {
    char text[64];
    int file = open(name, O_RDONLY | flags);
    if (file < 0)
        return -1;
    int len = (int)read(file, text, sizeof text);
    close(file);
    return len;
}

static int kind(const char *name) {
    struct stat s;
    return stat(name, &s) ? -1 : (int)(s.st_mode >> 12);
}

static int own_kind(const char *name) {
    struct stat s;
    return lstat(name, &s) ? -1 : (int)(s.st_mode >> 12);
}

static int length(const char *name) {
    struct stat s;
    return lstat(name, &s) ? -1 : (int)s.st_size;
}

static int target(const char *name) {
    char text[64] = "";
    int len = (int)readlink(name, text, sizeof text - 1);
    printf("%s -> %s\n", name, text);
    return len;
}

static int links_in(const char *folder) {
    int count = 0;
    DIR *stream = opendir(folder);
    if (!stream)
        return -1;
    for (struct dirent *entry; (entry = readdir(stream));)
        count += entry->d_type == DT_LNK;
    closedir(stream);
    return count;
}

static void *thread(void *arg) {
    SAY(bytes("by-main", 0));
    return arg;
}

int main(void) {
    char two[2];
    SAY(target("to-present"));
    SAY(own_kind("to-present"));
    SAY(kind("to-present"));
    SAY(bytes("to-present", O_NOFOLLOW));
    SAY(target("present"));
    SAY(target("missing"));
    SAY(symlink("present", "made"));
    SAY(symlink("present", "made"));
    SAY(symlink("", "empty"));
    SAY(target("made"));
    SAY(readlink("made", two, 2));
    SAY(own_kind("made"));
    SAY(kind("made"));
    SAY(length("made"));
    SAY(bytes("made", 0));
    SAY(bytes("made", O_NOFOLLOW));
    SAY(open("made", O_CREAT | O_EXCL | O_RDWR, 0600));
    SAY(make("made", "longer than it was"));
    SAY(bytes("present", 0));
    SAY(bytes("to-present", 0));
    SAY(symlink("missing", "dangling"));
    SAY(kind("dangling"));
    SAY(access("dangling", F_OK));
    SAY(mkdir("dangling", 0755));
    SAY(make("dangling", "abc"));
    SAY(bytes("missing", 0));
    SAY(symlink("folder", "other"));
    SAY(bytes("other/old", 0));
    SAY(make("other/new", "12345"));
    SAY(bytes("folder/new", 0));
    SAY(symlink("../present", "folder/up"));
    SAY(bytes("other/up", 0));
    SAY(bytes("other/../present", 0));
    SAY(bytes("./other/./up", 0));
    SAY(links_in("other"));
    SAY(links_in("other/"));
    SAY(own_kind("other"));
    SAY(own_kind("other/"));
    SAY(bytes("present/", 0));
    SAY(symlink("b", "a"));
    SAY(symlink("a", "b"));
    SAY(bytes("a", 0));
    SAY(kind("a/x"));
    SAY(own_kind("a"));
    SAY(rename("a", "c"));
    SAY(target("c"));
    SAY(own_kind("a"));
    SAY(unlink("other/up"));
    SAY(own_kind("folder/up"));
    SAY(rmdir("other"));
    SAY(unlink("to-present"));
    SAY(own_kind("to-present"));
    SAY(bytes("to-present", 0));
    SAY(bytes("present", 0));
    SAY(symlink("folder/old", "to-present"));
    SAY(bytes("to-present", 0));
    SAY(link("made", "hard"));
    SAY(unlink("made"));
    SAY(mkdir("deep", 0755));
    SAY(symlink("../folder", "deep/in"));
    SAY(bytes("deep/in/old", 0));
    SAY(symlink("deep", "short"));
    SAY(bytes("short/in/old", 0));
    SAY(symlink("present", "by-main"));
    pthread_t other;
    pthread_create(&other, 0, thread, 0);
    pthread_join(other, 0);
    return 0;
}
