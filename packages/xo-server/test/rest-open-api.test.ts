import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";
import t from "tap";
import { startTestServer } from "./test-server.js";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly "x-mcp-exposure": string;
  readonly parameters?: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        {
          readonly schema: {
            readonly properties?: Readonly<Record<string, unknown>>;
            readonly required?: readonly string[];
          };
        }
      >
    >;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<
          Record<
            string,
            { readonly examples?: Record<string, { value: unknown }> }
          >
        >;
      }
    >
  >;
}

interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<
    Record<string, Readonly<Record<string, unknown>>>
  >;
}

async function read(
  t: Parameters<typeof startTestServer>[0],
): Promise<Document> {
  const { get } = await startTestServer(t);
  const answer = await get("/rest/v0/docs/swagger.json");
  return (await answer.json()) as Document;
}

function operationsOf({ paths }: Document) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      path,
      method,
      operation,
    })),
  );
}

t.test("the document conforms to the schema of OpenAPI 3.1", async (t) => {
  const document = await read(t);
  t.equal(document.openapi, "3.1.0");
  t.same(document.servers, [{ url: "/rest/v0" }]);
  const { valid, errors } = await new Validator().validate({
    ...structuredClone(document),
  });
  t.ok(valid, JSON.stringify(errors)?.slice(0, 1000));
});

t.test(
  "operations have unique names, and every part of a path is a parameter",
  async (t) => {
    const operations = operationsOf(await read(t));
    const names = operations.map(({ operation }) => operation.operationId);
    t.same(
      names.filter((name, i) => names.indexOf(name) !== i),
      [],
    );
    for (const { path, operation } of operations) {
      t.ok(operation.summary, path);
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const documented = (operation.parameters ?? [])
        .filter((one) => one["in"] === "path")
        .map((one) => one["name"]);
      t.same(documented, inPath, `${path} ${operation.operationId}`);
    }
  },
);

t.test("chat assistants find examples and hints", async (t) => {
  const { paths, components } = await read(t);
  const { operationId, responses, ...vms } = paths["/vms"]!["get"]!;
  t.equal(operationId, "GetVms");
  t.equal(vms["x-mcp-exposure"], "allow");
  const { examples } = responses["200"]!.content!["application/json"]!;
  const [example] = Object.values(examples!)[0]!.value as object[];
  t.match(example, { id: String, name_label: String, power_state: "Running" });
  t.match(components["securitySchemes"], {
    token: { type: "apiKey", in: "cookie", name: "authenticationToken" },
    basic: { type: "http", scheme: "basic" },
  });
});

t.test(
  "only reading is allowed to assistants without a question",
  async (t) => {
    for (const { path, method, operation } of operationsOf(await read(t)))
      if (method !== "get")
        t.not(operation["x-mcp-exposure"], "allow", `${method} ${path}`);
  },
);

t.test(
  "a body has one key for each parameter: that of the contract, where others are accepted too",
  async (t) => {
    const { paths } = await read(t);
    const { post } = paths["/vms/{id}/actions/migrate"]!;
    const { properties, required } =
      post!.requestBody!.content["application/json"]!.schema;
    t.same(required, ["hostId"]);
    t.hasStrict(properties, { hostId: { type: "string" } });
    t.notOk(Object.hasOwn(properties!, "host"));
  },
);

t.test("properties of the contract have their name and mark", async (t) => {
  const path = fileURLToPath(
    new URL("../../../../../shared/contract/rest-routes.tsv", import.meta.url),
  );
  if (!existsSync(path)) {
    t.pass("skipped: the contract is not here");
    return;
  }
  const rows = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split("\t"));
  const contract = new Map(
    rows.map(([method, path, id, , , , , mark]) => [
      `${method!.toLowerCase()} ${path}`,
      { id, mark },
    ]),
  );
  // Names that the contract has twice, and streams, which no assistant reads to the end.
  const others =
    /^(GetSms?|swaggerSpec|OpenSse|AddSub|RemoveSub|GetMcpStatus|ManagementReconfigurePool)/;
  for (const { path, method, operation } of operationsOf(await read(t))) {
    const documented = contract.get(`${method} ${path}`);
    if (documented === undefined || others.test(operation.operationId))
      continue;
    t.equal(operation.operationId, documented.id, path);
    t.equal(operation["x-mcp-exposure"], documented.mark || "deny", path);
  }
});

t.test("a page shows it, from its own origin only", async (t) => {
  const { get } = await startTestServer(t);
  const page = await get("/rest/v0/docs");
  t.match(page.headers.get("content-type"), "text/html");
  t.match(page.headers.get("content-security-policy"), /script-src 'self';/);
  const html = await page.text();
  t.notMatch(html, /<script>|<style>|style=|onclick=|https?:\/\//);
  for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g))
    t.equal((await get(path!)).status, 200, path!);
});
