import t from "tap";
import {
  rangeFor,
  spanFromText,
  spanToText,
  toLocalTime,
} from "../src/charts/custom-range.js";
import { toListParameters, toPoolFilter } from "../src/tasks/task-search.js";

t.test("a range of one's own gets the finest statistics", async (t) => {
  const now = 1_800_000_000;
  const from = (seconds: number) => ({ from: now - seconds, to: now });
  t.equal(rangeFor(from(300), now), "tenMinutes");
  t.equal(rangeFor(from(3600), now), "twoHours");
  t.equal(rangeFor(from(86_400), now), "week");
  t.equal(rangeFor(from(30 * 86_400), now), "year");
  t.equal(rangeFor(from(900 * 86_400), now), "year");
});

t.test("a range is in the address, and in local time", async (t) => {
  const span = { from: 1_800_000_000, to: 1_800_003_600 };
  t.same(spanFromText(spanToText(span)), span);
  for (const wrong of ["2-1", "1-1", "x", undefined, "1-2-3"])
    t.equal(spanFromText(wrong), undefined, String(wrong));
  const local = new Date(toLocalTime(span.from)).getTime() / 1000;
  t.equal(local, span.from);
});

t.test("a search of tasks queries the server and the pools", async (t) => {
  const since = "2027-01-15T09:00";
  const ms = new Date(since).getTime();
  const search = { text: 'a "b"', user: "", pool: "", since, until: "" };
  t.same(toListParameters(search, 5), { limit: 5, text: 'a "b"', since: ms });
  t.equal(
    toPoolFilter(search),
    `name_label:"a \\"b\\"" created:>=${ms / 1000}`,
  );
  t.equal(toPoolFilter({ ...search, user: "u" }), undefined);
  const ofPool = { ...search, text: "", since: "", pool: "p" };
  t.same(toListParameters(ofPool, 5), { limit: 5, pool: "p" });
  t.equal(toPoolFilter(ofPool), '$pool:"p"');
});
