/** nginx: `proxy_pass` with kept-alive connections, one process. It looks into nothing. */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Target } from "../target.ts";

export const nginx: Target = {
  name: "nginx",
  about: "proxy_pass, keepalive, one worker",
  isNode: false,
  prepare({ directory, port, upstreamUrl }) {
    if (spawnSync("nginx", ["-v"]).status !== 0) return { skip: "nginx is not installed" };
    const config = join(directory, "nginx.conf");
    writeFileSync(config, nginxConf(directory, port, new URL(upstreamUrl).host));
    return {
      command: "nginx",
      args: ["-c", config, "-p", directory, "-e", join(directory, "error.log")],
    };
  },
};

function nginxConf(directory: string, port: number, upstream: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
master_process off;
worker_processes 1;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log warn;
events { worker_connections 1024; }
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${directory}/${name};`).join("\n")}
  keepalive_requests 100000000;
  upstream bench { server ${upstream}; keepalive 64; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location = / { return 204; }
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer sk-upstream";
      proxy_buffering off;
    }
  }
}
`;
}
