#include "walk.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fatal.h"

static char *joined(const char *directory, const char *name) {
    size_t length = strlen(directory), room = length + strlen(name) + 2;
    bool slash = length > 0 && directory[length - 1] == '/';
    char *path = allocate(room, 1);
    snprintf(path, room, "%s%s%s", directory, slash ? "" : "/", name);
    return path;
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), wanted = strlen(ending);
    return length >= wanted && strcmp(text + length - wanted, ending) == 0;
}

static bool is_wanted(const struct walk_options *options, const char *path) {
    for (size_t i = 0; i < options->ending_count; i++)
        if (ends_with(path, options->endings[i]))
            return true;
    return options->ending_count == 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory, sorted; each and the list are the caller's to free. */
static char **names_in(const char *path, bool hidden, size_t *count) {
    char **names = NULL;
    size_t room = 0;
    *count = 0;
    DIR *directory = opendir(path);
    if (directory == NULL) {
        complain("cannot list %s", path);
        return NULL;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (name[0] == '.' && !hidden))
            continue;
        if (*count == room) {
            room = room == 0 ? 16 : 2 * room;
            names = reallocate(names, room, sizeof *names);
        }
        names[(*count)++] = joined(path, name);
    }
    closedir(directory);
    if (*count > 1)
        qsort(names, *count, sizeof *names, by_name);
    return names;
}

static bool walk_directory(const char *path, const struct walk_options *options, unsigned depth, walk_visit *visit,
                           void *context);

/* Takes over the path. */
static bool walk_path(char *path, const struct walk_options *options, unsigned depth, bool named, walk_visit *visit,
                      void *context) {
    struct stat status;
    bool go_on = true;
    /* Links are followed only where the user named them: no cycles. */
    if ((named ? stat(path, &status) : lstat(path, &status)) != 0) {
        complain("cannot find %s", path);
    } else if (S_ISDIR(status.st_mode) && depth > 0) {
        go_on = walk_directory(path, options, depth - 1, visit, context);
    } else if (S_ISREG(status.st_mode) && (named || is_wanted(options, path))) {
        return visit(context, path);
    }
    free(path);
    return go_on;
}

static bool walk_directory(const char *path, const struct walk_options *options, unsigned depth, walk_visit *visit,
                           void *context) {
    size_t count;
    char **names = names_in(path, options->hidden, &count);
    bool go_on = true;
    for (size_t i = 0; i < count; i++) {
        if (go_on)
            go_on = walk_path(names[i], options, depth, false, visit, context);
        else
            free(names[i]);
    }
    free(names);
    return go_on;
}

bool walk(const char *path, const struct walk_options *options, walk_visit *visit, void *context) {
    char *copy = allocate(strlen(path) + 1, 1);
    strcpy(copy, path);
    return walk_path(copy, options, options->depth, true, visit, context);
}
