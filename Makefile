# cleave: image segmentation with learned graph cuts.
#
#   make demo      installs what is missing, builds, trains on the shipped samples, segments a folder, writes the report
#   make check     installs what is missing, builds, runs every test
#   make help      the rest
#
# Knobs: SANITIZE=address,undefined  DEVELOPER=1 (warnings are errors)  WITH_BK=0|1 (libmaxflow, GPL-3+)
#        WITH_MPI=0|1 (BUILD/mpi/cleave next to the plain one, whose processes under mpirun share their work; its own checks)
#        WITH_GDAL=0|1 (reads whatever GDAL does: VRT, JPEG 2000, netCDF ..; some 100 Debian packages come with it)
#        HARDEN=0|1 (stack protector, checked libc calls, relocations read-only)
#        ARCH=arm64 (cross build for 64-bit ARM into build/arm64, by Debian's compilers)
#        PREFIX=/usr/local  LIBDIR=PREFIX/lib  DESTDIR=  BUILD=build  CLEAVE_DATA=../shared/data  V=1 (show commands)

VERSION := $(shell awk '/define CLV_VERSION_(MAJOR|MINOR|PATCH) / { v = v dot $$3; dot = "." } END { print v }' include/cleave/version.h)
SONAME := libcleave.so.0
SHARED := libcleave.so.$(VERSION)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
WITH_BK ?= 1
WITH_MPI ?= 0
WITH_GDAL ?= 0
ARCH ?=
SANITIZE ?=
DEVELOPER ?=
COVERAGE ?=
HARDEN ?= $(if $(SANITIZE)$(COVERAGE),0,1)
empty :=
comma := ,
BUILD ?= build$(if $(ARCH),/$(ARCH))$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))$(if $(COVERAGE),/coverage)$(if $(filter 0,$(WITH_BK)),/no-bk)$(if $(filter 1,$(WITH_GDAL)),/gdal)
CLEAVE_DATA ?= ../shared/data
export CLEAVE_DATA

ifeq ($(ARCH),arm64)
# The folder that tools/arm64-root fills.
arm64_root := $(CURDIR)/build/arm64-root
CC = aarch64-linux-gnu-gcc --sysroot=$(arm64_root)
CXX = aarch64-linux-gnu-g++ --sysroot=$(arm64_root)
LD = aarch64-linux-gnu-ld
OBJCOPY = aarch64-linux-gnu-objcopy
export CC
else ifneq ($(ARCH),)
$(error ARCH=$(ARCH): there is arm64, or none)
endif
CC ?= cc
CXX ?= c++
OBJCOPY ?= objcopy
OPTIMIZE ?= -O3
# No FMA contraction and no reassociation, so that the bytes do not depend on the vector width of the machine.
CFLAGS ?= $(OPTIMIZE) -g
CFLAGS += -std=gnu17 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
          -ffp-contract=off -fno-math-errno -pthread -fPIC -fvisibility=hidden -MMD -MP
CXXFLAGS ?= $(OPTIMIZE) -g
CXXFLAGS += -std=c++17 -Wall -Wextra -fPIC -fvisibility=hidden -MMD -MP
CPPFLAGS += -Iinclude -Isrc -Ithird_party -D_GNU_SOURCE -DWITH_BK=$(WITH_BK)
ifneq ($(DEVELOPER),)
CFLAGS += -Werror
CXXFLAGS += -Werror
endif
ifeq ($(HARDEN),1)
CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
CFLAGS += -fstack-protector-strong
CXXFLAGS += -fstack-protector-strong
LDFLAGS += -Wl,-z,relro,-z,now
endif
ifneq ($(SANITIZE),)
# Under sanitizers kernels are not chosen at load time: those of the machine that builds are used.
CPPFLAGS += $(if $(shell grep -ow -m1 avx2 /proc/cpuinfo),-DCLV_MACHINE='"avx2"')
CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=undefined
CXXFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
LDFLAGS += -fsanitize=$(SANITIZE)
endif
ifneq ($(COVERAGE),)
CFLAGS += --coverage
LDFLAGS += --coverage
else
# Debug information and __FILE__ have paths relative to the source, so that all folders give the same bytes. gcovr needs
# absolute ones.
PWD := $(CURDIR)
CFLAGS += -ffile-prefix-map=$(CURDIR)=.
CXXFLAGS += -ffile-prefix-map=$(CURDIR)=.
endif
# The libraries that the library uses: MODULES by their pkg-config files, SYSTEM_LIBS by their names. This list is used
# for all links here, for tools (make print-libs) and for the installed cleave.pc.
MODULES := libpng libjpeg libwebp libtiff-4 jansson expat zlib
SYSTEM_LIBS := -lvl -pthread -lm
ifeq ($(WITH_BK),1)
MODULES += maxflow
SYSTEM_LIBS += -lstdc++
endif
ifeq ($(WITH_GDAL),1)
MODULES += gdal
endif
LDFLAGS += -Wl,--as-needed
LDLIBS := $(shell pkg-config --libs $(MODULES) 2>/dev/null) $(SYSTEM_LIBS) $(LDLIBS)

