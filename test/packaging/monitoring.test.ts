import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import t from "tap";
import { root, RunningProgram } from "../running-program.js";
import { missingProgram } from "./package-tree.js";

t.comment("timeout=120000");

const folder = join(root, "packaging/monitoring");
const rules = join(folder, "xo-server.rules.yml");
const dashboard = join(folder, "grafana-dashboard.json");

t.test("rules and dashboard use metrics that exist", async (t) => {
  const cwd = t.testdir({
    "config.yaml": `http: { tls: { selfSigned: true } }
audit: { forward: [{ name: file, url: "file://${resolve(t.testdirName)}/audit.jsonl" }] }`,
  });
  const args = ["start", "--demo", "C", "--host", "127.0.0.1", "--port", "0"];
  const server = new RunningProgram(t, "xo-server", args, { cwd });
  await server.find(/Web server listening on (https:\S+)/);
  const known = new Set(
    Array.from(metricsOf(await readMetrics(server)), ([, name]) => name),
  );
  t.ok(known.size > 50);
  for (const file of [rules, dashboard]) {
    const used = new Set(readFileSync(file, "utf8").match(/\bxo_[a-z0-9_]+/g));
    t.ok(used.size > 5);
    t.same(
      [...used].filter((name) => !known.has(name)),
      [],
      file,
    );
  }
});

/** With the suffixes of histograms. */
function metricsOf(text: string) {
  return text.matchAll(/^(xo_[a-z0-9_]+)[{ ]/gm);
}

async function readMetrics(server: RunningProgram): Promise<string> {
  const url = await server.find(/Web server listening on (https:\S+)/);
  const { request } = await import("node:https");
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/metrics`,
      { rejectUnauthorized: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => {
          resolve(text);
        });
      },
    );
    sent.on("error", reject).end();
  });
}

t.test("the dashboard is complete", async (t) => {
  const { panels, templating } = JSON.parse(
    readFileSync(dashboard, "utf8"),
  ) as {
    panels: { id: number; title: string; targets: { expr: string }[] }[];
    templating: { list: { name: string }[] };
  };
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const variables = new Set(templating.list.map(({ name }) => name));
  const used = JSON.stringify(panels).match(/(?<=\$\{?)[a-z]+/g) ?? [];
  t.same(
    used.filter((name) => !variables.has(name)),
    [],
  );
});

t.test(
  "Prometheus accepts the rules",
  { skip: missingProgram("promtool") },
  async (t) => {
    const output = execFileSync("promtool", ["check", "rules", rules], {
      encoding: "utf8",
    });
    t.match(output, /SUCCESS: \d+ rules found/);
  },
);
