// A table. The server sends one page of rows at a time. Every cell is a text node.
import { nodes } from "rewardkit-nodes";
const { h } = Vue;

const detail = (row) =>
  row.nodes ? h("div", { class: "rendered", dir: "auto", tabindex: 0 }, nodes(row.nodes)) : h("pre", { class: "text", tabindex: 0 }, row.detail);

// A line without axes; points range from 0 (left, bottom) to 1.
function sparkline(value) {
  const points = value.points.map(([x, y]) => `${(100 * x).toFixed(1)},${(22 - 20 * y).toFixed(1)}`).join(" ");
  const line = h("polyline", { points, fill: "none", stroke: "currentColor", "stroke-width": 1.5, "vector-effect": "non-scaling-stroke" });
  return h("td", { class: "k-spark", title: value.text }, [
    h("svg", { viewBox: "0 0 100 24", preserveAspectRatio: "none", role: "img", "aria-label": value.text }, [line]),
  ]);
}

// The screen reader names of columns without a heading.
const UNNAMED = { buttons: "Actions", check: "Selected", link: "Link" };

function opened(table, row) {
  if (!table.selectable) return {};
  const open = () => table.$emit("open", row.key);
  const onKeydown = (event) => {
    if (event.target !== event.currentTarget || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    open();
  };
  return { tabindex: 0, onClick: open, onKeydown };
}

// On a narrow screen, a table with the class "cards" shows each row as a card, with the label beside each value.
function labeled(td, column) {
  td.props = { ...td.props, "data-label": column.label };
  return td;
}

function cell(table, row, column) {
  const value = row.cells[column.name];
  if (value === "") return h("td", { class: `k-${column.kind}` });
  if (value === null || value === undefined) return h("td", { class: [`k-${column.kind}`, "missing"] }, "–");
  if (column.kind === "bar") {
    const children = [h("span", { class: "value" }, value.text)];
    if (value.share !== null) {
      const [low, high] = value.share;
      const style = { left: `${100 * low}%`, width: `${100 * (high - low)}%`, background: column.color };
      children.unshift(h("span", { class: "track" }, high > low ? [h("span", { class: "fill", style })] : []));
    }
    return h("td", { class: ["k-bar", value.tone], title: value.title || undefined }, [h("div", { class: "cell" }, children)]);
  }
  if (column.kind === "spark") return sparkline(value);
  if (column.kind === "badge") return h("td", { title: value.title || undefined }, [h("span", { class: ["badge", value.tone] }, value.text)]);
  if (column.kind === "link")
    return h("td", { class: "k-link" }, [h("a", { href: value.href, "data-inside": "" }, value.text), value.sub ? h("div", { class: "sub" }, value.sub) : null]);
  if (column.kind === "buttons")
    return h(
      "td",
      { class: "k-buttons" },
      value.map(([name, text, title, states]) =>
        h(
          "button",
          {
            type: "button",
            class: ["small", states?.kind ?? (table.chosen[name] === row.key ? "on" : "")],
            title,
            "aria-label": states?.label,
            "aria-pressed": states ? undefined : table.chosen[name] === row.key,
            "aria-expanded": states?.expanded,
            onClick: (event) => {
              event.stopPropagation();
              table.$emit("press", { name, key: row.key });
            },
          },
          text,
        ),
      ),
    );
  if (column.kind === "check")
    return h("td", { class: "k-check" }, [
      h("input", {
        type: "checkbox",
        checked: value,
        "aria-label": "Select this run",
        onClick: (event) => event.stopPropagation(),
        onChange: (event) => table.$emit("check", { key: row.key, on: event.target.checked }),
      }),
    ]);
  const toned = typeof value === "object";
  return h("td", { class: [`k-${column.kind}`, toned ? value.tone : ""], title: column.kind === "text" ? value : toned ? value.title : undefined }, [
    h("div", { class: "cell" }, toned ? value.text : value),
  ]);
}

export default {
  props: { columns: Array, rows: Array, sort: String, descending: Boolean, selectable: Boolean, empty: String, selected: Object },
  emits: ["sort", "open", "press", "check"],
  // The highlighted rows: button name (or any name) -> the key of the row.
  data() {
    return { chosen: this.selected };
  },
  watch: {
    selected(selected) {
      this.chosen = selected;
    },
  },
  methods: {
    select(selected) {
      this.chosen = selected;
    },
  },
  render() {
    const head = this.columns.map((column) => {
      const sorted = this.sort === column.name;
      const label = [column.swatch ? h("i", { class: "swatch", style: { background: column.color } }) : null, column.label || h("span", { class: "unseen" }, UNNAMED[column.kind])];
      const content = column.sortable
        ? h("button", { type: "button", onClick: () => this.$emit("sort", column.name) }, [
            ...label,
            h("span", { class: "arrow" }, sorted ? (this.descending ? "↓" : "↑") : ""),
          ])
        : label;
      return h(
        "th",
        {
          class: `k-${column.kind}`,
          style: column.width ? { width: column.width } : undefined,
          title: column.title || undefined,
          "aria-sort": sorted ? (this.descending ? "descending" : "ascending") : undefined,
        },
        content,
      );
    });
    const chosen = new Set(Object.values(this.chosen));
    const body = this.rows.map((row) => [
      h(
        "tr",
        {
          key: row.key,
          class: [row.tone, { selected: chosen.has(row.key), pressable: this.selectable }],
          "data-key": row.key,
          ...opened(this, row),
        },
        this.columns.map((column) => labeled(cell(this, row, column), column)),
      ),
      row.detail || row.nodes ? h("tr", { class: "detail" }, [h("td", { colspan: this.columns.length }, [detail(row)])]) : null,
    ]);
    if (!this.rows.length)
      body.push(h("tr", { class: "nothing" }, [h("td", { colspan: this.columns.length }, this.empty ?? "No rows.")]));
    return h("table", { class: "grid" }, [h("thead", {}, [h("tr", {}, head)]), h("tbody", {}, body)]);
  },
};