# Further libraries of the command.
CLI_LIBS := $(shell pkg-config --libs libmicrohttpd 2>/dev/null)

# Further libraries of the tests; one test wraps the function that a command calls at its end, and teams of processes are
# joined by sockets (tests/support/team.c) instead of MPI.
team_calls := join send probe take trade largest gather collect
TEST_LIBS = $(CLI_LIBS) $(shell pkg-config --libs check 2>/dev/null) -Wl,--wrap=common_options_release \
	$(patsubst %,-Wl$(comma)--wrap=comm_link_%,$(team_calls))

Q := $(if $(V),,@)

# A build that a recipe starts uses all processors, unless -j gives a number, which a recipe finds in MAKEFLAGS.
MAKE += $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

library_sources := $(filter-out src/cli/%,$(wildcard src/*/*.c src/*/*/*.c))
# Objects of files that do not use WITH_BK may be in the folder of another build, COMPILED.
COMPILED ?= $(BUILD)
reads_bk := $(shell grep -rlE 'WITH_BK|oracle_state\.h' --include='*.c' src)
objects_of = $(foreach source,$(1),$(if $(filter $(source),$(reads_bk)),$(BUILD),$(COMPILED))/$(source:.c=.o))
library_objects := $(call objects_of,$(library_sources))
ifeq ($(WITH_BK),1)
library_objects += $(BUILD)/third_party/maxflow_shim.o
endif
cli_objects := $(call objects_of,$(wildcard src/cli/*.c src/cli/*/*.c))
# Each tests/<area>/test_<name>.c is the suite <name>, whose tests register themselves; one runner holds them all.
test_sources := $(sort $(wildcard tests/*/test_*.c tests/*/*/test_*.c))
test_support := $(wildcard tests/support/*.c) $(wildcard tests/fuzz/fuzz_*.c)
test_objects := $(patsubst %.c,$(BUILD)/%.o,$(test_sources) $(test_support))
benches := $(patsubst tools/bench/%.c,$(BUILD)/bench/%,$(wildcard tools/bench/*.c))
bench_peers := $(BUILD)/bench/opencv $(BUILD)/bench/dlib $(BUILD)/bench/dlib_train
converters := $(patsubst tools/datasets/%.c,$(BUILD)/datasets/%,$(wildcard tools/datasets/*.c))
learned := $(patsubst tools/%.c,$(BUILD)/%,$(wildcard tools/learn/*.c))
# Programs that draw the papers' simulated problems and images of animals; tests draw them, too.
synth := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/synth/*.c))
simulator := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/reproduce/simulate/*.c))
# All programs of tools/ except the examples, which make check-library builds.
programs := $(benches) $(bench_peers) $(converters) $(learned) $(BUILD)/synth $(BUILD)/faults/driver $(BUILD)/faults/malloc.so $(BUILD)/faults/mutate
reproduction_scripts := $(filter-out %.md %/simulate,$(wildcard tools/reproduce/*))
reproductions := $(reproduction_scripts:tools/reproduce/%=reproduce-%)
bench_targets := $(patsubst $(BUILD)/bench/%,bench-%,$(benches))

.PHONY: all deps demo check check-extend check-page check-qgis check-digests check-faults check-cluster mutate check-library check-python chroot-check coverage format format-check lint bench bench-cluster bench-objects bench-polygons bench-rasters bench-rasters-large $(bench_targets) $(reproductions) datasets fuzz pictures dist portable check-portable image check-image check-arm64 check-rebuild deb wheel stage print-build print-libs install uninstall clean help
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# `make deps` runs first in demo and check, so that each alone works on a fresh machine; the build itself is a second make,
# which sees what the first one installed.
all: $(BUILD)/cleave $(BUILD)/libcleave.a $(BUILD)/$(SHARED) $(if $(filter 1,$(WITH_MPI)),$(BUILD)/mpi/cleave)

help:
	@sed -n '2,13s/^# \{0,1\}//p' Makefile
	@echo "targets: all deps demo check check-extend check-page check-qgis check-digests check-faults check-cluster mutate check-python chroot-check coverage format lint bench datasets fuzz pictures dist portable check-portable image check-image check-arm64 check-rebuild deb wheel install uninstall clean"
	@echo "one benchmark: $(bench_targets) bench-cluster bench-objects bench-polygons bench-rasters bench-rasters-large"
	@echo "the papers' tables, their data in CLEAVE_DATA, and their time:"
	@awk '/^# Time: / { time = substr($$0, 9) } \
	    /^#   CLEAVE_DATA  / { sub(/^#   CLEAVE_DATA +(folder with )?/, ""); sub(/ \(default.*/, ""); sub(/, which runs.*/, ""); \
	        name = FILENAME; sub(/.*\//, "reproduce-", name); printf "  %-20s %-60s %s\n", name, $$0, time }' $(reproduction_scripts)

deps:
	$(Q)tools/deps build
ifneq ($(ARCH),)
	$(Q)tools/deps arm64
	$(Q)tools/arm64-root $(arm64_root)
endif
ifeq ($(WITH_MPI),1)
	$(Q)tools/deps mpi
endif
ifeq ($(WITH_GDAL),1)
	$(Q)tools/deps gdal
endif

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/demo $(BUILD)

# With WITH_MPI=1 only the checks that differ.
ifeq ($(WITH_MPI),1)
check: deps
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/reproduce/simulate
	$(Q)tools/check-comm $(BUILD)
else
check: deps
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/cleave-faults $(BUILD)/run-tests $(programs)
	$(Q)tools/check-layers $(BUILD)
	$(Q)CLEAVE_BUILD=$(BUILD) $(BUILD)/run-tests
	$(Q)tools/first-hour $(BUILD)
	$(Q)$(MAKE) --no-print-directory check-library
endif

# Tests the installed library: in $(BUILD)/stage, found by pkg-config, used by programs outside of the tree.
check-library: stage $(BUILD)/run-tests
	$(Q)CC='$(CC)' CXX='$(CXX)' SANITIZE=$(SANITIZE) HARDEN=$(HARDEN) COVERAGE=$(COVERAGE) tools/check-library $(BUILD)

stage: all
	$(Q)rm -rf $(BUILD)/stage
	$(Q)$(MAKE) --no-print-directory DESTDIR=$(BUILD)/stage PREFIX=/usr/local LIBDIR=/usr/local/lib install

# The Python package against the installed library, and compared with the command.
check-python: deps
	$(Q)tools/deps python
	$(Q)$(MAKE) --no-print-directory stage
	$(Q)tools/check-python $(BUILD)

# The Python package with the library inside (without libmaxflow; files that do not use WITH_BK are compiled once for
# both), and its source: $(BUILD)/wheel.
wheel: deps
	$(Q)tools/deps python
	$(Q)$(MAKE) --no-print-directory all
	$(Q)$(MAKE) --no-print-directory WITH_BK=0 BUILD=$(BUILD)/no-bk COMPILED=$(BUILD) stage
	$(Q)tools/wheel $(BUILD)

# Adds a learner, a block, an option and formats to a copy of the tree by the files that src/README.md names, and checks
# all effects.
check-extend: deps
	$(Q)tools/check-extend $(BUILD)

# Prints a table of failures: each allocation and system call of each command fails, files are cut off and flipped,
# processes killed.
check-faults: deps
	$(Q)tools/check-faults $(BUILD)

# Changes lines of src/ one by one (tools/mutants.tsv) and checks that a test fails. Takes an hour; continues a run that
# was stopped.
# make mutate SAMPLE=200 SEED=1 [FOLDERS="page feature/blocks"]: lines drawn at random. Takes an hour and a half on two
# processors: a quarter of an hour to find which suites call what, then seconds for a change that a test detects, minutes
# for others.
mutate: deps
	$(Q)tools/deps mutate
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/cleave-faults $(BUILD)/run-tests
	$(Q)tools/mutate $(BUILD) $(if $(SAMPLE),--sample $(SAMPLE) --seed $(or $(SEED),1) $(FOLDERS))

# Runs the scripts of tools/cluster under a real Slurm on this machine, and kills nodes.
check-cluster:
	$(Q)$(MAKE) --no-print-directory WITH_MPI=1 deps
	$(Q)tools/deps cluster
	$(Q)$(MAKE) --no-print-directory WITH_MPI=1 all
	$(Q)tools/check-cluster $(BUILD)

# Tests the page of `cleave label` in a real browser.
check-page: deps
	$(Q)tools/deps page
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/synth
	$(Q)tools/check-page $(BUILD)

# Tests the plugin for QGIS without a display.
check-qgis: deps
	$(Q)tools/deps qgis
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/datasets/raster
	$(Q)tools/check-qgis $(BUILD)

# Checks that a fixed suite of commands gives the same bytes with each compiler, optimisation and processor that is
# available.
check-digests: deps
	$(Q)tools/deps digests
	$(Q)tools/deps arm64
	$(Q)tools/check-digests $(BUILD)

# Runs test suites for 64-bit ARM under qemu-user: make check-arm64 SUITES="maths exact_cut"
check-arm64:
	$(Q)$(MAKE) --no-print-directory ARCH=arm64 BUILD=build/arm64 deps
	$(Q)$(MAKE) --no-print-directory ARCH=arm64 BUILD=build/arm64 all build/arm64/run-tests
	$(Q)tools/check-arm64 build/arm64 $(SUITES)

# Runs `make demo`, `make check` and the packages of `make deb`, each on a separate fresh Debian (root, debootstrap).
# RELEASE=trixie is Debian 13.
chroot-check:
	$(Q)tools/deps chroot
	$(Q)tools/chroot-check --release $(or $(RELEASE),bookworm) $(PARTS)

coverage: deps
	$(Q)tools/deps coverage
	$(Q)tools/deps mpi
	$(Q)tools/coverage

format:
	$(Q)tools/deps lint
	$(Q)git ls-files '*.c' '*.h' '*.cc' | xargs clang-format -i

format-check:
	$(Q)git ls-files '*.c' '*.h' '*.cc' | xargs clang-format --dry-run --Werror

lint: deps
	$(Q)tools/deps lint
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/lint $(BUILD)

bench: deps
	$(Q)tools/deps bench
	$(Q)$(MAKE) --no-print-directory all $(benches) $(bench_peers)
	$(Q)tools/bench/run $(BUILD)
	$(Q)tools/bench/polygons $(BUILD)

# GeoJSON of a mask of SIDE x SIDE pixels, compared with gdal_polygonize if that is installed.
bench-polygons: deps
	$(Q)tools/deps bench
	$(Q)tools/deps rasters
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/bench/polygons $(BUILD) $(SIDE)

# One program of tools/bench.
$(bench_targets): bench-%: deps
	$(Q)tools/deps bench
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/bench/$* $(bench_peers)
	$(Q)tools/bench/run $(BUILD) $*

# Objects of nuclei compared with two baselines; DATA is the set.
bench-objects: deps
	$(Q)tools/deps objects
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/bench/objects $(BUILD) $(or $(DATA),../shared/data/nuclei)

# Multispectral images, compared with a random forest.
bench-rasters: deps
	$(Q)tools/deps rasters
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/bench/rasters $(BUILD)

# A raster by tiles, of SIDE x SIDE pixels: 8192, or 32768 (9 GB of disk, in TMPDIR).
bench-rasters-large: deps
	$(Q)$(MAKE) --no-print-directory all $(BUILD)/datasets/raster
	$(Q)tools/bench/rasters-large $(BUILD) $(SIDE)

# The speed-up by several processes; one task: make bench-cluster TASKS="features crf"
bench-cluster:
	$(Q)$(MAKE) --no-print-directory WITH_MPI=1 deps
	$(Q)$(MAKE) --no-print-directory WITH_MPI=1 all $(BUILD)/bench/shards
	$(Q)tools/bench/cluster $(BUILD) $(TASKS)

# Programs that convert published datasets for cleave: $(BUILD)/datasets/NAME; tools/datasets describes their use.
datasets: deps
	$(Q)$(MAKE) --no-print-directory $(converters)

# The papers' tables next to ours. OUT keeps every result with its settings; a run that was stopped continues.
$(reproductions): reproduce-%: deps
	$(Q)$(MAKE) --no-print-directory all $$(sed -nE 's,.*"\$$build/((bench|learn|reproduce)/[a-z_]+)".*,$(BUILD)/\1,p' tools/reproduce/$* | sort -u)
	$(Q)tools/reproduce/$* $(BUILD) $(or $(OUT),$(BUILD)/reproduce-$*)

fuzz: deps
	$(Q)tools/deps fuzz
	$(Q)tools/fuzz $(BUILD)

# Makes README's pictures in assets/; run make check-python before.
pictures: demo
	$(Q)tools/pictures $(BUILD)

# The source of the last commit as a tarball, which builds without git.
dist:
	$(Q)tools/dist $(BUILD) $(VERSION)

# A folder that runs on any Linux: $(BUILD)/portable. With WITH_BK=0 it is Apache-2.0.
portable: deps
	$(Q)tools/deps portable
	$(Q)$(MAKE) --no-print-directory all
	$(Q)CC='$(CC)' tools/portable $(BUILD) $(VERSION) $(WITH_BK)

# Tests that folder with and without libmaxflow, unpacked elsewhere and in Debians with nothing installed: masks, and the
# page. RELEASES= skips those Debians (root, debootstrap). With ARCH=arm64, under qemu.
native := $(if $(ARCH),$(BUILD:/$(ARCH)=),$(BUILD))
check-portable: portable
	$(Q)$(MAKE) --no-print-directory WITH_BK=0 BUILD=$(BUILD)/no-bk portable
ifneq ($(ARCH),)
	$(Q)$(MAKE) --no-print-directory ARCH= CC=cc CXX=c++ LD=ld OBJCOPY=objcopy BUILD=$(native) all
endif
	$(Q)tools/check-portable $(native) $(BUILD) $(BUILD)/no-bk

# Makes an image for containers of the portable folder, and tests it in a container where those run.
image: portable
	$(Q)tools/deps image
	$(Q)CC='$(CC)' tools/image $(BUILD) $(VERSION)

check-image: image
	$(Q)tools/check-image $(BUILD) $(VERSION)

# Checks that the command, the libraries and all packages built here and from the tarball elsewhere have the same bytes.
# PARTS="binary wheel"
check-rebuild: deps
	$(Q)tools/check-rebuild $(BUILD) $(VERSION) $(PARTS)

# Debian packages in $(BUILD)/deb.
deb: deps
	$(Q)tools/deps deb
	$(Q)tools/deb $(BUILD) $(VERSION)

# Prints how this build compiles and links, for tools/mutate.
print-build:
	@echo 'CC=$(CC)'
	@echo 'CPPFLAGS=$(CPPFLAGS)'
	@echo 'CFLAGS=$(CFLAGS)'
	@echo 'LDFLAGS=$(LDFLAGS)'
	@echo 'LDLIBS=$(LDLIBS)'
	@echo 'CLI_LIBS=$(CLI_LIBS)'
	@echo 'TEST_LIBS=$(TEST_LIBS)'
	@echo 'OBJECTS=$(cli_objects) $(library_objects)'
	@echo 'FAULT_OBJECTS=$(cli_objects) $(fault_objects)'
	@echo 'TEST_OBJECTS=$(run_tests_objects)'

# Prints the libraries that a program with the static archive needs.
print-libs:
	@echo '$(LDLIBS)'

man_pages := $(foreach page,$(wildcard tools/*.[135]),man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
doc_files := README.md CHANGELOG.md LICENSE
prefix := $(DESTDIR)$(PREFIX)
doc := $(prefix)/share/doc/cleave
libdir := $(DESTDIR)$(LIBDIR)

install: all
	$(Q)install -d $(prefix)/bin $(libdir)/pkgconfig $(prefix)/include/cleave $(prefix)/share/man/man1 \
	    $(prefix)/share/man/man3 $(prefix)/share/man/man5 $(prefix)/share/bash-completion/completions $(doc)/examples
	$(Q)install -m 755 $(BUILD)/cleave $(prefix)/bin/cleave
	$(Q)install -m 644 $(BUILD)/libcleave.a $(BUILD)/$(SHARED) $(libdir)/
	$(Q)ln -sf $(SHARED) $(libdir)/$(SONAME)
	$(Q)ln -sf $(SONAME) $(libdir)/libcleave.so
	$(Q)install -m 644 include/cleave.h $(prefix)/include/
	$(Q)install -m 644 include/cleave/*.h $(prefix)/include/cleave/
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@MODULES@|$(MODULES)|' \
	    -e 's|@SYSTEM_LIBS@|$(SYSTEM_LIBS)|' tools/cleave.pc.in > $(libdir)/pkgconfig/cleave.pc
	$(Q)$(foreach page,$(man_pages),install -m 644 tools/$(notdir $(page)) $(prefix)/share/man/$(page) &&) true
	$(Q)install -m 644 tools/bash-completion $(prefix)/share/bash-completion/completions/cleave
	$(Q)install -m 644 $(doc_files) $(doc)/
	$(Q)install -m 644 tools/examples/*.c $(doc)/examples/
	@echo "cleave is in $(prefix)/bin, libcleave in $(libdir), man pages in $(prefix)/share/man"

# Removes files by name, and folders that only cleave uses.
uninstall:
	$(Q)rm -f $(prefix)/bin/cleave $(addprefix $(libdir)/,libcleave.a libcleave.so $(SONAME) $(SHARED) pkgconfig/cleave.pc) \
	    $(prefix)/include/cleave.h $(patsubst include/%,$(prefix)/include/%,$(wildcard include/cleave/*.h)) \
	    $(addprefix $(prefix)/share/man/,$(man_pages)) $(prefix)/share/bash-completion/completions/cleave \
	    $(addprefix $(doc)/,$(doc_files) $(patsubst tools/%,%,$(wildcard tools/examples/*.c)))
	$(Q)for folder in $(prefix)/include/cleave $(doc)/examples $(doc); do \
	    if [ -d $$folder ]; then rmdir --ignore-fail-on-non-empty $$folder; fi; done

clean:
	rm -rf build

# Objects depend on the flags they were built with: changed settings rebuild them.
flags := $(CC) $(CXX) $(CPPFLAGS) $(CFLAGS) $(CXXFLAGS) $(LDFLAGS) $(LDLIBS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(flags))' | cmp -s - $@ || echo '$(subst ','\'',$(flags))' > $@
FORCE:

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC   $<")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/%.o: %.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CXX  $<")
	$(Q)$(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<

# The installed libraries export only the public names: internal ones are made local.
$(BUILD)/libcleave.a: $(library_objects)
	$(if $(Q),@echo "  AR   $@")
	$(Q)$(LD) -r -o $(BUILD)/libcleave.o $(library_objects)
	$(Q)$(OBJCOPY) --localize-hidden --wildcard --keep-global-symbol='clv_*' $(BUILD)/libcleave.o
	$(Q)rm -f $@ && ar rcs $@ $(BUILD)/libcleave.o

$(BUILD)/$(SHARED): $(library_objects) tools/libcleave.map
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=tools/libcleave.map -o $@ \
	    $(library_objects) $(LDLIBS)

$(BUILD)/cleave: $(cli_objects) $(library_objects)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pie -o $@ $^ $(LDLIBS) $(CLI_LIBS)

# With WITH_GDAL=1 one file is compiled differently.
ifeq ($(WITH_GDAL),1)
$(BUILD)/src/image/raster/raster_gdal.o: CPPFLAGS += -DWITH_GDAL=1 $(shell pkg-config --cflags gdal 2>/dev/null)
endif

# The command for mpirun: only src/cluster/comm_link.c is compiled differently.
$(BUILD)/mpi/comm_link.o: src/cluster/comm_link.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DWITH_MPI=1 $(shell pkg-config --cflags mpi-c 2>/dev/null) -c -o $@ $<

$(BUILD)/mpi/cleave: $(cli_objects) $(filter-out $(BUILD)/src/cluster/comm_link.o,$(library_objects)) $(BUILD)/mpi/comm_link.o
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pie -o $@ $^ $(LDLIBS) $(CLI_LIBS) $(shell pkg-config --libs mpi-c 2>/dev/null)

# This object contains the files of the page.
$(BUILD)/src/cli/label/cmd_label.o: $(wildcard assets/page/*)

# The command with failure injection, and the tests: only src/base/array.c is compiled differently.
fault_objects := $(filter-out $(BUILD)/src/base/array.o,$(library_objects)) $(BUILD)/faults/array.o
$(BUILD)/faults/array.o: src/base/array.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DCLV_TEST_FAULTS -c -o $@ $<

$(BUILD)/cleave-faults: $(cli_objects) $(fault_objects)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pie -o $@ $^ $(LDLIBS) $(CLI_LIBS)

$(BUILD)/tests/%.o: CPPFLAGS += -Itests -I.
# No sibling calls: failed_at follows the calls of a helper back to the test.
$(BUILD)/tests/%.o: CFLAGS += -Wno-missing-prototypes -fno-optimize-sibling-calls
ifeq ($(ARCH),arm64)
# gcc 12 for arm64 fails with an internal error when it vectorises sums of test_hog.c.
$(BUILD)/tests/%.o: CFLAGS += -fno-tree-vectorize
endif

# Commands are tested as a whole; only the tables of their options are tested in this program, too.
run_tests_objects := $(test_objects) $(filter-out %/main.o,$(simulator) $(synth)) $(filter-out %/cli/main.o,$(cli_objects)) $(fault_objects)
$(BUILD)/run-tests: $(run_tests_objects) | $(converters) $(BUILD)/synth $(BUILD)/reproduce/simulate
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pie -o $@ $^ $(LDLIBS) $(TEST_LIBS)

# Programs of tools/check-faults: the driver, a malloc that fails, and file readers (fuzz targets) on mutated files.
$(BUILD)/faults/driver: tools/faults/driver.c tools/faults/trial.c tools/faults/inject.c tools/faults/trial.h tools/faults/inject.h
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) -std=gnu17 -O2 -g -Wall -Wextra -D_GNU_SOURCE -o $@ $(filter %.c,$^)

$(BUILD)/faults/malloc.so: tools/faults/malloc.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) -std=gnu17 -O2 -g -Wall -Wextra -fPIC -shared -o $@ $<

$(BUILD)/faults/mutate: tools/faults/mutate.c tools/faults/trial.c $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/fuzz_*.c)) $(library_objects)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CPPFLAGS) -Itests $(filter-out -MMD -MP,$(CFLAGS)) $(LDFLAGS) -pie -o $@ $^ $(LDLIBS)

$(BUILD)/datasets/%: tools/datasets/%.c $(library_objects)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -pie -o $@ $< $(library_objects) $(LDLIBS)

$(BUILD)/reproduce/simulate: $(simulator)
$(BUILD)/synth: $(synth)
$(BUILD)/reproduce/simulate $(BUILD)/synth: $(library_objects)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pie -o $@ $^ $(LDLIBS)

# Programs that learn constants of the source.
$(BUILD)/learn/%: tools/learn/%.c $(library_objects)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -pie -o $@ $< $(library_objects) $(LDLIBS)

$(BUILD)/bench/%: tools/bench/%.c $(library_objects)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD   $@")
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -pie -o $@ $< $(library_objects) $(LDLIBS)

# The benchmark draws its images.
$(BUILD)/bench/scale: | $(BUILD)/synth

# The tag benchmark compares with libsvm and liblinear if they are installed.
$(BUILD)/bench/tag: LDLIBS += $(if $(wildcard /usr/include/linear.h),-lsvm -llinear)

# The benchmark of branch and bound solves linear programs by Clp if it is installed.
$(BUILD)/bench/branch: LDLIBS += $(if $(wildcard /usr/include/coin/Clp_C_Interface.h),-lClp -lCoinUtils)

# OpenCV's part of the benchmarks; built only if its headers are installed.
$(BUILD)/bench/opencv: tools/bench/opencv.cc
	@mkdir -p $(@D)
	$(Q)if pkg-config --exists opencv4; then echo "  LD   $@"; \
	    $(CXX) -O3 -std=c++17 -o $@ $< $$(pkg-config --cflags opencv4) -lopencv_core -lopencv_imgproc -lopencv_imgcodecs -lopencv_ximgproc; \
	else echo "skipped: OpenCV is absent (libopencv-dev)"; fi

# dlib's part of the benchmarks; built only if its headers are installed.
$(BUILD)/bench/dlib $(BUILD)/bench/dlib_train: $(BUILD)/bench/%: tools/bench/%.cc
	@mkdir -p $(@D)
	$(Q)if pkg-config --exists dlib-1; then echo "  LD   $@"; \
	    $(CXX) -O3 -std=c++17 -o $@ $< $$(pkg-config --cflags --libs dlib-1); \
	else echo "skipped: dlib is absent (libdlib-dev)"; fi

-include $(library_objects:.o=.d) $(cli_objects:.o=.d) $(test_objects:.o=.d) $(BUILD)/faults/array.d $(BUILD)/mpi/comm_link.d \
    $(converters:=.d) $(benches:=.d) $(learned:=.d) $(simulator:.o=.d) $(synth:.o=.d)
