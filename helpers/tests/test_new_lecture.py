"""A new lecture is a notebook, its solution and its records: every tool takes it as it is, in whatever language."""

from helpers.course import ROOT, notebooks, pages, slides
from helpers.tests.children import path, python
from helpers.tests.synthetic import GPU, code, markdown, save, slide

import shutil

SETUP = """import helpers  # before triton
from helpers import DEVICE, recorded
import torch
import triton
import triton.language as tl"""
KERNEL = """@triton.jit
def row_sum_kernel(x_ptr, out_ptr, scale, n_columns, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK_N)  # [BLOCK_N]
    x = tl.load(x_ptr + row * n_columns + offsets, mask=offsets < n_columns, other=0.0)
    tl.store(out_ptr + row, scale * tl.sum(x.to(tl.float32)))"""
LAUNCH = """x, out = torch.ones(3, 5).to(DEVICE), torch.zeros(3).to(DEVICE)
row_sum_kernel[(3,)](x, out, 2.0, 5, BLOCK_N=8)
print(out.tolist())"""
MEASURE = "@recorded\ndef row_sum_rates():\n    return []\n\n\nrow_sum_rates()"
SPEC = {
    "dtypes": ["fp16", "fp32"], "targets": ["sm_90"], "constexprs": {"BLOCK_N": 1024},
    "types": {"x_ptr": "*dtype", "out_ptr": "*fp32", "scale": "fp32", "n_columns": "i32"},
}  # fmt: skip
LECTURE = [
    markdown("title", "# 行的和\n\n每个程序把一行加起来。", **slide()),
    code("setup", SETUP, **slide("skip")),
    markdown(
        "ask",
        "## 一行一个程序\n\n**猜一猜：**三行会得到什么？",
        **slide("slide", "predict", slide="**猜一猜：**多少？", notes="先停一停。"),
    ),
    code("kernel", KERNEL, tags=["export"], compile={"row_sum_kernel": SPEC}),
    code("launch", LAUNCH),
    code("rates", MEASURE, tags=["nbval-ignore-output", "slide-no-code"]),
]
ANSWER = "def {}(x):\n    ### BEGIN SOLUTION\n    return {}\n    ### END SOLUTION"
CHECK = "report = helpers.check_answers({}, [((3,), {})])\nprint(report)\n{}assert report.passed\n{}"
HIDDEN = ("### BEGIN HIDDEN TESTS\n", "### END HIDDEN TESTS")
ENTRY = {"schema_version": 3, "task": False, "points": 1, "locked": False}


def task(name: str, right: str) -> list:
    solution = {**ENTRY, "grade_id": name, "grade": False, "solution": True}
    grade = {**ENTRY, "grade_id": f"{name}-check", "grade": True, "solution": False}
    return [
        markdown(f"{name}-task", f"## {name}\n\n<details><summary>提示</summary>从哪里开始？</details>"),
        code(name, ANSWER.format(name, right), nbgrader=solution),
        code(f"{name}-check", CHECK.format(name, right.replace("x", "3"), *HIDDEN), nbgrader=grade),
    ]


SOLUTION = [code("setup", "import helpers"), *task("double", "2 * x"), *task("square", "x * x"), *task("less", "x - 1")]
RECORD = (
    "".join(f"# {key}: {key} X\n" for key in ("card", "driver", "torch", "triton", "date", "code")) + "n,GB/s\n1,2\n"
)


def run(folder, *arguments):
    done = python("-m", *arguments, folder=folder, PYTHONPATH=path(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_tool_takes_a_new_lecture(tmp_path):
    copy, names = tmp_path / "copy", shutil.ignore_patterns(".*", "build", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, copy, ignore=lambda at, found: names(at, found) - {".github"})
    paths = ["notebooks/70_row_sum.ipynb", "notebooks/solutions/70_row_sum.ipynb"]
    save(copy / paths[0], *LECTURE)
    save(copy / paths[1], *SOLUTION)
    notebooks.write(copy / "data" / "benchmarks" / "row_sum" / "row_sum_rates.csv", RECORD)
    made = [line for line in run(copy, "helpers.course.derived").splitlines() if line.startswith("wrote")]
    assert made == ["wrote helpers/kernels/row_sum.py", "wrote notebooks/exercises/70_row_sum.ipynb"]
    run(copy, "helpers.course.execute", *paths)
    lecture = notebooks.read(copy / paths[0])
    printed = "".join(output.get("text", "") for cell in lecture.cells for output in cell.get("outputs", []))
    assert printed.startswith("[10.0, 10.0, 10.0]\nRecorded, not measured here: card X")
    save(copy / paths[0], *lecture.cells, course=GPU)  # as if it had run there
    assert "70_row_sum" in [path.stem for path in notebooks.measuring(copy)]
    page = (pages.build(copy) / "70_row_sum.html").read_text(encoding="utf-8")
    assert "三行会得到什么" in page and "先停一停" not in page
    deck = [(notebooks.slide_type(cell), cell.source) for cell in slides.cells(lecture)]
    assert ("slide", "## 一行一个程序\n\n**猜一猜：**多少？") in deck and ("notes", "先停一停。") in deck
    assert [kind for kind, _ in deck].count("fragment") == 1 and not any("recorded" in source for _, source in deck)
    assert "先停一停。" in slides.render(lecture)
    files = [f"helpers/tests/test_{name}.py" for name in ("exported_kernels", "exercises", "deck", "lint", "derived")]
    tested = run(copy, "pytest", "-q", "-p", "no:cacheprovider", "-k", "row_sum or repositorys", *files)
    assert "10 passed" in tested, tested
