/** Lets a plugin file of the user's own, wherever it lies, import the kit and the spec that this engine runs with. */

import { registerHooks } from "node:module";

/** The packages that a plugin builds on. An installed copy beside the plugin wins. */
const SHARED = /^@sluice\/(?:kit|spec)(?:\/|$)/;

let isRegistered = false;

/** Registers the hook, once for the process. */
export function registerResolveHook(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        if (!SHARED.test(specifier)) throw error;
        return nextResolve(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}
