/** The outline of a text: the members of the outermost object, and the limits of its shape. */

import type { Member, ShapeFault, ShapeLimits } from "../members.ts";
import type { PagedText } from "../paged-text.ts";
import { isSpace, QUOTE } from "../scan.ts";
import { keyEndOf, skipSpace } from "./text.ts";
import type { OpenValue } from "./values.ts";

/** Maximum of white space, or of one number, in one place: it is read in one call. */
const MAX_RUN_CHARACTERS = 1_048_576;

/** The outline of one text, as far as the walk has come. */
export class Outline {
  readonly members: Member[] = [];
  fault: ShapeFault | undefined;
  nodes = 0;
  readonly #text: PagedText;
  readonly #limits: ShapeLimits;
  readonly #maxNodes: number;
  readonly #maxContainers: number;
  readonly #maxNames: number;
  #containers = 0;
  /** The last bracket, comma or end of a string. */
  #mark = 0;

  constructor(text: PagedText, limits: ShapeLimits) {
    this.#text = text;
    this.#limits = limits;
    this.#maxNodes = limits.maxNodes;
    this.#maxContainers = limits.maxContainers ?? Infinity;
    this.#maxNames = limits.maxNames ?? Infinity;
  }

  /** Sets the place from which a run is measured. */
  pass(at: number): void {
    this.#mark = at;
  }

  /** Measures the run that ends at an offset. Returns false at a fault. */
  reach(at: number): boolean {
    if (at - this.#mark > MAX_RUN_CHARACTERS) this.fault ??= "run";
    return this.fault === undefined;
  }

  /** Counts an array or object that begins within `depth` others. */
  begin(depth: number): void {
    this.#containers += 1;
    if (this.#containers > this.#maxContainers) this.fault = "containers";
    if (depth >= this.#limits.maxDepth) this.fault = "depth";
    // An array or an object directly in the outermost one counts as its member.
    if (depth !== 1) this.count();
  }

  /** Counts a value behind a comma of a list or an object. Returns false at a fault. */
  countItem(open: OpenValue): boolean {
    open.commas += 1;
    if (open.isObject && open.commas >= this.#maxNames) this.fault ??= "names";
    return this.count();
  }

  /** Counts a value. Returns false at a fault. */
  count(): boolean {
    this.nodes += 1;
    if (this.nodes > this.#maxNodes) this.fault ??= "nodes";
    return this.fault === undefined;
  }

  /** Records a member of the outermost object, whose value ends at an offset. */
  member(open: OpenValue, at: number): void {
    const text = this.#text;
    const start = skipSpace(text, open.itemStart);
    if (!open.isObject || text.charCodeAt(start) !== QUOTE) return;
    if (this.members.length >= (this.#limits.maxMembers ?? Infinity)) {
      this.fault ??= "members";
      return;
    }
    const keyEnd = keyEndOf(text, start, at);
    let end = at;
    while (end > keyEnd && isSpace(text.charCodeAt(end - 1))) end--;
    const key = text.slice(start + 1, keyEnd - 1);
    this.members.push({
      key: key.includes("\\") ? (JSON.parse(text.slice(start, keyEnd)) as string) : key,
      start,
      valueStart: skipSpace(text, skipSpace(text, keyEnd) + 1),
      end,
    });
  }
}
