// A text rendered as Markdown and mathematics, from the tree of nodes that the server sends.
import { nodes } from "rewardkit-nodes";
const { h } = Vue;

export default {
  props: { nodes: Array, together: String },
  render() {
    return h("div", { class: "rendered", dir: "auto", tabindex: 0, "data-together": this.together || undefined }, nodes(this.nodes));
  },
};
