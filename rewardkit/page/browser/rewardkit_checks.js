// A menu of check boxes behind a button. Options are [name, text, checked].
const { h } = Vue;

export default {
  props: { options: Array, label: String, help: String },
  emits: ["checked"],
  data() {
    return { open: false };
  },
  mounted() {
    this.onPress = (event) => {
      if (!this.$el.contains(event.target)) this.open = false;
    };
    document.addEventListener("pointerdown", this.onPress);
  },
  unmounted() {
    document.removeEventListener("pointerdown", this.onPress);
  },
  render() {
    const button = h(
      "button",
      { type: "button", class: ["plain", { on: this.open }], title: this.help, "aria-expanded": this.open, onClick: () => (this.open = !this.open) },
      this.label,
    );
    const options = this.options.map(([name, text, checked]) =>
      h("label", { key: name }, [
        h("input", { type: "checkbox", checked, onChange: (event) => this.$emit("checked", { name, on: event.target.checked }) }),
        h("span", {}, text),
      ]),
    );
    const onKeydown = (event) => {
      if (event.key !== "Escape" || !this.open) return;
      event.stopPropagation();
      this.open = false;
      this.$el.firstElementChild.focus();
    };
    const onFocusout = (event) => {
      if (event.relatedTarget && !this.$el.contains(event.relatedTarget)) this.open = false;
    };
    const list = this.open ? h("div", { class: "options", role: "group", tabindex: -1, "aria-label": this.help }, options) : null;
    return h("div", { class: "menu", onKeydown, onFocusout }, [button, list]);
  },
};
