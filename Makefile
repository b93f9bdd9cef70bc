# Thin: Meson does the work. `make` builds; demo and test first install what is missing.
BUILD ?= build
PREFIX ?= /usr/local

.PHONY: all demo test fuzz bench install clean

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
	@scripts/setup build test
	@scripts/test

fuzz:
	@scripts/setup build fuzz
	@scripts/fuzz $(SECONDS)

bench:
	@scripts/setup build
	@$(MAKE) --no-print-directory all
	@/usr/bin/python3 bench/run.py $(BUILD) --write
	@test -z "$$KEEPFIT_DATA" || /usr/bin/python3 bench/guarantee.py $(BUILD) "$$KEEPFIT_DATA" --write

install: all
	@meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-valgrind $(BUILD)-fuzz demo
