// The steps to an advantage as bars, and the completions of the group as dots on a line. It creates only text nodes.
const { h } = Vue;

const COLUMNS = 36;
const MOST_LEVELS = 8;
const percent = (share) => `${(100 * share).toFixed(2)}%`;

function step(one, zero) {
  const style = { left: percent(one.low), width: percent(one.high - one.low), background: one.color };
  const bar = one.color
    ? [h("i", { class: "zero", style: { left: percent(zero) } }), h("span", { class: "fill", style })]
    : [];
  const line = h("tr", { class: one.kind }, [
    h("th", { scope: "row", title: one.label }, one.label),
    h("td", { class: "bars" }, [h("div", { class: "frame" }, bar)]),
    h("td", { class: "number" }, one.text),
  ]);
  return one.detail ? [line, h("tr", {}, [h("td", { class: "detail", colspan: 3 }, one.detail)])] : [line];
}

// Stack dots that are at about the same position.
function dots(all, other, choose) {
  const stacked = new Map();
  const made = all.map((one) => {
    const column = Math.round(one.place * COLUMNS);
    const level = stacked.get(column) ?? 0;
    stacked.set(column, level + 1);
    const title = one.chosen ? `This completion: ${one.text}` : `${one.text}: compare on the ${other}`;
    return h("button", {
      type: "button",
      class: ["dot", { chosen: one.chosen }],
      key: one.key,
      "data-key": one.key,
      "aria-label": title,
      "aria-current": one.chosen ? "true" : undefined,
      title,
      style: { left: percent(column / COLUMNS), "--level": Math.min(level, MOST_LEVELS - 1) },
      onClick: () => one.chosen || choose(one.key),
    });
  });
  return [made, Math.min(MOST_LEVELS, Math.max(1, ...stacked.values()))];
}

export default {
  props: { shown: Object, other: String },
  emits: ["compare"],
  render() {
    const { steps, how, equation, note, zero, dots: all, ends, without } = this.shown;
    const [made, levels] = dots(all, this.other, (key) => this.$emit("compare", key));
    const size = `${all.length} in the group${without ? `, ${without} without a score` : ""}`;
    return h("div", { class: "why" }, [
      h("div", { class: "side soft" }, this.other === "left" ? "Right" : "Left"),
      steps.length ? h("table", { class: "steps" }, [h("tbody", {}, steps.flatMap((one) => step(one, zero)))]) : null,
      equation ? h("div", { class: "equation" }, [equation, h("span", { class: "soft" }, how)]) : null,
      note ? h("div", { class: "complaint" }, note) : null,
      h("div", { class: "siblings" }, [
        h("div", { class: "dots", style: { "--levels": levels }, role: "group", "aria-label": "The completions of the group" }, made),
        h("div", { class: "ends" }, [ends[0], size, ends[1]].map((text) => h("span", {}, text))),
      ]),
    ]);
  },
};
