/** `sluice ui`: opens the dashboard, signed in by a code that works once. */

import { spawn } from "node:child_process";
import type { Command } from "commander";
import { isObject } from "@sluice/kit";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { placeOf } from "../admin-place.ts";
import { CommandError, EXIT } from "../exit.ts";

type Options = AdminOptions & { readonly json?: boolean; readonly open: boolean };

/** Adds the command. */
export function addUiCommand(command: Command, shared: (command: Command) => Command): void {
  shared(command)
    .description("open the dashboard in a browser of this machine, signed in")
    .option("--no-open", "print the address only")
    .action(openDashboard);
}

async function openDashboard(options: Options): Promise<void> {
  const { url } = placeOf(options);
  const answer = await adminClient(options)("/ui/code", {});
  const code = isObject(answer) ? answer["code"] : undefined;
  if (typeof code !== "string")
    throw new CommandError(EXIT.findings, `The gateway at ${url} makes no codes for sign-ins.`);
  // In the fragment, no server and no proxy logs it.
  const address = `${url}/ui/#in=${code}`;
  if (options.json === true) console.log(JSON.stringify({ url: address, expires_in_s: 60 }));
  else console.log(`${address}\nThe address signs in once, within a minute, on this machine.`);
  if (options.open && options.json !== true && process.stdout.isTTY) openBrowser(address);
}

/** Opens the browser of the desktop. Where there is none, the address is on the screen. */
function openBrowser(address: string): void {
  const program = openerOf(process.platform, process.env);
  if (program === undefined) return;
  const child = spawn(program, [address], { detached: true, stdio: "ignore" });
  child.on("error", () => undefined);
  child.unref();
}

function openerOf(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): string | undefined {
  if (platform === "darwin") return "open";
  const { DISPLAY: x11 = "", WAYLAND_DISPLAY: wayland = "" } = environment;
  return x11 + wayland === "" ? undefined : "xdg-open";
}
