import { describe, expect, it } from "vitest";
import { fakeLog, type LogLine } from "@sluice/testing";
import { createMetrics, pluginMetrics } from "./metrics.ts";
import { joinPages, prometheusText } from "./prometheus.ts";

function registry() {
  const lines: LogLine[] = [];
  return { metrics: createMetrics(fakeLog(lines)), lines };
}

describe("metrics", () => {
  it("are written in the text format, by name, with cumulative buckets and escaped labels", () => {
    const { metrics } = registry();
    metrics
      .counter({ name: "b_total", help: "Bs\nof\\all.", labels: ["who"] })
      .with('a "b"\n')
      .add(2);
    const times = metrics
      .histogram({ name: "a_seconds", help: "As.", labels: ["x"], buckets: [0.1, 1] })
      .with("y");
    for (const value of [0.05, 0.1, 0.5, 7]) times.observe(value);
    metrics.gauge({ name: "c", help: "Cs." }).with().set(-1.5);
    metrics.observe("gauge", { name: "d", help: "Ds." }, () => []);
    expect(prometheusText(metrics.read()).split("\n")).toEqual([
      "# HELP a_seconds As.",
      "# TYPE a_seconds histogram",
      'a_seconds_bucket{x="y",le="0.1"} 2',
      'a_seconds_bucket{x="y",le="1"} 3',
      'a_seconds_bucket{x="y",le="+Inf"} 4',
      'a_seconds_sum{x="y"} 7.65',
      'a_seconds_count{x="y"} 4',
      "# HELP b_total Bs\\nof\\\\all.",
      "# TYPE b_total counter",
      'b_total{who="a \\"b\\"\\n"} 2',
      "# HELP c Cs.",
      "# TYPE c gauge",
      "c -1.5",
      "",
    ]);
  });

  it("are one cell for the same name and labels, from any caller", () => {
    const { metrics } = registry();
    const description = { name: "n_total", help: "Ns.", labels: ["a", "b"] };
    metrics.counter(description).with("1", "2").add();
    expect(metrics.counter({ ...description }).with("1", "2")).toBe(
      metrics.counter(description).with("1", "2"),
    );
    expect(metrics.counter(description).with("1", "3")).not.toBe(
      metrics.counter(description).with("1", "2"),
    );
    expect(() => metrics.counter({ ...description, help: "Other." })).toThrow(
      "another description",
    );
    expect(() => metrics.counter(description).with("1")).toThrow("has 2 labels");
  });

  it("count under other what comes after a thousand sets of labels, and say so once", () => {
    const { metrics, lines } = registry();
    const many = metrics.counter({ name: "many_total", help: "Many.", labels: ["id"] });
    for (let id = 0; id < 1_500; id++) many.with(String(id)).add();
    many.with("7").add();
    const samples = metrics.read()[0]?.samples ?? [];
    expect(samples).toHaveLength(1_001);
    expect(samples[7]).toEqual({ labels: ["7"], value: 2 });
    expect(samples.at(-1)).toEqual({ labels: ["other"], value: 500 });
    expect(lines).toMatchObject([{ level: "warn", fields: { metric: "many_total" } }]);
  });

  it("of a look that throws say nothing, and the page goes on", () => {
    const { metrics, lines } = registry();
    metrics.observe("gauge", { name: "broken", help: "B." }, () => {
      throw new Error("no");
    });
    metrics.counter({ name: "fine_total", help: "F." });
    expect(prometheusText(metrics.read())).toBe(
      "# HELP fine_total F.\n# TYPE fine_total counter\nfine_total 0\n",
    );
    expect(lines).toMatchObject([{ level: "warn", fields: { metric: "broken" } }]);
  });

  it.each([
    [{ name: "Big_total", help: "x" }, "lower-case"],
    [{ name: "count", help: "x" }, "_total"],
    [{ name: "a_total", help: "" }, "sentence"],
    [{ name: "a_total", help: "x", labels: ["le"] }, "labels"],
    [{ name: "a_total", help: "x", labels: ["a", "a"] }, "labels"],
  ])("refuse %j", (description, reason) => {
    expect(() => registry().metrics.counter(description)).toThrow(reason);
  });

  it("of a plugin stand under its name", () => {
    const { metrics } = registry();
    pluginMetrics(metrics, "my-Plugin").counter({ name: "seen_total", help: "Seen." }).with().add();
    expect(metrics.read()).toMatchObject([
      { description: { name: "sluice_my_plugin_seen_total" }, samples: [{ value: 1 }] },
    ]);
  });
});

describe("pages of several workers", () => {
  it("become one, with the samples of a metric together and each worker's label", () => {
    const page = (value: number) =>
      `# HELP a A.\n# TYPE a gauge\na ${value}\n# HELP b_total B.\n# TYPE b_total counter\nb_total{x="y"} ${value}\n`;
    const joined = joinPages(
      new Map([
        ["1", page(1)],
        ["2", page(2)],
      ]),
    );
    expect(joined.split("\n").filter((line) => line !== "")).toEqual([
      "# HELP a A.",
      "# TYPE a gauge",
      'a{worker="1"} 1',
      'a{worker="2"} 2',
      "# HELP b_total B.",
      "# TYPE b_total counter",
      'b_total{worker="1",x="y"} 1',
      'b_total{worker="2",x="y"} 2',
    ]);
    expect(joined.endsWith("\n")).toBe(true);
  });
});
