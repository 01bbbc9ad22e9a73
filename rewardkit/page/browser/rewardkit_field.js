// A text input. It keeps the typed text, and sends it to the server shortly after the last keystroke; if `late`, when
// the user leaves it or presses Enter.
const { h } = Vue;

export default {
  props: { value: String, hint: String, help: String, main: Boolean, late: Boolean },
  emits: ["typed"],
  data() {
    return { typed: this.value };
  },
  render() {
    return h("input", {
      class: "field",
      type: this.late ? "text" : "search",
      spellcheck: "false",
      value: this.typed,
      placeholder: this.hint,
      title: this.help || undefined,
      "aria-label": this.hint,
      "data-search": this.main ? "" : undefined,
      onInput: (event) => {
        this.typed = event.target.value;
        if (this.late) return;
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.$emit("typed", this.typed), 50);
      },
      onChange: () => this.late && this.$emit("typed", this.typed),
      onKeydown: (event) => this.late && event.key === "Enter" && event.target.blur(),
    });
  },
};
