/* Loaded before libc (LD_PRELOAD): records what a process does to the files below $POWER_FOLDER into $POWER_LOG,
 * in the order in which the system gets it. tests/faults/power.py makes of it what a power loss may leave.
 *
 * A record: operation (1 byte), file (8: its inode), place (8), length (4), then so many bytes: what was written,
 * or names that end with a zero byte. Numbers as the machine has them. What goes past write() (sendfile,
 * copy_file_range) is refused, so that the caller writes. Memory maps are not seen: SQLite has only its "-shm"
 * there, which it makes again. With $POWER_QUOTA no write may make a file longer than so many bytes (EDQUOT).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 'c', OPEN = 'o', WRITE = 'w', SIZE = 't', SYNC = 's', FOLDER = 'd', RENAME = 'r', UNLINK = 'u',
       MARK = 'm' };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static char folder[4096];
static size_t folder_length;
static int output = -1;
static long long quota = -1;
static uint64_t watched[65536];
static size_t watched_count;

__attribute__((constructor)) static void begin(void) {
    const char *place = getenv("POWER_FOLDER"), *file = getenv("POWER_LOG"), *most = getenv("POWER_QUOTA");
    if (place == NULL) return;
    snprintf(folder, sizeof folder, "%s/", place);
    folder_length = strlen(folder);
    if (file != NULL)
        output = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (most != NULL) quota = atoll(most);
}

static void record(char operation, uint64_t file, uint64_t place, const void *data, uint32_t length) {
    if (output < 0) return;
    char head[21];
    head[0] = operation;
    memcpy(head + 1, &file, 8);
    memcpy(head + 9, &place, 8);
    memcpy(head + 17, &length, 4);
    struct iovec parts[2] = {{head, sizeof head}, {(void *)data, length}};
    if (syscall(SYS_writev, output, parts, 2) != (long)(sizeof head + length)) abort();
}

void power_mark(const char *text) {
    pthread_mutex_lock(&turn);
    record(MARK, 0, 0, text, (uint32_t)strlen(text));
    pthread_mutex_unlock(&turn);
}

/* The path as from the root; false if it is not below the folder. */
static int inside(int at, const char *path, char *whole) {
    if (!folder_length) return 0;
    if (path[0] == '/') {
        snprintf(whole, 4096, "%s", path);
    } else {
        char link[64], base[4096];
        if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t length = readlink(link, base, sizeof base - 1);
        if (length < 0) return 0;
        base[length] = 0;
        if (snprintf(whole, 4096, "%s/%s", base, path) >= 4096) return 0;
    }
    return !strncmp(whole, folder, folder_length);
}

static int is_watched(int descriptor, struct stat *found) {
    if (!folder_length || fstat(descriptor, found) || !S_ISREG(found->st_mode)) return 0;
    for (size_t i = 0; i < watched_count; i++)
        if (watched[i] == found->st_ino) return 1;
    return 0;
}

static int opened(int at, const char *path, int flags, mode_t mode) {
    char whole[4096];
    int ours = inside(at, path, whole);
    if (ours) pthread_mutex_lock(&turn);
    struct stat before;
    int existed = ours && !stat(whole, &before);
    int descriptor = (int)syscall(SYS_openat, at, path, flags, mode);
    if (!ours && folder_length && descriptor >= 0 && flags & (O_WRONLY | O_RDWR)) {
        int kept = errno;
        struct stat found;
        pthread_mutex_lock(&turn);
        if (!fstat(descriptor, &found)) /* its number may have been that of a file of ours that is gone */
            for (size_t i = 0; i < watched_count; i++)
                if (watched[i] == found.st_ino) watched[i] = 0;
        pthread_mutex_unlock(&turn);
        errno = kept;
    }
    if (ours) {
        int kept = errno;
        struct stat found;
        if (descriptor >= 0 && !fstat(descriptor, &found) && S_ISREG(found.st_mode)) {
            int known = 0;
            for (size_t i = 0; i < watched_count; i++) known |= watched[i] == found.st_ino;
            if (!known && watched_count < sizeof watched / sizeof *watched) watched[watched_count++] = found.st_ino;
            record(existed ? OPEN : CREATE, found.st_ino, 0, whole, (uint32_t)strlen(whole) + 1);
            if (existed && (flags & O_TRUNC) && before.st_size) record(SIZE, found.st_ino, 0, "", 0);
        }
        errno = kept;
        pthread_mutex_unlock(&turn);
    }
    return descriptor;
}

#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                                             \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

