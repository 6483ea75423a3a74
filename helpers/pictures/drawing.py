"""What pictures are drawn with: a palette, boxes, text, and an image with alternative text that says what is seen.

Lengths are displayed pixels; y grows down.
"""

import contextlib
import io
import os

SKY, BLUE, ORANGE, VERMILLION = "#56B4E9", "#0072B2", "#E69F00", "#D55E00"  # from Okabe and Ito's palette
ON = {"facecolor": SKY, "edgecolor": "black", "linewidth": 0.8}
OFF = {"facecolor": "white", "edgecolor": VERMILLION, "linewidth": 1.2, "hatch": "////"}
FRAME = {"facecolor": "#EEEEEE", "edgecolor": "#666666", "linewidth": 0.8}
ARROW = {"arrowstyle": "-|>", "mutation_scale": 14, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}


def span(numbers, noun: str = "") -> str:
    ends = " – ".join(str(number) for number in dict.fromkeys((*numbers[:1], *numbers[-1:])))
    return f"{noun}{'s' * (len(numbers) > 1)} {ends}" if noun else ends


def default_style(*more):
    """A context in which matplotlib draws as it comes, and then as `more` says, whatever the user's settings.

    Raises RuntimeError if MPLBACKEND names a backend that does not exist.
    """
    try:
        import matplotlib.style
    except ValueError as error:
        said = f"matplotlib cannot start with MPLBACKEND={os.environ.get('MPLBACKEND')!r}"
        raise RuntimeError(f"{said}: unset it, then restart the kernel.") from error
    return matplotlib.style.context(["default", *more])


def plural(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "es" if noun.endswith("ch") else "s")


def size_of(number: int) -> str:
    power = min((number.bit_length() - 1) // 10, 3) if number else 0
    return f"{number / 1024**power:.4g} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def require(most: int = 2**31 - 1, least: int = 1, **sizes: int) -> None:
    for name, value in sizes.items():
        if not isinstance(value, int) or not least <= value <= most:
            why = "there is nothing to draw; " if value == 0 else ""
            raise ValueError(f"{name} is {value!r}: {why}pass an integer from {least} to {most}")
        if name == "block_size" and value & (value - 1):
            raise ValueError(f"{name} is {value}: tl.arange takes powers of two, such as {1 << value.bit_length()}")


def box(axes, x, y, width, height, label="", **style) -> None:
    axes.fill([x, x + width, x + width, x], [y, y, y + height, y + height], **style)
    text(axes, x + width / 2, y + height / 2, label, style["facecolor"], 0.5, ha="center")


def text(axes, x, y, text, behind="none", pad=2, **style) -> None:
    bbox = {"facecolor": behind, "edgecolor": "none", "pad": pad}  # keeps lines and hatches off the text
    axes.text(x, y, text, **{"va": "center", "fontsize": 11, "zorder": 5, "parse_math": False, "bbox": bbox, **style})


@contextlib.contextmanager
def picture(width: float, height: float):
    """Yields (axes, say): what is drawn on the axes is shown on leaving, with all that was said as its alt text."""
    said = []
    with default_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width / 96, height / 96))  # a browser's 96 pixels to the inch
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        axes.axis("off")
        yield axes, said.append
        show(figure, " ".join(said).replace(" – ", " to "))


def show(figure, alt: str) -> None:
    """Displays a matplotlib figure as a small PNG, twice as sharp as a screen's pixels, with its alternative text."""
    import PIL.Image
    from IPython.display import Image, display

    drawn, png = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, dpi=192, metadata={"Software": None})
    PIL.Image.open(drawn).convert("RGB").quantize(32).save(png, "png", optimize=True)  # a third of the bytes
    display(Image(png.getvalue(), width=round(96 * figure.get_figwidth()), alt=alt))
