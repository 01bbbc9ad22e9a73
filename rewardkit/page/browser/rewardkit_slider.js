// A slider over integers. It sends its position to the server while it moves.
const { h } = Vue;

export default {
  props: { value: Number, high: Number, label: String },
  emits: ["moved"],
  data() {
    return { at: this.value };
  },
  render() {
    const onInput = (event) => {
      this.at = Number(event.target.value);
      this.$emit("moved", this.at);
    };
    const named = { title: this.label, "aria-label": this.label };
    return h("input", { type: "range", min: 0, max: this.high, step: 1, ...named, value: this.at, onInput });
  },
};
