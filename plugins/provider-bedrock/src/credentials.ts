/**
 * Where credentials come from: the configuration, or AWS's own chain of profiles, containers and
 * instances.
 */

import { within } from "@sluice/kit";
import { GatewayError, type Clock, type Secret } from "@sluice/contract";

/** The credentials that sign a call. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** When they end; absent: never. */
  readonly expiration?: Date;
}

/** Gives the credentials of this moment. */
export type CredentialSource = () => Promise<Credentials>;

/** Credentials of the configuration. */
export function fixedCredentials(
  accessKeyId: Secret,
  secretAccessKey: Secret,
  sessionToken: Secret | undefined,
): CredentialSource {
  return async () => ({
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() }),
  });
}

const CHAIN_PACKAGE = "@aws-sdk/credential-providers";
/**
 * Credentials are renewed this long before they end; while that fails, the old ones serve to their
 * end.
 */
const RENEW_BEFORE_MS = 5 * 60_000;
/**
 * The maximum wait for the credential chain. A slower chain counts as failed, so that another
 * target can be tried.
 */
const MAX_WAIT_MS = 15_000;

/** Loads the package of the chain. */
export type ChainLoader = (
  profile: string | undefined,
  region: string,
) => Promise<CredentialSource>;

/**
 * The chain of AWS: environment, profile, SSO, web identity, container, instance. Its package is
 * loaded by the first call, and called once for all waiting callers. Throws `upstream_auth_failed`
 * when it has no credentials.
 */
export function chainCredentials(
  profile: string | undefined,
  region: string,
  clock: Clock,
  load: ChainLoader = loadChain,
): CredentialSource {
  let chain: Promise<CredentialSource> | undefined;
  let held: Credentials | undefined;
  let flight: Promise<Credentials> | undefined;
  const lastsMs = (): number =>
    held?.expiration === undefined ? Infinity : held.expiration.getTime() - clock.now();
  const renew = async (): Promise<Credentials> => {
    chain ??= load(profile, region).catch((error: unknown) => {
      chain = undefined;
      throw error;
    });
    return (held = await (await chain)());
  };
  return async () => {
    if (held !== undefined && lastsMs() > RENEW_BEFORE_MS) return held;
    flight ??= within(MAX_WAIT_MS, renew(), tooLate).finally(() => (flight = undefined));
    try {
      return await flight;
    } catch (error) {
      if (held !== undefined && lastsMs() > 0) return held;
      throw error;
    }
  };
}

function tooLate(): never {
  throw new GatewayError(
    "upstream_auth_failed",
    `The credential chain returned no credential within ${MAX_WAIT_MS} ms.`,
  );
}

interface ChainPackage {
  fromNodeProviderChain(options: {
    readonly profile?: string;
    readonly clientConfig: { readonly region: string };
  }): CredentialSource;
}

async function loadChain(profile: string | undefined, region: string): Promise<CredentialSource> {
  let loaded: ChainPackage;
  try {
    loaded = (await import(CHAIN_PACKAGE)) as ChainPackage;
  } catch (cause) {
    throw new GatewayError(
      "upstream_auth_failed",
      `The credentials need the package ${CHAIN_PACKAGE}: npm install ${CHAIN_PACKAGE}@3.`,
      { cause },
    );
  }
  return loaded.fromNodeProviderChain({
    ...(profile === undefined ? {} : { profile }),
    clientConfig: { region },
  });
}
