/** The page of `/ui/` where there is no dashboard. It runs no script and needs no style. */

/** The page. `isInstalled`: the package is there, and was not built or lacks the path. */
export function missingPage(isInstalled: boolean, path?: string): string {
  const [title, text] =
    path !== undefined
      ? ["There is no such page", 'The dashboard is at <a href="./">the start page</a>.']
      : isInstalled
        ? [
            "The dashboard is not built",
            `In a checkout: <code>node core/dashboard/build.ts</code>, then reload this page.`,
          ]
        : [
            "The dashboard is not installed",
            `<code>npm install @sluice/dashboard</code> beside the gateway, then <code>sluice restart</code>.`,
          ];
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>Sluice: ${title}</title>
  <h1>${title}</h1>
  <p>${text}</p>
  <p>The command line does the same: <code>sluice --help</code></p>
</html>
`;
}
