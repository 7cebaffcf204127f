/** Buttons, and links that look like them. */

import type { ComponentChildren, Ref } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** What a button shows and does. */
export interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly icon?: IconName;
  /** The name of a button that shows its icon alone. */
  readonly label?: string;
  readonly kind?: "primary" | "quiet" | "danger" | "danger primary";
  readonly type?: "button" | "submit";
  readonly isBusy?: boolean;
  readonly disabled?: boolean;
  readonly onClick?: (event: MouseEvent) => void;
  readonly class?: string;
  readonly buttonRef?: Ref<HTMLButtonElement>;
  readonly popovertarget?: string;
  readonly form?: string;
  readonly "aria-expanded"?: boolean;
  readonly "aria-controls"?: string;
  readonly "aria-pressed"?: boolean;
  readonly "aria-haspopup"?: "menu" | "dialog" | "true";
}

/**
 * A button. While it is busy it keeps its place and its focus, and a click does nothing: a form is
 * never sent twice.
 */
export function Button(props: ButtonProps) {
  const { children, icon, label, kind, type = "button", isBusy = false, onClick, ...rest } = props;
  const { class: more, buttonRef, disabled = false, ...others } = rest;
  const classes = ["button", kind, children === undefined && "icon-only", isBusy && "busy", more];
  const shown = isBusy ? "spinner" : icon;
  return (
    <button
      {...others}
      ref={buttonRef ?? null}
      type={type}
      class={classes.filter(Boolean).join(" ")}
      disabled={disabled}
      aria-disabled={isBusy ? "true" : undefined}
      {...(label !== undefined && { "aria-label": label, title: label })}
      onClick={(event) => {
        if (!isBusy) onClick?.(event);
        else event.preventDefault();
      }}
    >
      {shown !== undefined && <Icon name={shown} />}
      {children}
    </button>
  );
}

/** A link to another place of the page that looks like a button. */
export function LinkButton(props: {
  readonly href: string;
  readonly icon?: IconName;
  readonly kind?: string;
  readonly children: ComponentChildren;
}) {
  const { href, icon, kind = "", children } = props;
  return (
    <a class={`button ${kind}`} href={href}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </a>
  );
}
