// Two conversations, aligned by turn. It creates only text nodes, so no text is run or parsed as HTML.
import { nodes } from "rewardkit-nodes";
const { h } = Vue;

const count = (number) => number.toLocaleString("en-US");
const pre = (children, together) => h("pre", { class: "text", dir: "ltr", tabindex: 0, "data-together": together }, children);
const rendered = (tree, together) => h("div", { class: "rendered", dir: "auto", tabindex: 0, "data-together": together }, nodes(tree));

// A line that states how much of a text is shown; nothing if all of it is.
function cut(text) {
  if (text.characters <= text.shown) return null;
  return h("div", { class: "complaint" }, `The first ${count(text.shown)} of ${count(text.characters)} characters.`);
}

// A text collapsed to its first line; a text of only one line is shown as it is.
function folded(passage, label, kind) {
  const title = label ? h("span", { class: "role" }, label) : null;
  const short = passage.characters <= 140 && !passage.text.includes("\n");
  if (short && !kind) return h("div", { class: "passage" }, [title, h("span", { class: "line" }, passage.line || "(empty)")]);
  const length = h("span", { class: "soft" }, `${count(passage.characters)} characters`);
  const line = kind ? null : h("span", { class: "line" }, passage.line);
  return h("details", { class: ["passage", kind] }, [
    h("summary", {}, [title, line, length]),
    passage.nodes ? rendered(passage.nodes) : pre(passage.text),
    cut(passage),
  ]);
}

function call(one) {
  return h("div", { class: "call" }, [
    h("div", { class: "asked" }, [
      h("code", { dir: "ltr" }, one.label),
      h("span", { class: ["badge", one.tone] }, one.state),
    ]),
    one.arguments ? folded(one.arguments, "arguments", "arguments") : null,
    one.result ? folded(one.result, "") : null,
  ]);
}

function bar(share) {
  const style = { left: `${100 * share.low}%`, width: `${100 * (share.high - share.low)}%`, background: share.color };
  return h("div", { class: "share", title: `Share of this turn in ${share.name}: ${share.value}` }, [
    h("span", { class: "name" }, share.name),
    h("span", { class: "track" }, share.high > share.low ? [h("span", { class: "fill", style })] : []),
    h("span", { class: "value" }, share.value),
  ]);
}

function turn(one, tone) {
  const text = one.pieces.map(([piece, changed]) => (changed ? h("mark", { class: tone }, piece) : piece));
  return [
    h("div", { class: "head" }, [
      h("span", { class: "role" }, `turn ${one.number} · assistant`),
      one.read ? h("span", { class: "badge read", title: "The last assistant message: the text that rewards read" }, "rewards read this") : null,
    ]),
    one.shares.length ? h("div", { class: "shares" }, one.shares.map(bar)) : null,
    one.thinking ? folded(one.thinking, "thinking", "thinking") : null,
    one.characters ? h("div", { class: one.read ? "read" : "" }, [one.nodes ? rendered(one.nodes, `turn${one.number}`) : pre(text, `turn${one.number}`), cut(one)]) : null,
    ...one.calls.map(call),
    one.more_calls ? h("div", { class: "soft" }, `… and ${count(one.more_calls)} more calls`) : null,
    ...one.heard.map((passage) => folded(passage, passage.label)),
  ];
}

function cell(side, at, tone) {
  const one = side.turns[at];
  if (one) return h("div", { class: ["turn", tone] }, turn(one, tone));
  return h("div", { class: "turn none" }, at === side.turns.length && !side.more_turns ? `ended: ${side.stop}` : "");
}

function top(side) {
  return h("div", { class: "top-of-side" }, [
    h("span", { class: ["badge", side.tone], title: "Why the conversation stopped" }, side.stop),
    h("span", { class: "soft" }, `${count(side.turns.length + side.more_turns)} turns`),
    side.broken ? h("div", { class: "notice bad" }, `The environment broke: ${side.broken}`) : null,
    ...side.opening.map((passage) => folded(passage, "before the first turn")),
  ]);
}

export default {
  props: { sides: Array },
  render() {
    const [left, right] = this.sides;
    const turns = Math.max(left.turns.length, right.turns.length);
    const rows = [top(left), top(right)];
    for (let at = 0; at < turns; at++) rows.push(cell(left, at, "gone"), cell(right, at, "new"));
    if (left.more_turns || right.more_turns)
      for (const { more_turns } of [left, right])
        rows.push(h("div", { class: "soft" }, more_turns ? `… and ${count(more_turns)} more turns` : ""));
    return h("div", { class: "transcript" }, rows);
  },
};
