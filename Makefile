# The same commands run on a developer's machine and in CI. CONTRIBUTING.md describes them.
#
#   make run      install missing packages, build, and start the service; make samples renders the samples
#   make test     install missing packages, and run the tests
#   make lint     check the format, targets and imports, locks, the reasons of traps, that the code of words names no
#                 language, licences, the tests named in pages, the texts of the console, that
#                 docs/operations.md shows the files of Deployment/ as they are, and other pages those of
#                 Examples/backends, that the names in Examples/iOS agree, and that the version and the linked libraries
#                 in debian/ are those of the sources
#   make sanitize run the tests under the thread sanitizer, and then under the address sanitizer
#   make check    run the long, exhaustive checks, built for release, and a part of check-service
#   make check-service   run the service under hostile input and load, with crashes, slow clients and a full disk
#   make cluster  start a cluster on this machine: PostgreSQL with a standby, three nodes, nginx
#   make check-cluster   attack such a cluster under load, and check that nothing is lost, repeated or overtaken
#   make check-swaps     measure how often swapped recordings are found, with 200 packs
#   make check-webhooks  run recorded webhooks of payment providers; VECTORS=FOLDER
#   make check-amounts   read back every amount from 0.01 to 9,999.99, and 100,000 random ones, in each language
#   make check-numbers   compare the number words with num2words and indic-numtowords
#   make check-hostile   announce 2,000 hostile texts, and give them to the engine
#   make check-keeping   let four processes publish, look up and prune clips in one folder for a minute
#   make check-pushes    send a million pushes with random faults, and compare the outbox with the stand-in for APNs
#   make check-phone     send 10,000 payments to simulated phones, and kill 500 extension processes
#   make phone-package   write the Swift package that an iOS app links, in .build/phone-package
#   make check-phone-package   build that package and run its tests
#   make check-examples  run the examples of README.md and docs/, also the slow ones
#   make check-console   check the console in a real browser
#   make voices-demo   hear a payment in a neural voice: wyoming-piper from PyPI
#   make check-speech-server   let wyoming-piper and a strict server of OpenAI's protocol speak 40 payments, and kill
#                 one in mid-sentence; SPOKEN_PAYMENTS
#   make check-pipewire  run the tests that play to a sound server with PipeWire; make test prefers PulseAudio
#   make check-arm       compile the C programs for arm64, and compare what they say in an emulator with this machine's
#   make wording  write docs/wording and the reviewed phonemes again
#   make mutants TARGET=PlaybackOrder   make 20 small mistakes in a target, and run its tests for each; COUNT, SEED
#   make fuzz     send ten million hostile inputs to each reader of untrusted bytes, and a million random answers over
#                 real sockets to each client
#   make bench    measure Crier beside the engine in-process, the espeak-ng program, h2load and pgbench
#   make bench-ledger    measure only the ledger on PostgreSQL, beside pgbench and SQLite
#   make simulate-ledger-load   fill a ledger on PostgreSQL with 10 GB of payments, and measure the load of a service on it;
#                 PAYMENTS, RATES, SECONDS
#   make format   format the sources
#   make man      make the manual page of crier
#   make install PREFIX=/usr/local
#   make deb      make the Debian packages, in .build/deb
#   make check-deb   compare two packagings, run lintian, and try the packages in fresh systems

PREFIX ?= /usr/local
SWIFT ?= swift
RELEASE = .build/release

# Warnings are errors, except in the builds of packages. Package.swift says why a variable decides this. SwiftPM compiles the
# project again when the variable changes, so the scripts that build set it too.
export CRIER_WARNINGS_AS_ERRORS = 1

# The locales whose voice packs the engine builds at set-up, so that clips work without recordings.
VOICES ?= zh-CN en-US hi-IN

.PHONY: man voices setup run samples test test-alone test-programs sanitize lint format check check-waiting check-computing check-phone-sources check-service cluster check-cluster check-swaps check-amounts check-numbers check-webhooks check-hostile check-keeping check-pushes check-phone phone-package check-phone-package check-console check-examples check-speech-server voices-demo check-pipewire check-alerts check-arm fuzz bench bench-ledger simulate-ledger-load build install install-files man-page deb check-deb mutants clean wording

