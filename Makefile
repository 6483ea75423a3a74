# One command per artefact; a bare `make` explains them. GNU make 3.81 or newer.
# Everything runs as `python -m …` on relative paths, so the folder may be moved and its name may hold spaces.

PYTHON ?= python3
ARGS ?=
NOTEBOOKS ?=

RUN := .venv/bin/python
LIST := sed -n '/ - -c /d; s/^      - //p' environment.yml
UNGATHERED := torch|triton|-e|playwright|zizmor|check-jsonschema|jupyterlab-rise|tox|uv
STAMP := .venv/installed
IP := 127.0.0.1

# Whichever .venv runs them, commands and notebooks use the helpers of this folder. A .venv that is a link, or that we
# may not write to, is somebody else's: it is used as it is.
export PYTHONPATH := $(CURDIR)$(if $(PYTHONPATH),:$(PYTHONPATH))
SHARED := $(shell if [ -L .venv ] || { [ -d .venv ] && [ ! -w .venv ]; }; then echo yes; fi)

# The stamp is written last and holds the folder that was installed from. Without it, or without a Python that starts,
# the install did not finish and .venv is made anew; in another folder, or with a newer list, it is brought up to date.
FINISHED := $(shell [ -f $(STAMP) ] && $(RUN) -c pass 2>/dev/null && echo yes)
HERE := $(shell [ "$$(cat $(STAMP) 2>/dev/null)" = "$$(pwd -P)" ] && echo yes)

.DEFAULT_GOAL := help
.PHONY: help lab edit test doctor clean again
.PHONY: browser execute benchmarks drift canary wheelhouse lock grade hub html slides student derived lint fix

help: ## this list
	@echo 'The first command that needs it creates .venv: about 2 GB, 6 GB with CUDA; a few minutes, once.'
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

# JupyterLab on the first notebook of a folder. A container needs IP=0.0.0.0: JupyterLab takes one address only.
define OPEN
	@echo 'Starting JupyterLab. If no browser opens, open the address with the token below. Ctrl-C stops it.'
	@browser=--no-browser; root=; \
	if [ "$$(uname)" = Darwin ] || [ -n "$$DISPLAY$$WAYLAND_DISPLAY$$BROWSER" ]; then browser=; fi; \
	if [ "$$(id -u)" = 0 ]; then root=--allow-root; fi; \
	exec $(RUN) -m jupyterlab $$browser $$root --ServerApp.ip=$(IP) --ServerApp.root_dir="$$(pwd)" \
	    --LabApp.default_url=/lab/tree/$(1)/00_start_here.ipynb --LabApp.news_url=None \
	    --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate $(ARGS)
endef

lab: $(STAMP) ## open JupyterLab on my_course, a copy that is yours (ARGS="--port 9999" is passed on)
	@$(RUN) -m helpers.course.student copy
	$(call OPEN,my_course)

edit: $(STAMP) ## open JupyterLab on the notebooks of the repository, to change the course
	$(call OPEN,notebooks)

test: $(STAMP) ## test the helpers and run every notebook (ARGS="notebooks/02*" selects)
	@$(RUN) -m pytest $(ARGS)

doctor: $(STAMP) ## say what this machine can do, and what to do about what is wrong
	@$(RUN) -m helpers

# not for students:
browser: $(STAMP) ## test decks and lectures in a real browser (needs Chromium and npm)
	@$(RUN) -m pytest helpers/browser $(ARGS)

execute: $(STAMP) ## re-run lectures and solutions, store their outputs (NOTEBOOKS="notebooks/02*" selects)
	@$(RUN) -m helpers.course.execute $(NOTEBOOKS)

benchmarks: $(STAMP) ## on a GPU: run what measures, store its outputs and data/benchmarks (about 7 minutes)
	@$(RUN) -m helpers.course.execute --benchmarks

drift: $(STAMP) ## on a GPU: measure again, and compare ratios with the recorded ones: build/drift
	@$(RUN) -m helpers.course.drift

lock: ## resolve environment.yml for every Python and system: constraints.txt (ARGS=--upgrade: with the newest)
	@$(PYTHON) -m venv build/uv && build/uv/bin/python -m pip install --quiet "$$($(LIST) | grep '^uv==')"
	@$(LIST) | grep -v '^-e' | build/uv/bin/python -m uv pip compile --quiet --universal --python-version 3.11 \
	  --no-annotate --custom-compile-command 'make lock' --output-file constraints.txt $(ARGS) -

canary: ## test the pinned torch, triton and numpy beside the newest, with tox (ARGS="-e newest" selects)
	@mkdir -p build/canary
	@$(PYTHON) -m venv build/tox && build/tox/bin/python -m pip install --quiet "$$($(LIST) | grep '^tox==')"
	@$(LIST) | grep -v '^-e' > build/canary/pinned.txt
	@sed 's/^torch==.*/torch/; s/^triton==.*/triton/; s/^numpy==.*/numpy/; /^triton-windows/d' \
	  build/canary/pinned.txt > build/canary/newest.txt
	@build/tox/bin/python -m tox run --recreate $(ARGS)

