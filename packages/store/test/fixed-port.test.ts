import { once } from "node:events";
import { createServer } from "node:net";
import t from "tap";
import {
  findPostgres,
  onFixedPorts,
  PostgresCluster,
} from "./conformance/index.js";

t.test("a program that ends is started on other ports", async (t) => {
  const tried: number[] = [];
  await onFixedPorts(2, async (ports) => {
    tried.push(...ports);
    if (tried.length < 6) throw new Error("the port is in use");
  });
  t.equal(tried.length, 6);
  t.equal(new Set(tried).size, 6);
  for (const port of tried)
    t.ok(port < 32_768, "no socket gets it that asks for any port");
});

t.test("it is not started without end", async (t) => {
  let tries = 0;
  const start = async () => {
    tries++;
    throw new Error("no configuration");
  };
  await t.rejects(onFixedPorts(1, start), { message: "no configuration" });
  t.equal(tries, 5);
});

const bin = findPostgres();
const skip = bin === undefined && "PostgreSQL is not installed";
t.test("PostgreSQL says why it does not start", { skip }, async (t) => {
  const postgres = new PostgresCluster(bin!);
  t.teardown(() => postgres.remove());
  await postgres.start();
  await postgres.kill();
  const { port } = new URL(postgres.url("xo"));
  const other = createServer().listen(Number(port), "127.0.0.1");
  await once(other, "listening");
  await t.rejects(postgres.start(), {
    message: /postgres ended:[^]*could not bind[^]*in use/,
  });
  other.close();
  await once(other, "close");
  await postgres.start();
  t.same(await postgres.query("postgres", "select 1 as one"), [{ one: 1 }]);
});
