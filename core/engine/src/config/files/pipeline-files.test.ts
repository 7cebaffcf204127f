import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { TestFolder } from "../load.fixture.ts";
import { openConfig, type OpenedConfig } from "./open.ts";
import { SHIPPED_PIPELINES } from "./shipped.ts";
import { heldSource } from "./source.ts";

const MODELS = "models: []\n";

function open(folder: TestFolder): OpenedConfig {
  return openConfig({ path: "gateway.yaml", cwd: folder.path, environment: {} });
}

/** The folders of the pipelines that were read, by the names of the files. */
function placesOf({ pipelines }: OpenedConfig): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pipelines.map(({ document: { path } }) => [basename(path), dirname(path)]),
  );
}

describe("pipelines", () => {
  it("are the shipped ones where there is no folder, and they are not the configuration's files", () => {
    using folder = new TestFolder({ "gateway.yaml": MODELS });
    const opened = open(folder);
    expect(opened.findings).toEqual([]);
    expect(placesOf(opened)["chat.yaml"]).toBe(SHIPPED_PIPELINES);
    expect(opened.documents).toEqual([join(folder.path, "gateway.yaml")]);
    expect(opened.files.map(({ path }) => path)).toEqual(opened.documents);
    expect(opened.watched).toContain(join(folder.path, "pipelines"));
    expect(opened.watched.filter((path) => path.startsWith(SHIPPED_PIPELINES))).toEqual([]);
  });

  it("are read where they are installed for contents of the history too", () => {
    using folder = new TestFolder({});
    const source = heldSource(new Map([[join(folder.path, "gateway.yaml"), MODELS]]));
    const opened = openConfig({
      path: "gateway.yaml",
      cwd: folder.path,
      environment: {},
      source,
    });
    expect(opened.findings).toEqual([]);
    expect(placesOf(opened)["models.yaml"]).toBe(SHIPPED_PIPELINES);
  });

  it("of a folder of one's own are no others", () => {
    using folder = new TestFolder({
      "gateway.yaml": MODELS,
      "pipelines/mine.yaml": "version: 1\n",
    });
    expect(placesOf(open(folder))).toEqual({ "mine.yaml": join(folder.path, "pipelines") });
  });

  it("of a list stand in for shipped ones of their name", () => {
    using folder = new TestFolder({
      "gateway.yaml": `pipelines: [shipped, mine]\n${MODELS}`,
      "mine/chat.yaml": "version: 1\n",
    });
    const opened = open(folder);
    const places = placesOf(opened);
    expect(places["chat.yaml"]).toBe(join(folder.path, "mine"));
    expect(places["models.yaml"]).toBe(SHIPPED_PIPELINES);
    expect(opened.documents).toEqual([
      join(folder.path, "gateway.yaml"),
      join(folder.path, "mine/chat.yaml"),
    ]);
  });

  it("of a list stand in for shipped ones with the other ending; two of one folder do not", () => {
    using folder = new TestFolder({
      "gateway.yaml": `pipelines: [shipped, mine]\n${MODELS}`,
      "mine/chat.yml": "version: 1\n",
      "mine/extra.yaml": "version: 1\n",
      "mine/extra.yml": "version: 1\n",
    });
    const places = placesOf(open(folder));
    expect(places["chat.yaml"]).toBeUndefined();
    for (const name of ["chat.yml", "extra.yaml", "extra.yml"])
      expect(places[name]).toBe(join(folder.path, "mine"));
  });

  it("of a named folder that is gone are a finding, not the shipped ones", () => {
    for (const named of ["mine", "[shipped, mine]"]) {
      using folder = new TestFolder({ "gateway.yaml": `pipelines: ${named}\n${MODELS}` });
      expect(open(folder).findings.map(({ message }) => message)).toEqual([
        "the pipelines folder `mine` cannot be read: there is no such file",
      ]);
    }
  });
});
