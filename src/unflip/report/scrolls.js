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
