/**
 * The requests of a replay: the newest rows of the ledger, grouped by what a configuration decides
 * about them.
 */

import {
  rowCursor,
  type Identity,
  type KeyStore,
  type LedgerReader,
  type SpendRow,
  type TeamRecord,
  type TeamStore,
} from "@sluice/contract";

/** Rows that a replay reads. */
const MAX_ROWS = 10_000;
/** Rows of one query: a page holds whole rows, the replay keeps few of their members. */
const PAGE_ROWS = 1_000;

/** The members of an identity that decide about models. */
export interface ReplayKey extends Pick<Identity, "kind" | "keyId" | "models" | "modelBounds"> {
  /** The team of its requests. Absent: none. */
  readonly teamId?: string;
  /** The store has the team's row for the configuration alone: undeclared, the team is blocked. */
  readonly isTeamOfFile?: boolean;
}

/** The usage and cost of a group of requests. Only requests with a known cost count. */
export interface GroupBill {
  /** Requests with a known cost. */
  readonly known: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly costNanoUsd: number;
}

/** Requests with the same call type, model, key, tags and, for native calls, provider. */
export interface RequestGroup {
  /** The operation of the pipeline: `chat`, `embeddings`, `images` or `passthrough`. */
  readonly callType: string;
  /** The model that the client asked for. Empty: the request names none. */
  readonly model: string;
  /** The provider of a native call. Empty: it is no native call, or it reached no provider. */
  readonly provider: string;
  readonly key: ReplayKey;
  /** The tags of the rows: those of the request, its key and what the key belongs to. */
  readonly tags: readonly string[];
  /** The tokens of each prompt that has a count. */
  readonly promptTokens: readonly number[];
  readonly count: number;
  readonly bill: GroupBill;
}

/** The sources of rows and of the keys' model lists. */
export interface ReplaySources {
  readonly ledger: Pick<LedgerReader, "rows">;
  readonly keys: Pick<KeyStore, "find">;
  readonly teams: Pick<TeamStore, "find">;
}

/** The members of the rows of one request that a replay needs. */
interface Request {
  callType: string;
  model: string;
  provider: string;
  keyId: string;
  teamId: string | null;
  tags: readonly string[];
  /**
   * The number of the attempt that `model` and `provider` come from: the first one that the page
   * holds.
   */
  attempt: number;
  /** The value of the successful attempt, or else of the newest. */
  promptTokens: number | null;
  completionTokens: number | null;
  hasSucceeded: boolean;
  /** The sum of all attempts; null when one has no price. */
  costNanoUsd: number | null;
  count: number;
}

/** Reads the newest requests. Rejects as the ledger and the store of keys do. */
export async function readRequestGroups(sources: ReplaySources): Promise<readonly RequestGroup[]> {
  const requests = new Map<string, Request>();
  let before: string | undefined;
  for (let read = 0; read < MAX_ROWS; read += PAGE_ROWS) {
    const rows = await sources.ledger.rows({
      limit: PAGE_ROWS,
      ...(before !== undefined && { before }),
    });
    for (const row of rows) addRow(requests, row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) break;
    before = rowCursor(last);
  }
  return groupRequests([...requests.values()], sources);
}

/** Adds a row. Rows come newest first: the attempts of a request in descending order. */
function addRow(requests: Map<string, Request>, row: SpendRow): void {
  // Refused requests that share a row have no call type when theirs differ.
  if (row.callType === "") return;
  const known = requests.get(row.requestId);
  if (known === undefined) {
    requests.set(row.requestId, requestOf(row));
    return;
  }
  if (row.attempt > 0 && (known.attempt === 0 || row.attempt < known.attempt)) {
    [known.attempt, known.model, known.provider] = [row.attempt, row.model, providerOf(row)];
  }
  if (row.status === "success" && !known.hasSucceeded) {
    [known.promptTokens, known.completionTokens, known.hasSucceeded] = [
      row.promptTokens,
      row.completionTokens,
      true,
    ];
  }
  known.costNanoUsd =
    known.costNanoUsd === null || row.costNanoUsd === null
      ? null
      : known.costNanoUsd + row.costNanoUsd;
}

function requestOf(row: SpendRow): Request {
  const {
    callType,
    model,
    keyId,
    teamId,
    tags,
    attempt,
    promptTokens,
    completionTokens,
    costNanoUsd,
    requests: count = 1,
  } = row;
  const hasSucceeded = row.status === "success";
  const tokens = { tags, promptTokens, completionTokens, hasSucceeded, costNanoUsd };
  return { callType, model, provider: providerOf(row), keyId, teamId, attempt, ...tokens, count };
}

/** The provider of a native call: the part of the target's id before the model. */
function providerOf({ callType, targetId }: SpendRow): string {
  return callType === "passthrough" ? (targetId ?? "").split("/", 1)[0]! : "";
}

async function groupRequests(
  requests: readonly Request[],
  sources: ReplaySources,
): Promise<readonly RequestGroup[]> {
  const groups = new Map<string, Request[]>();
  for (const request of requests) {
    const { callType, model, provider, keyId, teamId, tags } = request;
    const name = JSON.stringify([callType, model, provider, keyId, teamId, tags]);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [request]);
    else group.push(request);
  }
  const readKey = keyReader(sources);
  const result: RequestGroup[] = [];
  for (const [first, ...others] of groups.values()) {
    if (first !== undefined) result.push(groupOf([first, ...others], await readKey(first)));
  }
  return result;
}

function groupOf(requests: readonly [Request, ...Request[]], key: ReplayKey): RequestGroup {
  const [{ callType, model, provider, tags }] = requests;
  const bill = { known: 0, promptTokens: 0, completionTokens: 0, costNanoUsd: 0 };
  let count = 0;
  for (const request of requests) {
    count += request.count;
    if (request.costNanoUsd === null) continue;
    bill.known += request.count;
    bill.promptTokens += request.promptTokens ?? 0;
    bill.completionTokens += request.completionTokens ?? 0;
    bill.costNanoUsd += request.costNanoUsd;
  }
  const promptTokens = requests.flatMap((request) => request.promptTokens ?? []);
  return { callType, model, provider, key, tags, promptTokens, count, bill };
}

/** Reads the lists of keys and teams as they are now, each once. A deleted key has no list. */
function keyReader({ keys, teams }: ReplaySources): (request: Request) => Promise<ReplayKey> {
  const models = new Map<string, readonly string[]>();
  const teamsById = new Map<string, TeamRecord | undefined>();
  return async ({ keyId, teamId }) => {
    if (keyId === "master") return { kind: "master", keyId, models: [] };
    // The configuration has the lists of declared keys.
    if (!models.has(keyId) && !keyId.startsWith("yaml:"))
      models.set(keyId, (await keys.find(keyId))?.models ?? []);
    const key: ReplayKey = { kind: "key", keyId, models: models.get(keyId) ?? [] };
    if (teamId === null) return key;
    if (!teamsById.has(teamId)) teamsById.set(teamId, await teams.find(teamId));
    const team = teamsById.get(teamId);
    const isTeamOfFile = team?.managedBy === "file" ? { isTeamOfFile: true } : {};
    return { ...key, teamId, modelBounds: boundsOf(team?.models), ...isTeamOfFile };
  };
}

/** The lists that bound a member of a team: its own, unless it is empty. */
export function boundsOf(models: readonly string[] = []): readonly (readonly string[])[] {
  return models.length === 0 ? [] : [models];
}