int open(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return opened(at, path, flags, mode); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

static ssize_t written(int descriptor, const void *data, size_t length, off_t place) {
    struct stat found;
    int ours = is_watched(descriptor, &found);
    if (!ours)
        return place < 0 ? syscall(SYS_write, descriptor, data, length)
                         : syscall(SYS_pwrite64, descriptor, data, length, place);
    pthread_mutex_lock(&turn);
    off_t at = place;
    if (place < 0) {
        fstat(descriptor, &found);
        at = fcntl(descriptor, F_GETFL) & O_APPEND ? found.st_size : lseek(descriptor, 0, SEEK_CUR);
    }
    ssize_t done = -1;
    if (quota >= 0 && at + (long long)length > quota)
        errno = EDQUOT;
    else
        done = place < 0 ? syscall(SYS_write, descriptor, data, length)
                         : syscall(SYS_pwrite64, descriptor, data, length, place);
    int kept = errno;
    if (done > 0) record(WRITE, found.st_ino, (uint64_t)at, data, (uint32_t)done);
    errno = kept;
    pthread_mutex_unlock(&turn);
    return done;
}

ssize_t write(int descriptor, const void *data, size_t length) { return written(descriptor, data, length, -1); }
ssize_t pwrite(int descriptor, const void *data, size_t length, off_t place) {
    return written(descriptor, data, length, place);
}
ssize_t pwrite64(int descriptor, const void *data, size_t length, off64_t place) {
    return written(descriptor, data, length, place);
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    struct stat found;
    if (!is_watched(descriptor, &found)) return syscall(SYS_writev, descriptor, parts, count);
    return count ? written(descriptor, parts[0].iov_base, parts[0].iov_len, -1) : 0;
}

static int resized(int descriptor, off_t size) {
    struct stat found;
    int ours = is_watched(descriptor, &found);
    if (ours) pthread_mutex_lock(&turn);
    int failed = (int)syscall(SYS_ftruncate, descriptor, size), kept = errno;
    if (ours) {
        if (!failed) record(SIZE, found.st_ino, (uint64_t)size, "", 0);
        pthread_mutex_unlock(&turn);
    }
    errno = kept;
    return failed;
}

int ftruncate(int descriptor, off_t size) { return resized(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) { return resized(descriptor, size); }
int truncate(const char *path, off_t size) {
    int descriptor = open(path, O_WRONLY);
    if (descriptor < 0) return -1;
    int failed = resized(descriptor, size), kept = errno;
    close(descriptor);
    errno = kept;
    return failed;
}
int truncate64(const char *path, off64_t size) { return truncate(path, size); }

static int synced(int descriptor, long number) {
    struct stat found = {0};
    int ours = is_watched(descriptor, &found), is_folder = folder_length && S_ISDIR(found.st_mode);
    if (ours || is_folder) pthread_mutex_lock(&turn);
    int failed = (int)syscall(number, descriptor), kept = errno;
    if (!failed && ours) record(SYNC, found.st_ino, 0, "", 0);
    if (!failed && is_folder) {
        char link[64], path[4096];
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(link, path, sizeof path - 1);
        if (length > 0) {
            path[length] = 0;
            record(FOLDER, 0, 0, path, (uint32_t)length + 1);
        }
    }
    if (ours || is_folder) pthread_mutex_unlock(&turn);
    errno = kept;
    return failed;
}

int fsync(int descriptor) { return synced(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return synced(descriptor, SYS_fdatasync); }

static int renamed(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    char names[8192];
    int ours = inside(from_at, from, names);
    size_t first = ours ? strlen(names) + 1 : 0;
    ours = ours && inside(to_at, to, names + first);
    if (ours) pthread_mutex_lock(&turn);
    int failed = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags), kept = errno;
    if (ours) {
        if (!failed) record(RENAME, 0, 0, names, (uint32_t)(first + strlen(names + first) + 1));
        pthread_mutex_unlock(&turn);
    }
    errno = kept;
    return failed;
}

int rename(const char *from, const char *to) { return renamed(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_at, const char *from, int to_at, const char *to) { return renamed(from_at, from, to_at, to, 0); }

static int removed(int at, const char *path, int flags) {
    char whole[4096];
    int ours = inside(at, path, whole);
    if (ours) pthread_mutex_lock(&turn);
    int failed = (int)syscall(SYS_unlinkat, at, path, flags), kept = errno;
    if (ours) {
        if (!failed && !(flags & AT_REMOVEDIR)) record(UNLINK, 0, 0, whole, (uint32_t)strlen(whole) + 1);
        pthread_mutex_unlock(&turn);
    }
    errno = kept;
    return failed;
}

int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return removed(at, path, flags); }
int remove(const char *path) { return removed(AT_FDCWD, path, 0); }

ssize_t sendfile(int to, int from, off_t *place, size_t length) {
    struct stat found;
    if (is_watched(to, &found)) { errno = ENOTSOCK; return -1; }
    return syscall(SYS_sendfile, to, from, place, length);
}
ssize_t sendfile64(int to, int from, off64_t *place, size_t length) { return sendfile(to, from, place, length); }
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned flags) {
    struct stat found;
    if (is_watched(to, &found)) { errno = EXDEV; return -1; }
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
}
