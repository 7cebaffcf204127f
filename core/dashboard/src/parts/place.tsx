/** A place in the configuration: file and line. */

/** Shows a path by its last two parts; the title has all of it. */
export function Place({ file, line }: { readonly file: string; readonly line?: number | null }) {
  const short = file.split("/").slice(-2).join("/");
  const at = line === undefined || line === null ? "" : `:${line}`;
  return (
    <code class="nowrap" title={`${file}${at}`}>
      {short}
      {at}
    </code>
  );
}

/** A place that is written `file:line`. */
export function PlaceText({ at }: { readonly at: string }) {
  const [, file = at, line] = /^(.*?):(\d+)$/.exec(at) ?? [];
  return <Place file={file} {...(line !== undefined && { line: Number(line) })} />;
}
