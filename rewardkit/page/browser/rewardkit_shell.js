// The frame of the page: keyboard, history, links, dark mode. It sends the events key, go and went to the server.
const TYPING = "input, textarea, select, [contenteditable]";
// The only letters that have another meaning with Shift.
const SHIFTED = new Set(["y", "w", "x", "e"]);
const MODIFIERS = ["Control", "Meta", "Alt", "AltGraph"];
const KEYS = new Set(["?", "/", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "j", "k", "n", "b", "s", "r", "y", "w", "x", "e", "1", "2", "3", "4", "5", "6", "7", "0", "g"]);

export default {
  emits: ["key", "go", "went"],
  render: () => null,
  mounted() {
    const stored = localStorage.getItem("rewardkit-dark");
    this.apply(stored === null ? matchMedia("(prefers-color-scheme: dark)").matches : stored === "1");
    this.onKey = (event) => {
      if (event.isComposing || MODIFIERS.some((name) => event.getModifierState(name))) return;
      const typing = event.target.closest?.(TYPING);
      if (typing) {
        if (event.key === "Escape") typing.blur();
        return;
      }
      if (document.querySelector('[role="dialog"]') && event.key !== "?") return;
      if (event.key === "/") return this.search(event);
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (event.shiftKey && /^[a-z]$/.test(key) && !SHIFTED.has(key)) return;
      if (key === "d") return this.toggle();
      if (!KEYS.has(key)) return;
      if (SHIFTED.has(key)) event.preventDefault(); // the letter must not end up in the note
      if (event.key.startsWith("Arrow")) {
        if (event.target.closest?.('[role="slider"], [role="tab"], [role="listbox"]')) return;
        if (document.querySelector(".arrows")) event.preventDefault();
      }
      this.$emit("key", { key, shift: event.shiftKey });
    };
    this.onClick = (event) => {
      const link = event.target.closest?.("a[data-inside]");
      if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.$emit("go", link.getAttribute("href"));
    };
    // Texts with the same data-together are scrolled together, each to the same share of its height.
    this.onScroll = ({ target: one }) => {
      const together = one.dataset?.together;
      if (!together || one === this.following) return (this.following = null);
      for (const other of document.querySelectorAll(`[data-together="${together}"]`)) {
        const to = (one.scrollTop / Math.max(1, one.scrollHeight - one.clientHeight)) * (other.scrollHeight - other.clientHeight);
        if (other === one || Math.abs(other.scrollTop - to) < 1) continue;
        this.following = other;
        other.scrollTop = to;
      }
    };
    this.onWent = () => this.$emit("went", location.pathname + location.search);
    document.addEventListener("scroll", this.onScroll, { capture: true, passive: true });
    document.addEventListener("keydown", this.onKey);
    document.addEventListener("click", this.onClick);
    window.addEventListener("popstate", this.onWent);
  },
  unmounted() {
    document.removeEventListener("scroll", this.onScroll, { capture: true });
    document.removeEventListener("keydown", this.onKey);
    document.removeEventListener("click", this.onClick);
    window.removeEventListener("popstate", this.onWent);
  },
  methods: {
    apply(dark) {
      document.body.classList.toggle("dark", dark);
      document.documentElement.style.colorScheme = dark ? "dark" : "light";
      window.dispatchEvent(new Event("rewardkit-theme"));
    },
    toggle() {
      const dark = !document.body.classList.contains("dark");
      localStorage.setItem("rewardkit-dark", dark ? "1" : "0");
      this.apply(dark);
    },
    search(event) {
      const field = document.querySelector("input[data-search]");
      if (!field) return;
      event.preventDefault();
      // The list around the field may be hidden. Show it right here, then tell the server: until the server shows it,
      // the next keystrokes would be taken for commands.
      const hidden = field.closest(".alone");
      if (hidden) {
        hidden.classList.remove("alone");
        this.$emit("key", { key: "/", shift: false });
      }
      field.focus();
      field.select();
    },
    push(url) {
      if (url !== location.pathname + location.search) history.pushState({}, "", url);
    },
    replace(url) {
      history.replaceState({}, "", url);
    },
    title(text) {
      document.title = text;
    },
    top() {
      window.scrollTo(0, 0);
    },
    reveal(selector) {
      document.querySelector(selector)?.scrollIntoView({ block: "nearest" });
    },
    focus(selector) {
      document.querySelector(selector)?.focus();
    },
    copy() {
      navigator.clipboard?.writeText(location.href);
    },
  },
};