setup:
	@scripts/setup

build: setup
	$(SWIFT) build -c release --product crier
	$(SWIFT) build -c release --product speaker

voices: build
	$(RELEASE)/crier voices build --data . --voices Voices --quiet $(VOICES:%=--locale %)

run: voices
	@exec $(RELEASE)/crier serve

samples: voices
	@scripts/speak-samples $(RELEASE)/crier

# The sound server that tests play to and record: PulseAudio or PipeWire. scripts/setup takes the one that is there.
SOUND_SERVER = sound-server

# The programs that make sound files for the tests of the doctor for sound files.
SOUND_PROGRAMS = sox ffmpeg

# The servers with which the client of APNs is tested: nghttpd, and Tests/push/h2_server.py.
PUSH_SERVERS = nghttp2-server python3-h2 python3-cryptography openssl

# The server with which the client of PostgreSQL is tested. Debian's package also starts one for all users, so it can be
# left out; the tests that need it are skipped then.
POSTGRESQL = $(if $(SKIP_POSTGRESQL),,postgresql)

# What runs the programs of Examples/backends. Those that are compiled are tested by `make check`.
INTERPRETERS = curl php-cli nodejs

# Tests that run without others, because they need time and the disk: those of ledgers wait for the disk; those of pushes
# and webhooks have servers that give up after a time; those of the player and of notifications keep time, and those of the
# engine use all processors for as long as a child of the engine may run.
TIMED = SpeechEngineTests|LedgerTests|LedgerConformanceTests|PlaybackTests|NotificationServiceKitTests|PushDeliveryTests|WebhookDeliveryTests

# Tests of commands that run without others, because each holds one of the few threads of all tests for minutes. Those of
# voice packs make packs, and other tests would wait for them until their signed requests have expired. The others wait for
# servers that do not answer.
COMMANDS = CrierCommandTests.VoicesBuildWithTests|CrierCommandTests.VoicesCommandTests|CrierCommandTests.SwappedRecordingsTests|CrierCommandTests.LedgerOnServerTests|CrierCommandTests.DoctorOfLedgerServerTests|CrierCommandTests.LedgerSettingTests
ALONE = $(TIMED)|$(COMMANDS)

# The most test cases that run at a time. Without it, Swift Testing starts all of them at once, each of them ends when
# almost all others have ended, and the time limit of a test measures the others. Older toolchains ignore it.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 8

# The options of the two builds of tests. CI gives both the same ones, so that it builds once.
TEST_OPTIONS ?=
CHECK_OPTIONS ?= -c release

TEST = $(SWIFT) test $(TEST_OPTIONS)

test:
	@scripts/setup $(SOUND_SERVER) $(SOUND_PROGRAMS) $(PUSH_SERVERS) nghttp2-client sqlite3 $(POSTGRESQL) $(INTERPRETERS)
	@scripts/run-tests $(TEST) --skip '^(ExhaustiveChecks|$(ALONE))[./]'
	@$(MAKE) --no-print-directory --jobs=2 test-alone test-programs

# Runs groups of built tests, one after another. The built tests run without SwiftPM, which lets only one of its processes
# use a build folder.
RUN_GROUPS = folder=$$($(SWIFT) build $(TEST_OPTIONS) --show-bin-path) && for group in $(subst |, ,$(1)); do \
	  $(2) scripts/run-tests "$$folder/crierPackageTests.xctest" --testing-library swift-testing --filter "^$$group[./]" || exit 1; \
	done

# Most of these tests wait for times and servers. Meanwhile, the processors are used by the tests that keep no time.
test-alone:
	@$(call RUN_GROUPS,$(TIMED),)

test-programs:
	@nice python3 -m unittest discover --quiet -s Tests/phone
	@nice python3 -B -m unittest discover --quiet -s Tests/backends
	@SWIFT=$(SWIFT) nice scripts/check-apple
	@$(call RUN_GROUPS,$(COMMANDS),nice)

