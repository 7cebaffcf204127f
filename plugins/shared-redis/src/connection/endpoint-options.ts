/** The options that say where Redis is, as the schema has them. */

const FILE = { type: "string", minLength: 1 } as const;

/** Properties of the schema. */
export const ENDPOINT_OPTIONS = {
  url: {
    type: "string",
    minLength: 1,
    "x-secret": true,
    description:
      "Where Redis is: `redis://user:password@host:6379/0`, `rediss://` for TLS. Written as a reference. Absent: `sentinels` say it.",
    examples: ["${env:REDIS_URL}"],
  },
  sentinels: {
    type: "array",
    minItems: 1,
    maxItems: 16,
    items: { type: "string", minLength: 1 },
    description: "Addresses of Sentinels, `host:port`. They name the master; `url` is absent then.",
    examples: [["sentinel-1:26379", "sentinel-2:26379", "sentinel-3:26379"]],
  },
  master: {
    type: "string",
    minLength: 1,
    description: "The name of the master in the configuration of the Sentinels.",
    examples: ["mymaster"],
  },
  cluster: {
    type: "array",
    minItems: 1,
    maxItems: 64,
    items: { type: "string", minLength: 1 },
    description:
      "Addresses of some nodes of a Redis Cluster, `host:port`. They name the others; `url` and `sentinels` are absent then.",
    examples: [["redis-1:6379", "redis-2:6379", "redis-3:6379"]],
  },
  username: {
    type: "string",
    minLength: 1,
    description: "The ACL user. It wins over the one in `url`.",
    examples: ["sluice"],
  },
  password: {
    type: "string",
    minLength: 1,
    "x-secret": true,
    description: "The password, as a reference. It wins over the one in `url`.",
    examples: ["${env:REDIS_PASSWORD}"],
  },
  database: {
    type: "integer",
    minimum: 0,
    description: "The number of the database. Absent: the one in `url`, or 0.",
    examples: [2],
  },
  sentinel_username: {
    type: "string",
    minLength: 1,
    description: "The ACL user at the Sentinels.",
    examples: ["sluice"],
  },
  sentinel_password: {
    type: "string",
    minLength: 1,
    "x-secret": true,
    description: "The password at the Sentinels, as a reference.",
    examples: ["${env:SENTINEL_PASSWORD}"],
  },
  tls: {
    type: "object",
    additionalProperties: false,
    description:
      "TLS to Redis and to the Sentinels. `rediss://` without this section uses the system's authorities.",
    properties: {
      ca: {
        ...FILE,
        description: "File with the authorities that sign the server's certificate, in PEM.",
        examples: ["/etc/sluice/redis-ca.pem"],
      },
      cert: {
        ...FILE,
        description: "File with the client's certificate, in PEM.",
        examples: ["/etc/sluice/redis-client.pem"],
      },
      key: {
        ...FILE,
        description: "File with the key of the client's certificate, in PEM.",
        examples: ["/etc/sluice/redis-client.key"],
      },
      server_name: {
        type: "string",
        minLength: 1,
        description: "The name in the server's certificate. Absent: the host that is connected to.",
        examples: ["redis.internal"],
      },
    },
  },
} as const;
