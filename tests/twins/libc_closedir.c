// closedir frees the stream of a folder; readdir answers in it.
#include <dirent.h>
#include <pthread.h>

static DIR *folder;

static void *worker(void *arg) {
    return readdir(folder) ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    folder = opendir(".");
    if (!folder)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    closedir(folder); // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    closedir(folder);
#endif
    return 0;
}
