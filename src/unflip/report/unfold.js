// On paper nothing is folded.
const closed = [];
const unfold = () => { for (const each of document.querySelectorAll("details:not([open])")) { each.open = true; closed.push(each); } };
const fold = () => { for (const each of closed.splice(0)) each.open = false; };
addEventListener("beforeprint", unfold);
addEventListener("afterprint", fold);
matchMedia("print").addEventListener("change", event => (event.matches ? unfold() : fold()));
