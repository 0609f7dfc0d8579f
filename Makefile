# The same commands at the desk and in CI.
#
#   make run      install what is missing, build, and start the service; make samples speaks the samples
#   make test     install what is missing, and run the tests
#   make lint     formatting, targets and their imports, licences, the tests named in the threat model
#   make sanitize the tests under the thread sanitizer, and then under the address sanitizer
#   make check    the long, exhaustive checks, built for release, and a part of the next
#   make check-service   the service under hostile input and load, with crashes, slow clients and a full disk
#   make check-console   the console, in a real browser
#   make wording  docs/wording.md and the reviewed phonemes, written anew
#   make fuzz     ten million hostile inputs for each reader of strangers' bytes
#   make bench    figures, beside the engine in-process and beside the espeak-ng program
#   make format   put the sources in format
#   make install PREFIX=/usr/local

PREFIX ?= /usr/local
SWIFT ?= swift
RELEASE = .build/release

# The locales whose packs are made at set-up, by the engine: clips then work with nothing recorded.
VOICES ?= zh-CN en-US hi-IN

.PHONY: voices setup run samples test sanitize lint format check check-service check-console fuzz bench build install clean wording

setup:
	@scripts/setup

build: setup
	$(SWIFT) build -c release --product crier
	$(SWIFT) build -c release --product speaker

voices: build
	$(RELEASE)/crier voices build --data . --quiet $(VOICES:%=--locale %)

run: voices
	@exec $(RELEASE)/crier serve

samples: voices
	@scripts/speak-samples $(RELEASE)/crier

# A sound server for tests to play to and to record.
SOUND_SERVER = pulseaudio pulseaudio-utils libasound2-plugins

# Tests that need the processors when they need them: the player's keep time, and the engine's take all there is, for as
# long as a child may.
ALONE = SpeechEngineTests|LedgerTests|PlaybackTests

test:
	@scripts/setup $(SOUND_SERVER) curl
	$(SWIFT) build --build-tests
	@scripts/run-tests $(SWIFT) test --skip-build --skip '^($(ALONE))\.'
	@for target in $(subst |, ,$(ALONE)); do scripts/run-tests $(SWIFT) test --skip-build --filter "^$$target\." || exit 1; done

# In folders of their own, .build/thread and .build/address; scripts/sanitize says how.
sanitize:
	@scripts/setup $(SOUND_SERVER) curl
	SWIFT=$(SWIFT) scripts/sanitize thread
	SWIFT=$(SWIFT) scripts/sanitize address

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Benchmarks Fuzzing Package.swift
	@scripts/check-targets
	@scripts/check-licences
	@scripts/check-threat-model

format:
	$(SWIFT) format --in-place --recursive Sources Tests Benchmarks Fuzzing Package.swift

# One after the other: what is to be done within seconds must not wait for processors that another check has taken.
# The service is the program that was built for the exhaustive checks: another build of it takes six minutes.
check:
	@scripts/setup asterisk-core-sounds-en-wav asterisk-core-sounds-es-wav pocketsphinx pocketsphinx-en-us $(SOUND_SERVER)
	@scripts/measure-letters --check
	@CRIER_EXHAUSTIVE_CHECKS=1 scripts/run-tests $(SWIFT) test -c release --no-parallel
	@scripts/fuzz 20000
	@for check in schemathesis mutations kill stop; do scripts/check-service $$check --scale 0.02 || exit 1; done

# Some hours on one core; FUZZ_RUNS=100000 takes minutes.
FUZZ_RUNS ?= 10000000

fuzz: setup
	@scripts/fuzz $(FUZZ_RUNS)

# Writes docs/wording.md and the tables of reviewed phonemes anew; read the difference before you keep it.
wording:
	@scripts/setup
	CRIER_RECORD=1 CRIER_EXHAUSTIVE_CHECKS=1 $(SWIFT) test -c release --filter 'WordingChecks|reviewedPhonemes'

# At scale 1 all is done that docs/service.md promises, which takes half an hour on two cores; a part of it finds what is
# broken. slow, attack and load compare times, and disk mounts a file system: they are for a machine that does nothing else.
SCALE ?= 1
SERVICE_CHECKS ?= schemathesis mutations load kill slow attack disk stop

check-service: build
	@for check in $(SERVICE_CHECKS); do scripts/check-service $$check --scale $(SCALE) || exit 1; done

# The console in Debian's Chromium.
check-console: voices
	@scripts/setup chromium
	@scripts/check-console $(RELEASE)/crier

bench: voices
	@scripts/setup espeak-ng sox time wrk nginx-light
	$(SWIFT) build -c release --product crier-bench
	$(SWIFT) build -c release --product in-process-limit
	$(SWIFT) build -c release --product ledger-bench
	$(SWIFT) build -c release --product bare-service
	@scripts/bench $(RELEASE)
	@scripts/bench-service $(RELEASE)

install: voices
	install -D -m 755 $(RELEASE)/crier $(DESTDIR)$(PREFIX)/bin/crier
	install -D -m 755 $(RELEASE)/speaker $(DESTDIR)$(PREFIX)/libexec/crier/speaker
	install -d $(DESTDIR)$(PREFIX)/share/crier/Templates/pronunciation
	install -m 644 Templates/*.json $(DESTDIR)$(PREFIX)/share/crier/Templates
	install -m 644 Templates/pronunciation/*.json $(DESTDIR)$(PREFIX)/share/crier/Templates/pronunciation
	install -d $(DESTDIR)$(PREFIX)/share/crier/Console/console
	install -m 644 Console/*.* $(DESTDIR)$(PREFIX)/share/crier/Console
	install -m 644 Console/console/*.js $(DESTDIR)$(PREFIX)/share/crier/Console/console
	for pack in Voices/*/; do \
	  install -d "$(DESTDIR)$(PREFIX)/share/crier/$$pack" && \
	  install -m 644 "$$pack"* "$(DESTDIR)$(PREFIX)/share/crier/$$pack" || exit 1; \
	done

clean:
	rm -rf .build
