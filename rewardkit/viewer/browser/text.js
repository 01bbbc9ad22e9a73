// A text in pieces; the changed ones are marked. Only text nodes are made: nothing in a text can act.
const { h } = Vue;

export default {
  props: { pieces: Array, tone: String, wrap: { type: Boolean, default: true } },
  render() {
    const children = (this.pieces ?? []).map(([text, changed]) =>
      changed ? h("mark", { class: this.tone }, text) : text,
    );
    return h("pre", { class: ["text", this.wrap ? "" : "unwrapped"], dir: "ltr", tabindex: 0 }, children);
  },
};
