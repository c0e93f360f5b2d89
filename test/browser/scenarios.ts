import {
  failedPool,
  poolOf,
  statusOf,
  type ScriptedPool,
  type ScriptedStatus,
} from "./scripted-status.js";

export const fingerprint =
  "9C:3F:11:A0:5E:77:42:D8:0B:C6:8A:91:F4:2D:63:BE:15:70:EA:39:86:CD:04:5B:F2:A7:1E:68:D3:90:4C:BB";

/** The three pools of the demo, live. */
export function livePools(): ScriptedStatus {
  return statusOf([
    poolOf("Pool A", { size: [64, 5000], changesPerSecond: 214 }),
    poolOf("Pool B", {
      size: [16, 600],
      address: "192.168.2.10",
      changesPerSecond: 31.5,
    }),
    poolOf("Pool C", {
      size: [3, 60],
      address: "192.168.3.10",
      transport: "json-in-xml",
      changesPerSecond: 2.1,
    }),
  ]);
}

/** The same pools while they are being loaded. */
export function loadingPools(): ScriptedStatus {
  const fresh = {
    changesPerSecond: 0,
    lastChangeAt: null,
    loadMs: null,
    loadBytes: null,
  };
  return statusOf([
    poolOf("Pool A", { ...fresh, size: [64, 1800], state: "listing" }),
    poolOf("Pool B", { ...fresh, state: "connecting", transport: null }),
    poolOf("Pool C", { size: [3, 60], changesPerSecond: 2.1 }),
  ]);
}

export function noPools(): ScriptedStatus {
  const status = statusOf([]);
  return { ...status, server: { ...status.server, demo: false } };
}

/** The maximum number of pools for one page; every ninth has a problem. */
export function manyPools(count = 200): ScriptedStatus {
  return statusOf(Array.from({ length: count }, (_, i) => manyPool(i)));
}

function manyPool(i: number): ScriptedPool {
  const label = `Site ${String(i + 1).padStart(3, "0")}`;
  const address = `10.${Math.floor(i / 100)}.${i % 100}.2`;
  if (i % 27 === 13)
    return failedPool(
      label,
      { code: "CONNECTION_TIMEOUT", message: `${address} did not answer` },
      { address, state: "backing-off" },
    );
  return poolOf(label, {
    address,
    size: [2 + (i % 15), 20 + ((i * 37) % 400)],
    changesPerSecond: (i * 7) % 23,
    state: i % 9 === 4 ? "listing" : "watching",
  });
}

/** One pool for each common error. */
export function faultyPools(): ScriptedStatus {
  const stale = new Date(Date.now() - 185_000).toISOString();
  return statusOf([
    poolOf("Berlin", { size: [3, 60] }),
    failedPool("Lyon", {
      code: "SESSION_AUTHENTICATION_FAILED",
      message: "SESSION_AUTHENTICATION_FAILED(root, Authentication failure)",
    }),
    failedPool(
      "Madrid",
      {
        code: "UNREACHABLE",
        message: "10.9.0.4 cannot be reached: no route to host",
      },
      { state: "backing-off", address: "10.9.0.4" },
    ),
    failedPool("Oslo", {
      code: "TLS_UNTRUSTED",
      message: `the certificate of 10.7.0.2 is not trusted (self-signed certificate); its SHA-256 fingerprint is ${fingerprint}`,
    }),
    poolOf("Porto", {
      size: [16, 600],
      state: "backing-off",
      staleSince: stale,
      changesPerSecond: 0,
      error: {
        code: "CONNECTION_LOST",
        message: "the connection to 10.8.0.2 was lost: ECONNRESET",
      },
    }),
    poolOf("Rome", { size: [3, 60], state: "re-listing" }),
    failedPool(
      "Turin",
      { code: "", message: "" },
      {
        error: null,
        state: "stopped",
      },
    ),
  ]);
}
