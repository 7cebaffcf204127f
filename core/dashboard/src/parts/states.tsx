/** What a part of a screen shows while there is nothing, nothing yet, or a failure. */

import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/api-error.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Notice } from "./marks.tsx";

/** Nothing is there. Says what would be, and how to make it. */
export function Empty(props: {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  const { icon = "info", title, children, actions } = props;
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {actions}
    </div>
  );
}

/** A failed read, with the way on. */
export function Failure({
  error,
  onRetry,
}: {
  readonly error: ApiError;
  readonly onRetry?: (() => void) | undefined;
}) {
  if (error.kind === "signed-out") return <Notice tone="warn">The session has ended.</Notice>;
  if (error.kind === "no-route")
    return (
      <Empty icon="info" title="This gateway is older than the dashboard">
        It has no route for this part of the screen. Update the gateway, or use the command line of
        its version.
      </Empty>
    );
  const retry = onRetry && (
    <Button icon="refresh" onClick={onRetry}>
      Try again
    </Button>
  );
  return (
    <Notice tone="bad" actions={retry}>
      {error.message}
      {error.requestId !== undefined && (
        <span class="muted small"> Request {error.requestId}.</span>
      )}
    </Notice>
  );
}

/** Lines in the place of an answer that is on its way. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div class="stack-s" aria-busy="true">
      <span class="unseen">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <span class="skeleton" key={index} style={{ maxWidth: `${18 - (index % 3) * 4}rem` }} />
      ))}
    </div>
  );
}
