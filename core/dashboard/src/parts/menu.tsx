/** A button that opens a list of actions in the top layer. */

import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";

/** The button with its list. The children are `MenuItem`s, or controls. */
export function Menu(props: {
  readonly label: string;
  readonly icon?: IconName;
  readonly isIconOnly?: boolean;
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  const { label, icon = "more", isIconOnly = false, children, class: more } = props;
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const onToggle = (): void => {
    const isNow = list.current?.matches(":popover-open") ?? false;
    setOpen(isNow);
    if (isNow && button.current !== null && list.current !== null)
      place(list.current, button.current);
  };
  return (
    <>
      <Button
        buttonRef={button}
        icon={icon}
        popovertarget={id}
        aria-expanded={isOpen}
        {...(isIconOnly && { label, kind: "quiet" as const })}
        {...(more !== undefined && { class: more })}
      >
        {isIconOnly ? undefined : label}
      </Button>
      <div
        id={id}
        ref={list}
        class="menu"
        popover="auto"
        role="group"
        aria-label={label}
        onToggle={onToggle}
        onClick={(event) => {
          if ((event.target as Element).closest("[data-closes]") !== null)
            list.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}

/** Below the button, inside of the window. */
function place(list: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
  const isBelow = at.bottom + height + 8 <= innerHeight || at.top < height + 8;
  list.style.left = `${left}px`;
  list.style.top = `${isBelow ? at.bottom + 4 : at.top - height - 4}px`;
}

/** One action of a menu. */
export function MenuItem(props: {
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  readonly href?: string;
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}) {
  const { icon, isDangerous = false, href, onClick, children } = props;
  const content = (
    <>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </>
  );
  const classes = `menu-item${isDangerous ? " danger" : ""}`;
  if (href !== undefined)
    return (
      <a class={classes} href={href} data-closes="">
        {content}
      </a>
    );
  return (
    <button type="button" class={classes} data-closes="" onClick={onClick}>
      {content}
    </button>
  );
}
