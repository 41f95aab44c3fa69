// Calls library functions and prints what they really do to memory; see watch.h. One line per function.
#include "watch.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <fnmatch.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <inttypes.h>
#include <libgen.h>
#include <locale.h>
#include <math.h>
#include <mntent.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <setjmp.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <uchar.h>
#include <wchar.h>
#include <wctype.h>
#undef basename
char *gnu_basename(const char *) __asm__("basename");

// clang-format off
#define P(name) begin(name)
#define ROOM(i) room(i)

static void strings(void) {
    { P("strlen"); char *s = text(0, "hello"); WATCH_RESULT(strlen(s)); }
    { P("strnlen"); char *s = text(0, "hello"); WATCH_RESULT(strnlen(s, number(1, 3))); }
    { P("strcpy"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(strcpy(d, s)); }
    { P("stpcpy"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(stpcpy(d, s)); }
    { P("strncpy"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(strncpy(d, s, number(2, 9))); }
    { P("stpncpy"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(stpncpy(d, s, number(2, 9))); }
    { P("strcat"); char *d = text(0, "ab"), *s = text(1, "hello"); WATCH_RESULT(strcat(d, s)); }
    { P("strncat"); char *d = text(0, "ab"), *s = text(1, "hello"); WATCH_RESULT(strncat(d, s, number(2, 3))); }
    { P("strcmp"); char *a = text(0, "ab"), *b = text(1, "ac"); WATCH_RESULT(strcmp(a, b)); }
    { P("strncmp"); char *a = text(0, "ab"), *b = text(1, "ac"); WATCH_RESULT(strncmp(a, b, number(2, 2))); }
    { P("strcasecmp"); char *a = text(0, "ab"), *b = text(1, "AC"); WATCH_RESULT(strcasecmp(a, b)); }
    { P("strncasecmp"); char *a = text(0, "ab"), *b = text(1, "AC"); WATCH_RESULT(strncasecmp(a, b, number(2, 2))); }
    { P("strcoll"); char *a = text(0, "ab"), *b = text(1, "ac"); WATCH_RESULT(strcoll(a, b)); }
    { P("strverscmp"); char *a = text(0, "a1"), *b = text(1, "a2"); WATCH_RESULT(strverscmp(a, b)); }
    { P("strchr"); char *s = text(0, "hello"); WATCH_RESULT(strchr(s, number(1, 'z'))); }
    { P("strrchr"); char *s = text(0, "hello"); WATCH_RESULT(strrchr(s, number(1, 'l'))); }
    { P("strchrnul"); char *s = text(0, "hello"); WATCH_RESULT(strchrnul(s, number(1, 'l'))); }
    { P("index"); char *s = text(0, "hello"); WATCH_RESULT(index(s, number(1, 'z'))); }
    { P("rindex"); char *s = text(0, "hello"); WATCH_RESULT(rindex(s, number(1, 'z'))); }
    { P("strspn"); char *a = text(0, "aab"), *b = text(1, "a"); WATCH_RESULT(strspn(a, b)); }
    { P("strcspn"); char *a = text(0, "aab"), *b = text(1, "b"); WATCH_RESULT(strcspn(a, b)); }
    { P("strpbrk"); char *a = text(0, "aab"), *b = text(1, "b"); WATCH_RESULT(strpbrk(a, b)); }
    { P("strstr"); char *a = text(0, "aab"), *b = text(1, "ab"); WATCH_RESULT(strstr(a, b)); }
    { P("strcasestr"); char *a = text(0, "aab"), *b = text(1, "AB"); WATCH_RESULT(strcasestr(a, b)); }
    { P("strdup"); char *s = text(0, "hello"); WATCH_RESULT(strdup(s)); }
    { P("strndup"); char *s = text(0, "hello"); WATCH_RESULT(strndup(s, number(1, 3))); }
    { P("strxfrm"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(strxfrm(d, s, number(2, 16))); }
    { P("strfry"); char *s = text(0, "hello world"); WATCH_RESULT(strfry(s)); }
    { P("memfrob"); char *s = text(0, "hello"); WATCH_RESULT(memfrob(s, number(1, 5))); }
    { P("memcpy"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(memcpy(d, s, number(2, 5))); }
    { P("mempcpy"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(mempcpy(d, s, number(2, 5))); }
    { P("memmove"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(memmove(d, s, number(2, 5))); }
    { P("memccpy"); char *d = ROOM(0), *s = text(1, "hello"); WATCH_RESULT(memccpy(d, s, number(2, 'l'), number(3, 5))); }
    { P("memset"); char *d = ROOM(0); WATCH_RESULT(memset(d, number(1, 3), number(2, 7))); }
    { P("bzero"); char *d = ROOM(0); WATCH(bzero(d, number(1, 7))); }
    { P("explicit_bzero"); char *d = ROOM(0); WATCH(explicit_bzero(d, number(1, 7))); }
    { P("bcopy"); char *s = text(0, "hello"), *d = ROOM(1); WATCH(bcopy(s, d, number(2, 5))); }
    { P("swab"); char *s = text(0, "hello!"), *d = ROOM(1); WATCH(swab(s, d, number(2, 6))); }
    { P("memcmp"); char *a = text(0, "ab"), *b = text(1, "ac"); WATCH_RESULT(memcmp(a, b, number(2, 2))); }
    { P("bcmp"); char *a = text(0, "ab"), *b = text(1, "ac"); WATCH_RESULT(bcmp(a, b, number(2, 2))); }
    { P("memchr"); char *s = text(0, "hello"); WATCH_RESULT(memchr(s, number(1, 'l'), number(2, 5))); }
    { P("memrchr"); char *s = text(0, "hello"); WATCH_RESULT(memrchr(s, number(1, 'l'), number(2, 5))); }
    { P("rawmemchr"); char *s = text(0, "hello"); WATCH_RESULT(rawmemchr(s, number(1, 'l'))); }
    { P("memmem"); char *a = text(0, "aab"), *b = text(2, "ab"); WATCH_RESULT(memmem(a, number(1, 3), b, number(3, 2))); }
    { P("strtok"); char *s = text(0, "a b"), *d = text(1, " "); WATCH_RESULT(strtok(s, d)); }
    { P("strtok_r"); char *s = text(0, "a b"), *d = text(1, " "), **p = ROOM(2); WATCH_RESULT(strtok_r(s, d, p)); }
    { P("strsep"); char *s = "x", **p = with(0, &s, 8), *d = text(1, " "); WATCH_RESULT(strsep(p, d)); }
    { P("strerror_r"); char *d = ROOM(1); WATCH_RESULT(strerror_r(number(0, 9999), d, number(2, 64))); }
    { P("__xpg_strerror_r"); int __xpg_strerror_r(int, char *, size_t); char *d = ROOM(1); WATCH_RESULT(__xpg_strerror_r(number(0, 2), d, number(2, 64))); }
    { P("basename"); char *s = text(0, "/a/b"); WATCH_RESULT(gnu_basename(s)); }
    { P("dirname"); char *s = text(0, "/a/b"); WATCH_RESULT(dirname(s)); }
    { P("atoi"); char *s = text(0, "12"); WATCH_RESULT(atoi(s)); }
    { P("atol"); char *s = text(0, "12"); WATCH_RESULT(atol(s)); }
    { P("atoll"); char *s = text(0, "12"); WATCH_RESULT(atoll(s)); }
    { P("atof"); char *s = text(0, "12"); WATCH_RESULT(atof(s)); }
    { P("strtol"); char *s = text(0, "12x"), **e = ROOM(1); WATCH_RESULT(strtol(s, e, number(2, 10))); }
    { P("strtoll"); char *s = text(0, "12x"), **e = ROOM(1); WATCH_RESULT(strtoll(s, e, number(2, 10))); }
    { P("strtoul"); char *s = text(0, "12x"), **e = ROOM(1); WATCH_RESULT(strtoul(s, e, number(2, 10))); }
    { P("strtoull"); char *s = text(0, "12x"), **e = ROOM(1); WATCH_RESULT(strtoull(s, e, number(2, 10))); }
    { P("strtoimax"); char *s = text(0, "12x"), **e = ROOM(1); WATCH_RESULT(strtoimax(s, e, number(2, 10))); }
    { P("strtoumax"); char *s = text(0, "12x"), **e = ROOM(1); WATCH_RESULT(strtoumax(s, e, number(2, 10))); }
    { P("strtod"); char *s = text(0, "1.5x"), **e = ROOM(1); WATCH_RESULT(strtod(s, e)); }
    { P("strtof"); char *s = text(0, "1.5x"), **e = ROOM(1); WATCH_RESULT(strtof(s, e)); }
    { P("strtold"); char *s = text(0, "1.5x"), **e = ROOM(1); WATCH_RESULT(strtold(s, e)); }
    { P("a64l"); char *s = text(0, "./"); WATCH_RESULT(a64l(s)); }
    { P("fnmatch"); char *a = text(0, "a*"), *b = text(1, "ab"); WATCH_RESULT(fnmatch(a, b, number(2, 0))); }
}

static void wide_strings(void) {
    { P("wcslen"); wchar_t *s = wide(0, L"hello"); WATCH_RESULT(wcslen(s)); }
    { P("wcsnlen"); wchar_t *s = wide(0, L"hello"); WATCH_RESULT(wcsnlen(s, number(1, 3))); }
    { P("wcscpy"); wchar_t *d = ROOM(0), *s = wide(1, L"hello"); WATCH_RESULT(wcscpy(d, s)); }
    { P("wcpcpy"); wchar_t *d = ROOM(0), *s = wide(1, L"hello"); WATCH_RESULT(wcpcpy(d, s)); }
    { P("wcsncpy"); wchar_t *d = ROOM(0), *s = wide(1, L"hello"); WATCH_RESULT(wcsncpy(d, s, number(2, 8))); }
    { P("wcpncpy"); wchar_t *d = ROOM(0), *s = wide(1, L"hello"); WATCH_RESULT(wcpncpy(d, s, number(2, 8))); }
    { P("wcscat"); wchar_t *d = wide(0, L"ab"), *s = wide(1, L"hello"); WATCH_RESULT(wcscat(d, s)); }
    { P("wcsncat"); wchar_t *d = wide(0, L"ab"), *s = wide(1, L"hello"); WATCH_RESULT(wcsncat(d, s, number(2, 2))); }
    { P("wcscmp"); wchar_t *a = wide(0, L"ab"), *b = wide(1, L"ac"); WATCH_RESULT(wcscmp(a, b)); }
    { P("wcsncmp"); wchar_t *a = wide(0, L"ab"), *b = wide(1, L"ac"); WATCH_RESULT(wcsncmp(a, b, number(2, 2))); }
    { P("wcscasecmp"); wchar_t *a = wide(0, L"ab"), *b = wide(1, L"ac"); WATCH_RESULT(wcscasecmp(a, b)); }
    { P("wcsncasecmp"); wchar_t *a = wide(0, L"ab"), *b = wide(1, L"ac"); WATCH_RESULT(wcsncasecmp(a, b, number(2, 2))); }
    { P("wcscoll"); wchar_t *a = wide(0, L"ab"), *b = wide(1, L"ac"); WATCH_RESULT(wcscoll(a, b)); }
    { P("wcschr"); wchar_t *s = wide(0, L"hello"); WATCH_RESULT(wcschr(s, L'z')); }
    { P("wcsrchr"); wchar_t *s = wide(0, L"hello"); WATCH_RESULT(wcsrchr(s, L'z')); }
    { P("wcschrnul"); wchar_t *s = wide(0, L"hello"); WATCH_RESULT(wcschrnul(s, L'l')); }
    { P("wcsspn"); wchar_t *a = wide(0, L"aab"), *b = wide(1, L"a"); WATCH_RESULT(wcsspn(a, b)); }
    { P("wcscspn"); wchar_t *a = wide(0, L"aab"), *b = wide(1, L"b"); WATCH_RESULT(wcscspn(a, b)); }
    { P("wcspbrk"); wchar_t *a = wide(0, L"aab"), *b = wide(1, L"b"); WATCH_RESULT(wcspbrk(a, b)); }
    { P("wcsstr"); wchar_t *a = wide(0, L"aab"), *b = wide(1, L"ab"); WATCH_RESULT(wcsstr(a, b)); }
    { P("wcsdup"); wchar_t *s = wide(0, L"hello"); WATCH_RESULT(wcsdup(s)); }
    { P("wcsxfrm"); wchar_t *d = ROOM(0), *s = wide(1, L"hello"); WATCH_RESULT(wcsxfrm(d, s, number(2, 16))); }
    { P("wcstok"); wchar_t *s = wide(0, L"a b"), *d = wide(1, L" "), **p = ROOM(2); WATCH_RESULT(wcstok(s, d, p)); }
    { P("wcstol"); wchar_t *s = wide(0, L"12x"), **e = ROOM(1); WATCH_RESULT(wcstol(s, e, number(2, 10))); }
    { P("wcstoll"); wchar_t *s = wide(0, L"12x"), **e = ROOM(1); WATCH_RESULT(wcstoll(s, e, number(2, 10))); }
    { P("wcstoul"); wchar_t *s = wide(0, L"12x"), **e = ROOM(1); WATCH_RESULT(wcstoul(s, e, number(2, 10))); }
    { P("wcstoull"); wchar_t *s = wide(0, L"12x"), **e = ROOM(1); WATCH_RESULT(wcstoull(s, e, number(2, 10))); }
    { P("wcstoimax"); wchar_t *s = wide(0, L"12x"), **e = ROOM(1); WATCH_RESULT(wcstoimax(s, e, number(2, 10))); }
    { P("wcstoumax"); wchar_t *s = wide(0, L"12x"), **e = ROOM(1); WATCH_RESULT(wcstoumax(s, e, number(2, 10))); }
    { P("wcstod"); wchar_t *s = wide(0, L"1.5x"), **e = ROOM(1); WATCH_RESULT(wcstod(s, e)); }
    { P("wcstof"); wchar_t *s = wide(0, L"1.5x"), **e = ROOM(1); WATCH_RESULT(wcstof(s, e)); }
    { P("wcstold"); wchar_t *s = wide(0, L"1.5x"), **e = ROOM(1); WATCH_RESULT(wcstold(s, e)); }
    { P("wmemcpy"); wchar_t *d = ROOM(0), *s = wide(1, L"hello"); WATCH_RESULT(wmemcpy(d, s, number(2, 5))); }
    { P("wmempcpy"); wchar_t *d = ROOM(0), *s = wide(1, L"hello"); WATCH_RESULT(wmempcpy(d, s, number(2, 5))); }
    { P("wmemmove"); wchar_t *d = ROOM(0), *s = wide(1, L"hello"); WATCH_RESULT(wmemmove(d, s, number(2, 5))); }
    { P("wmemset"); wchar_t *d = ROOM(0); WATCH_RESULT(wmemset(d, L'x', number(2, 5))); }
    { P("wmemcmp"); wchar_t *a = wide(0, L"ab"), *b = wide(1, L"ac"); WATCH_RESULT(wmemcmp(a, b, number(2, 2))); }
    { P("wmemchr"); wchar_t *s = wide(0, L"hello"); WATCH_RESULT(wmemchr(s, L'l', number(2, 5))); }
    { P("wcswidth"); wchar_t *s = wide(0, L"hello"); WATCH_RESULT(wcswidth(s, number(1, 5))); }
    mbstate_t zero;
    memset(&zero, 0, sizeof zero);
    { P("mblen"); char *s = text(0, "ab"); WATCH_RESULT(mblen(s, number(1, 2))); }
    { P("mbtowc"); wchar_t *d = ROOM(0); char *s = text(1, "ab"); WATCH_RESULT(mbtowc(d, s, number(2, 2))); }
    { P("mbrlen"); char *s = text(0, "ab"); mbstate_t *m = with(2, &zero, sizeof zero); WATCH_RESULT(mbrlen(s, number(1, 2), m)); }
    { P("mbrtowc"); wchar_t *d = ROOM(0); char *s = text(1, "ab"); mbstate_t *m = with(3, &zero, sizeof zero); WATCH_RESULT(mbrtowc(d, s, number(2, 2), m)); }
    { P("mbrtoc16"); char16_t *d = ROOM(0); char *s = text(1, "ab"); mbstate_t *m = with(3, &zero, sizeof zero); WATCH_RESULT(mbrtoc16(d, s, number(2, 2), m)); }
    { P("mbrtoc32"); char32_t *d = ROOM(0); char *s = text(1, "ab"); mbstate_t *m = with(3, &zero, sizeof zero); WATCH_RESULT(mbrtoc32(d, s, number(2, 2), m)); }
    { P("mbsinit"); mbstate_t *m = with(0, &zero, sizeof zero); WATCH_RESULT(mbsinit(m)); }
    { P("mbstowcs"); wchar_t *d = ROOM(0); char *s = text(1, "ab"); WATCH_RESULT(mbstowcs(d, s, number(2, 8))); }
    { P("wcstombs"); char *d = ROOM(0); wchar_t *s = wide(1, L"ab"); WATCH_RESULT(wcstombs(d, s, number(2, 8))); }
    { P("mbsrtowcs"); const char *s = "ab", **p = with(1, &s, 8); wchar_t *d = ROOM(0); mbstate_t *m = with(3, &zero, sizeof zero); WATCH_RESULT(mbsrtowcs(d, p, number(2, 8), m)); }
    { P("mbsnrtowcs"); const char *s = "ab", **p = with(1, &s, 8); wchar_t *d = ROOM(0); mbstate_t *m = with(4, &zero, sizeof zero); WATCH_RESULT(mbsnrtowcs(d, p, number(2, 3), number(3, 8), m)); }
    { P("wcsrtombs"); const wchar_t *s = L"ab", **p = with(1, &s, 8); char *d = ROOM(0); mbstate_t *m = with(3, &zero, sizeof zero); WATCH_RESULT(wcsrtombs(d, p, number(2, 8), m)); }
    { P("wcsnrtombs"); const wchar_t *s = L"ab", **p = with(1, &s, 8); char *d = ROOM(0); mbstate_t *m = with(4, &zero, sizeof zero); WATCH_RESULT(wcsnrtombs(d, p, number(2, 3), number(3, 8), m)); }
    { P("wcrtomb"); char *d = ROOM(0); mbstate_t *m = with(2, &zero, sizeof zero); WATCH_RESULT(wcrtomb(d, L'x', m)); }
    { P("c16rtomb"); char *d = ROOM(0); mbstate_t *m = with(2, &zero, sizeof zero); WATCH_RESULT(c16rtomb(d, u'x', m)); }
    { P("c32rtomb"); char *d = ROOM(0); mbstate_t *m = with(2, &zero, sizeof zero); WATCH_RESULT(c32rtomb(d, U'x', m)); }
    { P("wctomb"); char *d = ROOM(0); WATCH_RESULT(wctomb(d, L'x')); }
    { P("wctype"); char *s = text(0, "alpha"); WATCH_RESULT(wctype(s)); }
    { P("wctrans"); char *s = text(0, "tolower"); WATCH_RESULT(wctrans(s)); }
}

static void numbers(void) {
    { P("frexp"); int *e = ROOM(1); WATCH_RESULT(frexp(3.0, e)); }
    { P("frexpf"); int *e = ROOM(1); WATCH_RESULT(frexpf(3.0f, e)); }
    { P("frexpl"); int *e = ROOM(1); WATCH_RESULT(frexpl(3.0L, e)); }
    { P("modf"); double *e = ROOM(1); WATCH_RESULT(modf(3.5, e)); }
    { P("modff"); float *e = ROOM(1); WATCH_RESULT(modff(3.5f, e)); }
    { P("modfl"); long double *e = ROOM(1); WATCH_RESULT(modfl(3.5L, e)); }
    { P("remquo"); int *e = ROOM(2); WATCH_RESULT(remquo(7, 2, e)); }
    { P("remquof"); int *e = ROOM(2); WATCH_RESULT(remquof(7, 2, e)); }
    { P("remquol"); int *e = ROOM(2); WATCH_RESULT(remquol(7, 2, e)); }
    { P("sincos"); double *s = ROOM(1), *c = ROOM(2); WATCH(sincos(1, s, c)); }
    { P("sincosf"); float *s = ROOM(1), *c = ROOM(2); WATCH(sincosf(1, s, c)); }
    { P("sincosl"); long double *s = ROOM(1), *c = ROOM(2); WATCH(sincosl(1, s, c)); }
    { P("lgamma_r"); int *e = ROOM(1); WATCH_RESULT(lgamma_r(-0.5, e)); }
    { P("lgammaf_r"); int *e = ROOM(1); WATCH_RESULT(lgammaf_r(-0.5f, e)); }
    { P("lgammal_r"); int *e = ROOM(1); WATCH_RESULT(lgammal_r(-0.5L, e)); }
    { P("nan"); char *s = text(0, "1"); WATCH_RESULT(nan(s) != 0); }
    { P("nanf"); char *s = text(0, "1"); WATCH_RESULT(nanf(s) != 0); }
    { P("fegetenv"); fenv_t *e = ROOM(0); WATCH_RESULT(fegetenv(e)); }
    { P("feholdexcept"); fenv_t *e = ROOM(0); WATCH_RESULT(feholdexcept(e)); }
    { P("fegetexceptflag"); fexcept_t *e = ROOM(0); WATCH_RESULT(fegetexceptflag(e, number(1, FE_ALL_EXCEPT))); }
    { P("fesetexceptflag"); fexcept_t zero = 0, *e = with(0, &zero, sizeof zero); WATCH_RESULT(fesetexceptflag(e, number(1, FE_ALL_EXCEPT))); }
    fenv_t environment;
    fegetenv(&environment);
    { P("fesetenv"); fenv_t *e = with(0, &environment, sizeof environment); WATCH_RESULT(fesetenv(e)); }
    { P("feupdateenv"); fenv_t *e = with(0, &environment, sizeof environment); WATCH_RESULT(feupdateenv(e)); }
    { P("lgamma"); VARIABLE("signgam", signgam, lgamma(-0.5)); }
    { P("lgammaf"); VARIABLE("signgam", signgam, lgammaf(-0.5f)); }
    { P("lgammal"); VARIABLE("signgam", signgam, lgammal(-0.5L)); }
    { P("gamma"); VARIABLE("signgam", signgam, gamma(-0.5)); }
    unsigned short seed[3] = {1, 2, 3}, parameters[7] = {1, 2, 3, 4, 5, 6, 7};
    struct drand48_data data;
    srand48_r(1, &data);
    { P("rand_r"); unsigned one = 1, *s = with(0, &one, 4); WATCH_RESULT(rand_r(s)); }
    { P("erand48"); unsigned short *s = with(0, seed, 6); WATCH_RESULT(erand48(s)); }
    { P("jrand48"); unsigned short *s = with(0, seed, 6); WATCH_RESULT(jrand48(s)); }
    { P("nrand48"); unsigned short *s = with(0, seed, 6); WATCH_RESULT(nrand48(s)); }
    { P("seed48"); unsigned short *s = with(0, seed, 6); WATCH_RESULT(seed48(s)); }
    { P("lcong48"); unsigned short *s = with(0, parameters, 14); WATCH(lcong48(s)); }
    { P("srand48_r"); struct drand48_data *d = ROOM(1); WATCH_RESULT(srand48_r(number(0, 1), d)); }
    { P("seed48_r"); unsigned short *s = with(0, seed, 6); struct drand48_data *d = with(1, &data, sizeof data); WATCH_RESULT(seed48_r(s, d)); }
    { P("drand48_r"); struct drand48_data *d = with(0, &data, sizeof data); double *r = ROOM(1); WATCH_RESULT(drand48_r(d, r)); }
    { P("lrand48_r"); struct drand48_data *d = with(0, &data, sizeof data); long *r = ROOM(1); WATCH_RESULT(lrand48_r(d, r)); }
    { P("mrand48_r"); struct drand48_data *d = with(0, &data, sizeof data); long *r = ROOM(1); WATCH_RESULT(mrand48_r(d, r)); }
    { P("erand48_r"); unsigned short *s = with(0, seed, 6); struct drand48_data *d = with(1, &data, sizeof data); double *r = ROOM(2); WATCH_RESULT(erand48_r(s, d, r)); }
    { P("jrand48_r"); unsigned short *s = with(0, seed, 6); struct drand48_data *d = with(1, &data, sizeof data); long *r = ROOM(2); WATCH_RESULT(jrand48_r(s, d, r)); }
    { P("nrand48_r"); unsigned short *s = with(0, seed, 6); struct drand48_data *d = with(1, &data, sizeof data); long *r = ROOM(2); WATCH_RESULT(nrand48_r(s, d, r)); }
    struct random_data random = {0};
    static char state[64];
    initstate_r(1, state, sizeof state, &random);
    { P("random_r"); struct random_data *d = with(0, &random, sizeof random); int *r = ROOM(1); WATCH_RESULT(random_r(d, r)); }
    { P("srandom_r"); struct random_data *d = with(1, &random, sizeof random); WATCH_RESULT(srandom_r(number(0, 2), d)); }
    { P("initstate_r"); struct random_data none = {0}, *d = with(3, &none, sizeof none); char *s = ROOM(1); WATCH_RESULT(initstate_r(number(0, 2), s, number(2, 64), d)); }
    { P("gcvt"); char *d = ROOM(2); WATCH_RESULT(gcvt(1.5, number(1, 5), d)); }
    { P("ecvt"); int *p = ROOM(2), *s = ROOM(3); WATCH_RESULT(ecvt(1.5, number(1, 5), p, s)); }
    { P("fcvt"); int *p = ROOM(2), *s = ROOM(3); WATCH_RESULT(fcvt(1.5, number(1, 5), p, s)); }
    { P("ecvt_r"); int *p = ROOM(2), *s = ROOM(3); char *d = ROOM(4); WATCH_RESULT(ecvt_r(1.5, number(1, 5), p, s, d, number(5, 32))); }
    { P("fcvt_r"); int *p = ROOM(2), *s = ROOM(3); char *d = ROOM(4); WATCH_RESULT(fcvt_r(1.5, number(1, 5), p, s, d, number(5, 32))); }
}

static int by_int(const void *left, const void *right) { return *(const int *)left - *(const int *)right; }
static int by_int_with(const void *left, const void *right, void *with) { return by_int(left, right); }

static void tables(void) {
    int values[] = {3, 1, 2}, key = 2, missing = 9;
    { P("qsort"); int *a = with(0, values, sizeof values); WATCH(qsort(a, number(1, 3), number(2, 4), by_int)); }
    { P("qsort_r"); int *a = with(0, values, sizeof values); WATCH(qsort_r(a, number(1, 3), number(2, 4), by_int_with, NULL)); }
    { P("lsearch"); size_t count = 3, *n = with(2, &count, 8); int *k = with(0, &missing, 4), *a = with(1, values, sizeof values); WATCH_RESULT(lsearch(k, a, n, number(3, 4), by_int)); }
    { P("lfind"); size_t count = 3, *n = with(2, &count, 8); WATCH_RESULT(lfind(&key, values, n, number(3, 4), by_int)); }
    { P("tsearch"); void *none = NULL, **root = with(1, &none, 8); WATCH_RESULT(tsearch(&key, root, by_int)); }
    { P("tfind"); void *none = NULL, **root = with(1, &none, 8); WATCH_RESULT(tfind(&key, root, by_int)); }
    { P("insque"); struct { void *next, *previous; } one = {0}, *e = with(0, &one, sizeof one), *p = with(1, &one, sizeof one); WATCH(insque(e, p)); }
}

static void formats(void) {
    { P("sprintf"); char *d = ROOM(0), *f = text(1, "%d"); WATCH_RESULT(sprintf(d, f, 12)); }
    { P("snprintf"); char *d = ROOM(0), *f = text(2, "%d"); WATCH_RESULT(snprintf(d, number(1, 16), f, 12)); }
    { P("asprintf"); char **d = ROOM(0), *f = text(1, "%d"); WATCH_RESULT(asprintf(d, f, 12)); }
    { P("swprintf"); wchar_t *d = ROOM(0), *f = wide(2, L"%d"); WATCH_RESULT(swprintf(d, number(1, 16), f, 12)); }
    { P("sscanf"); int n; char *s = text(0, "12"), *f = text(1, "%d"); WATCH_RESULT(sscanf(s, f, &n)); }
    { P("swscanf"); int n; wchar_t *s = wide(0, L"12"), *f = wide(1, L"%d"); WATCH_RESULT(swscanf(s, f, &n)); }
}

static void streams(void) {
    FILE *file = tmpfile();
    fputs("line one\nline two\nline three\nline four\n", file);
    rewind(file);
    { P("fgets"); char *d = ROOM(0); WATCH_RESULT(fgets(d, number(1, 64), file)); }
    { P("fread"); char *d = ROOM(0); WATCH_RESULT(fread(d, number(1, 1), number(2, 5), file)); }
    { P("getline"); char *none = NULL, **p = with(0, &none, 8); size_t zero = 0, *n = with(1, &zero, 8); WATCH_RESULT(getline(p, n, file)); }
    { P("getdelim"); char *none = NULL, **p = with(0, &none, 8); size_t zero = 0, *n = with(1, &zero, 8); WATCH_RESULT(getdelim(p, n, number(2, '\n'), file)); }
    { P("fgetpos"); fpos_t *p = ROOM(1); WATCH_RESULT(fgetpos(file, p)); }
    fpos_t position;
    fgetpos(file, &position);
    { P("fsetpos"); fpos_t *p = with(1, &position, sizeof position); WATCH_RESULT(fsetpos(file, p)); }
    fseek(file, 0, SEEK_END);
    { P("fputs"); char *s = text(0, "text"); WATCH_RESULT(fputs(s, file)); }
    { P("fwrite"); char *s = text(0, "text"); WATCH_RESULT(fwrite(s, number(1, 2), number(2, 2), file)); }
    { P("setvbuf"); char *d = ROOM(1); WATCH_RESULT(setvbuf(file, d, number(2, _IOFBF), number(3, 64))); setvbuf(file, NULL, _IONBF, 0); }
    fclose(file);
    { P("open_memstream"); char **p = ROOM(0); size_t *n = ROOM(1); FILE *f; WATCH((f = open_memstream(p, n), fputc('x', f), fflush(f))); fclose(f); }
    { P("tmpnam"); char *d = ROOM(0); WATCH_RESULT(tmpnam(d)); }
    { P("tmpnam_r"); char *d = ROOM(0); WATCH_RESULT(tmpnam_r(d)); }
    { P("ctermid"); char *d = ROOM(0); WATCH_RESULT(ctermid(d)); }
}

static void times_and_dates(void) {
    time_t moment = 1000000;
    struct tm day;
    gmtime_r(&moment, &day);
    { P("time"); time_t *t = ROOM(0); WATCH_RESULT(time(t)); }
    { P("clock_gettime"); struct timespec *t = ROOM(1); PATTERNS(1, clock_gettime(number(0, CLOCK_REALTIME), t)); }
    { P("clock_getres"); struct timespec *t = ROOM(1); PATTERNS(1, clock_getres(number(0, CLOCK_REALTIME), t)); }
    { P("gettimeofday"); struct timeval *t = ROOM(0); PATTERNS(0, gettimeofday(t, NULL)); }
    { P("timespec_get"); struct timespec *t = ROOM(0); PATTERNS(0, timespec_get(t, number(1, TIME_UTC))); }
    { P("times"); struct tms *t = ROOM(0); PATTERNS(0, times(t)); }
    { P("getrusage"); struct rusage *u = ROOM(1); PATTERNS(1, getrusage(number(0, RUSAGE_SELF), u)); }
    { P("getitimer"); struct itimerval *t = ROOM(1); PATTERNS(1, getitimer(number(0, ITIMER_REAL), t)); }
    { P("gmtime"); time_t *t = with(0, &moment, 8); WATCH_RESULT(gmtime(t)); }
    { P("gmtime_r"); time_t *t = with(0, &moment, 8); struct tm *d = ROOM(1); WATCH_RESULT(gmtime_r(t, d)); }
    { P("localtime"); time_t *t = with(0, &moment, 8); WATCH_RESULT(localtime(t)); }
    { P("localtime_r"); time_t *t = with(0, &moment, 8); struct tm *d = ROOM(1); WATCH_RESULT(localtime_r(t, d)); }
    { P("ctime"); time_t *t = with(0, &moment, 8); WATCH_RESULT(ctime(t)); }
    { P("ctime_r"); time_t *t = with(0, &moment, 8); char *d = ROOM(1); WATCH_RESULT(ctime_r(t, d)); }
    { P("asctime"); struct tm *t = with(0, &day, sizeof day); WATCH_RESULT(asctime(t)); }
    { P("asctime_r"); struct tm *t = with(0, &day, sizeof day); char *d = ROOM(1); WATCH_RESULT(asctime_r(t, d)); }
    { P("mktime"); struct tm *t = with(0, &day, sizeof day); WATCH_RESULT(mktime(t)); }
    { P("timegm"); struct tm *t = with(0, &day, sizeof day); WATCH_RESULT(timegm(t)); }
    { P("timelocal"); struct tm *t = with(0, &day, sizeof day); WATCH_RESULT(timelocal(t)); }
    { P("strftime"); char *d = ROOM(0), *f = text(2, "%Y"); struct tm *t = with(3, &day, sizeof day); WATCH_RESULT(strftime(d, number(1, 16), f, t)); }
    { P("wcsftime"); wchar_t *d = ROOM(0), *f = wide(2, L"%Y"); struct tm *t = with(3, &day, sizeof day); WATCH_RESULT(wcsftime(d, number(1, 16), f, t)); }
    { P("strptime"); char *s = text(0, "1970"), *f = text(1, "%Y"); struct tm *t = with(2, &day, sizeof day); WATCH_RESULT(strptime(s, f, t)); }
    { P("clock_getcpuclockid"); clockid_t *c = ROOM(1); PATTERNS(1, clock_getcpuclockid(number(0, 0), c)); }
    { P("tzset"); setenv("TZ", "XYZ3", 1); VARIABLE("timezone", timezone, tzset()); }
    { P("localtime"); VARIABLE("timezone", timezone, localtime(&moment)); unsetenv("TZ"); }
}

static void files(void) {
    int fd = open("/", O_RDONLY), ends[2];
    if (pipe(ends) || write(ends[1], "0123456789abcdefghij", 20) != 20)
        exit(4);
    { P("stat"); struct stat *s = ROOM(1); PATTERNS(1, stat("/", s)); }
    { P("lstat"); struct stat *s = ROOM(1); PATTERNS(1, lstat("/", s)); }
    { P("fstat"); struct stat *s = ROOM(1); PATTERNS(1, fstat(fd, s)); }
    { P("fstatat"); struct stat *s = ROOM(2); PATTERNS(2, fstatat(AT_FDCWD, "/", s, 0)); }
    { P("statfs"); struct statfs *s = ROOM(1); PATTERNS(1, statfs("/", s)); }
    { P("fstatfs"); struct statfs *s = ROOM(1); PATTERNS(1, fstatfs(fd, s)); }
    { P("statvfs"); struct statvfs *s = ROOM(1); PATTERNS(1, statvfs("/", s)); }
    { P("fstatvfs"); struct statvfs *s = ROOM(1); PATTERNS(1, fstatvfs(fd, s)); }
    { P("statx"); struct statx *s = ROOM(4); PATTERNS(4, statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, s)); }
    { P("read"); char *d = ROOM(1); PATTERNS(1, read(ends[0], d, number(2, 4))); }
    { P("readv"); char data[4]; struct iovec part = {data, 4}, *v = with(1, &part, sizeof part); WATCH_RESULT(readv(ends[0], v, number(2, 1)) * 0); }
    { P("pipe"); int *p = ROOM(0); PATTERNS(0, pipe(p)); }
    { P("pipe2"); int *p = ROOM(0); PATTERNS(0, pipe2(p, number(1, 0))); }
    { P("socketpair"); int *p = ROOM(3); PATTERNS(3, socketpair(AF_UNIX, SOCK_STREAM, 0, p)); }
    { P("getcwd"); char *d = ROOM(0); PATTERNS(0, getcwd(d, number(1, 256)) != NULL); }
    { P("realpath"); char *s = text(0, "/"), *d = ROOM(1); WATCH_RESULT(realpath(s, d) != NULL); }
    { P("readlink"); char *d = ROOM(1); PATTERNS(1, readlink("/proc/self/exe", d, number(2, 16))); }
    { P("gethostname"); char *d = ROOM(0); PATTERNS(0, gethostname(d, number(1, 256))); }
    { P("uname"); struct utsname *u = ROOM(0); PATTERNS(0, uname(u)); }
    { P("sysinfo"); struct sysinfo *s = ROOM(0); PATTERNS(0, sysinfo(s)); }
    { P("getrlimit"); struct rlimit *r = ROOM(1); PATTERNS(1, getrlimit(number(0, RLIMIT_CORE), r)); }
    { P("getloadavg"); double *d = ROOM(0); PATTERNS(0, getloadavg(d, number(1, 3))); }
    { P("getrandom"); char *d = ROOM(0); PATTERNS(0, getrandom(d, number(1, 16), 0)); }
    { P("getentropy"); char *d = ROOM(0); PATTERNS(0, getentropy(d, number(1, 16))); }
    { P("sched_getaffinity"); cpu_set_t *s = ROOM(2); PATTERNS(2, sched_getaffinity(0, number(1, sizeof(cpu_set_t)), s)); }
    { P("sched_getparam"); struct sched_param *s = ROOM(1); PATTERNS(1, sched_getparam(0, s)); }
    { P("sigpending"); sigset_t *s = ROOM(0); PATTERNS(0, sigpending(s)); }
    { P("sigprocmask"); sigset_t *s = ROOM(2); PATTERNS(2, sigprocmask(number(0, SIG_BLOCK), NULL, s)); }
    { P("pthread_sigmask"); sigset_t *s = ROOM(2); PATTERNS(2, pthread_sigmask(number(0, SIG_BLOCK), NULL, s)); }
    { P("sigaction"); struct sigaction *s = ROOM(2); PATTERNS(2, sigaction(number(0, SIGUSR1), NULL, s)); }
    { P("sigaltstack"); stack_t *s = ROOM(1); PATTERNS(1, sigaltstack(NULL, s)); }
    { P("poll"); struct pollfd p = {ends[0], POLLIN, 0}, *v = ROOM(0); PATTERNS(0, (*v = p, memcpy(before[0], pages[0], PAGE), poll(v, number(1, 1), 0))); }
    { P("select"); fd_set set, *s = ROOM(1); FD_ZERO(&set); FD_SET(ends[1], &set); struct timeval now = {0, 0}; PATTERNS(1, (*s = set, memcpy(before[1], pages[1], PAGE), select(ends[1] + 1, s, NULL, NULL, &now))); }
    { P("select"); fd_set set; FD_ZERO(&set); FD_SET(ends[1], &set); struct timeval limit = {0, 2000}, *t = ROOM(4); PATTERNS(4, (*t = limit, memcpy(before[4], pages[4], PAGE), select(0, NULL, NULL, NULL, t))); }
    { P("readdir"); DIR *dir = opendir("/"); WATCH_RESULT(readdir(dir) != NULL); closedir(dir); }
    { P("getsockname"); struct sockaddr_storage *s = ROOM(1); int socket_ = socket(AF_UNIX, SOCK_STREAM, 0); socklen_t len = sizeof *s; PATTERNS(1, (len = sizeof *s, getsockname(socket_, (struct sockaddr *)s, &len))); close(socket_); }
    { P("getsockname"); struct sockaddr_storage s; int socket_ = socket(AF_UNIX, SOCK_STREAM, 0); socklen_t *len = ROOM(2); PATTERNS(2, (*len = sizeof s, memcpy(before[2], pages[2], PAGE), getsockname(socket_, (struct sockaddr *)&s, len))); close(socket_); }
    { P("getsockopt"); int *v = ROOM(3); int socket_ = socket(AF_UNIX, SOCK_STREAM, 0); socklen_t len = 4; PATTERNS(3, (len = 4, getsockopt(socket_, SOL_SOCKET, SO_TYPE, v, &len))); close(socket_); }
    { P("mkdtemp"); char *s = text(0, "/tmp/probe-XXXXXX"); WATCH_RESULT(mkdtemp(s)); rmdir(s); }
    { P("mkstemp"); char *s = text(0, "/tmp/probe-XXXXXX"); WATCH_RESULT(mkstemp(s)); unlink(s); }
    { P("mkostemp"); char *s = text(0, "/tmp/probe-XXXXXX"); WATCH_RESULT(mkostemp(s, number(1, 0))); unlink(s); }
    { P("mkstemps"); char *s = text(0, "/tmp/probe-XXXXXX.c"); WATCH_RESULT(mkstemps(s, number(1, 2))); unlink(s); }
    { P("confstr"); char *d = ROOM(1); WATCH_RESULT(confstr(number(0, _CS_PATH), d, number(2, 64))); }
    { P("glob"); char *s = text(0, "/"); glob_t none = {0}, *g = with(3, &none, sizeof none); WATCH_RESULT(glob(s, number(1, GLOB_NOCHECK), NULL, g)); }
    { P("globfree"); glob_t found; glob("/", GLOB_NOCHECK, NULL, &found); glob_t *g = with(0, &found, sizeof found); WATCH(globfree(g)); }
    { P("scandir"); struct dirent ***l = ROOM(1); char *s = text(0, "/"); (void)s; PATTERNS(1, scandir("/", l, NULL, NULL) >= 0); }
}

static void objects(void) {
    regex_t expression;
    regcomp(&expression, "a(b)", REG_EXTENDED);
    { P("regcomp"); regex_t *r = ROOM(0); char *s = text(1, "a.b"); WATCH_RESULT(regcomp(r, s, number(2, REG_EXTENDED))); }
    { P("regexec"); regex_t *r = with(0, &expression, sizeof expression); char *s = text(1, "ab"); regmatch_t *m = ROOM(3); WATCH_RESULT(regexec(r, s, number(2, 3), m, number(4, 0))); }
    { P("regerror"); regex_t *r = with(1, &expression, sizeof expression); char *d = ROOM(2); WATCH_RESULT(regerror(number(0, REG_BADPAT), r, d, number(3, 64))); }
    { P("regfree"); regex_t *r = with(0, &expression, sizeof expression); WATCH(regfree(r)); }
    { P("inet_pton"); char *s = text(1, "127.0.0.1"), *d = ROOM(2); WATCH_RESULT(inet_pton(number(0, AF_INET), s, d)); }
    { P("inet_ntop"); unsigned a = 1, *s = with(1, &a, 4); char *d = ROOM(2); WATCH_RESULT(inet_ntop(number(0, AF_INET), s, d, number(3, 16))); }
    { P("inet_aton"); char *s = text(0, "127.0.0.1"); struct in_addr *d = ROOM(1); WATCH_RESULT(inet_aton(s, d)); }
    { P("inet_addr"); char *s = text(0, "127.0.0.1"); WATCH_RESULT(inet_addr(s)); }
    { P("getpwnam_r"); struct passwd *p = ROOM(1), **r = ROOM(4); char *n = text(0, "root"), *d = ROOM(2); WATCH_RESULT(getpwnam_r(n, p, d, number(3, 1024), r)); }
    { P("getpwuid_r"); struct passwd *p = ROOM(1), **r = ROOM(4); char *d = ROOM(2); WATCH_RESULT(getpwuid_r(number(0, 0), p, d, number(3, 1024), r)); }
    { P("getgrgid_r"); struct group *p = ROOM(1), **r = ROOM(4); char *d = ROOM(2); WATCH_RESULT(getgrgid_r(number(0, 0), p, d, number(3, 1024), r)); }
    { P("getgrnam_r"); struct group *p = ROOM(1), **r = ROOM(4); char *n = text(0, "root"), *d = ROOM(2); WATCH_RESULT(getgrnam_r(n, p, d, number(3, 1024), r)); }
    { P("posix_memalign"); void **p = ROOM(0); WATCH_RESULT(posix_memalign(p, number(1, 64), number(2, 64))); }
    { P("setjmp"); jmp_buf *b = ROOM(0); WATCH(_setjmp(*b)); }
    { P("dladdr"); Dl_info *d = ROOM(1); WATCH_RESULT(dladdr((void *)strlen, d)); }
    { P("getenv"); char *s = text(0, "PATH"); WATCH_RESULT(getenv(s) != NULL); }
    { P("setenv"); char *s = text(0, "PROBE"), *v = text(1, "1"); WATCH_RESULT(setenv(s, v, number(2, 1))); }
    { P("unsetenv"); char *s = text(0, "PROBE"); WATCH_RESULT(unsetenv(s)); }
    { P("setenv"); char **old = environ; setenv("PROBE_NEW", "1", 1); if (environ != old) say("variable environ"); }
    { P("clearenv"); char **old = environ; clearenv(); if (environ != old) say("variable environ"); }
    { P("setlocale"); char *s = text(1, "C"); WATCH_RESULT(setlocale(number(0, LC_ALL), s)); }
    { P("getopt"); char *words[] = {"p", "-x", NULL}; opterr = 0; int old = optind; getopt(2, words, "a"); if (optind != old) say("variable optind"); if (optopt == 'x') say("variable optopt"); }
    { P("getopt"); char *words[] = {"p", "-a", "value", NULL}; optind = 1; optarg = NULL; getopt(3, words, "a:"); if (optarg) say("variable optarg"); }
    { P("getopt_long"); static struct option options[] = {{"all", 0, NULL, 'a'}, {NULL, 0, NULL, 0}}; char *words[] = {"p", "--all", NULL}; int *index_ = ROOM(4); optind = 1; WATCH_RESULT(getopt_long(2, words, "a", options, index_)); if (optind != 1) say("variable optind"); }
    { P("pthread_attr_init"); pthread_attr_t *a = ROOM(0); WATCH_RESULT(pthread_attr_init(a)); }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    { P("pthread_attr_getdetachstate"); pthread_attr_t *a = with(0, &attributes, sizeof attributes); int *d = ROOM(1); WATCH_RESULT(pthread_attr_getdetachstate(a, d)); }
    { P("pthread_attr_setdetachstate"); pthread_attr_t *a = with(0, &attributes, sizeof attributes); WATCH_RESULT(pthread_attr_setdetachstate(a, number(1, 1))); }
    { P("pthread_attr_getstacksize"); pthread_attr_t *a = with(0, &attributes, sizeof attributes); size_t *d = ROOM(1); WATCH_RESULT(pthread_attr_getstacksize(a, d)); }
    { P("pthread_attr_setstacksize"); pthread_attr_t *a = with(0, &attributes, sizeof attributes); WATCH_RESULT(pthread_attr_setstacksize(a, number(1, 1 << 20))); }
    { P("pthread_attr_getguardsize"); pthread_attr_t *a = with(0, &attributes, sizeof attributes); size_t *d = ROOM(1); WATCH_RESULT(pthread_attr_getguardsize(a, d)); }
    { P("pthread_attr_getschedparam"); pthread_attr_t *a = with(0, &attributes, sizeof attributes); struct sched_param *d = ROOM(1); WATCH_RESULT(pthread_attr_getschedparam(a, d)); }
    { P("pthread_mutexattr_init"); pthread_mutexattr_t *a = ROOM(0); WATCH_RESULT(pthread_mutexattr_init(a)); }
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    { P("pthread_mutexattr_settype"); pthread_mutexattr_t *a = with(0, &kind, sizeof kind); WATCH_RESULT(pthread_mutexattr_settype(a, number(1, 1))); }
    { P("pthread_mutexattr_gettype"); pthread_mutexattr_t *a = with(0, &kind, sizeof kind); int *d = ROOM(1); WATCH_RESULT(pthread_mutexattr_gettype(a, d)); }
    { P("pthread_condattr_init"); pthread_condattr_t *a = ROOM(0); WATCH_RESULT(pthread_condattr_init(a)); }
    { P("pthread_rwlockattr_init"); pthread_rwlockattr_t *a = ROOM(0); WATCH_RESULT(pthread_rwlockattr_init(a)); }
    { P("pthread_barrierattr_init"); pthread_barrierattr_t *a = ROOM(0); WATCH_RESULT(pthread_barrierattr_init(a)); }
    { P("pthread_getname_np"); char *d = ROOM(1); PATTERNS(1, pthread_getname_np(pthread_self(), d, number(2, 16))); }
    { P("pthread_getschedparam"); int *p = ROOM(1); struct sched_param *s = ROOM(2); WATCH_RESULT(pthread_getschedparam(pthread_self(), p, s)); }
    { P("pthread_setcancelstate"); int *d = ROOM(1); WATCH_RESULT(pthread_setcancelstate(number(0, PTHREAD_CANCEL_ENABLE), d)); }
    { P("pthread_setcanceltype"); int *d = ROOM(1); WATCH_RESULT(pthread_setcanceltype(number(0, PTHREAD_CANCEL_DEFERRED), d)); }
    { P("pthread_getcpuclockid"); clockid_t *d = ROOM(1); WATCH_RESULT(pthread_getcpuclockid(pthread_self(), d)); }
    { P("sigemptyset"); sigset_t *s = ROOM(0); WATCH_RESULT(sigemptyset(s)); }
    { P("sigfillset"); sigset_t *s = ROOM(0); WATCH_RESULT(sigfillset(s)); }
    sigset_t none;
    sigemptyset(&none);
    { P("sigaddset"); sigset_t *s = with(0, &none, sizeof none); WATCH_RESULT(sigaddset(s, number(1, SIGUSR1))); }
    { P("sigdelset"); sigset_t *s = with(0, &none, sizeof none); WATCH_RESULT(sigdelset(s, number(1, SIGUSR1))); }
    { P("sigismember"); sigset_t *s = with(0, &none, sizeof none); WATCH_RESULT(sigismember(s, number(1, SIGUSR1))); }
}

static void *nothing(void *arg) { return arg; }

static void joins(void) {
    struct timespec later = {1L << 40, 0};
    pthread_t thread;
    { P("pthread_join"); void **r = ROOM(1); pthread_create(&thread, NULL, nothing, NULL); WATCH_RESULT(pthread_join(thread, r)); }
    { P("pthread_timedjoin_np"); void **r = ROOM(1); pthread_create(&thread, NULL, nothing, NULL); WATCH_RESULT(pthread_timedjoin_np(thread, r, &later)); }
    { P("pthread_clockjoin_np"); void **r = ROOM(1); pthread_create(&thread, NULL, nothing, NULL); WATCH_RESULT(pthread_clockjoin_np(thread, r, CLOCK_REALTIME, &later)); }
    { P("pthread_tryjoin_np"); void **r = ROOM(1); pthread_create(&thread, NULL, nothing, NULL); usleep(50000); WATCH_RESULT(pthread_tryjoin_np(thread, r)); }
}

static void *get_localtime(void) { static time_t t; return localtime(&t); }
static void *get_gmtime(void) { static time_t t; return gmtime(&t); }
static void *get_ctime(void) { static time_t t; return ctime(&t); }
static void *get_asctime(void) { struct tm day = {.tm_mday = 1}; return asctime(&day); }
static void *get_localeconv(void) { return localeconv(); }
static void *get_getpwuid(void) { return getpwuid(0); }
static void *get_getpwnam(void) { return getpwnam("root"); }
static void *get_getgrgid(void) { return getgrgid(0); }
static void *get_getgrnam(void) { return getgrnam("root"); }
static void *get_getservbyname(void) { return getservbyname("http", "tcp"); }
static void *get_getprotobyname(void) { return getprotobyname("tcp"); }
static void *get_l64a(void) { return l64a(5); }
static void *get_ecvt(void) { int p, s; return ecvt(1.5, 3, &p, &s); }
static void *get_fcvt(void) { int p, s; return fcvt(1.5, 3, &p, &s); }
static void *get_tmpnam(void) { return tmpnam(NULL); }
static void *get_ctermid(void) { return ctermid(NULL); }
static void *get_seed48(void) { unsigned short seed[3] = {1, 2, 3}; return seed48(seed); }
static void *get_strerror(void) { return strerror(9999); }
static void *get_strsignal(void) { return strsignal(63); }
static void *get_inet_ntoa(void) { struct in_addr a = {1}; return inet_ntoa(a); }

int main(void) {
    prepare();
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    strings(), wide_strings(), numbers(), tables(), formats(), streams(), times_and_dates(), files(), joins();
#define SHARED(name) shared(#name, get_##name)
    SHARED(localtime), SHARED(gmtime), SHARED(ctime), SHARED(asctime), SHARED(localeconv), SHARED(getpwuid);
    SHARED(getpwnam), SHARED(getgrgid), SHARED(getgrnam), SHARED(getservbyname), SHARED(getprotobyname), SHARED(l64a);
    SHARED(ecvt), SHARED(fcvt), SHARED(tmpnam), SHARED(ctermid), SHARED(seed48), SHARED(strerror), SHARED(strsignal);
    SHARED(inet_ntoa);
    objects();
    return 0;
}
