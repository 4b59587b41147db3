// On paper nothing is folded.
const closed = [];
const unfold = () => { for (const each of document.querySelectorAll("details:not([open])")) { each.open = true; closed.push(each); } };
const fold = () => { for (const each of closed.splice(0)) each.open = false; };
addEventListener("beforeprint", unfold);
addEventListener("afterprint", fold);
matchMedia("print").addEventListener("change", event => (event.matches ? unfold() : fold()));

// A table that is cut says so: how many rows are below, and whether columns are to the right.
const told = new ResizeObserver(entries => entries.forEach(({ target }) => tell(target.closest(".region"))));
const tell = region => {
  const end = region.getBoundingClientRect().top + region.clientTop + region.clientHeight;
  const below = [...region.querySelectorAll("tbody tr")].filter(row => row.getBoundingClientRect().bottom > end + 1).length;
  const right = region.scrollWidth - region.clientWidth - region.scrollLeft > 1;
  const words = [below ? `↓ ${below} more ${below === 1 ? "row" : "rows"}` : "", right ? "→ more columns" : ""];
  region.dataset.more = words.filter(Boolean).join("  ");
};
for (const region of document.querySelectorAll(".region")) {
  region.addEventListener("scroll", () => tell(region), { passive: true });
  told.observe(region);
  for (const table of region.querySelectorAll("table")) told.observe(table);
}

// The contents mark the section that is being read: the last one that begins in the upper third of the window.
const links = [...document.querySelectorAll("nav a")];
const places = links.map(link => document.getElementById(link.hash.slice(1)));
const here = () => {
  const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const begun = places.filter(place => place.getBoundingClientRect().top < innerHeight / 3).length;
  const current = !scrollY ? 0 : atEnd ? links.length - 1 : Math.max(begun - 1, 0);
  links.forEach((link, k) => (k === current ? link.setAttribute("aria-current", "location") : link.removeAttribute("aria-current")));
};
addEventListener("scroll", here, { passive: true });
addEventListener("resize", here);
here();

// A reader chooses one of several panels of charts.
for (const figure of document.querySelectorAll(".panelled")) {
  const select = figure.querySelector("select");
  const show = () => {
    for (const each of figure.querySelectorAll(".panels")) each.hidden = each.dataset.choice !== select.value;
  };
  select.addEventListener("change", show);
  show(); // browsers keep a choice when a page is loaded again
}

// A heading sorts by its column.
const status = from => from.closest("section").querySelector("[role=status]");
const words = new Intl.Collator("en", { numeric: true });
for (const table of document.querySelectorAll("table:has(th button)")) {
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells];
  const first = heads.map(head => head.getAttribute("aria-sort") ?? "ascending");
  const value = (row, k) => row.cells[k].dataset.value ?? row.cells[k].textContent;
  heads.forEach((head, k) => head.querySelector("button")?.addEventListener("click", event => {
    const other = { ascending: "descending", descending: "ascending" };
    const way = other[head.getAttribute("aria-sort")] ?? first[k];
    const sign = way === "ascending" ? 1 : -1;
    const order = head.classList.contains("num") ? (a, b) => a - b : words.compare;
    table.tBodies[0].append(...rows.toSorted((a, b) => sign * order(value(a, k), value(b, k))));
    heads.forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", way);
    status(table).textContent = `Sorted by ${event.currentTarget.textContent}, ${way}.`;
  }));
}

for (const button of document.querySelectorAll("button.download")) {
  button.addEventListener("click", () => {
    const content = JSON.parse(button.parentElement.querySelector("script").textContent);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
    link.download = button.dataset.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    status(button).textContent = button.dataset.done;
  });
}
