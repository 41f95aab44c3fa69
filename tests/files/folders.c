// Folders, names and permissions: each line says what a call gave. The output is the same natively.
// Shows: input: what a run writes, makes, removes, renames or links: private to it and discarded after it
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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define SAY(call) do { errno = 0; long result_ = (call); printf("%s: %ld, %s\n", #call, result_, result_ < 0 ? strerror(errno) : ""); } while (0)

static int make(const char *name, const char *text) {
    int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (file < 0)
        return -1;
    int len = (int)write(file, text, strlen(text));
    close(file);
    return len;
}

static int bytes(const char *name) {
    char text[64];
    int file = open(name, O_RDONLY);
    if (file < 0)
        return -1;
    int len = (int)read(file, text, sizeof text);
    close(file);
    return len;
}

static int locked(const char *name) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(open(name, O_RDWR), F_SETLK, &whole);
}

static int kind(const char *name) {
    struct stat s;
    return stat(name, &s) ? -1 : (int)(s.st_mode >> 12);
}

static int permissions(const char *name) {
    struct stat s;
    return stat(name, &s) ? -1 : (int)(s.st_mode & 07777);
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list(const char *folder) {
    char *names[32];
    int count = 0;
    DIR *stream = opendir(folder);
    if (!stream)
        return -1;
    for (struct dirent *entry; (entry = readdir(stream)) && count < 32;) {
        if (entry->d_type != DT_DIR && entry->d_type != DT_REG)
            printf("type %d\n", entry->d_type);
        names[count++] = strdup(entry->d_name);
    }
    closedir(stream);
    qsort(names, count, sizeof *names, compare);
    for (int i = 0; i < count; i++) {
        printf(" %s", names[i]);
        free(names[i]);
    }
    printf(" in %s\n", folder);
    return count;
}

static void *thread(void *arg) {
    pthread_mutex_lock(&lock);
    SAY(make("made/by-thread", "abc"));
    SAY(mkdir("made/deep/er", 0700));
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    umask(022);
    SAY(list("."));
    SAY(mkdir("made", 0777));
    SAY(mkdir("made", 0777));
    SAY(mkdir("made/deep/", 0700));
    SAY(mkdir("missing/deep", 0700));
    SAY(kind("made"));
    SAY(kind("made/deep"));
    SAY(permissions("made"));
    SAY(permissions("made/deep/."));
    SAY(kind("made/deep/../deep"));
    SAY(access("made/deep", W_OK));
    SAY(access("made/missing", F_OK));
    SAY(faccessat(AT_FDCWD, "made/deep", F_OK, 0));
    SAY(faccessat(AT_FDCWD, "made/missing", F_OK, 0));
    SAY(make("made/file", "12345"));
    SAY(make("./made/deep/../second", "1"));
    SAY(bytes("made/file"));
    SAY(bytes("made/../made/second"));
    SAY(make("made/file/below", "1"));
    SAY(open("made", O_WRONLY));
    SAY(make("made/slash/", "1"));
    SAY(bytes("made/slash/"));
    SAY(locked("made/file"));
    SAY(locked("made/file"));
    int folder = open("made", O_RDONLY | O_DIRECTORY);
    SAY(folder >= 0);
    SAY(fsync(folder));
    SAY(close(folder));
    SAY(open("made/file", O_RDONLY | O_DIRECTORY));
    SAY(list("made"));
    SAY(list("made/deep"));
    SAY(list("made/missing"));
    SAY(list("made/file"));
    SAY(list("."));
    SAY(rmdir("made"));
    SAY(rmdir("made/file"));
    SAY(unlink("made/deep"));
    SAY(link("made/file", "made/linked"));
    SAY(link("made/file", "made/second"));
    SAY(make("made/linked", "1234567"));
    SAY(bytes("made/file"));
    SAY(unlink("made/file"));
    SAY(bytes("made/linked"));
    SAY(chmod("made/linked", 0640));
    SAY(permissions("made/linked"));
    SAY(chmod("present", 0600));
    SAY(permissions("present"));
    SAY(chmod("missing", 0600));
    SAY(rename("made/deep", "made/deeper"));
    SAY(kind("made/deep"));
    SAY(kind("made/deeper"));
    SAY(make("made/deeper/inside", "x"));
    SAY(rename("made/deeper", "made/deep"));
    SAY(bytes("made/deep/inside"));
    SAY(bytes("made/deeper/inside"));
    SAY(rename("made", "made/deep/made"));
    SAY(rename("made/second", "made/deep"));
    SAY(unlink("made/deep/inside"));
    SAY(rmdir("made/deep"));
    SAY(mkdir("made/deep", 0755));
    SAY(remove("present"));
    SAY(list("."));
    SAY(list("folder"));
    SAY(make("folder/new", "1"));
    SAY(unlink("folder/old"));
    SAY(list("folder"));
    SAY(rmdir("folder"));
    SAY(unlink("folder/new"));
    SAY(rmdir("folder"));
    SAY(kind("folder"));
    SAY(mkdir("folder", 0755));
    SAY(list("folder"));
    SAY(truncate("made/linked", 2));
    SAY(bytes("made/linked"));
    char template[] = "made/XXXXXX";
    SAY(mkdtemp(template) == template);
    SAY(kind(template));
    SAY(rmdir(template));
    pthread_t other;
    pthread_create(&other, 0, thread, 0);
    pthread_mutex_lock(&lock);
    SAY(make("made/by-main", "ab"));
    pthread_mutex_unlock(&lock);
    pthread_join(other, 0);
    SAY(list("made"));
    SAY(list("made/deep"));
    SAY(unlinkat(AT_FDCWD, "made/deep/er", AT_REMOVEDIR));
    SAY(list("made/deep"));
    return 0;
}
