/** Commands in place of the routes that a message of the gateway names. */

const COMMANDS: Readonly<Record<string, string>> = {
  "GET /key/list": "keys list",
  "GET /team/list": "teams list",
  "GET /team/member_list": "members list",
  "GET /config/history": "history",
  "GET /requests": "requests",
  "GET /deployments": "deployments",
};
/** Both ways, as messages for programs and persons name them. */
const EITHER = /(?:GET|POST) \/[a-z_/]+ or (?=`sluice )/g;
const ROUTE = /(?:GET|POST) \/[a-z_/]+[a-z]/g;

/** A message of the gateway for a person at a terminal. */
export function withCommands(message: string): string {
  return message.replaceAll(EITHER, "").replaceAll(ROUTE, (route) => {
    const command = Object.hasOwn(COMMANDS, route) ? COMMANDS[route] : undefined;
    return command === undefined ? route : `\`sluice ${command}\``;
  });
}
