/** Targets: the places that serve a model. */

import type { Price } from "./usage.ts";

/** A provider instance and a model name at it. */
export interface Target {
  /** `provider/model`: the name of the deployment in rows, logs and metrics. */
  readonly id: string;
  /** The provider instance's name in `config/gateway.yaml`. */
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  /** The operator's agreed price for this target; it wins over the price table. */
  readonly price?: Price;
  /** Whether parameters that the provider does not support are dropped instead of refused. */
  readonly dropParams?: boolean;
  /**
   * The share among the model's targets, a whole number; 0 is used only when no other target is
   * available. Absent: 1.
   */
  readonly weight?: number;
  /** Targets with a lower number come first, where priorities count. Absent: 0. */
  readonly priority?: number;
  /**
   * Maximum number of concurrent exchanges at the deployment in this process. Absent: no maximum.
   */
  readonly maxParallel?: number;
  /** Maximum number of exchanges that wait for it. Absent: none. */
  readonly queue?: number;
  /** Maximum wait of each, in milliseconds. */
  readonly queueTimeoutMs?: number;
  /** Maximum requests to the deployment in any minute. Absent: no maximum. */
  readonly rpm?: number;
  /** Maximum tokens to the deployment in any minute. Absent: no maximum. */
  readonly tpm?: number;
  /**
   * Whether the request's metadata goes to the provider, without the members that steer the
   * gateway.
   */
  readonly forwardMetadata?: boolean;
  /**
   * Members of the body that steer the upstream's own choice of models and tools and are forwarded
   * (`Capabilities.steering`). Absent: none.
   */
  readonly forward?: readonly string[];
  /** Tags of requests that the target is for (`Model.tagRouting`). Absent: none. */
  readonly tags?: readonly string[];
}
