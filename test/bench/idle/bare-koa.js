/** A Koa server with one route: what the start of a server on this platform costs at least. */

import Koa from "koa";

const app = new Koa();
app.use((ctx) => {
  ctx.body = "ok";
});
const server = app.listen(0, "127.0.0.1", () => console.log(JSON.stringify(server.address())));
