// A graph over steps. Select steps with the mouse or the keyboard; the server decides what to do with them.
//
// Emits pick: { low, high, by, how }, where how is "drag", "other" (with Shift), "click", "enter" or "z", and by is the
// column of the nearest line; and zoom: null after a double-click.
let echarts = null;
// Load ECharts when the first graph becomes visible, because it is a megabyte of code.
const loaded = async () => (echarts ??= (await import("nicegui-echart")).echarts);

// Draw only a few graphs per frame, so that the page stays responsive.
const waiting = new Set();
async function drawNext() {
  const until = performance.now() + 50;
  while (waiting.size && performance.now() < until) {
    const [chart] = waiting;
    waiting.delete(chart);
    await chart.draw().catch(console.error);
  }
  if (waiting.size) requestAnimationFrame(drawNext);
  else drawing = false;
}
let drawing = false;
function drawSoon(chart) {
  waiting.add(chart);
  if (!drawing) requestAnimationFrame(drawNext);
  drawing = true;
}

const number = (value, unit) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (unit === "share") return `${(100 * value).toFixed(1)}%`;
  const size = Math.abs(value);
  if (size >= 1e5 || (size > 0 && size < 1e-3)) return value.toExponential(2);
  return value.toLocaleString("en-US", { maximumFractionDigits: size >= 100 ? 0 : size >= 10 ? 1 : 3 });
};

const variable = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

function colored(color) {
  const found = /^var\((--[\w-]+)\)$/.exec(color ?? "");
  return found ? variable(found[1]) : color;
}

// Uses DOM nodes and textContent, because a component may be named <img src=x onerror=...>.
function tooltip(points, spec) {
  const box = document.createElement("div");
  box.className = "tip";
  const add = (parent, tag, className, text) => {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return parent.appendChild(element);
  };
  const at = points[0].axisValue;
  const near = Math.max(0.5, (spec.steps[0].at(-1) - spec.steps[0][0]) / spec.steps[0].length / 2);
  const changes = spec.marks.filter(([step]) => Math.abs(step - at) <= near).map(([, name]) => ` · the reward changed to ${name}`);
  add(box, "div", "step", `step ${Math.round(at).toLocaleString("en-US")}${changes.slice(-1).join("")}`);
  const shown = points.filter((point) => point.value && !point.seriesName.startsWith("\u0000"));
  for (const point of shown.slice(0, 16)) {
    const line = box.appendChild(document.createElement("div"));
    line.className = "line";
    const swatch = add(line, "i", "swatch", "");
    swatch.style.background = point.color;
    add(line, "span", "name", point.seriesName);
    const [low, high] = spec.lines[Number(point.seriesId.slice(1))]?.band?.map((side) => side[point.dataIndex]) ?? [];
    const band = (high ?? null) === null ? "" : ` (${number(low, spec.unit)} to ${number(high, spec.unit)})`;
    add(line, "span", "value", number(point.value[1], spec.unit) + band);
  }
  if (shown.length > 16) add(box, "div", "step", `and ${shown.length - 16} more`);
  return box;
}

const pairs = (spec, line, values) => values.map((value, at) => [spec.steps[line.steps][at], value]);

// A point between two gaps has no line, so it gets a dot.
const dotted = (points) =>
  points.map((value, at) =>
    value[1] !== null && (points[at - 1]?.[1] ?? null) === null && (points[at + 1]?.[1] ?? null) === null
      ? { value, symbol: "circle" }
      : value,
  );

// The vertical lines at which the reward changed. A label that would overlap the previous one appears only in the
// tooltip.
const LABEL = 60;
function marked(spec, width, soft) {
  const [low, high] = spec.range;
  const scale = (high === null || high <= low ? NaN : width / (high - low));
  let end = -Infinity;
  return spec.marks.map(([step, name]) => {
    const at = scale * (step - low);
    const left = at + LABEL > width;
    const start = left ? at - LABEL : at;
    const fits = !(start < end);
    if (fits) end = start + LABEL;
    return { xAxis: step, name, label: { show: fits, align: left ? "right" : "left", color: soft } };
  });
}

