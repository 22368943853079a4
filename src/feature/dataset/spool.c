#include "feature/dataset/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"

#define COPY_SIZE ((size_t)1 << 20)

enum clv_status spool_open(struct spool *spool, const char *target, struct clv_error *err)
{
    struct stat info;
    *spool = (struct spool){0};
    bool elsewhere = strcmp(target, "-") == 0 || (stat(target, &info) == 0 && !S_ISREG(info.st_mode));
    if (!elsewhere) {
        char *folder = path_folder(target);
        if (!folder)
            return fail_memory(err);
        int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        array_free(folder);
        if (fd >= 0) {
            spool->stream = fdopen(fd, "w+b");
            if (!spool->stream)
                close(fd);
        } else if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
            return fail_errno(err, CLV_ERR_CREATE, "%s: cannot create", target);
        }
    }
    if (!spool->stream)
        spool->stream = tmpfile();
    return spool->stream ? CLV_OK
                         : fail_errno(err, CLV_ERR_CREATE, "%s: cannot create a temporary file for it", target);
}

void spool_close(struct spool *spool)
{
    if (spool->stream)
        fclose(spool->stream);
    *spool = (struct spool){0};
}

enum clv_status spool_append(struct spool *spool, const void *bytes, size_t size, const char *target,
                             struct clv_error *err)
{
    if (size && fwrite(bytes, 1, size, spool->stream) != size)
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write its temporary file", target);
    spool->size += size;
    return CLV_OK;
}

enum clv_status spool_copy(FILE *stream, struct spool *spool, const char *target, struct clv_error *err)
{
    if (fflush(spool->stream) || fseeko(spool->stream, 0, SEEK_SET))
        return fail_errno(err, CLV_ERR_IO, "%s: cannot write its temporary file", target);
    char *buffer = array_alloc(COPY_SIZE, 1);
    if (!buffer)
        return fail_memory(err);
    uint64_t copied = 0;
    for (size_t n; !ferror(stream) && (n = fread(buffer, 1, COPY_SIZE, spool->stream)) > 0; copied += n)
        fwrite(buffer, 1, n, stream);
    array_free(buffer);
    if (!ferror(stream) && copied != spool->size)
        return fail(err, CLV_ERR_IO, "%s: its temporary file lost %llu bytes", target,
                    (unsigned long long)(spool->size - copied));
    return CLV_OK;
}