# The build folders are .build/thread and .build/address; scripts/sanitize explains them.
sanitize:
	@scripts/setup $(SOUND_SERVER) $(SOUND_PROGRAMS) $(PUSH_SERVERS) curl nghttp2-client sqlite3 $(POSTGRESQL)
	SWIFT=$(SWIFT) ALONE='$(ALONE)' scripts/sanitize thread
	SWIFT=$(SWIFT) ALONE='$(ALONE)' scripts/sanitize address

# git ignores this file, so a fresh clone has none before the first build. scripts/check-package reads it.
Package.resolved:
	$(SWIFT) package resolve

lint: Package.resolved
	$(SWIFT) format lint --strict --recursive Sources Tests Benchmarks Examples Fuzzing Tools Package.swift
	@scripts/check-targets
	@scripts/check-concurrency
	@scripts/check-traps
	@scripts/check-languages
	@python3 -B -m unittest discover --quiet -s Tests/scripts
	@scripts/check-licences
	@scripts/check-named-tests
	@scripts/check-deployment
	@scripts/check-example-files
	@scripts/check-ios-example
	@scripts/check-alerts
	@scripts/check-console-texts
	@scripts/check-console-size
	@scripts/check-package

format:
	$(SWIFT) format --in-place --recursive Sources Tests Benchmarks Examples Fuzzing Tools Package.swift

# The tests that play to a sound server, with PipeWire, also where PulseAudio is installed. On a desktop with PulseAudio,
# this installs PipeWire beside it, so `make check` leaves it out. CI leaves it out too, because a check of CI must not
# fail by chance: if the machine stalls for longer than a block of PipeWire (11 ms in the tests), the recorded sound has
# a hole of one block. On a busy virtual machine, threads with a real-time priority stalled for 10 to 56 ms.
check-pipewire:
	@scripts/setup pipewire wireplumber pulseaudio-utils libasound2-plugins
	CRIER_SOUND_SERVER=pipewire scripts/run-tests $(TEST) --skip-build --filter '^SoundOutputsTests[.]ALSAOutputPulseTests/'
	CRIER_SOUND_SERVER=pipewire scripts/run-tests $(TEST) --skip-build --filter '^PlaybackTests[.]RecordedPlaybackTests/'

# Checks the alert rules with promtool. `make lint` does the same where promtool is installed. Debian's package also
# starts a server.
check-alerts:
	@scripts/setup prometheus
	@scripts/check-alerts --required

# Takes a quarter of an hour on two cores, and downloads 100 MB. SHARE=1 speaks every text, and not every tenth. Nothing
# of arm64 is installed: scripts/check-arm unpacks it in .build/arm.
SHARE ?= 10

check-arm:
	@scripts/setup gcc gcc-aarch64-linux-gnu qemu-user qemu-system-arm cpio
	@SWIFT=$(SWIFT) SHARE=$(SHARE) scripts/check-arm

# The recorded sounds and the speech programs with which recordings are checked.
SPEAKERS = asterisk-core-sounds-en-wav asterisk-core-sounds-es-wav flite festival festvox-kdlpc16k

# The programs that the examples of the documents call.
EXAMPLE_PROGRAMS = curl ffmpeg nginx-light openssl sqlite3

# check-service uses the program that was built for the exhaustive checks, because another build takes six minutes.
# CI builds the quick tests with the exhaustive checks; elsewhere they are left out, because they take minutes to compile.
EXHAUSTIVE = $(or $(CRIER_EXHAUSTIVE_CHECKS),only)

BUILT_CHECKS = scripts/run-tests $(RELEASE)/crierPackageTests.xctest --testing-library swift-testing --no-parallel

# The checks that wait for sounds, disks and other programs, some of them with limits of seconds. All others compute.
# Each half runs one check after another, and those that compute leave the processors to the others.
WAITING = ^ExhaustiveChecks[.](Batch|Hostile|HostileAnswer|PlayerKill|PlayerSound|Push|SoundKeeping|SpeechServer|SwappedRecording|Understanding)Checks/

