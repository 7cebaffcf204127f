/** The gateway file that a command takes when none is named. */

const FILES = ["config/gateway.yaml", "gateway.yaml"];

/** `SLUICE_CONFIG`, else `config/gateway.yaml`, else `gateway.yaml`, whichever is there. */
export function defaultConfig(
  environment: Readonly<Record<string, string | undefined>>,
  isThere: (path: string) => boolean,
): string {
  const { SLUICE_CONFIG: named = "" } = environment;
  return named === "" ? (FILES.find(isThere) ?? "config/gateway.yaml") : named;
}
