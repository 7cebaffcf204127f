/** A place in the configuration: file and line. It leads to the editor. */

import { useMay } from "../app/may.ts";
import { href } from "../app/route.ts";

/** Shows a path by its last two parts; the title has all of it. */
export function Place({ file, line }: { readonly file: string; readonly line?: number | null }) {
  const mayRead = useMay()("config.read");
  const short = file.split("/").slice(-2).join("/");
  const at = line === undefined || line === null ? "" : `:${line}`;
  const text = (
    <code class="nowrap" title={`${file}${at}`}>
      {short}
      {at}
    </code>
  );
  if (!mayRead) return text;
  return (
    <a class="place" href={href(["editor"], { file, line: at.slice(1) })}>
      {text}
    </a>
  );
}

/** A place that is written `file:line`. */
export function PlaceText({ at }: { readonly at: string }) {
  const [, file = at, line] = /^(.*?):(\d+)$/.exec(at) ?? [];
  return <Place file={file} {...(line !== undefined && { line: Number(line) })} />;
}
