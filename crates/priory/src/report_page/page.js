// The cut-off that can be moved, and what comes of it. The page is whole without it.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const by = (id) => document.getElementById(id);
  // On paper everything is open.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
  if (!by("slider") || !data.classes.length) return;
  const at = by("at"), chosen = by("class"), miss = by("miss"), alarm = by("alarm");
  const percent = (share) => Number.isFinite(share) ? (100 * share).toFixed(1) + " %" : "–";
  const count = (x) => Number.isInteger(x) ? String(x) : x.toFixed(2);
  const cost = (input) => Math.max(0, Number.parseFloat(input.value) || 0);
  const digits = (p) => (p * 100) % 1 < 1e-9 || (p * 100) % 1 > 1 - 1e-9 ? p.toFixed(2) : String(p);

  // What happens at a cut-off of the class that is chosen.
  function found(position) {
    const of = data.classes[chosen.value];
    const hits = of.hits[position], alarms = of.alarms[position];
    const misses = of.positives - hits, all = of.positives + of.negatives;
    return {
      hits, alarms, misses, quiet: of.negatives - alarms,
      precision: hits / (hits + alarms), recall: hits / of.positives,
      false_alarms: alarms / of.negatives, share: (hits + alarms) / all,
      cost: (misses * cost(miss) + alarms * cost(alarm)) / all,
    };
  }

  // A dot on a curve, in the frame that the picture was drawn with.
  function mark(id, x, y) {
    const picture = by(id) && by(id).querySelector("svg");
    if (!picture) return;
    let dot = picture.querySelector("circle");
    if (!dot) {
      dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      dot.setAttribute("r", "6");
      dot.setAttribute("class", "paper");
      dot.setAttribute("stroke", "currentColor");
      dot.setAttribute("stroke-width", "3");
      picture.append(dot);
    }
    const [left, top, width, height] = data.frame;
    dot.setAttribute("visibility", Number.isFinite(x) && Number.isFinite(y) ? "visible" : "hidden");
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    dot.setAttribute("cx", left + x * width);
    dot.setAttribute("cy", top + (1 - y) * height);
  }

  function show() {
    const now = found(at.value), p = digits(data.cut_offs[at.value]);
    by("chosen").textContent = p;
    for (const cell of ["hits", "misses", "alarms", "quiet"]) by(cell).textContent = count(now[cell]);
    by("precision").textContent = percent(now.precision);
    by("recall").textContent = percent(now.recall);
    by("share").textContent = percent(now.share);
    at.setAttribute("aria-valuetext", `${p}: precision ${percent(now.precision)}, recall ${percent(now.recall)}`);
    by("cost").textContent = now.cost.toPrecision(4);
    mark("roc", now.false_alarms, now.recall);
    mark("precision-recall", now.recall, now.precision);
  }

  function choose() {
    const of = data.classes[chosen.value];
    miss.value = of.miss;
    alarm.value = of.alarm;
    show();
  }

  function cheapest() {
    let best = 0;
    for (let i = 0; i < data.cut_offs.length; i++) if (found(i).cost < found(best).cost) best = i;
    at.value = best;
    show();
  }

  at.addEventListener("input", show);
  miss.addEventListener("input", show);
  alarm.addEventListener("input", show);
  chosen.addEventListener("change", choose);
  by("cheapest").addEventListener("click", cheapest);
  chosen.value = String(Math.max(0, data.classes.findIndex((of) => of.name === data.usual)));
  choose();
})();
