/** Where Redis is, and how this gateway logs in. */

import { readFileSync } from "node:fs";
import type { Secret } from "@sluice/contract";

/** The address of one server. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Credentials and encryption of connections. */
export interface Login {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly tls: TlsMaterial | undefined;
}

/** What TLS is made with, as `node:tls` takes it. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
}

/** One server, the master that Sentinels name, or the nodes of a cluster. */
export type Endpoints = ServerEndpoint | SentinelEndpoints | ClusterEndpoints;

/** One server. */
export interface ServerEndpoint {
  readonly kind: "server";
  readonly address: ServerAddress;
  readonly login: Login;
}

/** Some nodes of a cluster. They name the others. */
export interface ClusterEndpoints {
  readonly kind: "cluster";
  readonly nodes: readonly ServerAddress[];
  readonly login: Login;
}

/** The Sentinels of a master. */
export interface SentinelEndpoints {
  readonly kind: "sentinels";
  readonly sentinels: readonly ServerAddress[];
  readonly master: string;
  readonly login: Login;
  readonly sentinelLogin: Login;
}

/** The options that say where Redis is. */
export interface EndpointOptions {
  readonly url?: Secret;
  readonly sentinels?: readonly string[];
  readonly master?: string;
  readonly cluster?: readonly string[];
  readonly username?: string;
  readonly password?: Secret;
  readonly database?: number;
  readonly sentinel_username?: string;
  readonly sentinel_password?: Secret;
  readonly tls?: TlsOptions;
}

/** Files of PEM text, and the name in the server's certificate. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly server_name?: string;
}

const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;

/**
 * The endpoints of options that passed the check. Reads the files of `tls`; throws their error.
 */
export function endpointsOf(options: EndpointOptions): Endpoints {
  const { sentinels, master = "", cluster, username, password, database } = options;
  const tls = options.tls === undefined ? undefined : materialOf(options.tls);
  if (cluster !== undefined) {
    const nodes = cluster.map((text) => addressOf(text, REDIS_PORT));
    // A cluster has the database 0 alone.
    return {
      kind: "cluster",
      nodes,
      login: { username, password: password?.reveal(), database: 0, tls },
    };
  }
  if (sentinels === undefined) return serverOf(options, tls);
  return {
    kind: "sentinels",
    sentinels: sentinels.map((text) => addressOf(text, SENTINEL_PORT)),
    master,
    login: { username, password: password?.reveal(), database: database ?? 0, tls },
    sentinelLogin: {
      username: options.sentinel_username,
      password: options.sentinel_password?.reveal(),
      database: 0,
      tls,
    },
  };
}

/** The library's options for a connection. */
export function clientOptions({ host, port }: ServerAddress, login: Login) {
  const { username, password, database, tls } = login;
  return {
    database,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    socket: tls === undefined ? { host, port } : { host, port, tls: true as const, ...tls },
  };
}

function serverOf(options: EndpointOptions, tls: TlsMaterial | undefined): Endpoints {
  const url = new URL(options.url?.reveal() ?? "");
  const ofUrl = (text: string): string | undefined =>
    text === "" ? undefined : decodeURIComponent(text);
  return {
    kind: "server",
    address: {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1") || "localhost",
      port: Number(url.port || REDIS_PORT),
    },
    login: {
      username: options.username ?? ofUrl(url.username),
      password: options.password?.reveal() ?? ofUrl(url.password),
      database: options.database ?? Number(url.pathname.slice(1) || 0),
      tls: tls ?? (url.protocol === "rediss:" ? {} : undefined),
    },
  };
}

function materialOf({ ca, cert, key, server_name: servername }: TlsOptions): TlsMaterial {
  return {
    ...(ca !== undefined && { ca: readFileSync(ca) }),
    ...(cert !== undefined && { cert: readFileSync(cert) }),
    ...(key !== undefined && { key: readFileSync(key) }),
    ...(servername !== undefined && { servername }),
  };
}

function addressOf(text: string, defaultPort: number): ServerAddress {
  const [, host = text, port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(text) ?? [];
  return { host, port: port === undefined ? defaultPort : Number(port) };
}
