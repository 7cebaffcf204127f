/**
 * Node's `http`. An `import` of it would read all its names. One of them is WebSocket, which loads
 * Node's own fetch: 14 MB and 40 ms that the gateway has no use for.
 */

export const { createServer, request, STATUS_CODES } = process.getBuiltinModule("node:http");
