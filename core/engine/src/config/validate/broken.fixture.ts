/** Broken configurations, and every finding that each must give. */

import { sound, type Files } from "../load.fixture.ts";

/** One broken configuration. */
export interface BrokenCase {
  readonly title: string;
  /** Files that replace or join the sound ones. */
  readonly files: Files;
  readonly environment?: Readonly<Record<string, string>>;
  /** All findings, as `sluice check` prints them. */
  readonly findings: readonly string[];
}

const gatewayText = sound["config/gateway.yaml"] ?? "";
const pipelineText = sound["pipelines/chat.yaml"] ?? "";

/** The gateway file with one text replaced, or with more at its end. */
function gateway(from: string, to: string): Files {
  if (!gatewayText.includes(from)) throw new Error(`the sound file has no ${from}`);
  return { "config/gateway.yaml": gatewayText.replace(from, () => to) };
}

function more(text: string): Files {
  return { "config/gateway.yaml": `${gatewayText}${text}\n` };
}

function pipeline(from: string, to: string): Files {
  if (!pipelineText.includes(from)) throw new Error(`the sound file has no ${from}`);
  return { "pipelines/chat.yaml": pipelineText.replace(from, () => to) };
}

function server(members: string): Files {
  return gateway("server: { port: 4000 }", `server: { ${members} }`);
}

function prices(entry: string): Files {
  return { "config/prices.yaml": `version: 1\nprices:\n  ${entry}\n` };
}

