import { XapiError, XoError } from "@xo-server/model";
import type { XapiState } from "@xo-server/xen-api";
import t from "tap";
import { toPoolState } from "../src/pools/pool-state.js";

const connected: XapiState = {
  name: "connected",
  address: "192.0.2.1:443",
  transport: "json-rpc",
  pool: { ref: "OpaqueRef:p", uuid: "u" },
  generation: 1,
};
const backingOff = (cause: Error, isPassing = false): XapiState => ({
  name: "backing-off",
  delayMs: 1,
  cause,
  isPassing,
});

t.test("a password that was accepted before has not failed yet", async (t) => {
  const rejected = new XapiError("SESSION_AUTHENTICATION_FAILED", ["root"]);
  t.equal(toPoolState(backingOff(rejected), "watching", true), "failed");
  t.equal(
    toPoolState(backingOff(rejected, true), "watching", true),
    "backing-off",
  );
});

t.test("a connected pool is where its mirror is", async (t) => {
  for (const mirror of [
    "listing",
    "watching",
    "re-listing",
    "backing-off",
  ] as const)
    t.equal(toPoolState(connected, mirror, true), mirror);
});

t.test("a mirror that has not noticed yet will list", async (t) => {
  t.equal(toPoolState(connected, "connecting", false), "listing");
  t.equal(toPoolState(connected, "connecting", true), "re-listing");
});

t.test("without a session, the session's state is the pool's", async (t) => {
  t.equal(
    toPoolState({ name: "connecting", address: "a" }, "watching", true),
    "connecting",
  );
  t.equal(toPoolState({ name: "stopped" }, "watching", true), "stopped");
  t.equal(
    toPoolState(
      backingOff(new XoError("CONNECTION_REFUSED", { address: "a" })),
      "watching",
      true,
    ),
    "backing-off",
  );
});

t.test("a problem that needs an administrator is a failure", async (t) => {
  for (const cause of [
    new XapiError("SESSION_AUTHENTICATION_FAILED"),
    new XoError("TLS_UNTRUSTED", { address: "a" }),
  ])
    t.equal(toPoolState(backingOff(cause), "connecting", false), "failed");
});
