// A line above every tab of a run that has a strong alert. It can be dismissed for the session of the browser tab.
const { h } = Vue;

// If storage is forbidden, the line is dismissed for this view only.
function stored(act) {
  try {
    return act(globalThis.sessionStorage);
  } catch {
    return null;
  }
}

export default {
  props: { alert: String, run: String, url: String },
  data() {
    return { dismissed: [] };
  },
  computed: {
    key() {
      return `rewardkit-alarm ${this.run} ${this.alert}`;
    },
  },
  methods: {
    dismiss() {
      stored((storage) => storage.setItem(this.key, "1"));
      this.dismissed.push(this.key);
    },
  },
  render() {
    if (!this.alert || this.dismissed.includes(this.key) || stored((storage) => storage.getItem(this.key)))
      return h("div", { hidden: true });
    return h("div", { class: "alarm", role: "status" }, [
      h("span", {}, ["This reward may be gamed: ", h("b", {}, this.alert)]),
      h("a", { href: this.url, "data-inside": "" }, "See the alert"),
      h("button", { type: "button", class: "plain ghost", title: "Hide it until you close this browser tab", onClick: this.dismiss }, "Dismiss"),
    ]);
  },
};
