/** Failures of requests to the admin listener. */

/** How a request failed. */
export type FailureKind =
  /** The gateway refused it. */
  | "refused"
  /** The session is over. */
  | "signed-out"
  /** The gateway has no such route: it is older than this dashboard. */
  | "no-route"
  /** No answer in time, or none at all. A change may have happened. */
  | "no-answer";

/** A request that failed. */
export class ApiError extends Error {
  readonly kind: FailureKind;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** The field that the gateway names. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** Members of the answer beside `error`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    kind: FailureKind,
    message: string,
    more: Partial<Pick<ApiError, "status" | "param" | "requestId" | "details">> = {},
  ) {
    super(message);
    this.name = "ApiError";
    this.kind = kind;
    this.status = more.status ?? 0;
    this.param = more.param;
    this.requestId = more.requestId;
    this.details = more.details ?? {};
  }
}

/** Any thrown value as an `ApiError`. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError("no-answer", error instanceof Error ? error.message : String(error));
}

/** Said of a change whose end is unknown. */
export const UNSURE = " The change may have happened: look before you send it again.";

/** The failure that an answer with an error status stands for. */
export async function readFailure(response: Response, isChange: boolean): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as
    | {
        readonly error?: {
          readonly message?: string;
          readonly type?: string;
          readonly param?: string | null;
        };
      }
    | undefined;
  const { error, ...details } = body ?? {};
  const message = error?.message ?? foreignText(response.status, isChange);
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const more = {
    status: response.status,
    ...(typeof error?.param === "string" && { param: error.param }),
    ...(requestId !== undefined && { requestId }),
    details,
  };
  if (response.status === 401) return new ApiError("signed-out", message, more);
  const isRoute = message.startsWith("This path does not exist");
  if (isRoute || response.status === 405) return new ApiError("no-route", message, more);
  return new ApiError("refused", message, more);
}

/** What is said of an answer of something before the gateway, such as a proxy. */
function foreignText(status: number, isChange: boolean): string {
  const what = `The answer has the status ${status}, and is not the gateway's.`;
  return isChange && status >= 500 ? what + UNSURE : what;
}
