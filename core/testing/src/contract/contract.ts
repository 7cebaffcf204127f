/** The contract of providers, as a suite of tests that runs on any package in one line. */

import { fileURLToPath } from "node:url";
import type { ProviderDefinition } from "@sluice/contract";
import { abilityTable, checkReadme } from "./abilities.ts";
import { ContractFault } from "./fault.ts";
import { loadCases } from "./fixtures.ts";
import { testErrors, testReplies, testRequests, testStreams } from "./golden-tests.ts";
import { testOddReplies, testRequestRules } from "./rule-tests.ts";
import type { ContractOptions, ContractRunner } from "./options.ts";
import { makeProvider, requestOf } from "./subject.ts";

/**
 * Declares the tests of a provider: golden pairs, every cut of every stream, odd requests and
 * replies, schemas, tool choices, usage, and that no key shows. An `expected` that is missing is
 * written once, for reading.
 */
export function providerContract(
  runner: ContractRunner,
  definition: ProviderDefinition<never>,
  options: ContractOptions,
): void {
  const { fixtures, model, config = {} } = options;
  const cases = loadCases(fileURLToPath(fixtures), model);
  if (cases.length === 0)
    throw new ContractFault(`${fileURLToPath(fixtures)} holds no table *.cases.json.`);
  runner.describe(`the contract of providers: ${definition.name}`, () => {
    for (const each of cases) {
      const subject = {
        runner,
        each,
        provider: makeProvider(definition, { ...config, ...each.terms.config }),
        name: definition.name,
        options,
      };
      testRequests(subject);
      testReplies(subject);
      testStreams(subject);
      testErrors(subject);
    }
    const provider = makeProvider(definition, config);
    const request = requestOf(
      { model: "contract/model", messages: [{ role: "user", content: "Hello." }] },
      { provider: definition.name, model, operation: "chat", stream: false },
    );
    if (provider.capabilities.operations.includes("chat"))
      testRequestRules(runner, provider, request, options);
    testOddReplies(runner, provider, request);
    if (options.readme === null) return;
    runner.it("has the table of what it can do in its README", () => {
      checkReadme(
        fileURLToPath(options.readme ?? new URL("../README.md", fixtures)),
        abilityTable(provider, request),
      );
    });
  });
}
