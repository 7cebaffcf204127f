/** The search over all screens, keys, teams and requests. Opens with `/`. */

import { useEffect, useId, useState } from "preact/hooks";
import { get } from "../api/client.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { useMay } from "./may.ts";
import { go, href } from "./route.ts";
import { SCREENS } from "./screens.ts";

interface Hit {
  readonly icon: IconName;
  readonly text: string;
  readonly detail: string;
  readonly href: string;
}

const TYPED_MS = 180;
const MAX_OF_KIND = 6;
/** Ids of requests: UUIDs, and those that completions of upstreams have. */
const REQUEST = /^(?:[0-9a-f]{8}-[0-9a-f-]{4,}|chatcmpl-.+|gen-.+|msg_.+|resp_.+)$/i;

/** The dialog. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const hits = useHits(text.trim());
  const id = useId();
  const open = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    onClose();
    go(hit.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter") open(hits[at]);
    else if (event.key === "ArrowDown") setAt((at + 1) % Math.max(1, hits.length));
    else if (event.key === "ArrowUp") setAt((at - 1 + hits.length) % Math.max(1, hits.length));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <div class="dialog-body">
        <input
          class="input"
          role="combobox"
          aria-label="Search screens, keys, teams, users and requests"
          aria-expanded={hits.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={hits.length > 0 ? `${id}-${at}` : undefined}
          placeholder="A screen, the name of a key or a team, the id of a request"
          autocomplete="off"
          spellcheck={false}
          autofocus
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <Hits id={id} hits={hits} at={at} onOpen={open} />
        {text.trim() !== "" && hits.length === 0 && (
          <p class="muted" role="status">
            Nothing begins with these characters.
          </p>
        )}
      </div>
    </Dialog>
  );
}

function Hits(props: {
  readonly id: string;
  readonly hits: readonly Hit[];
  readonly at: number;
  readonly onOpen: (hit: Hit) => void;
}) {
  const { id, hits, at, onOpen } = props;
  return (
    <ul id={id} role="listbox" aria-label="Found" class="hits">
      {hits.map((hit, index) => (
        <li
          key={hit.href}
          id={`${id}-${index}`}
          class="option"
          role="option"
          aria-selected={index === at}
          onClick={() => onOpen(hit)}
        >
          <Icon name={hit.icon} />
          <span>{hit.text}</span>
          <span class="detail">{hit.detail}</span>
        </li>
      ))}
    </ul>
  );
}

function useHits(text: string): readonly Hit[] {
  const may = useMay();
  const [found, setFound] = useState<readonly Hit[]>([]);
  useEffect(() => {
    setFound([]);
    if (text === "") return;
    const ends = new AbortController();
    const timer = setTimeout(() => {
      const kinds = SEARCHED.filter(({ action }) => may(action));
      void Promise.all(
        kinds.map(({ find }) => find(text, ends.signal).catch((): readonly Hit[] => [])),
      ).then((hits) => {
        if (!ends.signal.aborted) setFound(hits.flat());
      });
    }, TYPED_MS);
    return () => {
      clearTimeout(timer);
      ends.abort();
    };
  }, [text]);
  const screens = SCREENS.filter(
    ({ title, actions }) => actions.some(may) && title.toLowerCase().startsWith(text.toLowerCase()),
  ).map(({ icon, title, name }): Hit => ({
    icon,
    text: title,
    detail: "Screen",
    href: href([name]),
  }));
  const isRequest = REQUEST.test(text) && may("request.read");
  const requests = SCREENS.some(({ name }) => name === "requests");
  return [
    ...(isRequest && requests
      ? [{ icon: "requests", text, detail: "Request", href: href(["requests", text]) } as const]
      : []),
    ...screens,
    ...found,
  ];
}

type Named = Readonly<Record<string, string | null>>;

interface Searched {
  readonly action: string;
  readonly find: (text: string, signal: AbortSignal) => Promise<readonly Hit[]>;
}

const SEARCHED: readonly Searched[] = [
  {
    action: "key.read",
    find: async (search, signal) => {
      const { keys } = await get<{ readonly keys: readonly Named[] }>(
        "/key/list",
        { search, limit: MAX_OF_KIND },
        { signal },
      );
      return keys.map((key) => ({
        icon: "key",
        text: key["key_alias"] ?? key["token_id"] ?? "",
        detail: key["key_name"] ?? "Key",
        href: href(["keys", key["token_id"] ?? ""]),
      }));
    },
  },
  tenants("team.read", "team", "teams", "team", "Team"),
  tenants("user.read", "user", "users", "user", "User"),
  tenants("organization.read", "organization", "organizations", "organization", "Organization"),
];

function tenants(
  action: string,
  kind: string,
  list: string,
  icon: IconName,
  detail: string,
): Searched {
  return {
    action,
    find: async (search, signal) => {
      const answer = await get<Readonly<Record<string, readonly Named[]>>>(
        `/${kind}/list`,
        { search, limit: MAX_OF_KIND },
        { signal },
      );
      return (answer[list] ?? []).map((one) => ({
        icon,
        text: one[`${kind}_alias`] ?? one[`${kind}_id`] ?? "",
        detail,
        href: href([list, one[`${kind}_id`] ?? ""]),
      }));
    },
  };
}
