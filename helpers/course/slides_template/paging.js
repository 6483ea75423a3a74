// Cuts what is longer than a slide, as measured here, before reveal.js starts. Blocks that do not fit go to a new slide
// under the same heading; a heading begins a slide. Of an output that alone is too long, the beginning is shown.
const LIMIT = 708, LEAST_PICTURE = 380; // pixels from the top of a slide, which has 720; of a picture
const HEADINGS = "h1, h2, h3, h4";
const BLOCKS = "section > h2, .jp-RenderedMarkdown > *, .jp-InputArea-editor, .jp-OutputArea-child";

const blocksOf = slide => [...slide.querySelectorAll(BLOCKS)].filter(block => !block.closest("aside"));
const topOf = block => block.getBoundingClientRect().top - block.closest("section").getBoundingClientRect().top;
const isTooLong = block => topOf(block) + block.offsetHeight > LIMIT;

const LEADS = ".caption, p:has(+ table, + ul, + ol, + div)"; // what stays with the block after it

// Where to cut: at the first block that has to go to the next slide, or -1. A first block stays, and what leads to it.
function placeToCut(blocks) {
  let shown = 0;
  for (let i = 1; i < blocks.length; i++) {
    const block = blocks[i], picture = block.querySelector("img");
    if (block.matches(HEADINGS) && shown) return i;
    if (picture && LIMIT - topOf(picture) >= LEAST_PICTURE) shorten(block);
    const led = shown > 0 && blocks[i - 1].matches(LEADS);
    if (isTooLong(block) && shown <= led) shorten(block);
    if (isTooLong(block) && shown) return led && shown > 1 ? i - 1 : i;
    shown += !block.matches(HEADINGS);
  }
  return -1;
}

// Makes a picture smaller, lines closer, and of an output leaves out what is too much.
function shorten(block) {
  const picture = block.querySelector("img"), output = block.closest(".jp-OutputArea-child");
  const rows = output ? [...output.querySelectorAll("tbody tr")] : [], text = output?.querySelector("pre");
  if (picture) picture.style.height = `${Math.min(picture.offsetHeight, LIMIT - topOf(picture))}px`;
  block.classList.toggle("tight", isTooLong(block));
  if (rows.length && isTooLong(block)) rows[0].parentNode.insertRow().insertCell().textContent = "…";
  while (rows.length > 1 && isTooLong(block)) rows.pop().remove();
  for (let lines = text ? text.textContent.trimEnd().split("\n") : []; lines.length > 1 && isTooLong(block);) {
    lines.pop();
    text.textContent = [...lines, "…"].join("\n");
  }
}

// Cuts one slide, and what it cuts off, and so on; returns the last heading.
function page(slide, heading) {
  if (!blocksOf(slide)[0]?.matches(HEADINGS)) {
    slide.prepend(document.createElement("h2"));
    slide.firstChild.innerHTML = heading.innerHTML;
  }
  const blocks = blocksOf(slide), cut = placeToCut(blocks);
  if (cut < 0) return blocks[0];
  const outer = slide.parentNode, next = outer.cloneNode(false), range = document.createRange();
  range.setStartBefore(blocks[cut]);
  range.setEndAfter(outer.lastChild);
  next.append(range.extractContents());
  outer.after(next);
  blocks[cut].closest(".fragment")?.classList.remove("fragment"); // what waited for a click got a slide
  for (const empty of slide.querySelectorAll(".fragment")) if (!empty.querySelector(BLOCKS)) empty.remove();
  return page(next.firstElementChild, blocks[0]);
}

async function pageAll() {
  document.body.classList.add("measuring");
  for (const table of document.querySelectorAll("table.dataframe")) {
    const numbered = [...table.tBodies[0].rows].every((row, i) => row.cells[0].textContent === `${i}`);
    if (numbered) for (const row of table.rows) row.cells[0].remove();
  }
  for (const output of document.querySelectorAll(".jp-OutputArea-child:has(+ .jp-OutputArea-child) pre"))
    if (!output.textContent.trim().includes("\n")) output.closest(".jp-OutputArea-child").classList.add("caption");
  await Promise.all([...document.images].map(image => image.decode().catch(() => {})));
  document.body.offsetHeight; // lays it out, so that the fonts are asked for
  await document.fonts.ready;
  let heading;
  for (const slide of document.querySelectorAll(".slides > section > section")) heading = page(slide, heading);
  document.body.classList.remove("measuring");
}
