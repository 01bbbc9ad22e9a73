// A menu. Options are [value, text] pairs, shown as text nodes.
const { h } = Vue;

export default {
  props: { value: String, options: Array, label: String },
  emits: ["chosen"],
  data() {
    return { chosen: this.value };
  },
  render() {
    const options = this.options.map(([value, text]) => h("option", { value, selected: value === this.chosen }, text));
    const onChange = (event) => {
      this.chosen = event.target.value;
      this.$emit("chosen", this.chosen);
    };
    return h("select", { class: "field", title: this.label, "aria-label": this.label, value: this.chosen, onChange }, options);
  },
};
