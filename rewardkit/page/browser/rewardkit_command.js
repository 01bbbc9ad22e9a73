// A command for the terminal, with a button that copies it.
const { h } = Vue;

export default {
  props: { command: String },
  data() {
    return { copied: false };
  },
  methods: {
    async copy() {
      try {
        await navigator.clipboard.writeText(this.command);
        this.copied = true;
      } catch {
        getSelection()?.selectAllChildren(this.$refs.command); // no access to the clipboard: it can be copied by hand
      }
    },
  },
  render() {
    return h("span", { class: "command" }, [
      h("code", { ref: "command" }, this.command),
      h("button", { type: "button", class: "plain small", onClick: this.copy }, this.copied ? "Copied" : "Copy"),
    ]);
  },
};