check:
	@scripts/setup $(SPEAKERS) $(EXAMPLE_PROGRAMS) pocketsphinx pocketsphinx-en-us systemd $(SOUND_SERVER)
	@scripts/check-deployment --programs
	@nice python3 -B -m unittest discover --quiet -s Tests/cluster
	@scripts/measure-letters --check
	@CRIER_EXHAUSTIVE_CHECKS=$(EXHAUSTIVE) scripts/run-tests $(SWIFT) test $(CHECK_OPTIONS) --filter '^ExhaustiveChecks[.]WordingChecks/'
	@$(MAKE) --no-print-directory --jobs=2 check-waiting check-computing check-phone-sources
	@for check in schemathesis mutations kill interrupted providers clock stop; do scripts/check-service $$check --scale 0.02 || exit 1; done
	@scripts/simulate-phone --seed 1 --payments 50 --phones 4 --json
	@scripts/check-examples --share
	@if command -v chromium >/dev/null || scripts/setup chromium; then scripts/check-console $(RELEASE)/crier --short; \
	  else echo 'The console was not checked: this machine has no chromium, and cannot install it.' >&2; fi

check-waiting:
	@$(BUILT_CHECKS) --filter '$(WAITING)'

check-computing:
	@nice $(BUILT_CHECKS) --filter '^ExhaustiveChecks[./]' --skip '$(WAITING)|[.]WordingChecks/'
	@nice $(RELEASE)/crier-bench worst --count 1 >/dev/null
	@nice scripts/fuzz 5000 speaker-request

check-phone-sources:
	@SWIFT=$(SWIFT) nice scripts/check-apple --mutate --share
	@scripts/make-phone-package $(PHONE_PACKAGE)
	@nice $(SWIFT) build --package-path $(PHONE_PACKAGE) --quiet

# The package without packages of others, for apps. It is built outside of this package, as an app's package is.
PHONE_PACKAGE ?= .build/phone-package

phone-package:
	@scripts/make-phone-package $(PHONE_PACKAGE)

check-phone-package: phone-package
	$(SWIFT) test --package-path $(PHONE_PACKAGE)

# Ten thousand payments take a quarter of an hour, and the thousand with kills some minutes; use a machine that does
# nothing else, because the times are real.
PAYMENTS ?= 10000
PHONES ?= 40

check-phone: build
	$(SWIFT) build -c release --product notification-extension
	$(SWIFT) build -c release --product simulated-push-service
	CRIER_EXTENSION_KILLS=500 $(SWIFT) test --filter EndedProcessTests
	scripts/simulate-phone --payments $(PAYMENTS) --phones $(PHONES) --json
	scripts/simulate-phone --payments 1000 --phones 10 --kill 0.01 --suspend 0.01 --json
	for recipe in fixed-name at-once serial-queue; do \
		scripts/simulate-phone --payments 300 --phones 10 --recipe $$recipe --json || exit 1; \
	done

# This takes some hours on one core; FUZZ_RUNS=100000 takes minutes.
FUZZ_RUNS ?= 10000000
# The random answers that each client gets. `make check` sends 20,000, and CI 5,000.
ANSWERS ?= 1000000
# What answers: the stand-in for APNs, and a receiver of webhooks.
ANSWERING ?= apns webhook

fuzz: setup
	@scripts/fuzz $(FUZZ_RUNS)
	$(SWIFT) build -c release --product hostile-answers
	@for half in $(ANSWERING); do $(RELEASE)/hostile-answers $$half $(ANSWERS) || exit 1; done

# The mistakes are made in a copy, .build/mutants/tree, which is kept with its build.
COUNT ?= 20
SEED ?= $(shell date +%Y%m%d)

mutants:
	@scripts/setup rsync
	$(SWIFT) build --package-path Tools/mutants --scratch-path .build/mutants/tool
	@.build/mutants/tool/debug/mutants --target '$(TARGET)' --count $(COUNT) --seed $(SEED) $(if $(TESTS),--tests '$(TESTS)')

# Writes docs/wording and the tables of reviewed phonemes again. Read the difference before you commit it.
wording:
	@scripts/setup
	CRIER_RECORD=1 CRIER_EXHAUSTIVE_CHECKS=$(EXHAUSTIVE) $(SWIFT) test -c release --filter 'WordingChecks|reviewedPhonemes'

