// Draws a tree of [tag, attributes, children] and texts. The server has checked the tree; here only listed tags and
// attributes become elements, and texts become text nodes.
const { h } = Vue;
const TAGS = new Set(
  "p ul ol li blockquote strong em s table thead tbody tr th td hr br code pre div span math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd mstyle menclose none".split(" "),
);
const FORBIDDEN = /^(on|href|src|style|id|inner|text|is$|ref$|key$)/i;

const nodes = (list) => list.map(node);

function node(one) {
  if (typeof one === "string") return one;
  const [tag, attributes, children] = one;
  if (!TAGS.has(tag)) return nodes(children);
  return h(tag, Object.fromEntries(Object.entries(attributes).filter(([name]) => !FORBIDDEN.test(name))), nodes(children));
}

export { nodes };
