/** Icons of 16 by 16, drawn with lines in the colour of the text. */

const PATHS = {
  overview: "M2.5 13.5v-4M6 13.5V6M9.5 13.5v-6M13 13.5v-11",
  requests: "M2.5 4h8M2.5 8h11M2.5 12h6M12 2.5 13.5 4 12 5.5",
  spend:
    "M8 1.8v12.4M11 4.9C10.6 3.9 9.5 3.3 8 3.3c-1.7 0-3 .9-3 2.3 0 3.2 6 1.6 6 4.8 0 1.4-1.3 2.3-3 2.3-1.6 0-2.7-.7-3.1-1.8",
  key: "M8.5 10.5a3 3 0 1 1-6 0 3 3 0 0 1 6 0M7.6 8.4 13.5 2.5M11 5l2 2",
  team: "M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6M1.8 13.2c0-2.3 1.8-3.7 4.2-3.7s4.2 1.4 4.2 3.7M10.8 3.2a2.2 2.2 0 0 1 0 4.1M12 9.7c1.4.5 2.3 1.7 2.3 3.5",
  user: "M8 7.6a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2M3 13.6c0-2.6 2.2-4 5-4s5 1.4 5 4",
  customer: "M3 13.5V6.8L8 2.5l5 4.3v6.7h-3.5v-4h-3v4z",
  organization: "M3 13.5v-11h6v11M9 6h4v7.5M1.8 13.5h12.4M5 5.2h2M5 8h2M5 10.8h2",
  model: "M8 1.9 13.3 5v6L8 14.1 2.7 11V5zM2.9 5.1 8 8l5.1-2.9M8 8v6",
  pipeline: "M2 4.5h5a2 2 0 0 1 2 2v3a2 2 0 0 0 2 2h3M12 9.5l2 2-2 2M2 11.5h3",
  guardrail: "M8 1.9 13 4v4c0 3-2.1 5.1-5 6.1C5.1 13.1 3 11 3 8V4zM5.8 8l1.6 1.6L10.4 6.5",
  playground: "M2.5 3.5h11v7.5h-6L4.5 13.5V11h-2zM5.3 6.2h5.4M5.3 8.5h3.2",
  history: "M2.7 5.6A5.7 5.7 0 1 1 2.3 8M2.3 2.7v3h3M8 5v3.3l2.2 1.3",
  editor: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5M9 3 7 13",
  system: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01M8 5h3M8 11h3",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.3 10.3 13.8 13.8",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M3 8.5 6.5 12 13 4.5",
  warn: "M8 2.3 14.3 13.3H1.7zM8 6.5v3.2M8 11.6h.01",
  info: "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12M8 7.5v3.5M8 5.2h.01",
  fail: "M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  right: "M6 3.5 10.5 8 6 12.5",
  left: "M10 3.5 5.5 8l4.5 4.5",
  open: "M3.5 6 8 10.5 12.5 6",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  download: "M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 13.3h11",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  refresh:
    "M13.3 6.5A5.5 5.5 0 0 0 3.2 5M2.7 9.5A5.5 5.5 0 0 0 12.8 11M13.5 2.8v3.7H9.8M2.5 13.2V9.5h3.7",
  spinner: "M8 2.2a5.8 5.8 0 1 1-5.8 5.8",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13 9.7A5.5 5.5 0 0 1 6.3 3 5.5 5.5 0 1 0 13 9.7",
  leave: "M6.5 2.5h-4v11h4M6 8h7.5M10.8 5.2 13.5 8l-2.7 2.8",
  lock: "M3.5 7.5h9v6h-9zM5.5 7.5V5.2a2.5 2.5 0 0 1 5 0v2.3",
  edit: "M3 13h2.3L13 5.3 10.7 3 3 10.7zM9 4.7 11.3 7",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.3 4.5l.7 9h6l.7-9",
  play: "M5 3.2v9.6L12.5 8z",
  stop: "M4 4h8v8H4z",
  file: "M4 2h5l3.5 3.5V14H4zM9 2v3.5h3.5",
  shield: "M8 1.9 13 4v4c0 3-2.1 5.1-5 6.1C5.1 13.1 3 11 3 8V4z",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** An icon. Text beside it says what it means. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of the product: a gate, and water behind it. */
export function Gate() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false" class="gate">
      <rect width="32" height="32" rx="7" />
      <path d="M9 7v18M23 7v18M9 12h14" />
      <path class="water" d="M9 19c2.3-2 4.7-2 7 0s4.7 2 7 0" />
    </svg>
  );
}