# Scale 1 covers all promises of docs/service.md and takes half an hour on two cores; a smaller scale finds most faults.
# slow, attack, cost and load compare times, and disk mounts a file system, so run them on a machine that does nothing else.
SCALE ?= 1
SERVICE_CHECKS ?= schemathesis mutations load kill interrupted providers clock writes slow attack cost disk stop

check-service: build
	@for check in $(SERVICE_CHECKS); do scripts/check-service $$check --scale $(SCALE) || exit 1; done

# Ctrl-C ends it. CLUSTER gives options, such as CLUSTER='--port 9443'.
cluster: build
	@scripts/cluster --crier $(RELEASE)/crier $(CLUSTER)

# Scale 1 takes an hour on two cores. The times of taking over are real, so use a machine that does nothing else.
check-cluster: build
	@scripts/check-cluster --crier $(RELEASE)/crier --scale $(SCALE)

# `make check` does the same with 24 packs.
SWAPPED_PACKS ?= 200

check-swaps:
	@scripts/setup $(SPEAKERS)
	CRIER_SWAPPED_PACKS=$(SWAPPED_PACKS) CRIER_EXHAUSTIVE_CHECKS=$(EXHAUSTIVE) $(SWIFT) test -c release --filter SwappedRecordingChecks

# `make check` takes every 31st amount, fewer random ones, and the sounds of numbers up to 200.
check-amounts: setup
	CRIER_SPOKEN_NUMBERS=1000 CRIER_AMOUNT_STEP=1 CRIER_RANDOM_AMOUNTS=100000 CRIER_BOOK_STEP=1 CRIER_EXHAUSTIVE_CHECKS=$(EXHAUSTIVE) $(SWIFT) test -c release --filter 'AmountChecks|EveryBookTests'

# Other people's programs are the third witness of number words. They are installed from PyPI into .build/witnesses.
check-numbers: build
	@scripts/setup python3-venv
	@python3 -m venv .build/witnesses
	@.build/witnesses/bin/pip install --quiet --disable-pip-version-check num2words==0.5.14 indic-numtowords==1.1.0
	.build/witnesses/bin/python scripts/check-numbers $(RELEASE)/crier

# Recorded requests of payment providers are their texts, so they are not part of the project. VECTORS is a folder of
# them. Without one, `make test` says that they are skipped.
check-webhooks: setup
	@test -d "$(VECTORS)" || { echo 'VECTORS: name the folder of recorded webhooks, such as VECTORS=../vectors' >&2; exit 64; }
	CRIER_WEBHOOK_VECTORS=$(abspath $(VECTORS)) $(SWIFT) test --filter RecordedWebhookTests

# `make check` takes 400 texts.
check-hostile: setup
	CRIER_HOSTILE_TEXTS=2000 CRIER_EXHAUSTIVE_CHECKS=$(EXHAUSTIVE) $(SWIFT) test -c release --filter HostileChecks

# `make check` does the same for 15 s.
KEEPING_SECONDS ?= 60

check-keeping: setup
	CRIER_KEEPING_SECONDS=$(KEEPING_SECONDS) CRIER_EXHAUSTIVE_CHECKS=$(EXHAUSTIVE) $(SWIFT) test -c release --filter SoundKeepingChecks

# `make check` does the same with 20,000 pushes.
PUSHES ?= 1000000

check-pushes:
	@scripts/setup
	CRIER_PUSHES=$(PUSHES) CRIER_EXHAUSTIVE_CHECKS=$(EXHAUSTIVE) $(SWIFT) test -c release --filter 'PushChecks/randomFaults'

# `make check` leaves out the examples that take long, such as the import of a recorded voice.
check-examples: build
	@scripts/setup $(SPEAKERS) $(EXAMPLE_PROGRAMS) default-jdk-headless $(SOUND_SERVER)
	@CLIENTS="java swift" python3 -B -m unittest discover --quiet -s Tests/backends -p test_clients.py
	@scripts/check-examples --list

# Checks the console in Debian's Chromium. The fonts show the languages of its interface.
check-console: voices
	@scripts/setup chromium fonts-noto-core fonts-noto-cjk
	@scripts/check-console $(RELEASE)/crier

