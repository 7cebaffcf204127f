/** The contract of faces, as a suite of tests that runs on any package in one line. */

import { fileURLToPath } from "node:url";
import type { FaceDefinition } from "@sluice/contract";
import { ContractFault } from "../contract/fault.ts";
import { loadFaceCases, makeFace } from "./cases.ts";
import { testCase } from "./golden.ts";
import { testOddDocuments } from "./odd-documents.ts";
import type { FaceContractOptions, FaceRunner } from "./options.ts";
import { testConcurrency, testErrorCodes, testHeartbeat, testTexts } from "./rules.ts";

/**
 * Declares the tests of a face: golden pairs of requests, replies, streams and errors; streams that
 * fold to the whole reply, in every grouping of their chunks; odd documents; streams beside each
 * other; errors of every code. An `expected` that is missing is written once, for reading.
 */
export function faceContract(
  runner: FaceRunner,
  definition: FaceDefinition<never>,
  options: FaceContractOptions,
): void {
  const folder = fileURLToPath(options.fixtures);
  const cases = loadFaceCases(folder, definition, options.request);
  if (cases.length === 0) throw new ContractFault(`${folder} holds no table *.cases.json.`);
  const face = makeFace(definition, options.config);
  runner.describe(`the contract of faces: ${definition.name}`, () => {
    for (const each of cases) testCase({ runner, face, each, options });
    const rules = { runner, face, cases, options };
    testErrorCodes(rules);
    testHeartbeat(rules);
    testConcurrency(rules);
    testTexts(rules);
    testOddDocuments(rules);
  });
}
