// A graph over steps. Drag to zoom (the server then sends that range in full detail), double-click to zoom out.
let echarts = null;
// Loaded when the first graph becomes visible, because it is a megabyte of code.
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

// The vertical lines at which the reward changed. A label that would overlap the one before it is left out; the
// tooltip has it.
const LABEL = 54;
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
  const axis = { axisLine: { lineStyle: { color: rule } }, axisTick: { show: false }, axisLabel: { color: soft, fontSize: 11, hideOverlap: true } };
  return {
    animation: false,
    textStyle: { fontFamily: variable("--sans") || "sans-serif" },
    grid: { left: 8, right: 22, top: spec.marks.length ? 22 : 12, bottom: 4, containLabel: true },
    xAxis: { ...axis, type: "value", min: spec.range[0], max: spec.range[1], splitLine: { show: false }, axisLabel: { ...axis.axisLabel, formatter: (value) => value.toLocaleString("en-US") } },
    yAxis: { ...axis, type: "value", scale: !spec.zero, interval: spec.unit === "share" && spec.zero ? 0.25 : undefined, min: spec.zero ? 0 : undefined, max: spec.unit === "share" ? (range) => ((range.max > 0.5 && range.max <= 1) || range.max <= 0 ? 1 : undefined) : undefined, splitNumber: 4, axisLine: { show: false }, splitLine: { lineStyle: { color: rule } }, axisLabel: { ...axis.axisLabel, formatter: (value) => (spec.unit === "share" ? `${Math.round(1000 * value) / 10}%` : number(value)) } },
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

export default {
  template: '<div class="plot"><div class="canvas"></div><div class="drag"></div></div>',
  props: { spec: Object },
  emits: ["zoom"],
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
      const [canvas, drag] = this.$el.children;
      this.chart = echarts.init(canvas, null, { renderer: "canvas" });
      this.sized = new ResizeObserver(() => this.chart.resize());
      this.sized.observe(canvas);
      const zr = this.chart.getZr();
      let from = null;
      zr.on("mousedown", (event) => {
        if (this.chart.containPixel("grid", [event.offsetX, event.offsetY])) from = event.offsetX;
      });
      zr.on("mousemove", (event) => {
        if (from === null) return;
        Object.assign(drag.style, { display: "block", left: `${Math.min(from, event.offsetX)}px`, width: `${Math.abs(event.offsetX - from)}px` });
      });
      const end = (event) => {
        if (from === null) return;
        const [low, high] = [from, event.offsetX].sort((a, b) => a - b).map((x) => this.chart.convertFromPixel({ xAxisIndex: 0 }, x));
        drag.style.display = "none";
        if (Math.abs(event.offsetX - from) > 6 && high > low) this.$emit("zoom", [low, high]);
        from = null;
      };
      zr.on("mouseup", end);
      zr.on("globalout", () => {
        from = null;
        drag.style.display = "none";
      });
      zr.on("dblclick", () => this.$emit("zoom", null));
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
