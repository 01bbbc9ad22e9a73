// Lines of two versions of a file, with what changed. Every line is a text node, so no text is run or parsed as HTML.
const { h } = Vue;
const TONES = { "-": "gone", "+": "new" };

function row([sign, before, after, pieces, count]) {
  if (sign === "…")
    return h("tr", { class: "folded" }, [h("td", { colspan: 4 }, `${count.toLocaleString("en-US")} equal lines`)]);
  const tone = TONES[sign] ?? "";
  const text = pieces.map(([piece, changed]) => (changed ? h("mark", { class: tone }, piece) : piece));
  return h("tr", { class: tone }, [
    h("td", { class: "at" }, before ?? ""),
    h("td", { class: "at" }, after ?? ""),
    h("td", { class: "sign" }, sign),
    h("td", { class: "code" }, text),
  ]);
}

export default {
  props: { lines: Array, label: String },
  render() {
    return h("div", { class: "lines", tabindex: 0, role: "region", "aria-label": this.label }, [
      h("table", {}, [h("tbody", {}, (this.lines ?? []).map(row))]),
    ]);
  },
};
