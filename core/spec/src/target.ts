/** Targets: where a model is served. */

import type { Price } from "./usage.ts";

/** A provider instance and a model name there. */
export interface Target {
  /** `provider/model`: the name of the deployment in rows, logs and metrics. */
  readonly id: string;
  /** The provider instance's name in `config/gateway.yaml`. */
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** The price that the operator agreed on for this target; it wins over the price table. */
  readonly price?: Price;
  /** Parameters that the provider cannot honour are dropped, not refused. */
  readonly dropParams?: boolean;
  /** The share among the model's targets, a whole number; 0 serves only when nothing else can. Absent: 1. */
  readonly weight?: number;
  /** The lower, the earlier it is chosen where priorities count. Absent: 0. */
  readonly priority?: number;
  /** How many exchanges may use the deployment at the same time in this process. Absent: any number. */
  readonly maxParallel?: number;
  /** How many more may wait for it. Absent: none. */
  readonly queue?: number;
  /** How long each of them may wait, in milliseconds. */
  readonly queueTimeoutMs?: number;
  /** Requests in any minute that the deployment may get. Absent: any number. */
  readonly rpm?: number;
  /** Tokens in any minute that the deployment may get. Absent: any number. */
  readonly tpm?: number;
  /** The request's metadata, without what steers the gateway, goes to the provider. */
  readonly forwardMetadata?: boolean;
  /** Members of the body that steer the upstream's own choice of models and tools, and may go to it (`Capabilities.steering`). Absent: none. */
  readonly forward?: readonly string[];
}
