// Highlights a phrase in the texts of the page without changing them, and says how often it occurs. Neither case nor
// spaces between words matter.
const { h } = Vue;

const TEXTS = ".panes .text, .panes .rendered, .grid .detail .text, .grid .detail .rendered";
const LONGEST = 1_000_000;
const MOST = 2_000;

function pattern(phrase) {
  const words = phrase.replace(/…$/, "").match(/[\p{L}\p{N}\p{M}]+|\S/gu) ?? [];
  return words.length ? new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("\\s*"), "giu") : null;
}

// The ranges of all matches in an element; a match may begin in one text node and end in another.
function ranges(element, wanted) {
  const places = [];
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && text.length < LONGEST) {
    places.push([text.length, walker.currentNode]);
    text += walker.currentNode.data;
  }
  const found = [];
  let at = 0;
  const point = (index, set) => {
    while (at + 1 < places.length && places[at + 1][0] < index) at++;
    set(places[at][1], Math.min(index - places[at][0], places[at][1].length));
  };
  for (const match of text.matchAll(wanted)) {
    const range = new Range();
    point(match.index, (node, offset) => range.setStart(node, offset));
    point(match.index + match[0].length, (node, offset) => range.setEnd(node, offset));
    if (found.push(range) >= MOST) break;
  }
  return found;
}

export default {
  props: { phrase: String },
  emits: ["ended"],
  data() {
    return { count: 0, ended: false };
  },
  mounted() {
    if (!this.phrase || !globalThis.Highlight) return;
    this.watching = new MutationObserver(() => {
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(this.highlight);
    });
    this.watching.observe(this.$el.parentElement, { childList: true, subtree: true, characterData: true });
    this.highlight();
  },
  unmounted() {
    this.end();
  },
  methods: {
    highlight() {
      const wanted = pattern(this.phrase);
      if (!wanted || this.ended) return;
      const found = [...document.querySelectorAll(TEXTS)].flatMap((element) => ranges(element, wanted));
      CSS.highlights.set("rewardkit-phrase", new Highlight(...found));
      if (this.count !== found.length) this.count = found.length;
    },
    end() {
      this.ended = true;
      cancelAnimationFrame(this.frame);
      this.watching?.disconnect();
      globalThis.CSS?.highlights?.delete("rewardkit-phrase");
    },
  },
  render() {
    if (!this.phrase || this.ended) return h("div", { hidden: true });
    const onClick = () => {
      this.end();
      this.$emit("ended");
    };
    return h("div", { class: "marked notice", role: "status" }, [
      h("span", {}, ["An alert names ", h("b", {}, `“${this.phrase}”`), `: highlighted ${this.count === 1 ? "once" : `${this.count} times`} below. `]),
      h("button", { type: "button", class: "plain ghost", onClick }, "Stop highlighting"),
    ]);
  },
};