SPOKEN_PAYMENTS ?= 40

check-speech-server: build
	@scripts/setup python3-venv
	$(SWIFT) build -c release --product speech-server-bench
	@scripts/with-speech-server scripts/check-speech-server $(RELEASE) --count $(SPOKEN_PAYMENTS)

voices-demo: build
	@scripts/setup python3-venv
	@scripts/with-speech-server scripts/voices-demo $(RELEASE)/crier

bench: voices
	@scripts/setup espeak-ng sox time wrk nginx-light nghttp2-server nghttp2-client curl openssl alsa-utils python3-cryptography python3-venv $(SOUND_SERVER) $(POSTGRESQL)
	$(SWIFT) build -c release --product crier-bench
	$(SWIFT) build -c release --product in-process-limit
	$(SWIFT) build -c release --product ledger-bench
	$(SWIFT) build -c release --product year-of-announcements
	$(SWIFT) build -c release --product bare-service
	$(SWIFT) build -c release --product push-bench
	$(SWIFT) build -c release --product provider-bench
	$(SWIFT) build -c release --product speech-server-bench
	@scripts/bench $(RELEASE)
	@scripts/bench-ledger $(RELEASE) || [ $$? = 69 ]
	@scripts/bench-service $(RELEASE)
	@scripts/bench-webhooks $(RELEASE)
	@scripts/bench-push $(RELEASE)
	@scripts/bench-player $(RELEASE)/crier
	@scripts/with-speech-server scripts/bench-speech-server $(RELEASE) || [ $$? = 69 ]

bench-ledger:
	@scripts/setup $(POSTGRESQL)
	$(SWIFT) build -c release --product ledger-bench
	@scripts/bench-ledger $(RELEASE)

# The payments that the ledger keeps already, the further ones per second, and the time for each rate. 10,000 shops with 20
# payments a day, a hundredth of docs/scale.md, have 2.31 per second on average and 7 at the peak.
PAYMENTS ?= 1300000
RATES ?= 2.31,7,100
SECONDS ?= 120

simulate-ledger-load:
	@scripts/setup $(POSTGRESQL)
	$(SWIFT) build -c release --product ledger-bench
	@scripts/simulate-ledger-load $(RELEASE) --payments $(PAYMENTS) --rates $(RATES) --seconds $(SECONDS)

# Where the compiled programs are that are installed.
BUILT ?= $(RELEASE)

# The manual page is made from the program's own help texts.
man: build
	$(SWIFT) build -c release --product generate-manual
	@$(MAKE) man-page

man-page:
	$(BUILT)/generate-manual $(BUILT)/crier --date "$$(date -u -d "@$${SOURCE_DATE_EPOCH:-$$(date -r CHANGELOG.md +%s)}" +%F)" \
	  --output-directory - > $(BUILT)/crier.1
	@# The format mdoc has no empty lines: a macro begins a paragraph.
	sed -i 's/^$$/.Pp/' $(BUILT)/crier.1

install: voices man
	@$(MAKE) install-files

# The folder of units. systemd also finds units under /usr/local.
UNITS ?= $(PREFIX)/lib/systemd/system