// The distance between ticks in a graph of shares; above 50%, one of the ticks is at 100%.
function shareTicks(spec) {
  const values = spec.lines.flatMap((line) => line.y).filter((value) => value !== null);
  const low = spec.zero ? 0 : Math.min(...values), high = Math.max(...values);
  if (low === high || (spec.zero && high <= 0.5)) return 0.25;
  return high > 0.5 && high <= 1 ? [0.05, 0.1, 0.25, 0.5].find((ticks) => 1 - low <= 5 * ticks) : undefined;
}

function options(spec, width) {
  const ink = variable("--ink"), soft = variable("--soft"), rule = variable("--rule"), surface = variable("--surface");
  const series = [];
  spec.lines.forEach((line, index) => {
    const color = colored(line.color);
    if (line.band) {
      const [low, high] = line.band;
      const lows = pairs(spec, line, low);
      const highs = pairs(spec, line, high.map((value, at) => (value === null || low[at] === null ? null : value - low[at])));
      const plain = { type: "line", symbol: "none", silent: true, lineStyle: { opacity: 0 }, stack: `band${index}`, stackStrategy: "all" };
      series.push({ ...plain, id: `l${index}`, name: `\u0000low${index}`, data: lows });
      series.push({ ...plain, id: `h${index}`, name: `\u0000high${index}`, data: highs, areaStyle: { color, opacity: 0.13 } });
    }
    if (line.raw)
      series.push({ id: `r${index}`, name: `\u0000raw${index}`, type: "line", symbol: "none", silent: true, data: pairs(spec, line, line.raw), lineStyle: { color, width: 1, opacity: 0.22 } });
    const data = dotted(pairs(spec, line, line.y));
    const few = data.length < 40;
    series.push({
      id: `s${index}`,
      name: line.name,
      type: "line",
      data,
      symbol: few ? "circle" : "none",
      symbolSize: 4,
      itemStyle: { color },
      lineStyle: { color, width: line.dash === "solid" ? 1.8 : 1.5, type: line.dash },
      emphasis: { disabled: true },
      z: 3,
    });
  });
  if (spec.marks.length && series.length)
    series.push({
      id: "marks",
      name: "\u0000marks",
      type: "line",
      data: [],
      markLine: {
        silent: true,
        symbol: "none",
        animation: false,
        lineStyle: { color: soft, type: [4, 4], width: 1 },
        label: { color: soft, fontSize: 10, formatter: (mark) => mark.name, position: "end", rotate: 0, distance: 3 },
        data: marked(spec, width - 70, soft),
      },
    });
  for (const [low, high, name, color] of spec.areas ?? [])
    series.push({ id: `a${name}`, name: `\u0000${name}`, type: "line", data: [], markArea: { silent: true, animation: false, itemStyle: { color: colored(color), opacity: 0.12 }, label: { show: false }, data: [[{ xAxis: low - 0.5, name }, { xAxis: high + 0.5 }]] } });
  const axis = { axisLine: { lineStyle: { color: rule } }, axisTick: { show: false }, axisLabel: { color: soft, fontSize: 11, hideOverlap: true } };
  return {
    animation: false,
    textStyle: { fontFamily: variable("--sans") || "sans-serif" },
    grid: { left: 8, right: 22, top: spec.marks.length ? 22 : 12, bottom: 4, containLabel: true },
    xAxis: { ...axis, type: "value", minInterval: 1, min: spec.range[0], max: spec.range[1], splitLine: { show: false }, axisLabel: { ...axis.axisLabel, formatter: (value) => value.toLocaleString("en-US") } },
    yAxis: { ...axis, type: "value", scale: !spec.zero, interval: spec.unit === "share" ? shareTicks(spec) : undefined, min: spec.zero ? 0 : undefined, max: spec.unit === "share" ? (range) => ((range.max > 0.5 && range.max <= 1) || range.max <= 0 ? 1 : undefined) : undefined, splitNumber: 4, axisLine: { show: false }, splitLine: { lineStyle: { color: rule } }, axisLabel: { ...axis.axisLabel, formatter: (value) => (spec.unit === "share" ? `${Math.round(1000 * value) / 10}%` : number(value)) } },
    tooltip: {
      trigger: "axis",
      confine: true,
      transitionDuration: 0,
      backgroundColor: surface,
      borderColor: rule,
      textStyle: { color: ink, fontSize: 12 },
      axisPointer: { type: "line", lineStyle: { color: soft, width: 1 }, label: { show: false } },
      formatter: (points) => tooltip(Array.isArray(points) ? points : [points], spec),
    },
    series,
  };
}

