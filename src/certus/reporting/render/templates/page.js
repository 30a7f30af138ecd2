"use strict";
(function () {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const byId = (id) => document.getElementById(id);
  root.classList.remove("no-script");

  // numbers: the formatter of the page, at most 3 significant digits
  const trim = (text) => (/[.]/.test(text) && !/e/.test(text) ? text.replace(/0+$/, "").replace(/[.]$/, "") : text);
  const commas = (text) => text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
  const integer = (n) => commas(String(n));
  // an exact half goes to the even digit, as in Python; only multiples of 1/2^(d + 1) can be one
  function fixed(x, decimals) {
    const text = x.toFixed(decimals), scaled = x * 10 ** decimals, low = Math.floor(scaled);
    const half = (x * 2 ** (decimals + 1)) % 1 === 0 && scaled - low === 0.5;
    return half ? ((low + (low % 2)) / 10 ** decimals).toFixed(decimals) : text;
  }
  function digits3(x) {
    if (x === null || Number.isNaN(x)) return "–";
    if (!Number.isFinite(x)) return x > 0 ? "infinite" : "−infinite";
    const size = Math.abs(x);
    let text;
    if (size === 0) text = "0";
    else {
      const [mantissa, exponent] = size.toExponential(2).split("e"), power = Number(exponent);
      if (size < 1e-4 || size >= 1e7) text = trim(mantissa) + "e" + (power < 0 ? "−" : "") + Math.abs(power);
      else if (power > 2) text = commas(String(Number(fixed(size / 10 ** (power - 2), 0)) * 10 ** (power - 2)));
      else text = trim(fixed(size, 2 - power));
    }
    return x < 0 ? "−" + text : text;
  }
  function share(x) {
    if (x === null || Number.isNaN(x)) return "–";
    if (x === 0 || x === 1) return 100 * x + " %";
    if (x < 0.001) return "< 0.1 %";
    if (x > 0.999) return "> 99.9 %";
    if (x < 0.095 || x >= 0.985) return trim(fixed(100 * x, 1)) + " %";
    return fixed(100 * x, 0) + " %";
  }
  const ratio = (part, whole) => (whole ? part / whole : null);
  const put = (name, text) => {
    document.querySelectorAll('[data-now="' + name + '"]').forEach((e) => { e.textContent = text; });
  };

  // one threshold: counts, measures, markers
  function measures(c, k, costs) {
    const tp = c.tp[k], fp = c.fp[k], fn = c.p - tp, tn = c.n - fp, n = c.p + c.n, t = c.t[k];
    const sensitivity = ratio(tp, tp + fn), specificity = ratio(tn, tn + fp);
    return {
      t, tp, fp, fn, tn, n, sensitivity, specificity, precision: ratio(tp, tp + fp),
      flagged: (tp + fp) / n, f: ratio(2 * tp, 2 * tp + fp + fn),
      g: sensitivity === null || specificity === null ? null : Math.sqrt(sensitivity * specificity),
      benefit: t < 1 ? (tp - fp * (t / (1 - t))) / n : null,
      cost: (costs[0] * fp + costs[1] * fn) / n,
    };
  }
  const places = {
    roc: (m) => [1 - m.specificity, m.sensitivity],
    pr: (m) => [m.sensitivity, m.precision === null ? 0 : m.precision],
    calibration: (m) => [m.t, null],
    decision: (m) => [m.t, m.benefit === null ? 0 : m.benefit],
  };
  function pixel(element, name, value) {
    const [a, b, low, high] = element.dataset[name].split(" ").map(Number);
    return a + b * Math.min(Math.max(value, low), high);
  }
  function showThreshold() {
    const slider = byId("threshold"), k = Number(slider.value);
    const costs = ["cost-fp", "cost-fn"].map((id) => Number(byId(id).value) || 0);
    const m = measures(data.counts, k, costs), text = digits3(m.t);
    byId("threshold-value").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    byId("threshold-reason").hidden = slider.value !== slider.defaultValue;
    for (const name of ["tp", "fp", "fn", "tn"]) put(name, integer(m[name]));
    for (const name of ["sensitivity", "specificity", "precision", "flagged"]) put(name, share(m[name]));
    const parts = {
      sensitivity: [m.tp, m.tp + m.fn], specificity: [m.tn, m.tn + m.fp],
      precision: [m.tp, m.tp + m.fp], flagged: [m.tp + m.fp, m.n],
    };
    for (const name in parts) {
      put(name + "-part", integer(parts[name][0]));
      put(name + "-whole", integer(parts[name][1]));
    }
    for (const name of ["f", "g", "benefit", "cost"]) put(name, digits3(m[name]));
    document.querySelectorAll(".marker").forEach((e) => {
      const [x, y] = places[e.dataset.chart](m);
      const shift = [pixel(e, "x", x), y === null ? 0 : pixel(e, "y", y)];
      e.setAttribute("transform", "translate(" + shift.map((v) => v.toFixed(1)).join(" ") + ")");
    });
  }
  if (data.counts && byId("threshold")) {
    for (const id of ["threshold", "cost-fp", "cost-fn"]) byId(id).addEventListener("input", showThreshold);
    showThreshold();
  }

  // what-if: z = intercept + sum of contributions, interval z ± width · |rootᵀ v|
  const sigmoid = (z) => (z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z)));
  function answers(w, at) {
    const z = w.intercepts.map((b, k) => w.sliders.reduce((sum, s, i) => sum + s.scores[k][at[i]], b));
    let half = null;
    if (w.root) {
      const v = w.root.map(() => 0);
      w.design.forEach((part, i) => part[at[i]].forEach(([j, x]) => { v[j] += x; }));
      let sum = 0;
      for (let c = 0; c < w.root[0].length; c += 1) sum += v.reduce((s, x, r) => s + x * w.root[r][c], 0) ** 2;
      half = w.width * Math.sqrt(sum);
    }
    const answer = (score, f) => [f(score), half === null ? null : f(score - half), half === null ? null : f(score + half)];
    if (w.link === "softmax") {
      const top = Math.max(...z), e = z.map((x) => Math.exp(x - top)), total = e.reduce((a, b) => a + b, 0);
      return e.map((x) => [x / total, null, null]);
    }
    if (w.link === "cumulative") return w.cuts.map((cut) => answer(z[0] - cut, sigmoid));
    return [answer(z[0], w.link === "logistic" ? sigmoid : (x) => x)];
  }
  function showWhatIf() {
    const w = data.whatIf, write = w.link === "identity" ? digits3 : share;
    const sliders = [...document.querySelectorAll("[data-slider]")];
    sliders.forEach((e, i) => {
      const label = w.sliders[i].labels[Number(e.value)];
      byId(e.id + "-value").textContent = label;
      e.setAttribute("aria-valuetext", label);
    });
    answers(w, sliders.map((e) => Number(e.value))).forEach((found, k) => {
      ["answer", "low", "high"].forEach((name, i) => {
        const e = document.querySelector("[data-" + name + '="' + k + '"]');
        if (e) e.textContent = write(found[i]);
      });
    });
  }
  if (data.whatIf) {
    document.querySelectorAll("[data-slider]").forEach((e) => e.addEventListener("input", showWhatIf));
    showWhatIf();
  }

  // copy, and open everything on paper
  const copy = byId("copy");
  if (copy) {
    copy.addEventListener("click", () => {
      const code = byId(copy.dataset.copy), done = () => { byId("copied").textContent = "Copied"; };
      const select = () => {
        const range = document.createRange();
        range.selectNodeContents(code);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        byId("copied").textContent = "Selected: press Ctrl+C or ⌘C";
      };
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, select);
      else select();
    });
  }
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((e) => { e.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((e) => { e.open = false; }));
})();