/** The table. */
export const brokenCases: readonly BrokenCase[] = [
  {
    title: "a gateway file that is empty",
    files: { "config/gateway.yaml": "" },
    findings: ["config/gateway.yaml:1:1  the file is empty  begin it with `version: 1`"],
  },
  {
    title: "a gateway file of comments",
    files: { "config/gateway.yaml": "# nothing yet\n" },
    findings: ["config/gateway.yaml:1:1  the file is empty  begin it with `version: 1`"],
  },
  {
    title: "a gateway file that is a list",
    files: { "config/gateway.yaml": "- version: 1\n" },
    findings: [
      "config/gateway.yaml:1:1  the file must be a section with keys, not a list  write `key: value` pairs below it",
    ],
  },
  {
    title: "a tab before a key",
    files: { "config/gateway.yaml": "version: 1\nserver:\n\tport: 4000\n" },
    findings: ["config/gateway.yaml:3:1  the line is indented with a tab  indent with spaces"],
  },
  {
    title: "a quote that is never closed",
    files: gateway("version: 1", 'version: "1'),
    findings: [
      "config/gateway.yaml:1:12  a closing quote, bracket or brace, or a comma is missing  close the quote, bracket or brace before this place, or add the comma",
    ],
  },
  {
    title: "a bracket that is never closed",
    files: { "config/gateway.yaml": "version: 1\nplugins: [one\n" },
    findings: [
      "config/gateway.yaml:3:1  a closing quote, bracket or brace, or a comma is missing  close the quote, bracket or brace before this place, or add the comma",
    ],
  },
  {
    title: "a key written twice",
    files: gateway("version: 1", "version: 1\nversion: 1"),
    findings: [
      "config/gateway.yaml:2:1  `version` is written twice in one place  keep one of the two",
    ],
  },
  {
    title: "a nested key written twice",
    files: server("port: 1, port: 2"),
    findings: [
      "config/gateway.yaml:2:20  `port` is written twice in one place  keep one of the two",
    ],
  },
  {
    title: "a line with two keys",
    files: gateway("version: 1", "version: 1 server: 2"),
    findings: [
      "config/gateway.yaml:1:10  a line holds two keys, or a value holds `: `  put the value in quotes, or begin a new line",
    ],
  },
  {
    title: "an alias without an anchor",
    files: server("host: *here"),
    findings: [
      "config/gateway.yaml:2:17  the alias (*name) names no anchor (&name) above it  write the value out; quote a value that begins with *",
    ],
  },
  {
    title: "too many aliases",
    files: { "config/gateway.yaml": `a: &a [x]\nb: [${"*a, ".repeat(12)}*a]\n` },
    findings: [
      "config/gateway.yaml:1:1  the file uses more than 10 aliases (*name)  write the values out",
    ],
  },
  {
    title: "a section at the beginning of the line, below its own key",
    files: more("guardrails:\npii: { use: pii }\nwords: { use: words }"),
    findings: [
      "config/gateway.yaml:10:1  `guardrails` has no value  give it a value, or remove it",
      "config/gateway.yaml:11:1  `pii` is not a known key  indent it: `guardrails` above it has no value, and may be its section",
      "config/gateway.yaml:12:1  `words` is not a known key  indent it: `guardrails` above it has no value, and may be its section",
    ],
  },
  {
    title: "a required key under another name, and what names it",
    files: more('keys: [{ name: ci, key: "${env:OPENAI_API_KEY}" }]'),
    findings: [
      "config/gateway.yaml:10:10  `keys[0].name` is not a known key  write `alias` in its place (The name of the key in messages and spend rows)",
    ],
  },
  {
    title: "a model without its id: no key that names it is wrong",
    files: {
      "config/gateway.yaml": `${gatewayText.replace("- id: ", "- model_name: ")}keys: [{ alias: ci, key: "\${env:OPENAI_API_KEY}", models: [echo] }]\n`,
    },
    findings: [
      "config/gateway.yaml:8:5  `models[0].model_name` is not a known key  write `id` in its place (The id that clients request. A `*` at its end makes a wildcard: the rest of the id is the upstream's model)",
    ],
  },
  {
    title: "prices of LiteLLM",
    files: gateway("provider: echo,", "provider: echo, input_cost_per_token: 0.000001,"),
    findings: [
      "config/gateway.yaml:9:33  `models[0].targets[0].input_cost_per_token` is not a known key  write `price: { input: …, output: … }` in US dollars per million tokens",
    ],
  },
  {
    title: "a section of LiteLLM's in a file of the gateway",
    files: more("general_settings: { master_key: x }"),
    findings: [
      "config/gateway.yaml:10:1  `general_settings` is not a known key  it is a section of LiteLLM: `sluice import litellm FILE` converts such a file",
    ],
  },
  ...["$SOME_KEY", "os.environ/SOME_KEY", "env:SOME_KEY", "{{ env.SOME_KEY }}", "%SOME_KEY%"].map(
    (written) => ({
      title: `a variable as ${written}`,
      files: gateway("${env:OPENAI_API_KEY}", written),
      findings: [
        "config/gateway.yaml:5:35  `providers.openai.api_key` names the variable SOME_KEY in a form that is not read here  write `${env:SOME_KEY}`",
      ],
    }),
  ),
  ...["${SOME_KEY}", "${{ env.SOME_KEY }"].map((written) => ({
    title: `a variable as ${written}`,
    files: gateway("${env:OPENAI_API_KEY}", written),
    findings: [
      `config/gateway.yaml:5:35  \`providers.openai.api_key\` holds \`${written}\`, which is not a reference  write \`\${env:SOME_KEY}\``,
    ],
  })),
  {
    title: "a reference without quotes in a section on one line",
    files: gateway('"${env:OPENAI_API_KEY}"', "${env:OPENAI_API_KEY}"),
    findings: [
      'config/gateway.yaml:5:36  a reference between brackets or braces is not in quotes  write "${env:NAME}": the brace that ends it would end the section',
    ],
  },
  {
    title: "a number where a form of text belongs",
    files: more('keys: [{ alias: ci, key: "${env:OPENAI_API_KEY}", budget_duration: 30 }]'),
    findings: [
      "config/gateway.yaml:10:68  `keys[0].budget_duration` must be text, not the number 30  write what belongs there: Period after which the budget restarts: `1d` at midnight, `7d` on Monday, `1mo` on the 1st. Absent: never",
    ],
  },
  {
    title: "a host that is an address",
    files: server("host: http://127.0.0.1"),
    findings: [
      'config/gateway.yaml:2:17  `server.host` is "http://127.0.0.1", which has the wrong form  write what belongs there: Address of the public listener. 0.0.0.0 listens on every network',
    ],
  },
  {
    title: "a step whose name is a key",
    files: pipeline("[auth, provider]", "[auth, retry: { attempts: 2 }, provider]"),
    findings: [
      "pipelines/chat.yaml:5:15  `steps[1].retry` is a step's name, and stands as a key  write `- { use: retry, with: { … } }`",
    ],
  },
  {
    title: "an operation that is none, with faces",
    files: {
      "pipelines/chat.yaml": pipelineText
        .replace("operation: chat", "operation: chats")
        .replace(
          "[POST /v1/chat/completions]",
          "[{ route: POST /a, face: m }, { route: POST /b, face: m }]",
        ),
    },
    findings: [
      'pipelines/chat.yaml:4:12  `operation` is "chats"; it can be chat, embeddings, images, passthrough, models, spend, tokens, responses, embedding or image  did you mean `chat`?',
    ],
  },
  {
    title: "an operation without faces",
    files: {
      "pipelines/chat.yaml": pipelineText
        .replace("operation: chat", "operation: spend")
        .replace(
          "[POST /v1/chat/completions]",
          "[{ route: POST /a, face: m }, { route: POST /b, face: m }]",
        ),
    },
    findings: [
      "pipelines/chat.yaml:3:28  `routes[0].face` stands in a pipeline of the operation spend, whose requests have no face  remove it, or move the route to a pipeline of the operation chat, models, tokens or responses",
    ],
  },
  {
    title: "two documents in a file",
    files: more("---\nversion: 1"),
    findings: [
      "config/gateway.yaml:10:1  the file holds more than one document  remove the `---` line",
    ],
  },
  {
    title: "an unknown tag",
    files: server("host: !secret x"),
    findings: ["config/gateway.yaml:2:17  the file uses an unknown tag (!name)  remove the tag"],
  },
  {
    title: "a version that is not 1",
    files: gateway("version: 1", "version: 2"),
    findings: ["config/gateway.yaml:1:10  `version` must be 1, not 2  write 1"],
  },
  {
    title: "no models",
    files: { "config/gateway.yaml": "version: 1\nserver: {}\n" },
    findings: [
      "config/gateway.yaml:1:1  the file lacks `models`  add `models:` (The models that clients may request. The first match wins)",
    ],
  },
  {
    title: "a section without a value",
    files: gateway("server: { port: 4000 }", "server:"),
    findings: ["config/gateway.yaml:2:1  `server` has no value  give it a value, or remove it"],
  },
  {
    title: "an unknown section",
    files: more("modells: []"),
    findings: ["config/gateway.yaml:10:1  `modells` is not a known key  did you mean `models`?"],
  },
  {
    title: "an end mark that something follows",
    files: more("end_of_config: true\nkeys: []"),
    findings: [
      "config/gateway.yaml:10:1  `end_of_config` is not the last key: `keys` follows it  move it to the end of the file",
    ],
  },
  {
    title: "an end mark that is cut off",
    files: more("end_of_config: tr"),
    findings: ['config/gateway.yaml:10:16  `end_of_config` must be true, not "tr"  write true'],
  },
  {
    title: "a section of a later version",
    files: more("dashboards: {}"),
    findings: [
      "config/gateway.yaml:10:1  `dashboards` is not a known key  remove it; the keys here are version, server, store, shared, ledger, config, plugins, providers, guardrails, extensions, models, keys, teams, organizations, users, budgets, access_groups, customers, prices, pipelines, policies, end_of_config",
    ],
  },
  {
    title: "an unknown key, nearly known",
    files: server("prot: 4000"),
    findings: ["config/gateway.yaml:2:11  `server.prot` is not a known key  did you mean `port`?"],
  },
  {
    title: "an unknown key, like nothing",
    files: server("colour: blue"),
    findings: [
      "config/gateway.yaml:2:11  `server.colour` is not a known key  remove it; the keys here are name, host, port, admin, tls, workers, auth_headers, error_code, key_defaults, open_docs, drain_timeout, shutdown_delay, hung_worker_timeout, reload, auto_rollback, stalled_client_timeout, max_body, max_held, block_warning, explain_requests, cors, data_directory, time_zone",
    ],
  },
  {
    title: "text for a port",
    files: server("port: http"),
    findings: [
      "config/gateway.yaml:2:17  `server.port` must be a whole number, not text  write a whole number, such as 4000",
    ],
  },
  {
    title: "a quoted port",
    files: server('port: "4000"'),
    findings: [
      "config/gateway.yaml:2:17  `server.port` must be a whole number, not text  write it without quotes",
    ],
  },
  {
    title: "a port out of range",
    files: server("port: 70000"),
    findings: [
      "config/gateway.yaml:2:17  `server.port` must be at most 65535, not 70000  write a smaller number",
    ],
  },
  {
    title: "a negative port",
    files: server("port: -1"),
    findings: [
      "config/gateway.yaml:2:17  `server.port` must be at least 0, not -1  write a larger number",
    ],
  },
  {
    title: "a port with a fraction",
    files: server("port: 40.5"),
    findings: [
      "config/gateway.yaml:2:17  `server.port` must be a whole number, not the number 40.5  write a whole number, such as 4000",
    ],
  },
  {
    title: "an editor that is neither on nor off",
    files: server("admin: { editor: on }"),
    findings: [
      'config/gateway.yaml:2:28  `server.admin.editor` is "on"; it can be off, propose or write  write off, propose or write',
    ],
  },
  {
    title: "one port for both listeners",
    files: server("port: 4001"),
    findings: [
      "config/gateway.yaml:2:1  `server.admin.port` is 4001, the port for clients  choose another port for one of the two",
    ],
  },
  {
    title: "a list for a section",
    files: gateway("server: { port: 4000 }", "server: [4000]"),
    findings: [
      "config/gateway.yaml:2:9  `server` must be a section with keys, not a list  write `key: value` pairs below it",
    ],
  },
  {
    title: "text for a list",
    files: server("auth_headers: x-key"),
    findings: [
      "config/gateway.yaml:2:25  `server.auth_headers` must be a list, not text  write a list: [one, two], or a line `- one` for each",
    ],
  },
  {
    title: "a header that cannot be one",
    files: server('auth_headers: ["x key"]'),
    findings: [
      'config/gateway.yaml:2:26  `server.auth_headers[0]` is "x key", which has the wrong form  write what belongs there: The name of a header, such as x-service-api-key',
    ],
  },
  {
    title: "a header twice",
    files: server("auth_headers: [x-key, x-key]"),
    findings: [
      "config/gateway.yaml:2:25  `server.auth_headers` lists an entry twice (entries 1 and 2)  keep one of the two",
    ],
  },
  {
    title: "a number for a duration",
    files: server("drain_timeout: 120"),
    findings: [
      "config/gateway.yaml:2:26  `server.drain_timeout` must be text, not the number 120  write a number and a unit: 250ms, 30s, 10m, 1h, 7d",
    ],
  },
  {
    title: "a duration in words",
    files: server("drain_timeout: two minutes"),
    findings: [
      'config/gateway.yaml:2:26  `server.drain_timeout` is "two minutes", which is not a duration  write a number and a unit: 250ms, 30s, 10m, 1h, 7d',
    ],
  },
  {
    title: "a size without a unit",
    files: server('max_body: "20"'),
    findings: [
      'config/gateway.yaml:2:21  `server.max_body` is "20", which is not a size  write a number and a unit: 512b, 64kb, 20mb, 1gb',
    ],
  },
  {
    title: "an empty folder name",
    files: server('data_directory: ""'),
    findings: [
      "config/gateway.yaml:2:27  `server.data_directory` is empty  write what belongs there: Folder for the store, the outbox and the installation's own secrets, relative to the working directory",
    ],
  },
  {
    title: "two mistakes in two files",
    files: { ...server("port: http"), ...pipeline("operation: chat", "operation: talk") },
    findings: [
      "config/gateway.yaml:2:17  `server.port` must be a whole number, not text  write a whole number, such as 4000",
      'pipelines/chat.yaml:4:12  `operation` is "talk"; it can be chat, embeddings, images, passthrough, models, spend, tokens, responses, embedding or image  write chat, embeddings, images, passthrough, models, spend, tokens, responses, embedding or image',
    ],
  },
  {
    title: "a variable that is no port",
    files: server("port: 4000"),
    environment: { SLUICE_PORT: "http" },
    findings: [
      "config/gateway.yaml:2:1  the variable SLUICE_PORT is not a port  set SLUICE_PORT to a number from 0 to 65535, or unset it",
    ],
  },
  {
    title: "no plugins in the list",
    files: gateway('["@sluice/standard@^1.0.0"]', "[]"),
    findings: ["config/gateway.yaml:3:10  `plugins` needs at least 1 entry  add one"],
  },
  {
    title: "a plugin twice",
    files: gateway('["@sluice/standard@^1.0.0"]', "[one, one]"),
    findings: [
      "config/gateway.yaml:3:10  `plugins` lists an entry twice (entries 1 and 2)  keep one of the two",
    ],
  },
  {
    title: "a provider without use",
    files: gateway("{ use: echo }", "{ timeouts: {} }"),
    findings: [
      "config/gateway.yaml:6:3  `providers.echo` lacks `use`  add `use:` (The plugin's name)",
    ],
  },
  {
    title: "a provider whose plugin is nearly known",
    files: gateway("{ use: echo }", "{ use: ecko }"),
    findings: [
      'config/gateway.yaml:6:16  `providers.echo.use` names the provider plugin "ecko", which no loaded package has  did you mean `echo`?',
    ],
  },
  {
    title: "a provider whose plugin is not listed",
    files: gateway("{ use: echo }", "{ use: anthropic }"),
    findings: [
      'config/gateway.yaml:6:16  `providers.echo.use` names the provider plugin "anthropic", which no loaded package has  write echo or openai, or install its package, and add it to `plugins` where the file has that list',
    ],
  },
  {
    title: "a provider that is text",
    files: gateway("{ use: echo }", "echo"),
    findings: [
      "config/gateway.yaml:6:9  `providers.echo` must be a section with keys, not text  write `key: value` pairs below it",
    ],
  },
  {
    title: "an unknown option of a provider",
    files: gateway("{ use: echo }", "{ use: echo, base_urll: x }"),
    findings: [
      "config/gateway.yaml:6:22  `providers.echo.base_urll` is not a known key  remove it; the keys here are use, timeouts, connections, endpoints, account_objects, show_rate_limits, call_headers, pass_headers, fetch_media",
    ],
  },
  {
    title: "an origin that is none",
    files: gateway(
      "{ use: echo }",
      '{ use: echo, fetch_media: { allow_origins: ["http://a:99999", "http://a:80/b"] } }',
    ),
    findings: [
      'config/gateway.yaml:6:53  `providers.echo.fetch_media.allow_origins[0]` is "http://a:99999", which is not an origin  write a scheme, a host and a port that is not the usual one: http://10.0.0.5:9000',
      'config/gateway.yaml:6:71  `providers.echo.fetch_media.allow_origins[1]` is "http://a:80/b", which is not an origin  write a scheme, a host and a port that is not the usual one: http://10.0.0.5:9000',
    ],
  },
  {
    title: "a missing option of a provider",
    files: gateway('{ use: openai, api_key: "${env:OPENAI_API_KEY}" }', "{ use: openai }"),
    findings: [
      "config/gateway.yaml:5:3  `providers.openai` lacks `api_key`  add `api_key:` (The key)",
    ],
  },
  {
    title: "an option that is no URL",
    files: gateway("use: openai,", "use: openai, base_url: nowhere,"),
    findings: [
      'config/gateway.yaml:5:36  `providers.openai.base_url` is "nowhere", which is not a URL  write one such as https://api.example.com/v1',
    ],
  },
  {
    title: "a timeout that is no duration",
    files: gateway("{ use: echo }", "{ use: echo, timeouts: { idle: 60 } }"),
    findings: [
      "config/gateway.yaml:6:40  `providers.echo.timeouts.idle` must be text, not the number 60  write a number and a unit: 250ms, 30s, 10m, 1h, 7d",
    ],
  },
  {
    title: "an unknown timeout",
    files: gateway("{ use: echo }", "{ use: echo, timeouts: { first_bite: 60s } }"),
    findings: [
      "config/gateway.yaml:6:34  `providers.echo.timeouts.first_bite` is not a known key  did you mean `first_byte`?",
    ],
  },
  {
    title: "no connections",
    files: gateway("{ use: echo }", "{ use: echo, connections: 0 }"),
    findings: [
      "config/gateway.yaml:6:35  `providers.echo.connections` must be at least 1, not 0  write a larger number",
    ],
  },
  {
    title: "a reserved provider name",
    files: gateway("  echo: {", "  spend: { use: echo }\n  echo: {"),
    findings: [
      "config/gateway.yaml:6:3  `providers.spend` has a name that the gateway's own paths use  choose another name",
    ],
  },
  {
    title: "a provider name with a capital",
    files: gateway("  echo: {", "  Echo2: { use: echo }\n  echo: {"),
    findings: [
      "config/gateway.yaml:6:3  `providers.Echo2` is not a valid name for a provider  write lower-case letters, digits and hyphens, a letter first",
    ],
  },
  {
    title: "a credential written out",
    files: gateway("${env:OPENAI_API_KEY}", "my-own-key"),
    findings: [
      "config/gateway.yaml:5:35  `providers.openai.api_key` holds a literal that looks like a credential  write `${env:NAME}` and put the value in the environment",
    ],
  },
  {
    title: "a credential that looks like one",
    files: gateway("${env:OPENAI_API_KEY}", "sk-abcdefghijklmnopqrstuvwxyz"),
    findings: [
      "config/gateway.yaml:5:35  `providers.openai.api_key` holds a literal that looks like a credential  write `${env:NAME}` and put the value in the environment",
    ],
  },
  {
    title: "a credential in another key",
    files: server("host: sk-abcdefghijklmnopqrstuvwxyz"),
    findings: [
      "config/gateway.yaml:2:17  `server.host` holds a literal that looks like a credential  write `${env:NAME}` and put the value in the environment",
    ],
  },
  {
    title: "an AWS key id in a pipeline",
    files: pipeline("pipeline: chat", "pipeline: AKIAABCDEFGHIJKLMNOP"),
    findings: [
      "pipelines/chat.yaml:2:11  `pipeline` holds a literal that looks like a credential  write `${env:NAME}` and put the value in the environment",
      'pipelines/chat.yaml:2:11  `pipeline` is "[hidden]", which has the wrong form  write what belongs there: The pipeline\'s name',
    ],
  },
  {
    title: "a private key",
    files: more("x: |\n  -----BEGIN RSA PRIVATE KEY-----\n  abc"),
    findings: [
      "config/gateway.yaml:10:1  `x` is not a known key  remove it; the keys here are version, server, store, shared, ledger, config, plugins, providers, guardrails, extensions, models, keys, teams, organizations, users, budgets, access_groups, customers, prices, pipelines, policies, end_of_config",
      "config/gateway.yaml:10:4  `x` holds a literal that looks like a credential  write `${env:NAME}` and put the value in the environment",
    ],
  },
  {
    title: "a default for a credential",
    files: gateway("${env:OPENAI_API_KEY}", "${env:OPENAI_API_KEY:-none}"),
    findings: [
      "config/gateway.yaml:5:35  `providers.openai.api_key` has a default, which is a literal credential  write `${env:OPENAI_API_KEY}` alone",
    ],
  },
  {
    title: "a credential mixed with text",
    files: gateway("${env:OPENAI_API_KEY}", "Bearer ${env:OPENAI_API_KEY}"),
    findings: [
      "config/gateway.yaml:5:35  `providers.openai.api_key` mixes a credential with other text  write `${env:OPENAI_API_KEY}` alone",
    ],
  },
  {
    title: "an unset variable outside providers",
    files: server('host: "${env:SLUICE_TEST_HOST}"'),
    findings: [
      "config/gateway.yaml:2:17  `server.host` needs ${env:SLUICE_TEST_HOST}, which is not set  set SLUICE_TEST_HOST in the environment",
    ],
  },
  {
    title: "a file that is not there",
    files: server('host: "${file:./host.txt}"'),
    findings: [
      "config/gateway.yaml:2:17  `server.host` needs ${file:./host.txt}, which cannot be read: there is no such file  put the value into ROOT/config/host.txt",
    ],
  },
  {
    title: "a reference of an unknown kind",
    files: server('host: "${vault:host}"'),
    findings: [
      "config/gateway.yaml:2:17  `server.host` holds `${vault:host}`, which is not a reference  write `${env:NAME}`, `${env:NAME:-default}` or `${file:path}`",
    ],
  },
  {
    title: "a reference that is never closed",
    files: server('host: "${env:HOST"'),
    findings: [
      "config/gateway.yaml:2:17  `server.host` holds `${env:HOST`, which is not a reference  write `${env:HOST}`",
    ],
  },
  {
    title: "a reference that gives the wrong type",
    files: server('port: "${env:PORT}"'),
    environment: { PORT: "http" },
    findings: [
      "config/gateway.yaml:2:17  `server.port` must be a whole number, not the text of ${env:PORT}  write a whole number, such as 4000",
    ],
  },
  {
    title: "a reference with a wrong value is not shown",
    files: server('max_body: "${env:LIMIT}"'),
    environment: { LIMIT: "private" },
    findings: [
      "config/gateway.yaml:2:21  `server.max_body` is ${env:LIMIT}, which is not a size  write a number and a unit: 512b, 64kb, 20mb, 1gb",
    ],
  },
  {
    title: "an unknown store",
    files: more("store: { use: sqlight }"),
    findings: [
      'config/gateway.yaml:10:15  `store.use` names the store plugin "sqlight", which no loaded package has  write sqlite, or install its package, and add it to `plugins` where the file has that list',
    ],
  },
  {
    title: "unknown shared state",
    files: more("shared: { use: memry, instances: 2 }"),
    findings: [
      'config/gateway.yaml:10:16  `shared.use` names the state plugin "memry", which no loaded package has  did you mean `memory`?',
    ],
  },
  {
    title: "shared state among no gateway",
    files: more("shared: { use: memory, instances: 0 }"),
    findings: [
      "config/gateway.yaml:10:35  `shared.instances` must be at least 1, not 0  write a larger number",
    ],
  },
  {
    title: "an unknown option of the store",
    files: more("store: { use: sqlite, url: x }"),
    findings: [
      "config/gateway.yaml:10:23  `store.url` is not a known key  remove it; the keys here are use, on_store_down, max_staleness, path",
    ],
  },
  {
    title: "a model without targets",
    files: more("  - id: gpt-4o"),
    findings: [
      "config/gateway.yaml:10:5  `models[1]` lacks `targets`  add `targets:` (The upstreams of the model, in order of preference)",
    ],
  },
  {
    title: "a model with an empty list of targets",
    files: more("  - { id: gpt-4o, targets: [] }"),
    findings: ["config/gateway.yaml:10:28  `models[1].targets` needs at least 1 entry  add one"],
  },
  {
    title: "a target without a model",
    files: more("  - { id: gpt-4o, targets: [{ provider: echo }] }"),
    findings: [
      "config/gateway.yaml:10:29  `models[1].targets[0]` lacks `model`  add `model:` (The model's name at the provider. `*` takes the text that the wildcard matched)",
    ],
  },
  {
    title: "a model twice",
    files: more("  - { id: echo, targets: [{ provider: echo, model: echo }] }"),
    findings: [
      'config/gateway.yaml:10:11  `models[1].id` is "echo", which `models[0]` is already  rename or remove one of the two',
    ],
  },
  {
    title: "an unknown mode",
    files: more("  - { id: x, mode: chatt, targets: [{ provider: echo, model: echo }] }"),
    findings: [
      'config/gateway.yaml:10:20  `models[1].mode` is "chatt"; it can be chat, embeddings, images, embedding or image  did you mean `chat`?',
    ],
  },
  {
    title: "a target of an unknown provider",
    files: more("  - { id: x, targets: [{ provider: opnai, model: echo }] }"),
    findings: [
      'config/gateway.yaml:10:36  `models[1].targets[0].provider` names "opnai", which is not under `providers`  did you mean `openai`?',
    ],
  },
  {
    title: "a star in the middle",
    files: more('  - { id: "a*b", targets: [{ provider: echo, model: echo }] }'),
    findings: [
      "config/gateway.yaml:10:11  `models[1].id` has a `*` before its end  keep one `*`, at the end",
    ],
  },
  {
    title: "a star without a wildcard",
    files: more('  - { id: x, targets: [{ provider: echo, model: "*" }] }'),
    findings: [
      "config/gateway.yaml:10:49  `models[1].targets[0].model` has a `*`, but the model's id has none  name one model, or end the id with `*`",
    ],
  },
  {
    title: "a model id that is a number",
    files: more("  - { id: 4, targets: [{ provider: echo, model: echo }] }"),
    findings: [
      "config/gateway.yaml:10:11  `models[1].id` must be text, not the number 4  put it in quotes",
    ],
  },
  {
    title: "a key written out",
    files: more("keys: [{ alias: ci, key: hello }]"),
    findings: [
      "config/gateway.yaml:10:26  `keys[0].key` holds a literal that looks like a credential  write `${env:NAME}` and put the value in the environment",
    ],
  },
  {
    title: "a key without an alias",
    files: more('keys: [{ key: "${env:K}" }]'),
    environment: { K: "v" },
    findings: [
      "config/gateway.yaml:10:8  `keys[0]` lacks `alias`  add `alias:` (The name of the key in messages and spend rows)",
    ],
  },
  {
    title: "a key whose variable is not set",
    files: more('keys: [{ alias: ci, key: "${env:CI_KEY}" }]'),
    findings: [
      "config/gateway.yaml:10:26  `keys[0].key` needs ${env:CI_KEY}, which is not set  set CI_KEY in the environment",
    ],
  },
  {
    title: "a stand-in of another mode",
    files: more(
      [
        "  - { id: vectors, mode: embedding, targets: [{ provider: openai, model: text-embedding-3-small }] }",
        '  - { id: "pictures/*", mode: image, targets: [{ provider: openai, model: "*" }] }',
        "  - { id: talk, targets: [{ provider: openai, model: gpt-4o }], fallbacks: { general: [vectors], timeout: [pictures/one] } }",
      ].join("\n"),
    ),
    findings: [
      'config/gateway.yaml:12:88  `models[3].fallbacks.general[0]` names "vectors", which is for the mode embedding, not chat: it cannot answer these requests  name a model of the mode chat, or remove it',
      'config/gateway.yaml:12:108  `models[3].fallbacks.timeout[0]` names "pictures/one", which is for the mode image, not chat: it cannot answer these requests  name a model of the mode chat, or remove it',
    ],
  },
  {
    title: "a soft budget above the budget",
    files: more('keys: [{ alias: ci, key: "${env:K}", max_budget: 5, soft_budget: 6 }]'),
    environment: { K: "v" },
    findings: [
      "config/gateway.yaml:10:66  `keys[0].soft_budget` exceeds `max_budget`: the warning would never appear  write less than `max_budget`",
    ],
  },
  {
    title: "an alias twice",
    files: more('keys:\n  - { alias: ci, key: "${env:K}" }\n  - { alias: ci, key: "${env:K}" }'),
    environment: { K: "v" },
    findings: [
      'config/gateway.yaml:12:14  `keys[1].alias` is "ci", which `keys[0]` is already  rename or remove one of the two',
    ],
  },
  {
    title: "a key for an unknown model",
    files: more('keys: [{ alias: ci, key: "${env:K}", models: [ehco] }]'),
    environment: { K: "v" },
    findings: [
      'config/gateway.yaml:10:47  `keys[0].models[0]` names "ehco", which is neither a model nor an access group  did you mean `echo`?',
    ],
  },
  {
    title: "a team for an unknown model, with two words for one limit",
    files: more("teams: [{ team_id: a, models: [ehco], rpm: 1, rpm_limit: 2 }]"),
    findings: [
      'config/gateway.yaml:10:32  `teams[0].models[0]` names "ehco", which is neither a model nor an access group  did you mean `echo`?',
      "config/gateway.yaml:10:47  `teams[0].rpm_limit` is an alias of `rpm`, which is also there  keep `rpm`",
    ],
  },
  {
    title: "teams of one name, and of names that look alike",
    files: more('teams: [{ team_id: a }, { team_id: a }, { team_id: " A" }]'),
    findings: [
      'config/gateway.yaml:10:36  `teams[1].team_id` is "a", which `teams[0]` is already  rename or remove one of the two',
      'config/gateway.yaml:10:52  `teams[2].team_id` is " A", which differs from `teams[0]` in case, width or blanks alone  rename one of the two',
    ],
  },
  {
    title: "a key of a team whose declared name it misspells",
    files: more(
      'teams: [{ team_id: a }]\nkeys: [{ alias: k, key: "${env:OPENAI_API_KEY}", team_id: "A " }]',
    ),
    findings: [
      'config/gateway.yaml:11:59  `keys[0].team_id` is "A ", which differs from the team "a" in case, width or blanks alone  write "a"',
    ],
  },
  {
    title: "a team without an id",
    files: more("teams: [{ team_alias: a }]"),
    findings: [
      "config/gateway.yaml:10:9  `teams[0]` lacks `team_id`  add `team_id:` (The id that keys name in `team_id`, and that spend rows show)",
    ],
  },
  {
    title: "a metadata member without a value",
    files: more('keys: [{ alias: ci, key: "${env:K}", metadata: { a: ~ } }]'),
    environment: { K: "v" },
    findings: [
      "config/gateway.yaml:10:50  `keys[0].metadata.a` has no value  give it a value, or remove it",
    ],
  },
  {
    title: "a prices file that is not there",
    files: more("prices: costs.yaml"),
    findings: [
      "config/gateway.yaml:10:9  there is no file config/costs.yaml  create it, or remove `prices`",
    ],
  },
  {
    title: "a folder of pipelines that is not there",
    files: more("pipelines: ../nowhere"),
    findings: [
      "config/gateway.yaml:10:12  the pipelines folder `nowhere` cannot be read: there is no such file  add a pipeline file there, or name another folder with `pipelines:`",
    ],
  },
  {
    title: "a price with too many decimals",
    files: prices("openai/x: { input: 0.1234567, output: 1 }"),
    findings: [
      "config/prices.yaml:3:22  `prices.openai/x.input` is 0.1234567, which is not an exact price  write US dollars per million tokens with six decimals at most",
    ],
  },
  {
    title: "a negative price",
    files: prices("openai/x: { input: -1, output: 1 }"),
    findings: [
      "config/prices.yaml:3:22  `prices.openai/x.input` must be at least 0, not -1  write a larger number",
    ],
  },
  {
    title: "a price without its other half",
    files: prices("openai/x: { input: 1 }"),
    findings: [
      "config/prices.yaml:3:3  `prices.openai/x` lacks `output`  add `output:` in US dollars per million tokens, or write `free: true`",
    ],
  },
  {
    title: "a free model with a price",
    files: prices("openai/x: { free: true, input: 1, output: 1 }"),
    findings: [
      "config/prices.yaml:3:3  `prices.openai/x` is free and has prices  keep `free: true` or the prices",
    ],
  },
  {
    title: "a price for a model without its provider",
    files: prices("gpt-4o: { input: 1, output: 1 }"),
    findings: [
      "config/prices.yaml:3:3  `prices.gpt-4o` names no provider plugin and model  write the plugin's name, a slash and the model: `openai/gpt-4o`",
    ],
  },
  {
    title: "two tiers at one length",
    files: prices(
      "openai/x: { input: 1, output: 1, tiers: [{ above: 5, input: 2 }, { above: 5, input: 3 }] }",
    ),
    findings: [
      "config/prices.yaml:3:3  `prices.openai/x` has two tiers that begin at one length  keep one of the two",
    ],
  },
  {
    title: "an unknown price",
    files: prices("openai/x: { input: 1, output: 1, cached: 1 }"),
    findings: [
      "config/prices.yaml:3:36  `prices.openai/x.cached` is not a known key  remove it; the keys here are free, input, output, cache_read, cache_write, cache_write_1h, reasoning, input_audio, output_audio, cache_read_audio, input_image, output_image, cache_read_image, request, tools, images, tiers, service_tiers",
    ],
  },
  {
    title: "a pipeline file that is empty",
    files: { "pipelines/empty.yaml": "" },
    findings: ["pipelines/empty.yaml:1:1  the file is empty  begin it with `version: 1`"],
  },
  {
    title: "a pipeline without steps",
    files: pipeline("steps: [auth, provider]\n", ""),
    findings: [
      "pipelines/chat.yaml:1:1  the file lacks `steps`  add `steps:` (The steps, outermost first. A bare name means no options)",
    ],
  },
  {
    title: "an empty list of steps",
    files: pipeline("[auth, provider]", "[]"),
    findings: ["pipelines/chat.yaml:5:8  `steps` needs at least 1 entry  add one"],
  },
  {
    title: "an unknown key of a pipeline",
    files: pipeline("operation: chat", "operation: chat\ndeadlin: 5s"),
    findings: ["pipelines/chat.yaml:5:1  `deadlin` is not a known key  did you mean `deadline`?"],
  },
  {
    title: "an unknown operation",
    files: pipeline("operation: chat", "operation: embedings"),
    findings: [
      'pipelines/chat.yaml:4:12  `operation` is "embedings"; it can be chat, embeddings, images, passthrough, models, spend, tokens, responses, embedding or image  did you mean `embeddings`?',
    ],
  },
  {
    title: "a route without a method",
    files: pipeline("POST /v1/chat/completions", "/v1/chat/completions"),
    findings: [
      'pipelines/chat.yaml:3:10  `routes[0]` is "/v1/chat/completions", which has the wrong form  write what belongs there: METHOD /path, such as POST /v1/chat/completions. `{id}` matches one segment',
    ],
  },
  {
    title: "a route with two rest parameters",
    files: pipeline("[POST /v1/chat/completions]", '["GET /a/{rest...}/{more...}"]'),
    findings: [
      'pipelines/chat.yaml:3:10  `routes[0]` is "GET /a/{rest...}/{more...}", which has the wrong form  write what belongs there: METHOD /path, such as POST /v1/chat/completions. `{id}` matches one segment',
    ],
  },
  {
    title: "a step that no package has",
    files: pipeline("[auth, provider]", "[auht, provider]"),
    findings: [
      'pipelines/chat.yaml:5:9  `steps[0]` names the step plugin "auht", which no loaded package has  did you mean `auth`?',
    ],
  },
  {
    title: "a step that is a number",
    files: pipeline("[auth, provider]", "[auth, 5]"),
    findings: [
      "pipelines/chat.yaml:5:15  `steps[1]` is neither a step's name nor a section with `use`  write `- name`, or `- { use: name, with: { … } }`",
    ],
  },
  {
    title: "a step without use",
    files: pipeline("[auth, provider]", "[auth, { with: {} }]"),
    findings: ["pipelines/chat.yaml:5:15  `steps[1]` lacks `use`  add `use:` (The step's name)"],
  },
  {
    title: "a step with options beside with",
    files: pipeline("[auth, provider]", "[{ use: retry, attempts: 2 }, provider]"),
    findings: [
      "pipelines/chat.yaml:5:23  `steps[0].attempts` is not a known key  move it: `with: { attempts: … }`",
    ],
  },
  {
    title: "a step whose use is misspelt",
    files: pipeline(
      "[auth, provider]",
      "[{ use: retry, with: { attempts: 2 }, mode: shadowed, timeout: 2 }, provider]",
    ),
    findings: [
      'pipelines/chat.yaml:5:52  `steps[0].mode` is "shadowed"; it can be enforce or shadow  did you mean `shadow`?',
      "pipelines/chat.yaml:5:71  `steps[0].timeout` must be text, not the number 2  write a number and a unit: 250ms, 30s, 10m, 1h, 7d",
    ],
  },
  {
    title: "a schedule that can never be",
    files: pipeline(
      "[auth, provider]",
      "[{ use: retry, with: { attempts: 2 }, active: { from: 2026-02-30, until: soon, cron: 61 * * * *, tz: Mars/Base } }, provider]",
    ),
    findings: [
      'pipelines/chat.yaml:5:62  `steps[0].active.from` is "2026-02-30", which is no time  write 2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00Z',
      'pipelines/chat.yaml:5:81  `steps[0].active.until` is "soon", which is no time  write 2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00Z',
      'pipelines/chat.yaml:5:93  `steps[0].active.cron` is no cron expression: its minute is "61", outside 0 to 59  write minute, hour, day, month and weekday: `* 22-23,0-5 * * *`',
      'pipelines/chat.yaml:5:109  `steps[0].active.tz` is "Mars/Base", which is not a time zone  write an IANA name, such as Europe/Berlin',
    ],
  },
  {
    title: "a bare step that needs options",
    files: pipeline("[auth, provider]", "[retry, provider]"),
    findings: [
      "pipelines/chat.yaml:5:9  `steps[0]` lacks `attempts`  add `attempts:` (Attempts in all)",
    ],
  },
  {
    title: "an option of a step out of range",
    files: pipeline("[auth, provider]", "[{ use: retry, with: { attempts: 9 } }]"),
    findings: [
      "pipelines/chat.yaml:5:41  `steps[0].with.attempts` must be at most 5, not 9  write a smaller number",
    ],
  },
  {
    title: "an option of a step nearly right",
    files: pipeline(
      "[auth, provider]",
      "[{ use: retry, with: { attempts: 2, on: [timeuot], jiter: true } }]",
    ),
    findings: [
      'pipelines/chat.yaml:5:49  `steps[0].with.on[0]` is "timeuot"; it can be timeout or overload  did you mean `timeout`?',
      "pipelines/chat.yaml:5:59  `steps[0].with.jiter` is not a known key  did you mean `jitter`?",
    ],
  },
  {
    title: "a truth value in quotes",
    files: pipeline("[auth, provider]", '[{ use: retry, with: { attempts: 2, jitter: "yes" } }]'),
    findings: [
      "pipelines/chat.yaml:5:52  `steps[0].with.jitter` must be true or false, not text  write true or false without quotes, such as true",
    ],
  },
  {
    title: "an option that the step's own check refuses",
    files: pipeline("[auth, provider]", "[{ use: retry, with: { attempts: 4 } }]"),
    findings: ["pipelines/chat.yaml:5:41  four brings bad luck  write three or five"],
  },
  {
    title: "a route of two pipelines",
    files: {
      "pipelines/other.yaml":
        "version: 1\npipeline: other\noperation: chat\nroutes: [GET /a, POST /v1/chat/completions]\nsteps: [auth]\n",
    },
    findings: [
      'pipelines/other.yaml:4:18  the route "POST /v1/chat/completions" is taken at pipelines/chat.yaml:3:10  keep one of the two',
    ],
  },
  {
    title: "routes that differ in a parameter's name only",
    files: pipeline("[POST /v1/chat/completions]", '["GET /m/{id}", "GET /m/{name}"]'),
    findings: [
      'pipelines/chat.yaml:3:25  the route "GET /m/{name}" is taken at pipelines/chat.yaml:3:10  keep one of the two',
    ],
  },
  {
    title: "a pipeline's name twice",
    files: {
      "pipelines/other.yaml":
        "version: 1\npipeline: chat\noperation: chat\nroutes: [GET /a]\nsteps: [auth]\n",
    },
    findings: [
      'pipelines/other.yaml:2:11  the pipeline\'s name "chat" is taken at pipelines/chat.yaml:2:11  rename one of the two',
    ],
  },
];
