// A text in pieces, with the changed ones highlighted. It creates only text nodes, so no text is run or parsed as HTML.
const { h } = Vue;

export default {
  props: { pieces: Array, tone: String, together: String, wrap: { type: Boolean, default: true } },
  render() {
    const children = (this.pieces ?? []).map(([text, changed]) =>
      changed ? h("mark", { class: this.tone }, text) : text,
    );
    const options = { class: ["text", this.wrap ? "" : "unwrapped"], dir: "ltr", tabindex: 0, "data-together": this.together || undefined };
    return h("pre", options, children);
  },
};
