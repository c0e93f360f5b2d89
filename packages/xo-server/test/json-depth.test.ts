import t from "tap";
import { isDeeperThan } from "../src/api/http/json-depth.js";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const padding = "x".repeat(4000);

t.test("levels are counted, lists and objects alike", async (t) => {
  const at = (depth: number) => `{"pad":"${padding}","a":${nested(depth - 1)}}`;
  t.notOk(isDeeperThan(at(64), 64));
  t.ok(isDeeperThan(at(65), 64));
  const objects = `${'{"a":'.repeat(65)}"${padding}"${"}".repeat(65)}`;
  t.ok(isDeeperThan(objects, 64));
  t.notOk(isDeeperThan(objects, 65));
});

t.test("brackets within quoted texts are ignored", async (t) => {
  const texts = ["[".repeat(100), '\\"[[[['.repeat(50), "\\\\", `${padding}{`];
  for (const text of texts)
    t.notOk(isDeeperThan(`["${text}","${padding}"]`, 8), text.slice(0, 20));
  const after = `["\\\\",${nested(20)},"${padding}"]`;
  t.ok(isDeeperThan(after, 8), "a text that ends with a backslash ends");
});

t.test("neighboring properties are not nested ones", async (t) => {
  t.notOk(isDeeperThan(`[${"[],{},".repeat(2000)}[]]`, 8));
});

t.test("a short text is never too deep", async (t) => {
  t.notOk(isDeeperThan(nested(1000), 8));
});

t.test("only the necessary bytes are read", async (t) => {
  const deep = "[".repeat(10_000_000);
  const before = process.cpuUsage();
  for (let i = 0; i < 100; i++) t.ok(isDeeperThan(deep, 64));
  const { user } = process.cpuUsage(before);
  t.comment(`${user / 100} us`);
});
