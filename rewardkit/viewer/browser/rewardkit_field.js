// A text input. It keeps the typed text, and sends it to the server shortly after the last keystroke.
const { h } = Vue;

export default {
  props: { value: String, hint: String, help: String, main: Boolean },
  emits: ["typed"],
  data() {
    return { typed: this.value };
  },
  render() {
    return h("input", {
      class: "field",
      type: "search",
      spellcheck: "false",
      value: this.typed,
      placeholder: this.hint,
      title: this.help || undefined,
      "aria-label": this.hint,
      "data-search": this.main ? "" : undefined,
      onInput: (event) => {
        this.typed = event.target.value;
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.$emit("typed", this.typed), 50);
      },
    });
  },
};
