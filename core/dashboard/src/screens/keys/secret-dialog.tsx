/** Shows a new key. It exists in this dialog alone and is gone when the dialog closes. */

import { useLayoutEffect, useState } from "preact/hooks";
import { stayHere } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Command, CopyButton } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Notice } from "../../parts/marks.tsx";

/** The dialog. Closing and going back ask once. */
export function SecretDialog(props: {
  readonly title: string;
  readonly secret: string;
  readonly name: string;
  readonly warnings: readonly string[];
  readonly onClose: () => void;
}) {
  const { title, secret, name, warnings, onClose } = props;
  const [isAsking, setAsking] = useState(false);
  useLayoutEffect(() => stayHere(() => setAsking(true)), []);
  const close = (): void => (isAsking ? onClose() : setAsking(true));
  return (
    <Dialog title={title} onClose={close}>
      <div class="dialog-body">
        <p>
          This is the key <strong>{name}</strong>. The gateway keeps a digest of it and cannot show
          it again.
        </p>
        <div class="secret">
          <code>{secret}</code>
          <CopyButton text={() => secret} kind="primary">
            Copy
          </CopyButton>
        </div>
        {warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
        <div class="stack-s">
          <h3>Try it</h3>
          <Command label="chat" text={CHAT} />
          <p class="muted small">
            Put the key into the variable <code>GATEWAY_KEY</code>, and the address that clients use
            into <code>GATEWAY_URL</code>.
          </p>
        </div>
        {isAsking && (
          <Notice tone="warn" isLoud>
            Is the key in a safe place? It cannot be shown again.
          </Notice>
        )}
      </div>
      <div class="dialog-foot">
        <Button kind={isAsking ? "primary" : "quiet"} onClick={close}>
          {isAsking ? "It is stored: close" : "Close"}
        </Button>
      </div>
    </Dialog>
  );
}

const CHAT = `curl "$GATEWAY_URL/v1/chat/completions" \\
  -H "Authorization: Bearer $GATEWAY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'`;
