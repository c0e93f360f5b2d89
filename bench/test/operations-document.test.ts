import t from "tap";
import { toResult, type Report } from "../src/harness/result.js";
import { checkShape } from "../src/operations/operations-bench.js";
import { operationCalls } from "../src/operations/operation-calls.js";
import { operationsDocument } from "../src/operations/operations-document.js";
import { largeValue, smallValue } from "../src/operations/parameter-values.js";
import { SampleObjects } from "../src/operations/sample-objects.js";
import { sampleReport } from "./sample-report.js";

const resultOf = (mode: string, longestOwnBlockMs: number, failure?: string) =>
  toResult(
    { pool: "A", mode, place: "all" },
    {
      runs: [{ longestOwnBlockMs, firstBlockMs: 1, cpuMs: 2, ms: 3 }],
      ...(failure === undefined ? {} : { failure }),
    },
  );

const reportOf = (...results: Report["results"]) => sampleReport(results);

t.test("the longest blocks come first", async (t) => {
  const document = operationsDocument(
    reportOf(resultOf("vm.get", 3), resultOf("vm.set", 60, "refused")),
  );
  t.match(document, /longest block by one call.*60.* \*\*missed/);
  t.match(document, /2 calls of 2 operations; 1 were refused/);
  t.match(document, /`vm.set`[^`]*`vm.get`/);
});

t.test("a smoke run wants a call to succeed", async (t) => {
  checkShape(reportOf(resultOf("vm.get", 3)));
  t.throws(() => {
    checkShape(reportOf(resultOf("vm.get", 3, "refused")));
  }, /no call/);
});

t.test("values are as large as the schema allows", async (t) => {
  const strings = () => "id";
  const list = { type: "array", items: { type: "string" }, maxItems: 7 };
  t.same(smallValue(list, "ids", strings), ["id"]);
  t.same(largeValue(list, "ids", strings), Array(7).fill("id"));
  const text = { type: "string", maxLength: 100 };
  t.match(largeValue(text, "filter", strings), /^name_label:.{60,}/);
  const members = { type: "object", additionalProperties: text };
  t.equal(Object.keys(largeValue(members, "x", strings)!).length, 50_000);
  t.equal(largeValue({ type: "boolean" }, "x", strings), undefined);
});

t.test("operations that create objects are called first", async (t) => {
  const id = { type: "string", maxLength: 50 };
  const calls = operationCalls(
    {
      "server.remove": { params: {} },
      "vm.get": { params: { id, more: { ...id, optional: true } } },
      "vm.create": { params: {} },
      "session.signOut": { params: {} },
    },
    new SampleObjects(),
  );
  t.same(
    calls.map(({ method, variant }) => `${method} ${variant}`),
    [
      "vm.create required",
      "vm.get required",
      "vm.get all",
      "vm.get id",
      "vm.get more",
      "server.remove required",
    ],
  );
});
