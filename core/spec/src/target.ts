/** Targets: where a model is served. */

/** A provider instance and a model name there. */
export interface Target {
  /** `provider/model`: the name of the deployment in rows, logs and metrics. */
  readonly id: string;
  /** The provider instance's name in `config/gateway.yaml`. */
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
}
