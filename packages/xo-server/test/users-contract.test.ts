import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { startTestServer } from "./test-server.js";

/** What clients were found to ask; beside the repository, and not part of it. */
const folder = findUp("shared/contract");
const skip = folder === undefined && "there is no ../shared/contract";

t.test("JSON-RPC methods of users keep the contract", { skip }, async (t) => {
  const { connect } = await startTestServer(t);
  const client = await connect();
  const known = (await client.request("system.getMethodsInfo")) as Record<
    string,
    { permission?: string; params: Record<string, { optional?: boolean }> }
  >;
  const levels: Record<string, string | undefined> = {
    admin: "admin",
    "-": "user",
    none: undefined,
  };
  for (const [name = "", level = "", requested = ""] of rows("jsonrpc-methods"))
    if (/^(user|group|acl|role|token|session)\./.test(name)) {
      const method = known[name];
      if (!t.ok(method, name)) continue;
      t.equal(method!.permission, levels[level], `${name}: permission`);
      for (const parameter of requested.split(", ").filter(Boolean)) {
        const [, key = "", optional] = /^(\w+)(\?)?:/.exec(parameter) ?? [];
        const found = method!.params[key];
        t.ok(found, `${name}: ${key}`);
        t.equal(found?.optional ?? false, optional === "?", `${name}: ${key}`);
      }
    }
});

t.test("REST routes of users keep the contract", { skip }, async (t) => {
  const { get } = await startTestServer(t);
  const answer = await get("/rest/v0/docs/swagger.json");
  const { paths } = (await answer.json()) as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  for (const row of rows("rest-routes")) {
    const [method = "", path = "", operationId, , , , , exposure] = row;
    if (!/^\/(users|groups|acl-)/.test(path) || path.endsWith("/tasks"))
      continue;
    t.match(
      paths[path]?.[method.toLowerCase()],
      { operationId, "x-mcp-exposure": exposure },
      `${method} ${path}`,
    );
  }
});

function rows(name: string): string[][] {
  return readFileSync(join(folder!, `${name}.tsv`), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));
}

function findUp(path: string): string | undefined {
  let here = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    if (existsSync(join(here, path))) return join(here, path);
    if (here === dirname(here)) return undefined;
    here = dirname(here);
  }
}