# Installs what is already built. scripts/make-deb calls it too.
install-files:
	install -D -m 755 $(BUILT)/crier $(DESTDIR)$(PREFIX)/bin/crier
	install -D -m 755 $(BUILT)/speaker $(DESTDIR)$(PREFIX)/libexec/crier/speaker
	install -d $(DESTDIR)$(PREFIX)/share/crier/Templates/pronunciation $(DESTDIR)$(PREFIX)/share/crier/Readers
	install -m 644 Readers/*.json $(DESTDIR)$(PREFIX)/share/crier/Readers
	install -m 644 Templates/*.json $(DESTDIR)$(PREFIX)/share/crier/Templates
	install -m 644 Templates/pronunciation/*.json $(DESTDIR)$(PREFIX)/share/crier/Templates/pronunciation
	install -d $(DESTDIR)$(PREFIX)/share/crier/Tones
	install -m 644 Tones/*.json $(DESTDIR)$(PREFIX)/share/crier/Tones
	install -d $(DESTDIR)$(PREFIX)/share/crier/Providers
	install -m 644 Providers/*.yaml $(DESTDIR)$(PREFIX)/share/crier/Providers
	install -d $(DESTDIR)$(PREFIX)/share/crier/Console/console
	install -m 644 Console/*.* $(DESTDIR)$(PREFIX)/share/crier/Console
	install -m 644 Console/console/*.* $(DESTDIR)$(PREFIX)/share/crier/Console/console
	install -d $(DESTDIR)$(PREFIX)/share/crier/Deployment $(DESTDIR)$(UNITS)
	install -m 644 Deployment/crier.yaml Deployment/nginx.conf Deployment/nginx-cluster.conf Deployment/prometheus-alerts.yml $(DESTDIR)$(PREFIX)/share/crier/Deployment
	for file in network.conf crier-backup.service crier-backup.timer crier-speech-server.service; do \
	  sed 's|/usr/local|$(PREFIX)|' Deployment/$$file > $(DESTDIR)$(PREFIX)/share/crier/Deployment/$$file || exit 1; \
	done
	install -D -m 755 Deployment/backup $(DESTDIR)$(PREFIX)/libexec/crier/backup
	for unit in crier.service crier@.service; do \
	  sed 's|/usr/local|$(PREFIX)|' Deployment/$$unit > $(DESTDIR)$(UNITS)/$$unit || exit 1; \
	done
	install -D -m 644 $(BUILT)/crier.1 $(DESTDIR)$(PREFIX)/share/man/man1/crier.1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	  $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(BUILT)/crier --generate-completion-script bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/crier
	$(BUILT)/crier --generate-completion-script zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_crier
	$(BUILT)/crier --generate-completion-script fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/crier.fish
	install -d $(DESTDIR)$(PREFIX)/share/crier/Console/languages
	install -m 644 Console/languages/*.json $(DESTDIR)$(PREFIX)/share/crier/Console/languages
	for pack in Voices/*/; do \
	  [ -d "$$pack" ] || continue; \
	  install -d "$(DESTDIR)$(PREFIX)/share/crier/$$pack" && \
	  install -m 644 "$$pack"* "$(DESTDIR)$(PREFIX)/share/crier/$$pack" || exit 1; \
	done

# The Swift runtime is linked statically, so a machine needs no toolchain to run these programs. Static and dynamic
# programs cannot share a build folder.
STATIC = .build/static
# The programs do not depend on the folder of the checkout, but for the length of its path (docs/packages.md):
# - C sources such as BoringSSL's write their own paths into them. The folder is removed from these paths.
# - Debugging information has paths, too, and no package contains it.
# - Swift's compiler writes a hash of its input, with paths, into each module, so that it can skip unchanged modules.
WITHOUT_FOLDER = '-ffile-prefix-map=$(CURDIR)/=./'
# Packages are built with other compilers too, whose new warnings are not errors.
STATIC_BUILD = env -u CRIER_WARNINGS_AS_ERRORS $(SWIFT) build -c release --static-swift-stdlib --scratch-path $(STATIC) -debug-info-format none \
	-Xcc $(WITHOUT_FOLDER) -Xcxx $(WITHOUT_FOLDER) -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen

# The Debian packages, in .build/deb. scripts/make-deb makes them from the programs without compiling.
deb:
	@scripts/setup chrpath debhelper dpkg-dev
	$(STATIC_BUILD) --product crier
	$(STATIC_BUILD) --product speaker
	$(STATIC_BUILD) --product generate-manual
	@VOICES="$(VOICES)" SWIFT="$(SWIFT)" scripts/make-deb $(STATIC)/release $(STATIC)/checkouts

# Makes the packages twice from the same programs, and compares them.
check-deb:
	@VOICES="$(VOICES)" SWIFT="$(SWIFT)" scripts/make-deb --compare $(STATIC)/release $(STATIC)/checkouts
	@scripts/setup lintian debootstrap systemd-container
	@lintian --fail-on error,warning --info .build/deb/*.deb
	@scripts/try-package .build/deb

clean:
	rm -rf .build
