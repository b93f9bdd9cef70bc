# Thin: Meson does the work. `make` builds; demo and test first install what is missing.
BUILD ?= build
PREFIX ?= /usr/local

.PHONY: all demo test adversary fuzz python bench reproduction note install uninstall clean

all: $(BUILD)/build.ninja
	@ninja --quiet -C $(BUILD)

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: run scripts/setup"; exit 1; }
	@meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null

demo:
	@scripts/setup build
	@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)/keepfit demo

test:
	@scripts/setup build test mpi python
	@scripts/axe || true
	@scripts/test

# RUNS=40000 is more than a million stages; SEED is the first one.
adversary: all
	@$(BUILD)/tests/adversary/test_adversary $(or $(RUNS),2000) $(or $(SEED),1)

fuzz:
	@scripts/setup build fuzz
	@scripts/fuzz $(SECONDS)

python:
	@scripts/setup build python
	@scripts/package $(BUILD)-venv
	@echo "$(BUILD)-venv/bin/python has keepfit"

bench:
	@scripts/setup build
	@$(MAKE) --no-print-directory all
	@ninja --quiet -C $(BUILD) benchmarks
	@/usr/bin/python3 bench/results.py $(BUILD) --write
	@/usr/bin/python3 bench/journal.py $(BUILD) --write
	@test -z "$$KEEPFIT_DATA" || /usr/bin/python3 bench/guarantee.py $(BUILD) "$$KEEPFIT_DATA" --write
	@test -z "$$KEEPFIT_DATA" || $(MAKE) --no-print-directory python
	@test -z "$$KEEPFIT_DATA" || $(BUILD)-venv/bin/python bench/python.py $(BUILD) "$$KEEPFIT_DATA" --write

# Some 25 minutes on two cores; what has been computed is kept in reproduction/ and not computed again.
reproduction: all
	@test -n "$$KEEPFIT_DATA" || { echo "KEEPFIT_DATA=DIR must name the folder with the data sets"; exit 1; }
	@$(BUILD)/keepfit reproduce all --out reproduction
	@scripts/reproduction reproduction

# Some minutes: its tables and figures are measured anew where KEEPFIT_DATA=DIR names the folder with the data sets.
note: all
	@scripts/setup build note
	@test -z "$$KEEPFIT_DATA" || /usr/bin/python3 bench/note.py $(BUILD) "$$KEEPFIT_DATA" --write
	@scripts/note

# The prefix may be another one than the build was set up with.
install: all
	@test "$(origin PREFIX)" = file || { meson configure $(BUILD) --prefix=$(abspath $(PREFIX)) && ninja --quiet -C $(BUILD); }
	@meson install -C $(BUILD) --no-rebuild

# What the last install has put there.
uninstall:
	@ninja --quiet -C $(BUILD) uninstall

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-valgrind $(BUILD)-fuzz $(BUILD)-venv $(BUILD)-python $(BUILD)-python-sanitize build-axe demo
