/** The gateway file that a command takes when none is named. */

const FILES = ["gateway.yaml", "config/gateway.yaml"];

/** `SLUICE_CONFIG`, else `./gateway.yaml`, else `config/gateway.yaml`, whichever is there. */
export function defaultConfig(
  environment: Readonly<Record<string, string | undefined>>,
  isThere: (path: string) => boolean,
): string {
  const { SLUICE_CONFIG: named = "" } = environment;
  return named === "" ? (FILES.find(isThere) ?? "gateway.yaml") : named;
}
