// readdir's answer is overwritten by the next call for the same folder.
#include <dirent.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static DIR *folder;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    struct dirent *entry = readdir(folder); // RACE!
#ifdef RACY
    pthread_mutex_unlock(&lock);
    char first = entry ? entry->d_name[0] : 0; // RACE!
#else
    char first = entry ? entry->d_name[0] : 0;
    pthread_mutex_unlock(&lock);
#endif
    return first ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    folder = opendir(".");
    if (!folder)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    closedir(folder);
    return 0;
}
