# Included by the Makefile of each program, which sets PROGRAM, SOURCES and COMMON (names of files in ../common).
#
#   make                        the program, and its twin with a bug: $(PROGRAM) and $(PROGRAM)-bug
#   make CC="raceproof cc"      the same, to be given to raceproof check
#   make test                   runs the program on its test input
#   make clean
CC ?= cc
CFLAGS ?= -O2 -g
override CFLAGS += -std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -Wall -Wextra -I../common -pthread

OBJECTS := $(SOURCES:.c=.o) $(COMMON:.c=.o)
BUGGY := $(OBJECTS:.o=.bug.o)
vpath %.c ../common

all: $(PROGRAM) $(PROGRAM)-bug

$(PROGRAM): $(OBJECTS)
	$(CC) $(CFLAGS) -o $@ $^ $(LDFLAGS)

$(PROGRAM)-bug: $(BUGGY)
	$(CC) $(CFLAGS) -o $@ $^ $(LDFLAGS)

%.bug.o: %.c
	$(CC) $(CFLAGS) -DBUG=$(or $(BUG),1) -c -o $@ $<

%.o: %.c
	$(CC) $(CFLAGS) -c -o $@ $<

$(OBJECTS) $(BUGGY): $(wildcard *.h ../common/*.h)

clean:
	rm -f $(PROGRAM) $(PROGRAM)-bug *.o

.PHONY: all test clean
