import t from "tap";
import { ConnectionLostError, RpcError } from "../src/api/rpc-error.js";
import { qrPath } from "../src/settings/account/qr-path.js";
import { toRequest, type AuditFilter } from "../src/settings/audit/audit.js";
import { toFailure } from "../src/forms/failure.js";
import {
  byUse,
  foldedSessions,
  named,
  tokenState,
} from "../src/settings/users/user.js";
import {
  append,
  charts,
  toChart,
} from "../src/settings/performance/performance.js";
import { findSection, visibleGroups } from "../src/settings/sections.js";

t.test("actions without the right are not offered", async (t) => {
  const all = visibleGroups(true).flatMap(({ sections }) => sections);
  t.ok(all.includes("users") && all.includes("account"));
  t.same(
    visibleGroups(false).flatMap(({ sections }) => sections),
    ["account", "resource-sets", "performance"],
  );
  t.equal(findSection("users", true), "users");
  t.equal(findSection("users", false), undefined);
  t.equal(findSection("", true), "servers");
  t.equal(findSection(undefined, false), "account");
  t.equal(findSection("__proto__", true), undefined);
});

t.test("an error is shown at its field", async (t) => {
  const errors = [
    {
      instancePath: "/host",
      keyword: "pattern",
      message: "must match pattern",
    },
    {
      instancePath: "",
      keyword: "required",
      message: "must have …",
      params: { missingProperty: "password" },
    },
    { instancePath: "/targets/0/url", keyword: "pattern", message: "must" },
  ];
  const failure = toFailure(
    new RpcError(10, "invalid parameters", {
      code: "INVALID_PARAMETERS",
      errors,
      reason: "many",
    }),
  );
  t.match(failure, { code: "INVALID_PARAMETERS", reason: "many" });
  t.same(failure.fields, {
    host: { rule: "pattern", message: "must match pattern" },
    password: { rule: "required", message: "must have …" },
    targets: { rule: "pattern", message: "must" },
  });
  t.match(toFailure(new ConnectionLostError("gone")), { code: undefined });
  t.match(toFailure(new RpcError(-32603, "internal error", null)), {
    code: "INTERNAL",
    reason: "internal error",
    fields: {},
  });
});

t.test("tokens that end, and those that were used last", async (t) => {
  const day = 86_400_000;
  const token = (id: string, created_at: number, used?: number) => ({
    id,
    user_id: "u",
    created_at,
    expiration: 30 * day,
    ...(used === undefined ? {} : { last_use: { timestamp: used } }),
  });
  t.equal(tokenState(token("a", 0), 0), "valid");
  t.equal(tokenState(token("a", 0), 24 * day), "ending");
  t.equal(tokenState(token("a", 0), 30 * day), "ended");
  const sorted = byUse([token("old", 1), token("new", 2), token("used", 0, 5)]);
  t.same(
    sorted.map(({ id }) => id),
    ["used", "new", "old"],
  );
  const script = { ...token("script", 0), description: "nightly" };
  const visits = ["1", "2", "3", "4", "5"].map((id) => token(id, 0));
  t.same(
    foldedSessions([...visits.slice(0, 4), script, ...visits.slice(4)]).map(
      ({ id }) => id,
    ),
    ["4", "5"],
    "sign-ins after the first three are folded, tokens of scripts never",
  );
  t.same(
    named([{ name: "Grace" }, { name: "ada" }, { name: "Linus" }], " A "),
    [{ name: "ada" }, { name: "Grace" }],
  );
  const current = { ...token("current", 0), isCurrent: true };
  t.equal(byUse([token("used", 0, 5), current])[0], current);
});

const filter: AuditFilter = {
  userId: "",
  operation: "",
  objectId: "",
  from: "",
  to: "",
  onlyFailed: false,
};

t.test("the audit log request has the filter", async (t) => {
  t.same(toRequest(filter, undefined, 100), { limit: 100 });
  t.same(
    toRequest(
      { ...filter, userId: "u1", operation: "vm.start", objectId: " o1 " },
      42,
      100,
    ),
    {
      limit: 100,
      before: 42,
      userId: "u1",
      operation: "vm.start",
      objectId: "o1",
    },
  );
  t.same(toRequest({ ...filter, operation: "vm.*" }, undefined, 10), {
    limit: 10,
    filter: 'event:"vm."',
  });
  const from = "2026-11-21T06:00Z";
  t.same(toRequest({ ...filter, from, onlyFailed: true }, undefined, 10), {
    limit: 10,
    filter: `time:>=${Date.parse(from)} !data:outcome:success`,
  });
});

t.test("an hour of statistics continues after a restart", async (t) => {
  const minute = 60_000;
  const part = (times: readonly number[]) => ({
    intervalMs: 10_000,
    times,
    columns: { cpu: times.map((time) => time / minute) },
  });
  const first = part([minute, 2 * minute]);
  t.equal(append(undefined, first), first);
  const both = append(first, part([2 * minute, 3 * minute]));
  t.same(both.times, [minute, 2 * minute, 3 * minute]);
  t.same(both.columns["cpu"], [1, 2, 3]);
  t.same(append(both, part([])).times, both.times);
  const later = append(both, part([61.5 * minute]));
  t.same(later.columns["cpu"], [2, 3, 61.5]);
});

t.test("while the server was stopped its line has a gap", async (t) => {
  const { times, column } = toChart({
    intervalMs: 10_000,
    times: [10_000, 20_000, 80_000],
    columns: { cpu: [1, 2, 3] },
  });
  t.same(times, [10, 20, 30, 80]);
  t.same(column("cpu"), [1, 2, null, 3]);
  t.same(column("unknown"), [null, null, null, null]);
  t.ok(charts.every(({ lines }) => lines.length > 0));
});

t.test("a QR code is one path of squares with a margin", async (t) => {
  const { size, path } = qrPath("otpauth://totp/xo:ada?secret=ABCDEFGH");
  t.ok(size > 29 && (size - 8 - 17) % 4 === 0, "a size that codes have");
  t.match(path, /^(M\d+ \d+h\d+v1H\d+z)+$/);
  t.ok(path.startsWith("M4 4h7v1H4z"), "its corner is a finder's");
  t.throws(() => qrPath("x".repeat(10_000)));
});