# What another Python needs beyond torch and triton, which that machine has, to run and to test notebooks.
wheelhouse: $(STAMP) ## gather the wheels for a GPU machine without internet (FOR=3.12, its Python): build/wheelhouse
	@case "$(FOR)" in 3.??) ;; *) echo 'name the Python of the other machine: make wheelhouse FOR=3.12'; exit 1;; esac
	@rm -rf build/wheels && mkdir -p build/wheels
	@$(LIST) | grep -vE '^($(UNGATHERED))' > build/wheels/wanted.in
	@$(RUN) -m uv pip compile --quiet --python-version $(FOR) --python-platform x86_64-manylinux_2_28 --only-binary :all: \
	  --constraint constraints.txt --generate-hashes --no-annotate --no-header \
	  --output-file build/wheels/requirements.txt build/wheels/wanted.in
	@$(RUN) -m pip download --quiet --no-deps --require-hashes --only-binary :all: --python-version $(FOR) \
	  --implementation cp $(foreach tag,manylinux_2_28 manylinux_2_17 manylinux2014,--platform $(tag)_x86_64) \
	  --dest build/wheels --requirement build/wheels/requirements.txt
	@rm -rf build/wheelhouse && mv build/wheels build/wheelhouse

grade: $(STAMP) ## grade grading/submitted/STUDENT/NN_topic.ipynb, each by itself: grading/marks.csv
	@$(RUN) -m helpers.course.grading $(ARGS)

hub: $(STAMP) ## try a JupyterHub with two users in a browser (needs Chromium and npm): build/hub
	@[ -d build/hub/site ] || $(RUN) -m pip install --quiet --target build/hub/site jupyterhub==6.1.1
	@npm install --prefix build/hub --no-save --silent configurable-http-proxy@5.3.0
	@COURSE_HUB=build/hub $(RUN) -m pytest helpers/browser/test_hub.py $(ARGS)

html: $(STAMP) ## write the lectures as pages to read offline: build/html/index.html
	@$(RUN) -m helpers.course.pages

slides: $(STAMP) ## write the lectures as decks to present offline (needs npm): build/slides/index.html
	@$(RUN) -m helpers.course.slides

student: $(STAMP) ## write the course for students: build/student, the branch student, build/student_html
	@$(RUN) -m helpers.course.student publish

derived: $(STAMP) ## write what is made from notebooks: helpers/kernels, notebooks/exercises, the README's picture
	@$(RUN) -m helpers.course.derived

lint: $(STAMP) ## check code, notebooks, what is made from them, and workflows, without running anything
	@$(RUN) -m ruff check
	@$(RUN) -m ruff format --check
	@$(RUN) -m helpers.course.notebooks
	@$(RUN) -m helpers.course.derived --check
	@.venv/bin/zizmor --offline --no-progress --quiet .github
	@.venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@.venv/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml

fix: $(STAMP) ## mend what can be mended without thinking: format, imports, notebook bytes, what is made from them
	@$(RUN) -m ruff check --fix --exit-zero
	@$(RUN) -m ruff format
	@$(RUN) -m helpers.course.notebooks --fix
	@$(RUN) -m helpers.course.derived

# for students again
clean: ## remove build/ (.venv and my_course stay)
	rm -rf build

again:

ifeq ($(SHARED),yes)
.PHONY: $(STAMP)
$(STAMP):
	@$(RUN) -c pass 2>/dev/null || { \
	  echo '.venv is a link, or not yours to write to, and no Python starts in it. Ask whoever made it,'; \
	  echo 'or remove the link and run the same command again: it makes one here.'; \
	  exit 1; }
	@$(LIST) | cmp -s - .venv/requirements.txt || \
	  echo 'note: .venv was made by another environment.yml than the one here. Ask whoever made it to update it.'
else
$(STAMP): environment.yml constraints.txt pyproject.toml $(if $(and $(FINISHED),$(HERE)),,again)
	@rm -f $(STAMP)
ifeq ($(FINISHED),)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo '$(PYTHON) is missing or older than 3.11. Install Python 3.11 or newer, or name one:'; \
	  echo '  make lab PYTHON=python3.12'; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo '$(PYTHON) cannot create environments: its venv module is missing.'; \
	  echo 'On Debian or Ubuntu: sudo apt install python3-venv'; \
	  exit 1; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  echo 'warning: no C++ compiler found. torch.compile and, on a GPU, Triton need one (on Debian or Ubuntu: g++).'
	@echo 'creating .venv: about 2 GB, 6 GB with CUDA; a few minutes, once'
	@$(PYTHON) -m venv --clear .venv
else
	@echo 'updating .venv: environment.yml, constraints.txt or pyproject.toml changed, or the folder was moved'
endif
	@$(LIST) > .venv/requirements.txt
	@$(RUN) -m pip install --disable-pip-version-check --constraint constraints.txt --requirement .venv/requirements.txt
	@$(RUN) -m jupyter labextension disable --level=sys_prefix \
	  @jupyter/nbgrader @jupyterlab/apputils-extension:announcements >/dev/null 2>&1 || \
	  echo "note: nbgrader's buttons and a question about news stay in JupyterLab; learners do not need them"
	@pwd -P > $(STAMP)
endif