// The screen reader text for a step, and the steps at which the cursor can stop.
const said = (spec, step) =>
  `step ${step.toLocaleString("en-US")}: ` + spec.lines.map((line) => `${line.name} ${number(line.y[spec.steps[line.steps].indexOf(step)], spec.unit)}`).join(", ");
const stops = (spec) => [...new Set(spec.steps.flat())].filter((x) => x !== null && (spec.range[0] === null || (x >= spec.range[0] && x <= spec.range[1]))).sort((a, b) => a - b);

export default {
  template: `<div class="plot" tabindex="0" role="application" aria-roledescription="graph" :aria-label="spec.title" :aria-describedby="'about-' + $.uid"
      @keydown="pressed" @blur="leave"><div class="canvas"></div><div class="drag"></div>
    <p class="unseen" :id="'about-' + $.uid">{{ spec.summary }}. Arrow keys move through the steps, with Shift they select; Enter explains them, z zooms.</p><p class="unseen" aria-live="polite">{{ live }}</p></div>`,
  props: { spec: Object },
  emits: ["zoom", "pick"],
  data: () => ({ live: "" }),
  mounted() {
    this.redraw = () => {
      this.stale = true;
      if (this.visible) drawSoon(this);
    };
    window.addEventListener("rewardkit-theme", this.redraw);
    this.stale = true;
    this.visible = false;
    this.seen = new IntersectionObserver((entries) => {
      this.visible = entries.at(-1).isIntersecting;
      if (this.visible) drawSoon(this);
    });
    this.seen.observe(this.$el);
  },
  beforeUnmount() {
    window.removeEventListener("rewardkit-theme", this.redraw);
    clearTimeout(this.clicked);
    this.seen.disconnect();
    waiting.delete(this);
    this.sized?.disconnect();
    this.chart?.dispose();
  },
  watch: {
    spec() {
      this.redraw();
    },
  },
  methods: {
    async begin() {
      if (this.chart) return;
      await loaded();
      if (this.chart || !this.$el.isConnected) return;
      this.chart = echarts.init(this.$el.children[0], null, { renderer: "canvas" });
      this.sized = new ResizeObserver(() => this.chart.resize());
      this.sized.observe(this.$el);
      this.listen(this.chart.getZr());
    },
    // The mouse: drag or click. Without zoom there is no double-click to wait for.
    listen(zr) {
      let from = null;
      zr.on("mousedown", (event) => {
        if (this.chart.containPixel("grid", [event.offsetX, event.offsetY])) from = event.offsetX;
      });
      zr.on("mousemove", (event) => {
        if (from !== null) this.shade(from, event.offsetX);
      });
      zr.on("mouseup", (event) => {
        if (from === null) return;
        const ends = [from, event.offsetX];
        const dragged = Math.abs(ends[1] - ends[0]) > 6;
        const how = !dragged ? "click" : event.event.shiftKey ? "other" : "drag";
        const pick = () => this.pick(...ends.map((x) => this.step(x)).sort((a, b) => a - b), how, event.offsetY);
        from = null;
        this.shade();
        if (dragged || !this.spec.zoomed) pick();
        else this.clicked ??= setTimeout(() => (this.clicked = pick()), 300);
      });
      zr.on("globalout", () => {
        from = null;
        this.shade();
      });
      zr.on("dblclick", () => {
        this.clicked = clearTimeout(this.clicked);
        if (this.spec.zoomed) this.$emit("zoom", null);
      });
    },
    step(pixel) {
      return this.chart.convertFromPixel({ xAxisIndex: 0 }, pixel);
    },
    // Highlight the selection between two pixels; without pixels, remove the highlight.
    shade(from, to) {
      const [, drag] = this.$el.children;
      Object.assign(drag.style, from === undefined ? { display: "none" } : { display: "block", left: `${Math.min(from, to)}px`, width: `${Math.max(Math.abs(to - from), 1)}px` });
    },
    pick(low, high, how, y) {
      this.$emit("pick", { low, high, how, by: this.nearest((low + high) / 2, y) });
    },
    // The column of the line nearest to a pixel; with the keyboard, of the first line.
    nearest(x, pixel) {
      let best = null, least = Infinity;
      for (const line of this.spec.lines) {
        const steps = this.spec.steps[line.steps];
        const at = steps.reduce((found, step, index) => (line.y[index] !== null && Math.abs(step - x) < Math.abs(steps[found] - x) ? index : found), 0);
        const away = pixel === undefined ? (best === null ? 0 : Infinity) : Math.abs(this.chart.convertToPixel({ yAxisIndex: 0 }, line.y[at] ?? 0) - pixel);
        if (away < least) [best, least] = [line, away];
      }
      return best?.by ?? "";
    },
    // The keyboard: arrows move a cursor; with Shift, they select steps.
    pressed(event) {
      const steps = this.chart ? stops(this.spec) : [];
      if (!steps.length || event.ctrlKey || event.metaKey || event.altKey) return;
      const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -steps.length, End: steps.length };
      const at = steps.indexOf(this.cursor);
      if (event.key in moves) {
        if (!event.shiftKey || this.anchor === undefined) this.anchor = event.shiftKey ? this.cursor ?? steps[0] : undefined;
        this.cursor = steps[Math.min(Math.max(at + moves[event.key], 0), steps.length - 1)];
        this.point();
      } else if (event.key === "Enter" || event.key === "z") {
        if (at < 0) return;
        this.pick(...[this.anchor ?? this.cursor, this.cursor].sort((a, b) => a - b), event.key.toLowerCase());
        this.leave();
      } else if (event.key === "Escape") this.leave();
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    point() {
      const pixel = (step) => this.chart.convertToPixel({ xAxisIndex: 0 }, step);
      this.chart.dispatchAction({ type: "showTip", x: pixel(this.cursor), y: 60 });
      const selects = this.anchor !== undefined && this.anchor !== this.cursor;
      this.shade(...(selects ? [pixel(this.anchor), pixel(this.cursor)] : []));
      this.live = (selects ? `from step ${this.anchor} to ` : "") + said(this.spec, this.cursor);
    },
    leave() {
      if (this.cursor === undefined) return;
      this.cursor = this.anchor = undefined;
      this.live = "";
      this.shade();
      this.chart?.dispatchAction({ type: "hideTip" });
      this.chart?.dispatchAction({ type: "updateAxisPointer", currTrigger: "leave" });
    },
    // A graph is drawn when it becomes visible.
    async draw() {
      await this.begin();
      if (!this.chart || !this.stale) return;
      this.stale = false;
      // Update the data if the lines are the same. Otherwise draw from scratch.
      const lines = this.spec.lines.map((line) => line.name + Boolean(line.raw)).join();
      const notMerge = lines !== this.lines || this.themed !== document.body.className;
      this.chart.setOption(options(this.spec, this.$el.clientWidth), { notMerge, silent: true });
      this.lines = lines;
      this.themed = document.body.className;
      this.$el.dataset.drawn = Number(this.$el.dataset.drawn ?? 0) + 1;
    },
    async png(name) {
      await this.draw();
      this.chart.setOption({ title: { text: this.spec.title, left: 10, top: 6, textStyle: { fontSize: 13, color: variable("--ink") } }, grid: { top: 36 },
        legend: { show: true, top: 6, right: 10, textStyle: { color: variable("--soft") }, data: this.spec.lines.map((line) => line.name) } });
      const link = document.createElement("a");
      link.href = this.chart.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: variable("--surface") });
      link.download = name;
      link.click();
      this.lines = null;
      this.redraw();
    },
  },
};
