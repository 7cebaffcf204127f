/** The playground: requests through the real routes, as a key. */

import { list, object, OPEN, TEXT, TEXTS, words } from "../schema.ts";

const BODY = object(
  {
    as: { ...TEXT, description: "The id of a key, or master for the master key." },
    body: { ...OPEN, description: "The request, as a client sends it." },
  },
  {
    route: {
      ...TEXT,
      description:
        "METHOD /path of the public listener. The first route of the operation unless given.",
    },
  },
);

const PLAY = {
  body: BODY,
  answer: { ...OPEN, description: "The answer of the route, with its status and its headers." },
  texts: ["text/event-stream"],
} as const;

/** The routes. */
export const PLAYGROUND_ROUTES = {
  "GET /playground": {
    about: "List the routes that the playground can call",
    answer: object({
      routes: {
        ...list(
          object({
            route: { ...TEXT, description: "METHOD /path of the public listener." },
            operation: words("chat", "embeddings", "images"),
            pipeline: TEXT,
            file: { ...TEXT, description: "The file of the pipeline." },
            steps: { ...TEXTS, description: "The names of its steps, outermost first." },
          }),
        ),
        description: "In the order of the files. The first one of an operation is the default.",
      },
    }),
  },
  "POST /playground/chat": { about: "Send a chat request as a key", ...PLAY },
  "POST /playground/embeddings": { about: "Send an embeddings request as a key", ...PLAY },
  "POST /playground/images": { about: "Send an images request as a key", ...PLAY },
} as const;
