/** The matrix as a page of the documentation, and the places of its elements as a list. */

import { FEATURES, MATRIX_PROVIDERS, type Feature, type MatrixProvider } from "./providers.ts";
import type { FaceWire } from "./requests.ts";

/** What came of a cell. */
export interface Cell {
  readonly face: FaceWire;
  readonly provider: MatrixProvider;
  readonly feature: Feature;
  readonly verdict: string;
}

/** The page. */
export function pageOf(cells: readonly Cell[]): string {
  const faces = [...new Set(cells.map(({ face }) => face))];
  return `${HEAD}${faces.map((face) => section(face, cells)).join("\n")}`;
}

function section(face: FaceWire, cells: readonly Cell[]): string {
  const verdict = (provider: MatrixProvider, feature: Feature): string =>
    cells.find(
      (each) => each.face === face && each.provider === provider && each.feature === feature,
    )?.verdict ?? "not asked";
  const row = (columns: readonly string[]): string => `| ${columns.join(" | ")} |`;
  return [
    `## ${face}`,
    "",
    row(["", ...MATRIX_PROVIDERS]),
    row(["", ...MATRIX_PROVIDERS].map(() => "---")),
    ...FEATURES.map((feature) =>
      row([feature, ...MATRIX_PROVIDERS.map((provider) => verdict(provider, feature))]),
    ),
    "",
  ].join("\n");
}

const HEAD = `# What each face reaches at each provider

Made by the test \`test/system/faces/matrix.test.ts\`, which asks each cell whole and streamed. Do not edit. In each request every element
has a text of its own: it reaches the upstream, or the request is refused with its place, or \`x-sluice-dropped-params\` names it.

| Cell | Meaning |
| --- | --- |
| yes | every element of the request reaches the upstream, and every element of the reply the client |
| lane | the same: the upstream gets the client's document but for the model |
| without \`x\` | the same without \`x\`, which the reply's header lists |
| refused: \`x\` | 400 with the place in the client's document |
| signed | a thought comes back to its provider with its signature, unchanged |
| text | a thought comes back to its provider, which signs none |
| signature | the signature comes back with the call, which is what the provider asks for; the thought stays with the client |
| kept out | a provider that takes no thoughts gets none back |
| no form | the face has no thoughts |

- The name of a schema (\`text.format.name\` of Responses) is a label: it reaches providers whose API has one.
- *stop reasons*: end of the turn, length, filter, stop sequence, calls. A provider whose API does not name stop sequences says the end of the
  turn. Mistral's API has no filter.
- *usage*: the client's object by its dialect's rules, and the spend row, with tokens of caches and of thoughts where the provider's API has them.

`;
