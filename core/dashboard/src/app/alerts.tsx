/** The bar of what is wrong. It stands above every screen while it is. */

import type { ComponentChildren } from "preact";
import type { Attempt, Canary, ConfigStatus } from "../api/config.ts";
import { count, fromNow } from "../parts/format.ts";
import { Notice, type Tone } from "../parts/marks.tsx";
import { useMay, useSession } from "./may.ts";
import { href } from "./route.ts";
import { SCREENS, screensOff } from "./screens.ts";
import { useStatus } from "./status.ts";

interface Alert {
  readonly name: string;
  readonly tone: Tone;
  readonly text: ComponentChildren;
}

/** A generation that drains for some seconds is no news. */
const LONG_DRAIN_MS = 60_000;

/** Notices for the present status, the worst first. */
export function Alerts({ status }: { readonly status: ConfigStatus | undefined }) {
  const { error } = useStatus();
  const { admin_api: version } = useSession();
  const off = screensOff(version);
  const alerts: Alert[] = [];
  if (error?.kind === "no-answer")
    alerts.push({
      name: "away",
      tone: "bad",
      text: "The gateway does not answer. What you see may be old; the page tries again by itself.",
    });
  else if (error?.kind === "refused")
    alerts.push({
      name: "failing",
      tone: "bad",
      text: `The gateway refuses to say what it runs: ${error.message}`,
    });
  if (off > 0)
    alerts.push({
      name: "older",
      tone: "warn",
      text: `This gateway is older than the dashboard: ${off} ${off === 1 ? "screen is" : "screens are"} off.`,
    });
  if (status !== undefined) alerts.push(...alertsOf(status));
  if (alerts.length === 0) return null;
  return (
    <div class="alerts" aria-label="What needs attention" role="region">
      {alerts.map(({ name, tone, text }) => (
        <Notice key={name} tone={tone} isLoud={tone === "bad"}>
          {text}
        </Notice>
      ))}
    </div>
  );
}

/** What a status says is wrong. */
function alertsOf(status: ConfigStatus): readonly Alert[] {
  const { ledger, last_attempt: last, drift, canary, waiting_for_restart: waiting } = status;
  const alerts: Alert[] = [];
  if (ledger?.writable === false)
    alerts.push({
      name: "ledger",
      tone: "bad",
      text: `Spend rows cannot be stored, so requests are refused: ${ledger.fault?.text ?? "the ledger is not writable"}.`,
    });
  if (ledger?.store_failing === true)
    alerts.push({
      name: "store",
      tone: "warn",
      text: `The store is away. ${count(ledger.outbox_batches)} batches of rows wait in the outbox.`,
    });
  if (last?.outcome === "refused")
    alerts.push({ name: "refused", tone: "bad", text: <Refused attempt={last} /> });
  if (drift.files_differ) alerts.push({ name: "drift", tone: "warn", text: <Drift {...drift} /> });
  if (canary !== null)
    alerts.push({ name: "canary", tone: "accent", text: <CanaryRuns canary={canary} /> });
  if (waiting.length > 0)
    alerts.push({
      name: "restart",
      tone: "warn",
      text: `Waiting for a restart: ${waiting.join(", ")}.`,
    });
  return [...alerts, ...drainAlert(status)];
}

function drainAlert({ draining }: ConfigStatus): readonly Alert[] {
  const old = draining.filter(({ oldest_age_ms: age }) => age > LONG_DRAIN_MS);
  if (old.length === 0) return [];
  const names = old.map(({ generation }) => generation).join(", ");
  const requests = old.reduce((sum, { leases }) => sum + leases, 0);
  return [
    {
      name: "draining",
      tone: "plain",
      text: `Generation ${names} still drains: ${count(requests)} requests.`,
    },
  ];
}

function Refused({ attempt }: { readonly attempt: Attempt }) {
  const [first] = attempt.findings;
  return (
    <>
      The last edit was refused {fromNow(attempt.at)}; the generation before it still serves.{" "}
      {first === undefined ? attempt.reason : first.text}
    </>
  );
}

function Drift({ files }: ConfigStatus["drift"]) {
  return (
    <>
      The files differ from what runs: {files.map(({ path }) => path).join(", ")}. <HistoryLink />
    </>
  );
}

function CanaryRuns({ canary }: { readonly canary: Canary }) {
  const { generation, share, ends_at: end } = canary;
  return (
    <>
      Generation {generation} is a canary with {typeof share === "number" ? `${share} %` : share} of
      the requests. It ends {fromNow(end)}. <HistoryLink />
    </>
  );
}

function HistoryLink() {
  const may = useMay();
  const history = SCREENS.find(({ name }) => name === "history");
  if (history === undefined || !history.actions.some(may)) return null;
  return <a href={href(["history"])}>Show in History</a>;
}
